package keys

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
)

// endsAfter is a context that ends once it was asked that number of times.
type endsAfter struct {
	context.Context
	asks int
}

func (c *endsAfter) Err() error {
	if c.asks--; c.asks < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestRowGroups: each row is in the group with its key, by codes of 4 and 8 bytes and by hashes; the end of the context
// ends the search, also before the first row is looked up.
func TestRowGroups(t *testing.T) {
	devicetest.SkipRace(t)
	const rows = 3*relation.BlockRows + 7
	for _, distinct := range []uint64{1, 2, 1000, rows} {
		for _, wide := range []uint64{1, 1 << 20} { // apart, so that codes have more than 32 bits
			t.Run(fmt.Sprint(distinct, wide), func(t *testing.T) {
				numbers := make([]uint64, rows)
				for i := range numbers {
					numbers[i] = uint64(i) * 7919 % distinct * wide
				}
				values, err := relation.Column(memory.DefaultAllocator, arrow.PrimitiveTypes.Int64, numbers, 0)
				require.NoError(t, err)
				defer values.Release()
				names, columns := []string{"a", "b"}, []arrow.Array{values, values}
				schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: values.DataType()},
					{Name: "b", Type: values.DataType()}}, nil)
				batch := array.NewRecordBatch(schema, columns, rows)
				defer batch.Release()
				table := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
				defer table.Release()
				for keys := range 3 {
					plan, err := PlanGroups(context.Background(), table, names[:keys], false, nil)
					require.NoError(t, err)
					codes := make([]byte, rows*plan.KeyBytes())
					require.NoError(t, plan.Encode(context.Background(), relation.Left, codes, nil))
					groups, groupOf := int(distinct), make([]uint32, rows)
					if keys == 0 {
						groups = 1
					}
					codes = codes[:groups*plan.KeyBytes()] // the first rows have all keys
					require.NoError(t, plan.RowGroups(context.Background(), codes, groupOf))
					for row, group := range groupOf {
						if keys > 0 && numbers[group] != numbers[row] || keys == 0 && group != 0 {
							t.Fatalf("row %d is in group %d", row, group)
						}
					}
					for asks := range 2 {
						err := plan.RowGroups(&endsAfter{context.Background(), asks}, codes, groupOf)
						require.ErrorIs(t, err, backend.ErrTimedOut)
					}
				}
			})
		}
	}
}

// TestNumbersNeedRoom: without room for numbers of texts, keys are hashed; what is asked for covers the table.
func TestNumbersNeedRoom(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range leastNumbered * 4 {
		b.Append(fmt.Sprint("a text of many bytes ", i%50))
	}
	column := b.NewArray()
	defer column.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: column.DataType()}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{column}, int64(column.Len()))
	defer batch.Release()
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	defer table.Release()
	for _, room := range []bool{true, false} {
		asked := int64(0)
		plan, err := PlanGroups(context.Background(), table, []string{"k"}, false, func(byBytes int64) bool {
			asked += byBytes
			return room
		})
		require.NoError(t, err)
		require.GreaterOrEqual(t, asked, int64(4*column.Len()+50*(textBytes+4*slotsOfText)))
		require.Equal(t, room, plan.HasRows(0))
		require.Equal(t, room, plan.Exact())
	}
}
