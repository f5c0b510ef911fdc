package relation

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// dictionaryValues is the number of values of a dictionary that [Column] makes. Indices of every type can name them.
const dictionaryValues = 100

// MaxDistinct returns an upper bound on the different values that [Column] makes.
func MaxDistinct(t arrow.DataType) uint64 {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return min(dictionaryValues, MaxDistinct(t.ValueType))
	case arrow.ExtensionType:
		return 1
	case arrow.FixedWidthDataType, *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType, *arrow.BinaryType,
		*arrow.LargeBinaryType, *arrow.BinaryViewType:
		return math.MaxUint32
	}
	return 1
}

// Column returns a column of a type. In types of fixed width, values have the given numbers as their low 64 bits; texts
// show them, with at most textBytes bytes unless that is 0; dictionaries have at most dictionaryValues of these; values
// of other types are empty. Values of fixed width are in memory of the allocator.
func Column(allocator memory.Allocator, t arrow.DataType, numbers []uint64, textBytes int) (arrow.Array, error) {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		distinct := numbers[:min(len(numbers), dictionaryValues)]
		values, err := Column(allocator, t.ValueType, distinct, textBytes)
		if err != nil {
			return nil, err
		}
		at := make([]uint64, len(numbers))
		for i := range at {
			at[i] = uint64(i % len(distinct))
		}
		indices, err := Column(allocator, t.IndexType, at, 0)
		if err != nil {
			return nil, err
		}
		return array.NewDictionaryArray(t, indices, values), nil
	case arrow.ExtensionType:
	case arrow.FixedWidthDataType:
		return fixedColumn(allocator, t, numbers), nil
	}
	b := array.NewBuilder(memory.NewGoAllocator(), t)
	defer b.Release()
	for _, n := range numbers {
		text := fmt.Sprintf("%016x", n)
		if textBytes > 0 {
			text = text[max(0, len(text)-textBytes):]
		}
		switch b := b.(type) {
		case array.StringLikeBuilder:
			b.Append(text)
		case interface{ Append([]byte) }: // of binary values
			b.Append([]byte(text))
		default:
			b.AppendEmptyValue()
		}
	}
	return b.NewArray(), nil
}

func fixedColumn(allocator memory.Allocator, t arrow.FixedWidthDataType, numbers []uint64) arrow.Array {
	bits := t.BitWidth()
	buffer := memory.NewResizableBuffer(allocator)
	defer buffer.Release()
	buffer.Resize((len(numbers)*bits + 7) / 8)
	values := buffer.Bytes()
	clear(values)
	for i, n := range numbers {
		if bits == 1 {
			values[i/8] |= byte(n) & 1 << (i % 8)
			continue
		}
		var number [8]byte
		binary.LittleEndian.PutUint64(number[:], n)
		copy(values[i*bits/8:][:bits/8], number[:])
	}
	data := array.NewData(t, len(numbers), []*memory.Buffer{nil, buffer}, nil, 0, 0)
	defer data.Release()
	return array.MakeFromData(data)
}
