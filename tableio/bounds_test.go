package tableio

import (
	"math"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"
)

// boundsFile has row groups of ten rows: group g holds 10g to 10g+9 in key and day, nulls alone in every third group of
// gap.
func boundsFile(t *testing.T, groups int) *Reader {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "key", Type: arrow.PrimitiveTypes.Int64}, {Name: "day", Type: arrow.FixedWidthTypes.Date32},
		{Name: "gap", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "text", Type: arrow.BinaryTypes.String},
		{Name: "none", Type: arrow.PrimitiveTypes.Int16, Nullable: true}, {Name: "unsigned", Type: arrow.PrimitiveTypes.Uint64},
	}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for i := range groups * 10 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Date32Builder).Append(arrow.Date32(-i))
		if i/10%3 == 1 {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.Int32Builder).Append(int32(i))
		}
		b.Field(3).(*array.StringBuilder).Append("x")
		b.Field(4).AppendNull()
		b.Field(5).(*array.Uint64Builder).Append(math.MaxUint64)
	}
	path := tempPath(t, Parquet)
	writeFile(t, path, schema, []arrow.RecordBatch{b.NewRecordBatch()}, WriteOptions{RowGroupRows: 10})
	r, err := Open(t.Context(), path, ReadOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func TestBounds(t *testing.T) {
	r := boundsFile(t, 6)
	for name, want := range map[string][2]int64{"key": {0, 59}, "day": {-59, 0}, "gap": {0, 59}} {
		b, ok := r.Bounds(name)
		require.True(t, ok, name)
		require.Equal(t, want, [2]int64{b.Min, b.Max}, name)
		require.Equal(t, name == "gap", b.Nulls, name)
	}
	b, ok := r.Bounds("none")
	require.True(t, ok)
	require.Greater(t, b.Min, b.Max, "no values")
	require.True(t, b.Nulls)
	for _, name := range []string{"text", "unsigned", "no such"} {
		_, ok := r.Bounds(name)
		require.False(t, ok, name)
	}
	for name, want := range map[string]bool{"key": false, "gap": true, "none": true, "no such": true} {
		require.Equal(t, want, r.Nulls(name), name)
	}
	csv, err := Open(t.Context(), writeText(t, "key\n1\n"), ReadOptions{})
	require.NoError(t, err)
	defer csv.Close()
	require.True(t, csv.Nulls("key"), "nothing is known")
	_, ok = csv.Bounds("key")
	require.False(t, ok)
	csv.SkipOutside("key", Bounds{Type: arrow.PrimitiveTypes.Int64, Min: 5, Max: 7}) // has nothing to skip
	require.Equal(t, []int64{1}, keysOf(t, csv))
}

func keysOf(t *testing.T, r *Reader) (keys []int64) {
	table, err := r.Read(t.Context(), []string{"key"})
	require.NoError(t, err)
	defer table.Release()
	for _, chunk := range table.Column(0).Data().Chunks() {
		keys = append(keys, chunk.(*array.Int64).Int64Values()...)
	}
	return keys
}

func TestSkipOutside(t *testing.T) {
	int64s, days := arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Date32
	for name, c := range map[string]struct {
		column string
		bounds Bounds
		groups []int
	}{
		"inside":            {"key", Bounds{Type: int64s, Min: 12, Max: 38}, []int{1, 2, 3}},
		"a border each":     {"key", Bounds{Type: int64s, Min: 19, Max: 30}, []int{1, 2, 3}},
		"one value":         {"key", Bounds{Type: int64s, Min: 20, Max: 20}, []int{2}},
		"all":               {"key", Bounds{Type: int64s, Min: math.MinInt64, Max: math.MaxInt64}, []int{0, 1, 2, 3, 4, 5}},
		"below":             {"key", Bounds{Type: int64s, Min: -9, Max: -1}, nil},
		"above":             {"key", Bounds{Type: int64s, Min: 60, Max: 99}, nil},
		"no values at all":  {"key", Bounds{Type: int64s, Min: 1, Max: 0}, nil},
		"another type":      {"key", Bounds{Type: days, Min: 60, Max: 99}, []int{0, 1, 2, 3, 4, 5}},
		"another width":     {"key", Bounds{Type: arrow.PrimitiveTypes.Int32, Min: 12, Max: 38}, []int{1, 2, 3}},
		"dates":             {"day", Bounds{Type: days, Min: -25, Max: -11}, []int{1, 2}},
		"nulls":             {"gap", Bounds{Type: arrow.PrimitiveTypes.Int32, Min: 5, Max: 35}, []int{0, 2, 3}},
		"nulls count":       {"gap", Bounds{Type: arrow.PrimitiveTypes.Int32, Min: 5, Max: 25, Nulls: true}, []int{0, 1, 2, 4}},
		"no nulls there":    {"key", Bounds{Type: int64s, Min: 12, Max: 18, Nulls: true}, []int{1}},
		"without bounds":    {"text", Bounds{Type: arrow.BinaryTypes.String, Min: 5, Max: 5}, []int{0, 1, 2, 3, 4, 5}},
		"an unknown column": {"no such", Bounds{Type: int64s, Min: 5, Max: 5}, []int{0, 1, 2, 3, 4, 5}},
	} {
		r := boundsFile(t, 6)
		r.SkipOutside(c.column, c.bounds)
		var want []int64
		for _, group := range c.groups {
			for i := range 10 {
				want = append(want, int64(10*group+i))
			}
		}
		require.Equal(t, want, keysOf(t, r), name)
		require.Equal(t, int64(60), r.Rows())
	}
	r := boundsFile(t, 6) // two of them: both must hold
	r.SkipOutside("key", Bounds{Type: int64s, Min: 0, Max: 35})
	r.SkipOutside("day", Bounds{Type: days, Min: -59, Max: -25})
	require.Equal(t, []int64{20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39}, keysOf(t, r))
}

// TestBoundsOfSeconds reads a file that stores milliseconds and says that they were seconds.
func TestBoundsOfSeconds(t *testing.T) {
	dt := &arrow.TimestampType{Unit: arrow.Second}
	b := array.NewTimestampBuilder(memory.NewGoAllocator(), dt)
	b.AppendValues([]arrow.Timestamp{-7, 5}, nil)
	schema := arrow.NewSchema([]arrow.Field{{Name: "at", Type: dt}}, nil)
	path := tempPath(t, Parquet)
	out, err := os.Create(path)
	require.NoError(t, err)
	w, err := pqarrow.NewFileWriter(schema, out, nil, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	require.NoError(t, err)
	require.NoError(t, w.Write(array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, 2)))
	require.NoError(t, w.Close())
	r, err := Open(t.Context(), path, ReadOptions{})
	require.NoError(t, err)
	defer r.Close()
	bounds, ok := r.Bounds("at")
	require.True(t, ok)
	require.Equal(t, Bounds{Type: dt, Min: -7, Max: 5}, bounds)
}
