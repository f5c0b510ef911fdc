package columnchunk

import (
	"encoding/base64"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"
)

func TestEncodes(t *testing.T) {
	for _, dt := range flatTypes() {
		require.True(t, Encodes(dt), dt.String())
	}
	refused := []arrow.DataType{
		arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval,
		arrow.FixedWidthTypes.MonthDayNanoInterval,
		arrow.ListOf(arrow.PrimitiveTypes.Int8), arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8}),
		arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8), arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8),
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int8),
		arrow.SparseUnionOf([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int8}}, []arrow.UnionTypeCode{0}),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.ListOf(arrow.PrimitiveTypes.Int8)},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.FixedWidthTypes.Duration_s},
		&arrow.Decimal128Type{Precision: 5, Scale: -2}, &arrow.Decimal128Type{Precision: 5, Scale: 6},
		&arrow.FixedSizeBinaryType{ByteWidth: 0},
		extensions.NewDefaultVariantType(),
	}
	for _, dt := range refused {
		require.False(t, Encodes(dt), dt.String())
		_, _, _, err := WriteSchema(arrow.NewSchema([]arrow.Field{{Name: "odd", Type: dt, Nullable: true}}, nil))
		require.ErrorContains(t, err, `column "odd": type `+dt.String()+" cannot be written to Parquet")
	}
}

func TestWriteSchema(t *testing.T) {
	json, err := extensions.NewJSONType(arrow.BinaryTypes.String)
	require.NoError(t, err)
	meta := arrow.NewMetadata([]string{"k", storedArrowKey}, []string{"v", "stale"})
	numbered := arrow.NewMetadata([]string{"PARQUET:field_id", "x"}, []string{"7", "y"})
	from := arrow.NewSchema([]arrow.Field{
		{Name: "u", Type: extensions.NewUUIDType()},
		{Name: "j", Type: json, Nullable: true},
		{Name: "d", Type: &arrow.Decimal64Type{Precision: 18, Scale: 1}},
		{Name: "s", Type: arrow.FixedWidthTypes.Timestamp_s},
		{Name: "v", Type: arrow.BinaryTypes.StringView, Metadata: numbered},
	}, &meta)
	_, columns, pairs, err := WriteSchema(from)
	require.NoError(t, err)
	require.Len(t, columns, 5)
	require.Equal(t, schema.UUIDLogicalType{}, columns[0].Leaf.LogicalType())
	require.Equal(t, parquet.Repetitions.Required, columns[0].Leaf.SchemaNode().RepetitionType())
	require.Equal(t, schema.JSONLogicalType{}, columns[1].Leaf.LogicalType())
	require.Equal(t, schema.ConvertedTypes.JSON, columns[1].Leaf.ConvertedType())
	require.EqualValues(t, 1, columns[1].Leaf.MaxDefinitionLevel())
	require.Equal(t, parquet.Types.Int64, columns[2].Leaf.PhysicalType())
	require.EqualValues(t, 7, columns[4].Leaf.SchemaNode().FieldID())
	require.Equal(t, from.Field(4), columns[4].Field)
	require.Equal(t, "v", *pairs.FindValue("k"))

	serialized, err := base64.StdEncoding.DecodeString(*pairs.FindValue(storedArrowKey))
	require.NoError(t, err)
	stored, err := flight.DeserializeSchema(serialized, memory.NewGoAllocator())
	require.NoError(t, err)
	for i, field := range from.Fields() {
		require.True(t, field.Equal(stored.Field(i)), "%s instead of %s", stored.Field(i), field)
	}
}
