package columnchunk

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"
)

// fileOfNodes makes a file without rows; stored may be nil.
func fileOfNodes(t *testing.T, stored *arrow.Schema, nodes ...schema.Node) *file.Reader {
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	require.NoError(t, err)
	var out bytes.Buffer
	properties := parquet.NewWriterProperties(parquet.WithVersion(parquet.V2_LATEST))
	options := []file.WriteOption{file.WithWriterProps(properties)}
	if stored != nil {
		meta := metadata.NewKeyValueMetadata()
		serialized := flight.SerializeSchema(stored, memory.DefaultAllocator)
		require.NoError(t, meta.Append(storedArrowKey, base64.StdEncoding.EncodeToString(serialized)))
		options = append(options, file.WithWriteMetadata(meta))
	}
	writer := file.NewParquetWriter(&out, root, options...)
	require.NoError(t, writer.Close())
	reader, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
	require.NoError(t, err)
	return reader
}

func leafNode(t *testing.T, name string, kind parquet.Type, logical schema.LogicalType, width int) schema.Node {
	node, err := schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Optional, logical, kind, width, -1)
	require.NoError(t, err)
	return node
}

var (
	none    = schema.NoLogicalType{}
	utf8Log = schema.StringLogicalType{}
	stamp   = func(adjusted bool, unit schema.TimeUnitType) schema.LogicalType {
		return schema.NewTimestampLogicalType(adjusted, unit)
	}
)

func TestReadSchemaRestoresStoredTypes(t *testing.T) {
	uuid := extensions.NewUUIDType()
	bool8 := extensions.NewBool8Type()
	for _, c := range []struct {
		stored  arrow.DataType
		kind    parquet.Type
		logical schema.LogicalType
		width   int
		want    arrow.DataType // nil: stored
	}{
		{arrow.BinaryTypes.StringView, parquet.Types.ByteArray, utf8Log, 0, nil},
		{arrow.BinaryTypes.LargeString, parquet.Types.ByteArray, utf8Log, 0, nil},
		{arrow.BinaryTypes.BinaryView, parquet.Types.ByteArray, none, 0, nil},
		{dictionaryOf(ints.Int8, arrow.BinaryTypes.String), parquet.Types.ByteArray, utf8Log, 0, nil},
		{dictionaryOf(ints.Uint16, ints.Int64), parquet.Types.Int64, schema.NewIntLogicalType(64, true), 0, nil},
		{&arrow.Decimal32Type{Precision: 7, Scale: 2}, parquet.Types.Int32, schema.NewDecimalLogicalType(7, 2), 0, nil},
		{&arrow.Decimal256Type{Precision: 7, Scale: 2}, parquet.Types.FixedLenByteArray, schema.NewDecimalLogicalType(7, 2),
			4, nil},
		{arrow.FixedWidthTypes.Timestamp_s, parquet.Types.Int64, stamp(true, schema.TimeUnitMillis), 0, nil},
		{&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Asia/Tokyo"}, parquet.Types.Int64,
			stamp(true, schema.TimeUnitMicros), 0, nil},
		{arrow.FixedWidthTypes.Time32s, parquet.Types.Int32, schema.NewTimeLogicalType(true, schema.TimeUnitMillis), 0, nil},
		{arrow.FixedWidthTypes.Time64us, parquet.Types.Int64, schema.NewTimeLogicalType(true, schema.TimeUnitMicros), 0, nil},
		{arrow.FixedWidthTypes.Date64, parquet.Types.Int32, schema.DateLogicalType{}, 0, nil},
		{arrow.FixedWidthTypes.Duration_ms, parquet.Types.Int64, none, 0, nil},
		{&arrow.TimestampType{Unit: arrow.Nanosecond}, parquet.Types.Int96, none, 0, nil},
		{uuid, parquet.Types.FixedLenByteArray, schema.UUIDLogicalType{}, 16, nil},
		{bool8, parquet.Types.Int32, schema.NewIntLogicalType(8, true), 0, nil},
		{jsonType, parquet.Types.ByteArray, schema.JSONLogicalType{}, 0, nil},
		// What the column cannot hold, or means differently, is not restored.
		{ints.Int32, parquet.Types.Int64, none, 0, ints.Int64},
		{ints.Uint8, parquet.Types.Int32, none, 0, ints.Int32},
		{arrow.BinaryTypes.StringView, parquet.Types.ByteArray, none, 0, arrow.BinaryTypes.Binary},
		{arrow.BinaryTypes.Binary, parquet.Types.ByteArray, utf8Log, 0, arrow.BinaryTypes.String},
		{arrow.FixedWidthTypes.Timestamp_ns, parquet.Types.Int64, stamp(true, schema.TimeUnitMicros), 0,
			arrow.FixedWidthTypes.Timestamp_us},
		{arrow.FixedWidthTypes.Timestamp_us, parquet.Types.Int64, stamp(false, schema.TimeUnitMicros), 0,
			&arrow.TimestampType{Unit: arrow.Microsecond}},
		{&arrow.Decimal32Type{Precision: 5, Scale: 2}, parquet.Types.Int32, schema.NewDecimalLogicalType(7, 2), 0,
			&arrow.Decimal128Type{Precision: 7, Scale: 2}},
		{&arrow.Decimal32Type{Precision: 7, Scale: 1}, parquet.Types.Int32, schema.NewDecimalLogicalType(7, 2), 0,
			&arrow.Decimal128Type{Precision: 7, Scale: 2}},
	} {
		t.Run(c.stored.String(), func(t *testing.T) {
			meta := arrow.MetadataFrom(map[string]string{"unit": "parsec"})
			stored := arrow.NewSchema([]arrow.Field{{Name: "price", Type: c.stored, Metadata: meta}}, &meta)
			got, fields, err := ReadSchema(fileOfNodes(t, stored, leafNode(t, "price", c.kind, c.logical, c.width)))
			require.NoError(t, err)
			want := c.want
			if want == nil {
				want = c.stored
			}
			require.True(t, arrow.TypeEqual(want, got.Field(0).Type), "%s", got.Field(0).Type)
			require.True(t, got.Field(0).Nullable)
			require.Equal(t, map[string]string{"unit": "parsec"}, got.Field(0).Metadata.ToMap())
			require.Equal(t, map[string]string{"unit": "parsec"}, got.Metadata().ToMap())
			require.NoError(t, fields[0].Err)
			require.Equal(t, got.Field(0), fields[0].Column.Field)
			require.Equal(t, "price", fields[0].Column.Leaf.Name())
		})
	}
}

