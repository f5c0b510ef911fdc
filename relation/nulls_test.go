package relation

import (
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation/relationtest"
)

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
	for _, group := range relationtest.KeyTypes {
		types = append(types, group...)
	}
	inner := arrow.StructOf(arrow.Field{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
			ValueType: arrow.BinaryTypes.String}, Nullable: true})
	fields := []arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "s", Type: inner, Nullable: true}}
	key := arrow.BinaryTypes.String
	types = append(types, arrow.FixedWidthTypes.MonthDayNanoInterval, &arrow.FixedSizeBinaryType{ByteWidth: 3}, arrow.Null,
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary,
		arrow.BinaryTypes.StringView, arrow.LargeListOf(key), arrow.MapOf(key, arrow.PrimitiveTypes.Int8),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: key},
		arrow.ListViewOf(arrow.PrimitiveTypes.Int32), arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, key),
		extensions.NewUUIDType())
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
			nulls, err := Nulls(dt, rows, relationtest.Dirty{Allocator: checked})
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
