package tableio

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// slicedRows is a row group of three slices.
const slicedRows = 3*defaultGroupRows + 1

// slicedBatches are a batch of flat columns and one with a list, both with values that change between slices.
func slicedBatches(t *testing.T) (flat, nested arrow.RecordBatch) {
	mem := memory.NewGoAllocator()
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "key", Type: arrow.PrimitiveTypes.Int64},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "kind", Type: dictionary},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "list", Type: arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.PrimitiveTypes.Int32, Nullable: true})},
	}, nil)
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	for i := range slicedRows {
		b.Field(0).(*array.Int64Builder).Append(int64(i) * 1_000_003)
		if i%11 == 5 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("name %d", i))
		}
		require.NoError(t, b.Field(2).(*array.BinaryDictionaryBuilder).AppendString(fmt.Sprint("kind ", i%(1+i>>12))))
		if i > 2*defaultGroupRows && i%3 == 0 {
			b.Field(3).AppendNull()
		} else {
			b.Field(3).(*array.BooleanBuilder).Append(i%5 < 2)
		}
		lists := b.Field(4).(*array.ListBuilder)
		lists.Append(true)
		for k := range i % 3 {
			lists.ValueBuilder().(*array.Int32Builder).Append(int32(i * k))
		}
	}
	all := b.NewRecordBatch()
	t.Cleanup(all.Release)
	part := func(columns ...int) arrow.RecordBatch {
		chosen := make([]arrow.Array, len(columns))
		for i, column := range columns {
			chosen[i] = all.Column(column)
		}
		return array.NewRecordBatch(core.ChosenSchema(schema, columns), chosen, all.NumRows())
	}
	return part(0, 1, 2, 3), part(4, 0)
}

// requireSameValues compares batches whose dictionaries may differ.
func requireSameValues(t *testing.T, want, got arrow.RecordBatch) {
	require.EqualValues(t, want.NumCols(), got.NumCols())
	for i, column := range got.Columns() {
		if _, dictionary := column.(*array.Dictionary); !dictionary {
			require.True(t, array.Equal(want.Column(i), column), got.ColumnName(i))
			continue
		}
		require.NoError(t, array.ValidateFull(column))
		for row := range column.Len() {
			require.Equal(t, want.Column(i).ValueStr(row), column.ValueStr(row))
		}
	}
}

// A large row group is read as several batches with the same rows, whether it is the only one or its columns suffice
// for the cores. All memory is given back, wherever the receiver leaves.
func TestLargeRowGroupsAreReadInSlices(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	flat, nested := slicedBatches(t)
	for _, c := range []struct {
		name      string
		batch     arrow.RecordBatch
		groupRows int64
		slices    []int64
	}{
		{"flat", flat, slicedRows, []int64{132096, 132096, 129025}},
		{"groups", flat, 2 * defaultGroupRows, []int64{defaultGroupRows, defaultGroupRows, defaultGroupRows + 1}},
		{"nested", nested, slicedRows, []int64{132096, 132096, 129025}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer mem.AssertSize(t, 0)
			path := tempPath(t, Parquet)
			writeFile(t, path, c.batch.Schema(), []arrow.RecordBatch{c.batch}, WriteOptions{RowGroupRows: c.groupRows})
			r, err := Open(t.Context(), path, ReadOptions{Allocator: dirty{mem}})
			require.NoError(t, err)
			defer r.Close()
			var slices []int64
			at := int64(0)
			for batch, err := range r.Batches(t.Context(), nil) {
				require.NoError(t, err)
				want := c.batch.NewSlice(at, at+batch.NumRows())
				requireSameValues(t, want, batch)
				want.Release()
				slices = append(slices, batch.NumRows())
				at += batch.NumRows()
				batch.Release()
			}
			require.Equal(t, c.slices, slices)
			for stop := range slices {
				ctx, cancel := context.WithCancel(t.Context())
				got := 0
				for batch, err := range r.Batches(ctx, nil) {
					require.NoError(t, err)
					batch.Release()
					if got++; got > stop {
						break
					}
				}
				require.Zero(t, mem.CurrentAlloc())
				for batch, err := range r.Batches(ctx, nil) {
					if err != nil {
						require.ErrorIs(t, err, context.Canceled)
						break
					}
					batch.Release()
					cancel()
				}
				cancel()
				require.Zero(t, mem.CurrentAlloc())
			}
		})
	}
}

// A fault in a later slice ends the sequence behind the slices before.
func TestFaultInALaterSlice(t *testing.T) {
	flat, _ := slicedBatches(t)
	path := tempPath(t, Parquet)
	writeFile(t, path, flat.Schema(), []arrow.RecordBatch{flat}, WriteOptions{RowGroupRows: slicedRows, Compression: "none"})
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	at := bytes.Index(content, []byte("name 200000"))
	require.Positive(t, at)
	content[at] = 0xff
	require.NoError(t, os.WriteFile(path, content, 0o600))
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	r, err := Open(t.Context(), path, ReadOptions{Allocator: mem})
	require.NoError(t, err)
	defer r.Close()
	got := 0
	for batch, err := range r.Batches(t.Context(), nil) {
		if err != nil {
			require.ErrorIs(t, err, ErrInput)
			require.ErrorContains(t, err, `row group 0: column "name": `)
			require.ErrorContains(t, err, "UTF-8")
			break
		}
		got++
		batch.Release()
	}
	require.Equal(t, 1, got)
}
