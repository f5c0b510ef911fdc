package core

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// wideIndices is the type with indices of 32 bits where dictionaries, also those in lists, structures and maps, have
// shorter ones. The batches of an Arrow stream and the row groups of a Parquet file have dictionaries of their own; the
// type of a column must count the entries of all of them together.
func wideIndices(dt arrow.DataType) arrow.DataType {
	field := func(f arrow.Field) arrow.Field {
		f.Type = wideIndices(f.Type)
		return f
	}
	switch dt := dt.(type) {
	case *arrow.DictionaryType:
		if dt.IndexType.(arrow.FixedWidthDataType).BitWidth() < 32 {
			return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: dt.ValueType,
				Ordered: dt.Ordered}
		}
	case *arrow.ListType:
		return arrow.ListOfField(field(dt.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(field(dt.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(dt.Len(), field(dt.ElemField()))
	case *arrow.MapType:
		wide := arrow.MapOfFields(field(dt.KeyField()), field(dt.ItemField()))
		wide.KeysSorted = dt.KeysSorted
		return wide
	case *arrow.StructType:
		fields := dt.Fields()
		for i := range fields {
			fields[i] = field(fields[i])
		}
		return arrow.StructOf(fields...)
	}
	return dt
}

// WideSchema is the schema with [wideIndices].
func WideSchema(schema *arrow.Schema) *arrow.Schema {
	fields := schema.Fields()
	for i := range fields {
		if HasDictionary(fields[i : i+1]) {
			fields[i].Type = wideIndices(fields[i].Type)
		}
	}
	meta := schema.Metadata()
	return arrow.NewSchema(fields, &meta)
}

// WidenBatch takes over a batch and gives it the wide types of a schema.
func WidenBatch(batch arrow.RecordBatch, schema *arrow.Schema) arrow.RecordBatch {
	if batch.Schema().Equal(schema) {
		return batch
	}
	defer batch.Release()
	columns := make([]arrow.Array, batch.NumCols())
	for i, column := range batch.Columns() {
		data := WidenIndices(column.Data(), schema.Field(i).Type)
		columns[i] = array.MakeFromData(data)
		data.Release()
		defer columns[i].Release()
	}
	return array.NewRecordBatch(schema, columns, batch.NumRows())
}

// WidenIndices gives an array the wide type.
func WidenIndices(data arrow.ArrayData, to arrow.DataType) arrow.ArrayData {
	if arrow.TypeEqual(data.DataType(), to) {
		data.Retain()
		return data
	}
	if dictionary, ok := data.DataType().(*arrow.DictionaryType); ok {
		var indices []int32
		switch short := data.Buffers()[1].Bytes(); dictionary.IndexType.ID() {
		case arrow.INT8:
			indices = widened[int8](short, data)
		case arrow.UINT8:
			indices = widened[uint8](short, data)
		case arrow.INT16:
			indices = widened[int16](short, data)
		case arrow.UINT16:
			indices = widened[uint16](short, data)
		}
		buffers := []*memory.Buffer{data.Buffers()[0], memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(indices))}
		return array.NewDataWithDictionary(to, data.Len(), buffers, data.NullN(), data.Offset(),
			data.Dictionary().(*array.Data))
	}
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, field := range to.(arrow.NestedType).Fields() {
		children[i] = WidenIndices(data.Children()[i], field.Type)
		defer children[i].Release()
	}
	return array.NewData(to, data.Len(), data.Buffers(), children, data.NullN(), data.Offset())
}

func widened[I int8 | uint8 | int16 | uint16](short []byte, data arrow.ArrayData) []int32 {
	rows := data.Offset() + data.Len()
	out := make([]int32, rows)
	if rows > 0 {
		for i, index := range unsafe.Slice((*I)(unsafe.Pointer(&short[0])), rows) {
			out[i] = int32(index)
		}
	}
	return out
}

// HasDictionary tells whether a field is a dictionary or has one in it.
func HasDictionary(fields []arrow.Field) bool {
	for _, field := range fields {
		dt := field.Type
		if extension, ok := dt.(arrow.ExtensionType); ok {
			dt = extension.StorageType()
		}
		if nested, ok := dt.(arrow.NestedType); dt.ID() == arrow.DICTIONARY || ok && HasDictionary(nested.Fields()) {
			return true
		}
	}
	return false
}
