package relation

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
)

// Nulls returns an array of null rows of any Arrow type, which the caller releases. Its buffers are views of one zeroed
// block of the allocator, as large as the largest of them; lists have no elements. Unions have no nulls of their own,
// and hold nulls of their first field. Errors wrap backend.ErrInvalidInput (negative rows), backend.ErrLimit (more rows
// than run ends of 16 or 32 bits can count) or backend.ErrUnsupported.
func Nulls(t arrow.DataType, rows int, allocator memory.Allocator) (arrow.Array, error) {
	if rows < 0 {
		return nil, fmt.Errorf("%w: %d null rows", backend.ErrInvalidInput, rows)
	}
	z := zeros{allocator: allocator}
	defer z.release()
	data, err := z.nulls(t, rows)
	if err != nil {
		return nil, fmt.Errorf("make %d null rows of type %s: %w", rows, t, err)
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

// zeros returns zeroed buffers that are views of one block. It replaces the block if that is too small.
type zeros struct {
	allocator memory.Allocator
	block     *memory.Buffer
}

func (z *zeros) release() {
	if z.block != nil {
		z.block.Release()
	}
}

func (z *zeros) buffer(sizeBytes int) *memory.Buffer {
	if z.block == nil || z.block.Len() < sizeBytes {
		z.release()
		z.block = memory.NewResizableBuffer(z.allocator)
		z.block.Resize(sizeBytes)
		clear(z.block.Buf())
	}
	return memory.SliceBuffer(z.block, 0, sizeBytes)
}

func (z *zeros) nulls(t arrow.DataType, rows int) (arrow.ArrayData, error) {
	var sizes []int // bytes of the buffers after the validity
	var fields []arrow.DataType
	elements := 0 // rows of each field
	switch t := t.(type) {
	case *arrow.NullType:
		return array.NewData(t, rows, []*memory.Buffer{nil}, nil, rows, 0), nil
	case arrow.ExtensionType:
		storage, err := z.nulls(t.StorageType(), rows)
		if err != nil {
			return nil, err
		}
		defer storage.Release()
		data := array.NewData(t, rows, storage.Buffers(), storage.Children(), storage.NullN(), 0)
		if dictionary, ok := storage.Dictionary().(*array.Data); ok && dictionary != nil {
			data.SetDictionary(dictionary)
		}
		return data, nil
	case *arrow.DictionaryType:
		entries, err := z.nulls(t.ValueType, 0)
		if err != nil {
			return nil, err
		}
		defer entries.Release()
		data := z.data(t, rows, rows, []int{rows * t.Bytes()}, nil)
		data.SetDictionary(entries)
		return data, nil
	case arrow.UnionType:
		return z.union(t, rows)
	case *arrow.RunEndEncodedType:
		return z.oneRun(t, rows)
	case *arrow.BooleanType:
		sizes = []int{(rows + 7) / 8}
	case *arrow.StringType, *arrow.BinaryType:
		sizes = []int{4 * (rows + 1), 0}
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		sizes = []int{8 * (rows + 1), 0}
	case arrow.BinaryViewDataType:
		sizes = []int{arrow.ViewHeaderSizeBytes * rows}
	case *arrow.ListType, *arrow.MapType:
		sizes, fields = []int{4 * (rows + 1)}, []arrow.DataType{t.(arrow.ListLikeType).Elem()}
	case *arrow.LargeListType:
		sizes, fields = []int{8 * (rows + 1)}, []arrow.DataType{t.Elem()}
	case *arrow.ListViewType:
		sizes, fields = []int{4 * rows, 4 * rows}, []arrow.DataType{t.Elem()}
	case *arrow.LargeListViewType:
		sizes, fields = []int{8 * rows, 8 * rows}, []arrow.DataType{t.Elem()}
	case *arrow.FixedSizeListType:
		fields, elements = []arrow.DataType{t.Elem()}, rows*int(t.Len())
	case *arrow.StructType:
		for _, field := range t.Fields() {
			fields = append(fields, field.Type)
		}
		elements = rows
	case arrow.FixedWidthDataType:
		sizes = []int{rows * t.Bytes()}
	default:
		return nil, fmt.Errorf("%w: a type without known nulls", backend.ErrUnsupported)
	}
	children := make([]arrow.ArrayData, len(fields))
	defer releaseData(children)
	for f, field := range fields {
		var err error
		if children[f], err = z.nulls(field, elements); err != nil {
			return nil, err
		}
	}
	return z.data(t, rows, rows, sizes, children), nil
}

// data returns an array of zeroed buffers: a validity bitmap if nulls is positive, and buffers of the given sizes.
func (z *zeros) data(t arrow.DataType, rows, nulls int, sizes []int, children []arrow.ArrayData) *array.Data {
	buffers := []*memory.Buffer{nil}
	for _, sizeBytes := range sizes {
		buffers = append(buffers, z.buffer(sizeBytes))
	}
	if nulls > 0 {
		buffers[0] = z.buffer((rows + 7) / 8)
	}
	defer memory.ReleaseBuffers(buffers)
	return array.NewData(t, rows, buffers, children, nulls, 0)
}

func releaseData(all []arrow.ArrayData) {
	for _, data := range all {
		if data != nil {
			data.Release()
		}
	}
}

// union gives every row the type code of the first field. The children of a sparse union have all rows. In a dense
// union, the first child has one row, to which all offsets point.
func (z *zeros) union(t arrow.UnionType, rows int) (arrow.ArrayData, error) {
	children := make([]arrow.ArrayData, t.NumFields())
	defer releaseData(children)
	for f, field := range t.Fields() {
		elements := rows
		if t.Mode() == arrow.DenseMode {
			elements = min(rows, 1)
			if f > 0 {
				elements = 0
			}
		}
		var err error
		if children[f], err = z.nulls(field.Type, elements); err != nil {
			return nil, err
		}
	}
	codes := memory.NewResizableBuffer(z.allocator)
	codes.Resize(rows)
	buffers := []*memory.Buffer{nil, codes}
	if len(t.TypeCodes()) > 0 {
		memory.Set(codes.Bytes(), byte(t.TypeCodes()[0]))
	}
	if t.Mode() == arrow.DenseMode {
		buffers = append(buffers, z.buffer(4*rows))
	}
	defer memory.ReleaseBuffers(buffers)
	return array.NewData(t, rows, buffers, children, 0, 0), nil
}

// oneRun returns a single run of null.
func (z *zeros) oneRun(t *arrow.RunEndEncodedType, rows int) (arrow.ArrayData, error) {
	width := t.RunEnds().(arrow.FixedWidthDataType).Bytes()
	if uint64(rows) > 1<<(8*width-1)-1 {
		return nil, fmt.Errorf("%w: run ends of %d bytes", ErrBatchTooLarge, width)
	}
	runs := min(rows, 1)
	end := memory.NewResizableBuffer(z.allocator)
	end.Resize(runs * width)
	defer end.Release()
	if runs > 0 {
		word := binary.LittleEndian.AppendUint64(nil, uint64(rows))
		copy(end.Bytes(), word)
	}
	ends := array.NewData(t.RunEnds(), runs, []*memory.Buffer{nil, end}, nil, 0, 0)
	defer ends.Release()
	values, err := z.nulls(t.Encoded(), runs)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	return array.NewData(t, rows, []*memory.Buffer{nil}, []arrow.ArrayData{ends, values}, 0, 0), nil
}
