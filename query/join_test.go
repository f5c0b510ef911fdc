package query

import (
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

func TestFrugalFirst(t *testing.T) {
	of := func(milliseconds int, mebibytes uint64) Alternative {
		return Alternative{Plan: &operator.Plan{PeakBytes: mebibytes << 20,
			Stages: []operator.Stage{{Time: time.Duration(milliseconds) * time.Millisecond}}}}
	}
	times := func(all []Alternative) (times []int) {
		for _, a := range all {
			times = append(times, int(a.Time().Milliseconds()))
		}
		return times
	}
	for _, c := range []struct {
		byTime []Alternative
		want   []int
	}{
		{[]Alternative{of(100, 9)}, []int{100}},
		{[]Alternative{of(100, 90), of(110, 50), of(125, 30), of(126, 10)}, []int{125, 100, 110, 126}},
		{[]Alternative{of(100, 90), of(110, 70), of(120, 66)}, []int{110, 100, 120}},
		{[]Alternative{of(100, 90), of(110, 80), of(120, 66)}, []int{100, 110, 120}},
	} {
		frugalFirst(c.byTime)
		require.Equal(t, c.want, times(c.byTime))
	}
}

// table returns a table with a key column, NULL for negative keys, in chunks of three rows.
func table(t *testing.T, keys []int32) arrow.Table {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	var batches []arrow.RecordBatch
	for i, key := range keys {
		if key < 0 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.Int32Builder).Append(key)
		}
		if i%3 == 2 || i == len(keys)-1 {
			batch := b.NewRecordBatch()
			defer batch.Release()
			batches = append(batches, batch)
		}
	}
	all := array.NewTableFromRecords(schema, batches)
	t.Cleanup(all.Release)
	return all
}

// TestGranules: granules are as long as allowed, in rows with a key and in all rows, and rows without a key belong to
// one.
func TestGranules(t *testing.T) {
	const null = -1
	for _, c := range []struct {
		keys []int32
		rows uint64
		all  uint64
		want []int
	}{
		{nil, 0, 9, []int{0, 0}},
		{nil, 2, 9, []int{0, 0}},
		{[]int32{1, 2, 3, 4, 5}, 0, 9, []int{0, 5}},
		{[]int32{1, 2, 3, 4, 5}, 5, 9, []int{0, 5}},
		{[]int32{1, 2, 3, 4, 5}, 2, 9, []int{0, 2, 4, 5}},
		{[]int32{1, 2, 3, 4, 5}, 1, 9, []int{0, 1, 2, 3, 4, 5}},
		{[]int32{1, null, 2, null, null, 3, null}, 2, 9, []int{0, 5, 7}},
		{[]int32{1, null, 2, null, null, 3, null}, 2, 4, []int{0, 4, 7}},
		{[]int32{null, null, null}, 1, 9, []int{0, 3}},
		{[]int32{null, null, null}, 1, 2, []int{0, 2, 3}},
		{[]int32{null, 1, null, 2}, 1, 9, []int{0, 3, 4}},
	} {
		of := table(t, c.keys)
		keys, err := keys.PlanJoin(t.Context(), of, of, []string{"k"}, []string{"k"})
		require.NoError(t, err)
		s := Scan{Table: of, Keys: keys}
		require.Equal(t, c.want, s.granules(c.rows, c.all), "%v in granules of %d", c.keys, c.rows)
	}
}

// TestColumnBytes: buffers that chunks share count once.
func TestColumnBytes(t *testing.T) {
	of := table(t, []int32{1, 2, 3, 4, 5})
	column := of.Column(0).Data()
	once := relation.ColumnBytes(column)
	require.GreaterOrEqual(t, once, uint64(5*4+2), "two chunks, each with bits")
	require.Less(t, once, uint64(100))
	doubled := arrow.NewChunked(column.DataType(), append(column.Chunks(), column.Chunks()...))
	defer doubled.Release()
	require.Equal(t, once, relation.ColumnBytes(doubled))
}
