package keys

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// TestKeysWithoutValues: a column without values matches nothing, whatever its type. With one value, its type matters.
func TestKeysWithoutValues(t *testing.T) {
	table := func(values ...any) arrow.Table {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for _, v := range values {
			if text, ok := v.(string); ok {
				b.Append(text)
			} else {
				b.AppendNull()
			}
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
		return array.NewTableFromRecords(schema, []arrow.RecordBatch{array.NewRecordBatch(schema,
			[]arrow.Array{b.NewArray()}, int64(len(values)))})
	}
	numbers := array.NewInt64Builder(memory.DefaultAllocator)
	numbers.AppendValues([]int64{1, 2}, nil)
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}}, nil)
	right := array.NewTableFromRecords(schema, []arrow.RecordBatch{array.NewRecordBatch(schema,
		[]arrow.Array{numbers.NewArray()}, 2)})
	for _, left := range []arrow.Table{table(), table(nil, nil, nil)} {
		plan, err := PlanJoin(context.Background(), left, right, []string{"k"}, []string{"k"})
		require.NoError(t, err)
		require.Zero(t, plan.Rows(relation.Left))
	}
	_, err := PlanJoin(context.Background(), table(nil, "x"), right, []string{"k"}, []string{"k"})
	require.ErrorIs(t, err, backend.ErrUnsupported)
}
