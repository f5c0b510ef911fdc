package relation

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
)

// dirty returns memory full of ones, as memory outside Go's heap may be.
type dirty struct{ memory.Allocator }

func (d dirty) Allocate(size int) []byte {
	b := d.Allocator.Allocate(size)
	memory.Set(b, 0xff)
	return b
}

func (d dirty) Reallocate(size int, b []byte) []byte {
	grown := d.Allocate(size)
	copy(grown, b)
	d.Allocator.Free(b)
	return grown
}

// nestedExtension is an extension type stored as a struct.
type nestedExtension struct{ arrow.ExtensionBase }

func (*nestedExtension) ArrayType() reflect.Type { return reflect.TypeFor[nestedArray]() }
func (*nestedExtension) ExtensionName() string   { return "nested" }
func (*nestedExtension) Serialize() string       { return "" }
func (e *nestedExtension) ExtensionEquals(o arrow.ExtensionType) bool {
	return e.ExtensionName() == o.ExtensionName()
}
func (e *nestedExtension) Deserialize(arrow.DataType, string) (arrow.ExtensionType, error) {
	return e, nil
}

type nestedArray struct{ array.ExtensionArrayBase }

func nullTypes() (types []arrow.DataType) {
	for _, group := range keyTypes {
		types = append(types, group...)
	}
	for _, c := range takeValues {
		types = append(types, c.dt)
	}
	inner := arrow.StructOf(arrow.Field{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
			ValueType: arrow.BinaryTypes.String}, Nullable: true})
	fields := []arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "s", Type: inner, Nullable: true}}
	return append(types, arrow.ListOf(inner), arrow.FixedSizeListOf(3, inner), arrow.BinaryTypes.BinaryView,
		arrow.LargeListViewOf(inner), arrow.SparseUnionOf(fields, []arrow.UnionTypeCode{5, 6}),
		arrow.DenseUnionOf(fields, []arrow.UnionTypeCode{5, 6}),
		&nestedExtension{arrow.ExtensionBase{Storage: inner}},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: inner})
}

// TestNulls makes nulls of every type in memory that is not zero, and checks each row.
func TestNulls(t *testing.T) {
	for _, dt := range nullTypes() {
		for _, rows := range []int{0, 1, 9, 1000} {
			checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
			nulls, err := Nulls(dt, rows, dirty{checked})
			require.NoError(t, err, dt)
			require.True(t, arrow.TypeEqual(dt, nulls.DataType()))
			require.Equal(t, rows, nulls.Len())
			if !arrow.IsUnion(dt.ID()) && dt.ID() != arrow.RUN_END_ENCODED {
				require.Equal(t, rows, nulls.NullN(), dt)
			}
			for i := range rows {
				require.True(t, isNull(nulls, i), "%s, row %d", dt, i)
			}
			if builder := builderOf(dt); builder != nil {
				builder.AppendNulls(rows)
				want := builder.NewArray()
				require.True(t, array.Equal(want, nulls), "%s: %v, not %v", dt, nulls, want)
			}
			nulls.Release()
			checked.AssertSize(t, 0)
		}
	}
	_, err := Nulls(arrow.PrimitiveTypes.Int8, -1, memory.DefaultAllocator)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	_, err = Nulls(arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, arrow.BinaryTypes.String), 1<<15,
		memory.DefaultAllocator)
	require.ErrorIs(t, err, ErrBatchTooLarge)
}

// isNull looks into unions, runs and dictionaries.
func isNull(values arrow.Array, i int) bool {
	switch values := values.(type) {
	case *array.Null:
		return true
	case array.Union:
		row := i
		if dense, ok := values.(*array.DenseUnion); ok {
			row = int(dense.ValueOffset(i))
		}
		return isNull(values.Field(values.ChildID(i)), row)
	case *array.RunEndEncoded:
		return isNull(values.Values(), values.GetPhysicalIndex(i))
	case *array.Dictionary:
		return values.IsNull(i) || isNull(values.Dictionary(), values.GetValueIndex(i))
	}
	return values.IsNull(i)
}

// builderOf returns a builder for a type whose nulls compare equal; nil for types without such a builder.
func builderOf(dt arrow.DataType) array.Builder {
	switch dt := dt.(type) {
	case *arrow.SparseUnionType, *arrow.DenseUnionType, *nestedExtension:
		return nil
	case *arrow.DictionaryType:
		if dt.ValueType.ID() == arrow.STRUCT {
			return nil
		}
	}
	return array.NewBuilder(memory.DefaultAllocator, dt)
}

// TestTakeNullable gathers rows of every type, some of them NoRow.
func TestTakeNullable(t *testing.T) {
	for _, c := range takeValues {
		t.Run(c.dt.String(), func(t *testing.T) {
			values, _, err := array.FromJSON(memory.DefaultAllocator, c.dt, strings.NewReader(c.json))
			require.NoError(t, err)
			testTakeNullable(t, chunkedOf(values, 2, 0, 5, 3))
			testTakeNullable(t, chunkedOf(array.NewSlice(values, 2, 5)))
			testTakeNullable(t, arrow.NewChunked(c.dt, nil))
			fields := arrow.StructOf(arrow.Field{Name: "f", Type: c.dt, Nullable: true})
			nested, err := array.NewStructArray([]arrow.Array{values}, []string{"f"})
			require.NoError(t, err)
			require.True(t, arrow.TypeEqual(fields, nested.DataType()))
			testTakeNullable(t, chunkedOf(nested, 2))
		})
	}
}

func testTakeNullable(t *testing.T, column *arrow.Chunked) {
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.Just(uint32(NoRow))
		if column.Len() > 0 {
			row = rapid.OneOf(row, rapid.Uint32Range(0, uint32(column.Len()-1)))
		}
		ids := rapid.SliceOfN(row, 0, 100).Draw(t, "ids")
		checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
		got, err := TakeNullable(context.Background(), column, ids, dirty{checked})
		require.NoError(t, err)
		require.True(t, arrow.TypeEqual(column.DataType(), got.DataType()))
		require.Equal(t, len(ids), got.Len())
		for i, id := range ids {
			if id == NoRow {
				require.True(t, isNull(got, i), "row %d: %s", i, got.ValueStr(i))
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
		_, err := TakeNullable(context.Background(), column, ids, memory.DefaultAllocator)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
	}
}

// TestTakeNullableOfUnions: the rows that are present keep their values.
func TestTakeNullableOfUnions(t *testing.T) {
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
		got, err := TakeNullable(context.Background(), chunkedOf(values, 1), []uint32{3, NoRow, 2, 7, NoRow, 0},
			memory.DefaultAllocator)
		require.NoError(t, err)
		for i, want := range []int{3, -1, 2, 3, -1, 0} {
			if want < 0 {
				require.True(t, isNull(got, i))
			} else {
				require.Equal(t, values.ValueStr(want), got.ValueStr(i))
			}
		}
	}
}

// TestTakeNullableKeepsDictionary: a missing row does not make dictionaries differ.
func TestTakeNullableKeepsDictionary(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	values, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(`["a", "b", null, "a"]`))
	require.NoError(t, err)
	got, err := TakeNullable(context.Background(), chunkedOf(values), []uint32{1, NoRow}, memory.DefaultAllocator)
	require.NoError(t, err)
	require.Same(t, values.Data().Dictionary(), got.Data().Dictionary())
}
