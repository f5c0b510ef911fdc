package groupby_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
)

// TestInnerNulls counts values of types that keep NULL elsewhere than in the validity of the column: entries of a
// dictionary, runs, fields of a union, the type null.
func TestInnerNulls(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) { testInnerNulls(t, engine(t, device)) })
}

func testInnerNulls(t *testing.T, e *groupby.Engine) {
	from := func(dtype arrow.DataType, json string) arrow.Array {
		a, _, err := array.FromJSON(memory.DefaultAllocator, dtype, strings.NewReader(json))
		require.NoError(t, err)
		return a
	}
	text := arrow.BinaryTypes.String
	entries, runs := from(text, `["a", null]`), from(text, `[null, "b", null]`)
	dictionary := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: text},
		from(arrow.PrimitiveTypes.Int32, `[0, 1, null, 0, 1, 0]`), entries)
	encoded := array.NewRunEndEncodedArray(from(arrow.PrimitiveTypes.Int32, `[2, 5, 6]`), runs, 6, 0)
	runsOfDictionary := array.NewRunEndEncodedArray(from(arrow.PrimitiveTypes.Int32, `[2, 5, 6]`),
		array.NewDictionaryArray(dictionary.DataType().(*arrow.DictionaryType), from(arrow.PrimitiveTypes.Int32, `[0, 1, 0]`),
			entries), 6, 0)
	union, err := array.NewSparseUnionFromArrays(from(arrow.PrimitiveTypes.Int8, `[0, 0, 1, 1, 0, 1]`),
		[]arrow.Array{from(arrow.PrimitiveTypes.Int64, `[1, null, 3, 4, 5, 6]`),
			from(text, `["a", "b", null, "d", "e", null]`)})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		values arrow.Array
		counts [2]int64 // of rows [0, 6) and [1, 5)
	}{
		"dictionary":           {dictionary, [2]int64{3, 1}},
		"runs":                 {encoded, [2]int64{3, 3}},
		"union":                {union, [2]int64{3, 2}},
		"runs of a dictionary": {runsOfDictionary, [2]int64{3, 1}},
		"null":                 {array.NewNull(6), [2]int64{0, 0}},
	} {
		for i, values := range []arrow.Array{c.values, array.NewSlice(c.values, 1, 5)} {
			schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: values.DataType(), Nullable: true}}, nil)
			table := array.NewTableFromRecords(schema, []arrow.RecordBatch{
				array.NewRecordBatch(schema, []arrow.Array{values}, int64(values.Len()))})
			spec := groupby.Spec{Aggregates: []groupby.Aggregate{{Func: groupby.Count, Column: "x"}}}
			layout, err := groupby.NewLayout(schema, spec)
			require.NoError(t, err)
			require.Equal(t, c.counts[i], onlyCount(t, groupOf(e.Group(t.Context(), table, spec))), "%s, as a table", name)
			require.Equal(t, c.counts[i], onlyCount(t, groupOf(e.Stream(t.Context(), layout, batchesOf(table)))),
				"%s, as a stream", name)
		}
	}
	// Different values of a dictionary with a NULL entry.
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: dictionary.DataType(), Nullable: true}}, nil)
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{
		array.NewRecordBatch(schema, []arrow.Array{dictionary}, 6)})
	spec := groupby.Spec{Aggregates: []groupby.Aggregate{{Func: groupby.CountDistinct, Column: "x"}}}
	require.Equal(t, int64(1), onlyCount(t, groupOf(e.Group(t.Context(), table, spec))))
}

type outcome struct {
	result *groupby.Result
	err    error
}

func groupOf(result *groupby.Result, err error) outcome { return outcome{result, err} }

// onlyCount returns the one value of a result of one group.
func onlyCount(t *testing.T, o outcome) (count int64) {
	t.Helper()
	require.NoError(t, o.err)
	defer o.result.Close()
	for batch, err := range o.result.Batches(t.Context()) {
		require.NoError(t, err)
		count += batch.Column(0).(*array.Int64).Value(0)
		batch.Release()
	}
	return count
}

func onlyBatch(t *testing.T, result *groupby.Result) (only arrow.RecordBatch) {
	for batch, err := range result.Batches(t.Context()) {
		require.NoError(t, err)
		require.Nil(t, only)
		only = batch
	}
	return only
}

// Aggregates of a column of type null are NULL, however the group-by runs.
func TestAggregatesOfTypeNull(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		e := engine(t, device)
		schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: arrow.Null}}, nil)
		keys, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int32, strings.NewReader(`[1, 2, 1]`))
		require.NoError(t, err)
		table := array.NewTableFromRecords(schema, []arrow.RecordBatch{
			array.NewRecordBatch(schema, []arrow.Array{keys, array.NewNull(3)}, 3)})
		for _, by := range [][]string{nil, {"k"}} {
			spec := groupby.Spec{By: by}
			for f := groupby.Count; ; f++ {
				if parsed, err := groupby.ParseFunc(f.String()); err != nil || parsed != f {
					break
				}
				spec.Aggregates = append(spec.Aggregates, groupby.Aggregate{Func: f, Column: "x"})
			}
			require.Greater(t, len(spec.Aggregates), 7)
			layout, err := groupby.NewLayout(schema, spec)
			require.NoError(t, err)
			check := func(o outcome) {
				require.NoError(t, o.err)
				defer o.result.Close()
				batch := onlyBatch(t, o.result)
				defer batch.Release()
				require.EqualValues(t, 1+len(by), batch.NumRows())
				for i, a := range spec.Aggregates {
					column := batch.Column(len(by) + i)
					require.Equal(t, a.OutputName(), batch.ColumnName(len(by)+i))
					for row := range column.Len() {
						if a.Func == groupby.Count || a.Func == groupby.CountDistinct {
							require.EqualValues(t, 0, column.(*array.Int64).Value(row))
						} else {
							require.True(t, relation.IsNull(column, row), a.OutputName())
						}
					}
				}
			}
			check(groupOf(e.Group(t.Context(), table, spec)))
			check(groupOf(e.Stream(t.Context(), layout, batchesOf(table))))
		}
	})
}
