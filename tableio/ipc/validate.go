package ipc

import (
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// validateColumn makes sure that no value of a column can panic later. Numbers need no look at their values; offsets,
// texts and the indices of dictionaries do.
func validateColumn(column arrow.Array) error {
	switch c := column.(type) {
	case *array.Null: // has no values, nor the buffer that the library asks for
		return nil
	case *array.String:
		if array.Validate(c) == nil && nullsAreRight(c) && textsAreValid[int32](c) {
			return nil
		}
	case *array.LargeString:
		if array.Validate(c) == nil && nullsAreRight(c) && textsAreValid[int64](c) {
			return nil
		}
	}
	return array.ValidateFull(column) // also to say what is wrong with texts
}

func nullsAreRight(column arrow.Array) bool {
	if len(column.NullBitmapBytes()) == 0 {
		return column.NullN() == 0
	}
	valid := bitutil.CountSetBits(column.NullBitmapBytes(), column.Data().Offset(), column.Len())
	return column.Len()-valid == column.NullN()
}

// textsAreValid looks at all texts of a column at once: they are valid where all bytes together are, and no text begins
// within a character. It may say no for a column that is valid, where bytes belong to no text.
func textsAreValid[O int32 | int64](column arrow.Array) bool {
	if column.Len() == 0 {
		return true
	}
	offsets := arrow.GetOffsets[O](column.Data(), 1)
	var values []byte
	if buffer := column.Data().Buffers()[2]; buffer != nil {
		values = buffer.Bytes()
	}
	first, last := offsets[0], offsets[len(offsets)-1]
	negative, before := first, first
	for _, offset := range offsets {
		negative |= offset | (offset - before)
		before = offset
	}
	if negative < 0 || int64(last) > int64(len(values)) {
		return false
	}
	texts := values[first:last]
	if core.IsASCII(texts) {
		return true
	}
	if !utf8.Valid(texts) {
		return false
	}
	for _, offset := range offsets {
		if offset < last && !utf8.RuneStart(values[offset]) {
			return false
		}
	}
	return true
}
