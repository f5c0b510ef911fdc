package columnchunk

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// WriteSchema returns the Parquet schema in which columns of an Arrow schema are stored, the columns for [Encoder], and
// the key-value pairs of the file: the metadata of the schema, and the schema itself, so that types can be restored. In
// the file, seconds become milliseconds and date64 whole days; both are restored when it is read. Columns of types that
// do not satisfy [Encodes] are an error.
func WriteSchema(from *arrow.Schema) (*schema.Schema, []Column, metadata.KeyValueMetadata, error) {
	properties := WriterProperties(compress.Codecs.Uncompressed)
	nodes := make(schema.FieldList, from.NumFields())
	for i, field := range from.Fields() {
		node, err := writeNode(field, properties)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("column %q: type %s cannot be written to Parquet: %w", field.Name, field.Type, err)
		}
		nodes[i] = node
	}
	root, err := schema.NewGroupNode(properties.RootName(), properties.RootRepetition(), nodes, -1)
	if err != nil {
		return nil, nil, nil, err
	}
	to := schema.NewSchema(root)
	columns := make([]Column, len(nodes))
	for i := range columns {
		columns[i] = Column{Field: from.Field(i), Leaf: to.Column(i)}
	}
	pairs, err := StoredSchema(from)
	return to, columns, pairs, err
}

// StoredSchema returns the key-value pairs of a file: the metadata of a schema, and the schema itself.
func StoredSchema(schema *arrow.Schema) (metadata.KeyValueMetadata, error) {
	fields := schema.Fields()
	for i, field := range fields {
		fields[i].Type = storedType(field.Type)
	}
	meta := schema.Metadata()
	pairs := metadata.NewKeyValueMetadata()
	for i, key := range meta.Keys() {
		if key != storedArrowKey {
			if err := pairs.Append(key, meta.Values()[i]); err != nil {
				return nil, err
			}
		}
	}
	serialized := flight.SerializeSchema(arrow.NewSchema(fields, &meta), memory.NewGoAllocator())
	return pairs, pairs.Append(storedArrowKey, base64.StdEncoding.EncodeToString(serialized))
}

// WriterProperties returns the properties with which the metadata of the file, its row groups and chunks is built.
func WriterProperties(codec compress.Compression) *parquet.WriterProperties {
	return parquet.NewWriterProperties(
		parquet.WithVersion(parquet.V2_LATEST), // names the encodings that chunks have
		parquet.WithCompression(codec),
		parquet.WithStoreDecimalAsInteger(true), // up to 18 digits
		parquet.WithCreatedBy("spirjoin"),
	)
}

// Encodes reports whether columns of a type can be encoded: all except nested types and those that Parquet lacks.
func Encodes(dt arrow.DataType) bool {
	_, err := writeNode(arrow.Field{Type: dt, Nullable: true}, WriterProperties(compress.Codecs.Uncompressed))
	return err == nil
}

// writeNode is the leaf of the Parquet schema for a field.
func writeNode(field arrow.Field, properties *parquet.WriterProperties) (schema.Node, error) {
	dt := valueType(field.Type)
	if err := checkFlat(dt); err != nil {
		return nil, err
	}
	plain := field
	plain.Type = plainType(storage(dt))
	one, err := pqarrow.ToParquet(arrow.NewSchema([]arrow.Field{plain}, nil), properties, pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	node := one.Root().Field(0)
	annotated, ok := dt.(pqarrow.ExtensionCustomParquetType)
	if !ok {
		return node, nil
	}
	leaf := one.Column(0)
	return schema.NewPrimitiveNodeLogical(field.Name, node.RepetitionType(), annotated.ParquetLogicalType(),
		leaf.PhysicalType(), leaf.TypeLength(), node.FieldID())
}

// checkFlat refuses types that are no single column, or that the encoder does not know.
func checkFlat(dt arrow.DataType) error {
	if _, ok := dt.(arrow.ExtensionType); ok && !arrow.TypeEqual(storedType(storage(dt)), storage(dt)) {
		return errors.New("its storage changes in the file")
	}
	switch dt := storage(dt).(type) {
	case arrow.NestedType:
		return errors.New("it is nested")
	case *arrow.DictionaryType:
		return errors.New("it is a dictionary of dictionaries")
	case arrow.DecimalType:
		return CheckDecimal(dt)
	}
	return nil
}

// CheckDecimal refuses a decimal that Parquet does not allow.
func CheckDecimal(dt arrow.DecimalType) error {
	switch {
	case dt.GetScale() < 0:
		return errors.New("it allows no scale below 0; write Arrow, or leave it out with columns")
	case dt.GetScale() > dt.GetPrecision():
		return errors.New("it allows no scale above the precision; write Arrow, or leave it out with columns")
	}
	return nil
}

// valueType is the type of the values of a dictionary, of others the type itself.
func valueType(dt arrow.DataType) arrow.DataType {
	if dictionary, ok := storage(dt).(*arrow.DictionaryType); ok {
		return dictionary.ValueType
	}
	return dt
}

// plainType has the same values in the same Parquet type, and is known to pqarrow.
func plainType(dt arrow.DataType) arrow.DataType {
	switch dt := dt.(type) {
	case *arrow.StringViewType:
		return arrow.BinaryTypes.String
	case *arrow.BinaryViewType:
		return arrow.BinaryTypes.Binary
	case *arrow.Decimal32Type:
		return &arrow.Decimal128Type{Precision: dt.Precision, Scale: dt.Scale}
	case *arrow.Decimal64Type:
		return &arrow.Decimal128Type{Precision: dt.Precision, Scale: dt.Scale}
	}
	return dt
}

// storedType is what the stored schema says of a type: the type, but of dictionaries of extension types, which it
// cannot name, their values.
func storedType(dt arrow.DataType) arrow.DataType {
	if dictionary, ok := dt.(*arrow.DictionaryType); ok && dictionary.ValueType.ID() == arrow.EXTENSION {
		return dictionary.ValueType
	}
	return dt
}
