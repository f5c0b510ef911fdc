package tableio

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// Batches under a bound of memory have the same rows, of every format.
func TestBoundedBatches(t *testing.T) {
	for _, format := range formats {
		path, rows := manyGroups(t, format)
		whole, err := Open(t.Context(), path, ReadOptions{})
		require.NoError(t, err)
		want, err := whole.Read(t.Context(), nil)
		require.NoError(t, err)
		for _, aheadBytes := range []int64{1, 1 << 20, 1 << 40} {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			r, err := Open(t.Context(), path, ReadOptions{Allocator: dirty{mem}, AheadBytes: aheadBytes})
			require.NoError(t, err)
			got, err := r.Read(t.Context(), nil)
			require.NoError(t, err)
			tabletest.RequireSameTable(t, want, got)
			got.Release()
			for part, err := range r.Batches(t.Context(), []string{}) { // only rows
				require.NoError(t, err)
				rows -= part.NumRows()
				part.Release()
			}
			require.Zero(t, rows%60_000)
			for batch, err := range r.Batches(t.Context(), nil) { // is left early
				require.NoError(t, err)
				batch.Release()
				break
			}
			require.NoError(t, r.Close())
			require.Zero(t, mem.CurrentAlloc(), "%v", format)
		}
		want.Release()
		require.NoError(t, whole.Close())
	}
}

// longTexts are columns whose values have a kilobyte or none, of which files have few bytes, and a list of such.
func longTexts(rows int) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "key", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "large", Type: arrow.BinaryTypes.LargeBinary},
		{Name: "few",
			Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}},
		{Name: "list",
			Type: arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.BinaryTypes.String, Nullable: true})},
	}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	defer b.Release()
	for i := range rows {
		text := strings.Repeat(fmt.Sprint(i%9), 1000)
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		switch {
		case i%5 == 0:
			b.Field(1).AppendNull()
		case i%3 == 0:
			b.Field(1).(*array.StringBuilder).Append("")
		default:
			b.Field(1).(*array.StringBuilder).Append(text)
		}
		b.Field(2).(*array.BinaryBuilder).AppendString(text)
		_ = b.Field(3).(*array.BinaryDictionaryBuilder).AppendString(text)
		list := b.Field(4).(*array.ListBuilder)
		list.Append(true)
		for range i % 3 {
			list.ValueBuilder().(*array.StringBuilder).Append(text)
		}
	}
	return b.NewRecordBatch()
}

// However long texts are, batches and what is read ahead of them have the bytes that were asked for.
func TestBatchesAreBoundedByBytes(t *testing.T) {
	path := tempPath(t, Parquet)
	const rows, aheadBytes = 12_000, 2 << 20 // 25 MB
	all := longTexts(rows)
	writeFile(t, path, all.Schema(), []arrow.RecordBatch{all}, WriteOptions{RowGroupRows: 5000})
	want := array.NewTableFromRecords(all.Schema(), []arrow.RecordBatch{all})
	defer want.Release()
	for _, columns := range [][]string{nil, {"text"}, {"list"}, {"key", "large"}} {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		r, err := Open(t.Context(), path, ReadOptions{Allocator: mem, AheadBytes: aheadBytes, Columns: columns})
		require.NoError(t, err)
		needBytes, err := r.AheadBytes(nil)
		require.NoError(t, err)
		require.GreaterOrEqual(t, needBytes, int64(aheadBytes))
		require.Less(t, needBytes, int64(2*aheadBytes), "pages are small")
		_, err = r.AheadBytes([]string{"none"})
		require.ErrorIs(t, err, ErrColumn)
		moreBytes := int64(aheadBytes / 2)
		if columns == nil || columns[0] == "list" { // slices of nested columns are copied, and follow the size of the last
			moreBytes = aheadBytes * 3 / 2
		}
		seen, batches := int64(0), 0
		for batch, err := range r.Batches(t.Context(), nil) {
			require.NoError(t, err)
			require.LessOrEqual(t, int64(mem.CurrentAlloc()), needBytes+moreBytes, columns)
			seen, batches = seen+batch.NumRows(), batches+1
			batch.Release()
		}
		require.EqualValues(t, rows, seen)
		require.Greater(t, batches, 6, columns)
		got, err := r.Read(t.Context(), nil)
		require.NoError(t, err)
		if columns == nil {
			require.True(t, slices.Equal(render(want), render(got)), "dictionaries may have another order")
		}
		got.Release()
		require.NoError(t, r.Close())
		require.Zero(t, mem.CurrentAlloc())
	}
}
