package relation

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// FixedArray returns an array of a fixed-width type whose buffers are these, on the heap. valid is nil if no value is
// NULL. The caller releases the array.
func FixedArray(t arrow.DataType, rows int, values, valid []byte, nulls int) arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(values)}
	if valid != nil {
		buffers[0] = memory.NewBufferBytes(valid)
	}
	data := array.NewData(t, rows, buffers, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// WithNulls is [FixedArray] with as many values as another array has, and NULL where that has NULL.
func WithNulls(of arrow.Array, t arrow.DataType, values []byte) arrow.Array {
	var valid []byte
	if of.NullN() > 0 {
		valid = make([]byte, (of.Len()+7)/8)
		bitutil.CopyBitmap(of.NullBitmapBytes(), of.Data().Offset(), of.Len(), valid, 0)
	}
	return FixedArray(t, of.Len(), values, valid, of.NullN())
}

// ReleaseAll releases arrays, batches or tables; nil is skipped.
func ReleaseAll[T interface{ Release() }](all []T) {
	for _, one := range all {
		if any(one) != nil {
			one.Release()
		}
	}
}

// ColumnOf returns the column of a table with a name, which must exist. The table keeps it alive.
func ColumnOf(table arrow.Table, name string) *arrow.Chunked {
	return table.Column(table.Schema().FieldIndices(name)[0]).Data()
}

// RowBytes estimates the bytes of a row, at least 1. It guesses 32 for a value without a fixed width, or with a
// dictionary.
func RowBytes(fields ...arrow.Field) (sizeBytes uint64) {
	const guessedBytes = 32
	for _, field := range fields {
		if t, ok := field.Type.(arrow.FixedWidthDataType); ok && field.Type.ID() != arrow.DICTIONARY {
			sizeBytes += uint64(t.BitWidth()+7) / 8
		} else {
			sizeBytes += guessedBytes
		}
	}
	return max(1, sizeBytes)
}