func TestReadSchemaIgnoresForeignStoredSchema(t *testing.T) {
	node := leafNode(t, "price", parquet.Types.ByteArray, utf8Log, 0)
	other := arrow.NewSchema([]arrow.Field{{Name: "cost", Type: arrow.BinaryTypes.LargeString}}, nil)
	_, fields, err := ReadSchema(fileOfNodes(t, other, node))
	require.NoError(t, err)
	require.NotNil(t, fields[0].Column)
	two := arrow.NewSchema([]arrow.Field{{Name: "price", Type: arrow.BinaryTypes.StringView},
		{Name: "tax", Type: ints.Int8}}, nil)
	got, _, err := ReadSchema(fileOfNodes(t, two, node))
	require.NoError(t, err)
	require.Equal(t, arrow.BinaryTypes.String, got.Field(0).Type)
}

func TestReadSchemaOfTypesWithoutArrowType(t *testing.T) {
	time := schema.NewTimeLogicalType
	old := schema.MustPrimitive(schema.NewPrimitiveNodeConverted("old", parquet.Repetitions.Optional, parquet.Types.Int32,
		schema.ConvertedTypes.TimeMillis, 0, 0, 0, -1))
	list, err := schema.ListOf(leafNode(t, "list", parquet.Types.Int32, none, 0), parquet.Repetitions.Optional, -1)
	require.NoError(t, err)
	reader := fileOfNodes(t, nil,
		list,
		leafNode(t, "plain", parquet.Types.Int64, time(false, schema.TimeUnitMicros), 0),
		leafNode(t, "zoned", parquet.Types.Int64, time(true, schema.TimeUnitMicros), 0),
		leafNode(t, "interval", parquet.Types.FixedLenByteArray, schema.IntervalLogicalType{}, 12),
		leafNode(t, "json", parquet.Types.ByteArray, schema.JSONLogicalType{}, 0),
		leafNode(t, "uuid", parquet.Types.FixedLenByteArray, schema.UUIDLogicalType{}, 16),
		leafNode(t, "null", parquet.Types.Int32, schema.NullLogicalType{}, 0),
		old,
	)
	elements := reader.MetaData().GetSchema()
	elements[len(elements)-1].LogicalType = nil // as old programs wrote it: only the converted type
	got, fields, err := ReadSchema(reader)
	require.NoError(t, err)
	require.Nil(t, fields[0].Column)
	require.NoError(t, fields[0].Err)
	require.Equal(t, arrow.FixedWidthTypes.Time64us, got.Field(1).Type)
	require.NotNil(t, fields[1].Column)
	require.Equal(t, arrow.FixedWidthTypes.Time64us, got.Field(2).Type)
	require.NotNil(t, fields[2].Column)
	require.EqualError(t, fields[3].Err,
		`column "interval" cannot be read: type INTERVAL has no equivalent here; leave it out with columns`)
	require.Equal(t, "extension<arrow.json[storage_type=utf8]>", got.Field(4).Type.String())
	require.NotNil(t, fields[4].Column)
	require.Equal(t, "extension<arrow.uuid>", got.Field(5).Type.String())
	require.NotNil(t, fields[5].Column)
	require.Equal(t, arrow.Null, got.Field(6).Type)
	require.Nil(t, fields[6].Column)
	require.NoError(t, fields[6].Err)
	require.Equal(t, arrow.FixedWidthTypes.Time32ms, got.Field(7).Type)
	require.NoError(t, fields[7].Err)
	for i, field := range fields {
		require.Equal(t, got.Field(i), field.Field)
		require.Zero(t, field.Field.Metadata.Len(), field.Field.Name)
	}
}

func TestReadSchemaKeepsFieldIDs(t *testing.T) {
	node, err := schema.NewPrimitiveNode("price", parquet.Repetitions.Required, parquet.Types.Double, 7, -1)
	require.NoError(t, err)
	got, _, err := ReadSchema(fileOfNodes(t, nil, node))
	require.NoError(t, err)
	require.Equal(t, map[string]string{fieldIDKey: "7"}, got.Field(0).Metadata.ToMap())
	require.False(t, got.Field(0).Nullable)
}

func TestDecodeAsReadSchemaSays(t *testing.T) {
	cases := decodeCases()
	columns := columnsOf(cases, required)
	content := writeColumns(t, columns, false, []pqarrow.WriterOption{}, parquet.WithVersion(parquet.V2_LATEST))
	reader := openFile(t, content)
	_, fields, err := ReadSchema(reader)
	require.NoError(t, err)
	var d Decoder
	for i, field := range fields {
		require.NoError(t, field.Err)
		require.True(t, arrow.TypeEqual(columns[i].DataType(), field.Field.Type), "%s", field.Field)
		got, err := decodeColumn(t, &d, reader, 0, field.First, field.Field.Type, memory.DefaultAllocator)
		require.NoError(t, err)
		require.True(t, array.Equal(columns[i], got), field.Field)
		got.Release()
	}
}
