package deliver

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation/take"
)

func ints[T int32 | int64](t *testing.T, values ...T) *arrow.Chunked {
	var chunks []arrow.Array
	for _, v := range values { // one chunk per value
		var chunk arrow.Array
		if v32, ok := any(v).(int32); ok {
			b := array.NewInt32Builder(memory.DefaultAllocator)
			b.Append(v32)
			chunk = b.NewArray()
			b.Release()
		} else {
			b := array.NewInt64Builder(memory.DefaultAllocator)
			b.Append(int64(v))
			chunk = b.NewArray()
			b.Release()
		}
		defer chunk.Release()
		chunks = append(chunks, chunk)
	}
	all := arrow.NewChunked(chunks[0].DataType(), chunks)
	t.Cleanup(all.Release)
	return all
}

// TestOrderedPiece makes columns of rows that have a row of both sides, or of one: values of one side, keys of both
// sides with different types, and the indicator.
func TestOrderedPiece(t *testing.T) {
	left, right := ints(t, int32(10), int32(11), int32(12)), ints(t, int64(20), int64(21), int64(math.MaxInt64))
	none := uint32(take.NoRow)
	big := arrow.PrimitiveTypes.Int64
	columns := []Column{
		{Type: big, Of: [2]*Value{{Column: left}, nil}},
		{Type: big, Of: [2]*Value{{Column: left}, {Column: right}}},
		{Type: big, Of: [2]*Value{{Column: left}, {Column: right}}, First: 1},
		{Role: Indicator, Type: arrow.BinaryTypes.String},
	}
	var fields []arrow.Field
	for i, c := range columns {
		fields = append(fields, arrow.Field{Name: string(rune('a' + i)), Type: c.Type, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	p := Piece{Rows: 4, Columns: columns, of: [2]bool{true, true}, ordered: true,
		arrays: make([]arrow.Array, len(columns)), Numbers: [2][]uint32{{0, none, 2, none}, {1, 2, none, 0}}}
	allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer allocator.AssertSize(t, 0)
	batches := 0
	require.True(t, p.Batches(context.Background(), schema, allocator,
		func(batch arrow.RecordBatch, err error) bool {
			require.NoError(t, err)
			defer batch.Release()
			for i, want := range []string{"[10 (null) 12 (null)]", "[10 9223372036854775807 12 20]",
				"[21 9223372036854775807 12 20]", `["both" "right_only" "left_only" "right_only"]`} {
				require.Equal(t, want, batch.Column(i).String())
			}
			batches++
			return true
		}))
	require.Equal(t, 1, batches)
}

// TestLimit: the limit adds up the reported rows, and passes on what is allowed.
func TestLimit(t *testing.T) {
	var rows atomic.Uint64
	counter := new(operator.Counter)
	limit := Limit{Sink: counter, Quota: &Quota{Most: 10}, Rows: &rows, Advice: OfRows}
	require.NoError(t, limit.Count(context.Background(), 4))
	require.NoError(t, limit.Count(context.Background(), 6))
	err := limit.Count(context.Background(), 1)
	require.True(t, errors.Is(err, backend.ErrLimit))
	require.ErrorContains(t, err, "11 rows, max_output_rows allows 10; raise max_output_rows, or ask for the count")
	require.EqualValues(t, 10, counter.Rows)
	limit.Quota.Most = 0
	require.NoError(t, limit.Count(context.Background(), math.MaxUint32))
}
