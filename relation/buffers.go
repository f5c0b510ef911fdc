package relation

import (
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
)

// View reads a buffer's bytes as values of T, without a copy. The bytes must be a whole number of values.
func View[T any](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))/unsafe.Sizeof(zero))
}

// BufferBytes returns the bytes of buffer i of an array; nil if there is no such buffer.
func BufferBytes(data arrow.ArrayData, i int) []byte {
	if data.Buffers()[i] == nil {
		return nil
	}
	return data.Buffers()[i].Bytes()
}

// MayHaveNulls reports whether an array has a validity bitmap and is not known to have no NULL.
func MayHaveNulls(data arrow.ArrayData) bool {
	return data.NullN() != 0 && len(BufferBytes(data, 0)) > 0
}

// CheckBuffers returns an error if the values or the validity of the rows of a fixed-width array exceed its buffers.
// bitWidth is the number of bits per value.
func CheckBuffers(data arrow.ArrayData, bitWidth int) error {
	rows := data.Offset() + data.Len()
	if need, have := (rows*bitWidth+7)/8, len(BufferBytes(data, 1)); have < need {
		return fmt.Errorf("%d rows need %d bytes of values, there are %d", rows, need, have)
	}
	return CheckValidity(data)
}

// CheckValidity returns an error if the validity bitmap, if there is one, is too short.
func CheckValidity(data arrow.ArrayData) error {
	rows := data.Offset() + data.Len()
	if need, have := (rows+7)/8, len(BufferBytes(data, 0)); have > 0 && have < need {
		return fmt.Errorf("%d rows need %d bytes of validity, there are %d", rows, need, have)
	}
	return nil
}

// Spans are the offsets of an array of variable-length rows: row r has the elements [Spans[r], Spans[r+1]).
type Spans[O int32 | int64] []O

// SpansOf returns the offsets of an array, in its own memory, or an error if there are too few for its rows. It does
// not check their order, nor whether the elements exist.
func SpansOf[O int32 | int64](data arrow.ArrayData) (Spans[O], error) {
	offsets := View[O](BufferBytes(data, 1))
	if rows := data.Offset() + data.Len(); len(offsets) <= rows {
		return nil, fmt.Errorf("%d rows need %d offsets, there are %d", rows, rows+1, len(offsets))
	}
	return offsets[data.Offset():], nil
}

// Of returns the first element of a row, and the one after its last.
func (s Spans[O]) Of(row int) *[2]O { return (*[2]O)(s[row:]) }
