package core

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// PlainType is the type with the same values that Parquet and CSV know: views
// become contiguous, short decimals 128 bits wide, also as entries of
// dictionaries. Other types stay.
func PlainType(dt arrow.DataType) arrow.DataType {
	switch dt := dt.(type) {
	case *arrow.StringViewType:
		return arrow.BinaryTypes.LargeString
	case *arrow.BinaryViewType:
		return arrow.BinaryTypes.LargeBinary
	case *arrow.Decimal32Type:
		return &arrow.Decimal128Type{Precision: dt.Precision, Scale: dt.Scale}
	case *arrow.Decimal64Type:
		return &arrow.Decimal128Type{Precision: dt.Precision, Scale: dt.Scale}
	case *arrow.DictionaryType:
		return &arrow.DictionaryType{IndexType: dt.IndexType, ValueType: PlainType(dt.ValueType), Ordered: dt.Ordered}
	}
	return dt
}

// PlainSchema is the schema with plain types.
func PlainSchema(schema *arrow.Schema) *arrow.Schema {
	fields := schema.Fields()
	for i := range fields {
		fields[i].Type = PlainType(fields[i].Type)
	}
	meta := schema.Metadata()
	return arrow.NewSchema(fields, &meta)
}

// PlainBatch converts the columns to their plain types; the caller releases it.
func PlainBatch(batch arrow.RecordBatch) arrow.RecordBatch {
	columns := make([]arrow.Array, batch.NumCols())
	for i := range columns {
		columns[i] = PlainColumn(batch.Column(i))
		defer columns[i].Release()
	}
	return array.NewRecordBatch(PlainSchema(batch.Schema()), columns, batch.NumRows())
}

// PlainColumn converts a column to its plain type; the caller releases it.
func PlainColumn(column arrow.Array) arrow.Array {
	switch c := column.(type) {
	case *array.StringView:
		return convertColumn(c, array.NewLargeStringBuilder(memory.NewGoAllocator()),
			func(b *array.LargeStringBuilder, row int) { b.Append(c.Value(row)) })
	case *array.BinaryView:
		return convertColumn(c, array.NewBinaryBuilder(memory.NewGoAllocator(), arrow.BinaryTypes.LargeBinary),
			func(b *array.BinaryBuilder, row int) { b.Append(c.Value(row)) })
	case *array.Decimal32:
		return decimalColumn(c, func(row int) int64 { return int64(c.Value(row)) })
	case *array.Decimal64:
		return decimalColumn(c, func(row int) int64 { return int64(c.Value(row)) })
	case *array.Dictionary:
		if to := PlainType(c.DataType()); !arrow.TypeEqual(to, c.DataType()) {
			entries := PlainColumn(c.Dictionary())
			defer entries.Release()
			data := array.NewDataWithDictionary(to, c.Len(), c.Data().Buffers(), c.NullN(), c.Data().Offset(),
				entries.Data().(*array.Data))
			defer data.Release()
			return array.MakeFromData(data)
		}
	}
	column.Retain()
	return column
}

func decimalColumn(column arrow.Array, value func(row int) int64) arrow.Array {
	builder := array.NewDecimal128Builder(memory.NewGoAllocator(), PlainType(column.DataType()).(*arrow.Decimal128Type))
	return convertColumn(column, builder,
		func(b *array.Decimal128Builder, row int) { b.Append(decimal128.FromI64(value(row))) })
}

func convertColumn[B array.Builder](from arrow.Array, builder B, appendRow func(builder B, row int)) arrow.Array {
	defer builder.Release()
	builder.Reserve(from.Len())
	for row := range from.Len() {
		if from.IsNull(row) {
			builder.AppendNull()
		} else {
			appendRow(builder, row)
		}
	}
	return builder.NewArray()
}
