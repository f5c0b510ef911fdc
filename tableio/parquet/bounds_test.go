package parquet

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// boundsSource has three row groups of ten rows: group g holds 10g to 10g+9 in key and gap, but group 1 nulls in gap.
func boundsSource(t *testing.T) *Source {
	schema := arrow.NewSchema([]arrow.Field{{Name: "key", Type: arrow.PrimitiveTypes.Int64},
		{Name: "gap", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for i := range 30 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		if i/10 == 1 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.Int32Builder).Append(int32(i))
		}
	}
	return written(t, b.NewRecordBatch(), Options{RowGroupRows: 10}, 0)
}

// TestBoundsOfDoubtfulStatistics: one bound alone, and bounds in the wrong order, tell nothing.
func TestBoundsOfDoubtfulStatistics(t *testing.T) {
	for name, spoil := range map[string]func(min, max *[]byte){
		"no least":    func(min, _ *[]byte) { *min = nil },
		"no greatest": func(_, max *[]byte) { *max = nil },
		"swapped":     func(min, max *[]byte) { *min, *max = *max, *min },
	} {
		s := boundsSource(t)
		stats := s.file.MetaData().GetRowGroups()[2].GetColumns()[0].GetMetaData().GetStatistics()
		spoil(&stats.MinValue, &stats.MaxValue)
		_, ok := s.Bounds(0)
		require.False(t, ok, name)
		s.SkipOutside(0, core.Bounds{Type: arrow.PrimitiveTypes.Int64, Min: 100, Max: 200})
		require.Equal(t, []bool{true, true, false}, s.skipped, name)
	}
}

// TestBoundsOfDoubtfulNullCounts: a count of NULLs that is missing, negative or by a program that is known to miscount
// excludes neither NULLs nor values.
func TestBoundsOfDoubtfulNullCounts(t *testing.T) {
	count := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		writer       string
		column       string // of which group 2 has no NULLs and group 1 only NULLs; or none
		group        int
		count        *int64
		known, nulls bool // the bounds, and whether they have NULLs
	}{
		"none":             {"spirjoin", "gap", 2, count(0), true, false},
		"missing":          {"spirjoin", "gap", 2, nil, true, true},
		"negative":         {"spirjoin", "gap", 2, count(-1), true, true},
		"too many":         {"spirjoin", "gap", 2, count(11), true, true},
		"all, with values": {"spirjoin", "gap", 2, count(10), true, true},
		"0 by another":     {"parquet-rs version 4.0.0", "gap", 2, count(0), true, true},
		"all":              {"spirjoin", "gap", 1, count(10), true, true},
		"all by another":   {"Polars", "gap", 1, count(10), false, false},
		"required":         {"Polars", "key", 2, nil, true, false},
	} {
		s := boundsSource(t)
		s.file.MetaData().CreatedBy = &c.writer
		leaf := s.Schema().FieldIndices(c.column)[0]
		s.file.MetaData().GetRowGroups()[c.group].GetColumns()[leaf].GetMetaData().GetStatistics().NullCount = c.count
		b, ok := s.groupBounds(leaf, c.group)
		require.Equal(t, c.known, ok, name)
		require.Equal(t, c.nulls, b.Nulls, name)
		b.Nulls = true
		b.Type, b.Min, b.Max = s.Schema().Field(leaf).Type, 1000, 2000
		s.SkipOutside(leaf, b)
		require.Equal(t, c.known && !c.nulls, s.skipped[c.group], name)
		require.Equal(t, c.column == "gap", s.Nulls(leaf), name) // which group 1 has
	}
}
