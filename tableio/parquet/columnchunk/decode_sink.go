package columnchunk

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// sink collects the values of a slice in the buffers of an array, and keeps the dictionary of the chunk. The values of a
// page are appended first, as many as are valid; spread then makes room for its nulls. The callers see to it that there
// are never more rows than were reserved.
type sink interface {
	// reserve begins a slice and takes memory for its rows.
	reserve(mem memory.Allocator, rows int)
	// setDictionary sets the n values that indices stand for, in the PLAIN form.
	setDictionary(plain []byte, n int) error
	// appendPlain appends n values in the PLAIN form and says how many bytes they took.
	appendPlain(plain []byte, n int) (usedBytes int, err error)
	// appendIndices appends values of the dictionary.
	appendIndices(indices []uint32) error
	// lengths gives the length of the value that each index stands for, which need not be in the dictionary; nil if all of
	// them are known to fit in roomBytes.
	lengths(indices []uint32, roomBytes int64) func(i int) int64
	// bytes is the memory of the values of variable width so far, without a dictionary that slices share.
	bytes() int64
	// spread moves the last values, as many as are valid, over the rows of their page, whose bits end the rows so far.
	spread(rows, valid int, validity []byte)
	// finish hands the buffers over. It does not take the reference of validity, which is nil where all rows are valid.
	finish(dt arrow.DataType, validity *memory.Buffer, nulls int) (arrow.ArrayData, error)
	// release drops the sink's references to the buffers of the slice.
	release()
	// close drops those that it keeps for all slices.
	close()
}

// physical is how the values of a Parquet type are stored.
type physical struct {
	kind  parquet.Type
	width int // bytes; 0: variable, -1: bits
}

func physicalOf(leaf *schema.Column) physical {
	kind := leaf.PhysicalType()
	switch kind {
	case parquet.Types.Boolean:
		return physical{kind, -1}
	case parquet.Types.Int32, parquet.Types.Float:
		return physical{kind, 4}
	case parquet.Types.Int64, parquet.Types.Double:
		return physical{kind, 8}
	case parquet.Types.Int96:
		return physical{kind, 12}
	case parquet.Types.FixedLenByteArray:
		return physical{kind, leaf.TypeLength()}
	}
	return physical{kind, 0}
}

// storageType is the type whose layout an array has.
func storageType(dt arrow.DataType) arrow.DataType {
	if extension, ok := dt.(arrow.ExtensionType); ok {
		return extension.StorageType()
	}
	return dt
}

// newSink makes the sink of a type that is not an extension type.
func (d *Decoder) newSink(dt arrow.DataType, leaf *schema.Column) (sink, error) {
	text := false
	switch dt := dt.(type) {
	case *arrow.DictionaryType:
		values, err := d.newSink(dt.ValueType, leaf)
		if err != nil {
			return nil, err
		}
		return newDictionarySink(dt, values, physicalOf(leaf)), nil
	case *arrow.BooleanType:
		return &boolSink{}, nil
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		text = true
	}
	switch dt.ID() {
	case arrow.STRING, arrow.BINARY:
		return &bytesSink[int32]{text: text, maxBytes: d.MaxBytes, most: sliceBytes(dt, d.SliceBytes), scratch: &d.scratch}, nil
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return &bytesSink[int64]{text: text, maxBytes: d.MaxBytes, most: sliceBytes(dt, d.SliceBytes), scratch: &d.scratch}, nil
	case arrow.STRING_VIEW, arrow.BINARY_VIEW:
		views := &viewSink{text: text, maxBytes: d.MaxBytes}
		views.fixedSink = fixedSink{width: arrow.ViewHeaderSizeBytes, convert: views.views, scratch: &d.scratch}
		return views, nil
	}
	convert, width := conversion(dt, leaf)
	if convert == nil {
		return nil, fmt.Errorf("a column of Parquet type %s cannot be read as %s", leaf.PhysicalType(), dt)
	}
	return &fixedSink{width: width, convert: convert, scratch: &d.scratch}, nil
}

func load32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
