package take

import (
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/relationtest"
)

// TestNullable gathers rows of every type, some of them NoRow.
func TestNullable(t *testing.T) {
	for _, c := range takeValues {
		t.Run(c.dt.String(), func(t *testing.T) {
			values, _, err := array.FromJSON(memory.DefaultAllocator, c.dt, strings.NewReader(c.json))
			require.NoError(t, err)
			testNullable(t, chunkedOf(values, 2, 0, 5, 3))
			testNullable(t, chunkedOf(array.NewSlice(values, 2, 5)))
			testNullable(t, arrow.NewChunked(c.dt, nil))
			fields := arrow.StructOf(arrow.Field{Name: "f", Type: c.dt, Nullable: true})
			nested, err := array.NewStructArray([]arrow.Array{values}, []string{"f"})
			require.NoError(t, err)
			require.True(t, arrow.TypeEqual(fields, nested.DataType()))
			testNullable(t, chunkedOf(nested, 2))
		})
	}
}

func testNullable(t *testing.T, column *arrow.Chunked) {
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.Just(uint32(NoRow))
		if column.Len() > 0 {
			row = rapid.OneOf(row, rapid.Uint32Range(0, uint32(column.Len()-1)))
		}
		ids := rapid.SliceOfN(row, 0, 100).Draw(t, "ids")
		checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
		got, err := Nullable(context.Background(), column, ids, relationtest.Dirty{Allocator: checked})
		require.NoError(t, err)
		require.True(t, arrow.TypeEqual(column.DataType(), got.DataType()))
		require.Equal(t, len(ids), got.Len())
		for i, id := range ids {
			if id == NoRow {
				require.True(t, relation.IsNull(got, i), "row %d: %s", i, got.ValueStr(i))
				continue
			}
			want := array.NewChunkedSlice(column, int64(id), int64(id)+1)
			for _, chunk := range want.Chunks() {
				if chunk.Len() == 1 {
					row := array.NewSlice(got, int64(i), int64(i)+1)
					require.True(t, array.Equal(chunk, row), "row %d is %s, not %s", i, row, chunk)
					row.Release()
				}
			}
		}
		got.Release()
		require.Zero(t, checked.CurrentAlloc())
	})
	bad := uint32(column.Len())
	for _, ids := range [][]uint32{{NoRow, bad}, {bad, bad + 7}, {NoRow - 1, NoRow}} {
		_, err := Nullable(context.Background(), column, ids, memory.DefaultAllocator)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
	}
}

// TestNullableOfUnions: the rows that are present keep their values.
func TestNullableOfUnions(t *testing.T) {
	fields := []arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}
	codes := []arrow.UnionTypeCode{3, 1}
	dense := array.NewDenseUnionBuilder(memory.DefaultAllocator, arrow.DenseUnionOf(fields, codes))
	sparse := array.NewSparseUnionBuilder(memory.DefaultAllocator, arrow.SparseUnionOf(fields, codes))
	for i := range 4 {
		for _, b := range []array.UnionBuilder{dense, sparse} {
			b.Append(codes[i%2])
			if i%2 == 0 {
				b.Child(0).(*array.Int32Builder).Append(int32(i))
			} else {
				b.Child(1).(*array.StringBuilder).Append(strings.Repeat("x", i))
			}
		}
		sparse.Child(1 - i%2).AppendEmptyValue()
	}
	for _, values := range []arrow.Array{dense.NewArray(), sparse.NewArray()} {
		got, err := Nullable(context.Background(), chunkedOf(values, 1), []uint32{3, NoRow, 2, 7, NoRow, 0},
			memory.DefaultAllocator)
		require.NoError(t, err)
		for i, want := range []int{3, -1, 2, 3, -1, 0} {
			if want < 0 {
				require.True(t, relation.IsNull(got, i))
			} else {
				require.Equal(t, values.ValueStr(want), got.ValueStr(i))
			}
		}
	}
}

// TestNullableKeepsDictionary: a missing row does not make dictionaries differ.
func TestNullableKeepsDictionary(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	values, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(`["a", "b", null, "a"]`))
	require.NoError(t, err)
	got, err := Nullable(context.Background(), chunkedOf(values), []uint32{1, NoRow}, memory.DefaultAllocator)
	require.NoError(t, err)
	require.Same(t, values.Data().Dictionary(), got.Data().Dictionary())
}
