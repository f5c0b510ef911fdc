package relation

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// NullRows returns the number of rows of a column that are NULL by [IsNull]. The NullN of Arrow counts the validity of
// the column alone.
func NullRows(column *arrow.Chunked) (nulls int) {
	for _, chunk := range column.Chunks() {
		_, _, n := LogicalValidity(chunk)
		nulls += n
	}
	return nulls
}

// IsNull reports whether the value of a row is NULL, wherever the type keeps that: in the validity of the array, of its
// dictionary, of its runs, of the fields of a union, or in the type null.
func IsNull(a arrow.Array, row int) bool {
	if a.IsNull(row) {
		return true
	}
	switch a := a.(type) {
	case *array.Null:
		return true
	case array.ExtensionArray:
		return IsNull(a.Storage(), row)
	case *array.Dictionary:
		entry, entries := a.GetValueIndex(row), a.Dictionary()
		return entry >= 0 && entry < entries.Len() && IsNull(entries, entry)
	case *array.RunEndEncoded:
		return IsNull(a.Values(), a.GetPhysicalIndex(row))
	case *array.SparseUnion:
		return IsNull(a.Field(a.ChildID(row)), row)
	case *array.DenseUnion:
		return IsNull(a.Field(a.ChildID(row)), int(a.ValueOffset(row)))
	}
	return false
}

// LogicalValidity returns the rows of an array that are not NULL by [IsNull] as a bitmap, of which bit first+i is row i,
// and the number of NULLs. The bitmap is nil if there are none, and the array's own where that says all.
func LogicalValidity(a arrow.Array) (bitmap []byte, first, nulls int) {
	if !hasInnerNulls(a) {
		if a.NullN() == 0 {
			return nil, 0, 0
		}
		return a.NullBitmapBytes(), a.Data().Offset(), a.NullN()
	}
	bitmap = make([]byte, (a.Len()+7)/8)
	for row := range a.Len() {
		if IsNull(a, row) {
			nulls++
		} else {
			bitmap[row/8] |= 1 << (row % 8)
		}
	}
	if nulls == 0 {
		return nil, 0, 0
	}
	return bitmap, 0, nulls
}

// hasInnerNulls reports whether rows may be NULL that are valid in the bitmap of the array.
func hasInnerNulls(a arrow.Array) bool {
	some := func(inner arrow.Array) bool { return inner.NullN() > 0 || hasInnerNulls(inner) }
	switch a := a.(type) {
	case *array.Null:
		return a.Len() > 0
	case array.ExtensionArray:
		return hasInnerNulls(a.Storage())
	case *array.Dictionary:
		return some(a.Dictionary())
	case *array.RunEndEncoded:
		return some(a.Values())
	case array.Union:
		for field := range a.NumFields() {
			if some(a.Field(field)) {
				return true
			}
		}
	}
	return false
}
