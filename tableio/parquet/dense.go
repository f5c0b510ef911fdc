package parquet

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/relation/take"
	"github.com/spirjoin/spirjoin/tableio/core"
)

// denseType is the type with the same values that pqarrow (18.8) writes whatever they are: the plain type, the values
// of a dictionary, and a list for a fixed-size list. Elements of lists are called "element", as Parquet wants.
func denseType(dt arrow.DataType) arrow.DataType { return rebuiltType(dt, false) }

// readType is the type as which a column of the dense type is read: fixed-size lists are restored.
func readType(dt arrow.DataType) arrow.DataType { return rebuiltType(dt, true) }

func rebuiltType(dt arrow.DataType, fixedLists bool) arrow.DataType {
	field := func(f arrow.Field, name string) arrow.Field {
		f.Name, f.Type = name, rebuiltType(f.Type, fixedLists)
		return f
	}
	switch dt := dt.(type) {
	case *arrow.DictionaryType:
		return rebuiltType(dt.ValueType, fixedLists)
	case *arrow.ListType:
		return arrow.ListOfField(field(dt.ElemField(), "element"))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(field(dt.ElemField(), "element"))
	case *arrow.FixedSizeListType:
		if fixedLists {
			return arrow.FixedSizeListOfField(dt.Len(), field(dt.ElemField(), "element"))
		}
		return arrow.ListOfField(field(dt.ElemField(), "element"))
	case *arrow.MapType:
		rebuilt := arrow.MapOfFields(field(dt.KeyField(), "key"), field(dt.ItemField(), "value"))
		rebuilt.KeysSorted = dt.KeysSorted
		return rebuilt
	case *arrow.StructType:
		fields := dt.Fields()
		for i, f := range fields {
			fields[i] = field(f, f.Name)
		}
		return arrow.StructOf(fields...)
	case arrow.ExtensionType:
		storage := dt.StorageType()
		if rebuilt := rebuiltType(storage, fixedLists); !arrow.TypeEqual(rebuilt, storage) {
			return rebuilt
		}
	}
	return core.PlainType(dt)
}

// denseColumn gives a column the dense type. Rows for which dead tells so are part of a NULL above them. Lists that are
// NULL or dead lose their elements, which pqarrow (18.8) refuses; it also forgets that fixed-size lists are sliced, and
// dictionaries may have entries that are NULL, or change between batches. The caller releases the result.
func denseColumn(ctx context.Context, column arrow.Array, dead func(row int) bool) (arrow.Array, error) {
	to := denseType(column.DataType())
	switch c := column.(type) {
	case *array.Dictionary:
		return denseDictionary(ctx, c)
	case *array.Struct:
		return denseStruct(ctx, c, to, dead)
	case array.ListLike:
		return denseList(ctx, c, to, dead)
	case array.ExtensionArray:
		storage, err := denseColumn(ctx, c.Storage(), dead)
		if extension, ok := to.(arrow.ExtensionType); ok && err == nil {
			defer storage.Release()
			return array.NewExtensionArrayWithStorage(extension, storage), nil
		}
		return storage, err
	}
	return core.PlainColumn(column), nil
}

func denseDictionary(ctx context.Context, column *array.Dictionary) (arrow.Array, error) {
	ids := make([]uint32, column.Len())
	for row := range ids {
		if ids[row] = take.NoRow; !column.IsNull(row) {
			ids[row] = uint32(column.GetValueIndex(row))
		}
	}
	entries := arrow.NewChunked(column.Dictionary().DataType(), []arrow.Array{column.Dictionary()})
	defer entries.Release()
	values, err := take.Nullable(ctx, entries, ids, memory.NewGoAllocator())
	if err != nil {
		return nil, err
	}
	defer values.Release()
	return denseColumn(ctx, values, nil)
}

func denseStruct(
	ctx context.Context, column *array.Struct, to arrow.DataType, dead func(int) bool,
) (arrow.Array, error) {
	below := dead
	if column.NullN() > 0 {
		below = func(row int) bool { return column.IsNull(row) || dead != nil && dead(row) }
	}
	children := make([]arrow.ArrayData, 0, column.NumField())
	for i := range column.NumField() {
		child, err := denseColumn(ctx, column.Field(i), below)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", column.DataType().(*arrow.StructType).Field(i).Name, err)
		}
		defer child.Release()
		children = append(children, child.Data())
	}
	data := array.NewData(to, column.Len(), []*memory.Buffer{ownValidity(column)}, children, column.NullN(), 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// ownValidity is the validity of an array without its offset.
func ownValidity(a arrow.Array) *memory.Buffer {
	if a.NullN() == 0 {
		return nil
	}
	bits := make([]byte, bitutil.BytesForBits(int64(a.Len())))
	bitutil.CopyBitmap(a.NullBitmapBytes(), a.Data().Offset(), a.Len(), bits, 0)
	return memory.NewBufferBytes(bits)
}

func denseList(
	ctx context.Context, column array.ListLike, to arrow.DataType, dead func(int) bool,
) (arrow.Array, error) {
	offsets := make([]int64, column.Len()+1)
	kept := func(row int) bool { return column.IsValid(row) && (dead == nil || !dead(row)) }
	first, last, gaps := int64(math.MaxInt64), int64(0), false // of the elements that are kept
	for row := range column.Len() {
		start, end := column.ValueOffsets(row)
		if offsets[row+1] = offsets[row]; start == end || !kept(row) {
			continue
		}
		gaps = gaps || offsets[row] > 0 && start != last
		first, last = min(first, start), max(last, end)
		offsets[row+1] += end - start
	}
	elements := array.NewSlice(column.ListValues(), min(first, last), last)
	defer func() { elements.Release() }()
	if gaps {
		if last-first > math.MaxUint32 {
			return nil, fmt.Errorf("%d rows of lists spread over %d elements, more than 2^32", column.Len(), last-first)
		}
		ids := make([]uint32, 0, offsets[column.Len()])
		for row := range column.Len() {
			for start, end := column.ValueOffsets(row); start < end && kept(row); start++ {
				ids = append(ids, uint32(start-first))
			}
		}
		chunked := arrow.NewChunked(elements.DataType(), []arrow.Array{elements})
		defer chunked.Release()
		taken, err := take.Rows(ctx, chunked, ids, memory.NewGoAllocator())
		if err != nil {
			return nil, err
		}
		elements.Release()
		elements = taken
	}
	values, err := denseColumn(ctx, elements, nil)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	places, err := listOffsets(offsets, to)
	if err != nil {
		return nil, err
	}
	data := array.NewData(to, column.Len(), []*memory.Buffer{ownValidity(column), places},
		[]arrow.ArrayData{values.Data()}, column.NullN(), 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// listOffsets makes the offsets of a list type.
func listOffsets(offsets []int64, to arrow.DataType) (*memory.Buffer, error) {
	if to.ID() == arrow.LARGE_LIST {
		return memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(offsets)), nil
	}
	if offsets[len(offsets)-1] > math.MaxInt32 {
		return nil, errors.New("the lists have more elements than offsets of 32 bits count")
	}
	short := make([]int32, len(offsets))
	for i, offset := range offsets {
		short[i] = int32(offset)
	}
	return memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(short)), nil
}
