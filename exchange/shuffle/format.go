package shuffle

import "github.com/apache/arrow-go/v18/arrow"

// Version is that of the wire format and of the rounds of a join. Ranks that exchange rows must have the same.
const Version = 2

// mostHeadColumns is the number of columns that a head of 64 KiB can describe: a count of NULLs, two sizes, a number of
// dictionary entries and the size of a message for each take up to 36 bytes. It has up to five buffers of the
// [cluster.MaxBuffers] of a body.
const mostHeadColumns = 1600

// format is how the rows of a schema travel. It follows from the schema alone.
type format struct {
	schema  *arrow.Schema
	columns []plainColumn // travel as their buffers
	nested  []int         // fields that travel together as an Arrow IPC stream
	ofIPC   *arrow.Schema // of these
}

// plainColumn is a column that travels as its buffers.
type plainColumn struct {
	field int
	array *plainArray
}

// shape is which buffers an array has, besides its validity.
type shape uint8

const (
	shapeNone    shape = iota // all values are NULL
	shapeBits                 // one bit a value
	shapeFixed                // sizeBytes a value
	shapeOffsets              // offsets of sizeBytes each, and the bytes of all values
	shapeIndex                // indices of sizeBytes each, into a dictionary
)

// plainArray is a type whose arrays travel as their buffers.
type plainArray struct {
	dtype     arrow.DataType
	shape     shape
	sizeBytes int
	index     arrow.DataType // of a dictionary
	entries   *plainArray    // of a dictionary
	words     bool           // its values or offsets are words of 4 or 8 bytes, which may travel encoded
}

// newFormat returns the format of a schema.
func newFormat(schema *arrow.Schema) *format {
	f := &format{schema: schema}
	var nested []arrow.Field
	for i, field := range schema.Fields() {
		if p := plain(field.Type); p != nil && len(f.columns) < mostHeadColumns {
			p.words = p.shape >= shapeFixed && (p.sizeBytes == 4 || p.sizeBytes == 8)
			f.columns = append(f.columns, plainColumn{i, p})
			continue
		}
		f.nested, nested = append(f.nested, i), append(nested, field)
	}
	f.ofIPC = arrow.NewSchema(nested, nil)
	return f
}

// plain returns nil for types that travel as Arrow IPC.
func plain(dt arrow.DataType) *plainArray {
	switch t := dt.(type) {
	case *arrow.NullType:
		return &plainArray{dtype: dt}
	case *arrow.BooleanType:
		return &plainArray{dtype: dt, shape: shapeBits}
	case *arrow.StringType, *arrow.BinaryType:
		return &plainArray{dtype: dt, shape: shapeOffsets, sizeBytes: 4}
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return &plainArray{dtype: dt, shape: shapeOffsets, sizeBytes: 8}
	case *arrow.DictionaryType:
		values := plain(t.ValueType)
		if values == nil || values.shape == shapeIndex {
			return nil
		}
		bits := t.IndexType.(arrow.FixedWidthDataType).BitWidth()
		return &plainArray{dtype: dt, shape: shapeIndex, sizeBytes: bits / 8, index: t.IndexType, entries: values}
	case arrow.ExtensionType:
		p := plain(t.StorageType())
		if p != nil {
			p.dtype = dt
		}
		return p
	case arrow.NestedType, arrow.BinaryViewDataType, *arrow.RunEndEncodedType:
		return nil
	case arrow.FixedWidthDataType:
		if t.BitWidth()%8 == 0 {
			return &plainArray{dtype: dt, shape: shapeFixed, sizeBytes: t.BitWidth() / 8}
		}
	}
	return nil
}

// bitmapBytes is the size of n bits.
func bitmapBytes(n int) int { return (n + 7) / 8 }
