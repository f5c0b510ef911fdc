package ipc

import (
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// The cheap validation accepts exactly what the full one does, from broken offsets to characters cut in two.
func TestValidateColumnAgreesWithTheFullOne(t *testing.T) {
	valid, refused := 0, 0
	property := func(rt *rapid.T) {
		letters := rapid.SampledFrom([]rune("abcdefghij\nüßé€😀"))
		text := []byte(rapid.StringOfN(letters, 0, 40, -1).Draw(rt, "text"))
		rows := rapid.IntRange(0, 6).Draw(rt, "rows")
		offsets := make([]int32, rows+1)
		runesOnly := rapid.Bool().Draw(rt, "whole characters")
		for i := 1; i < len(offsets); i++ {
			offsets[i] = int32(rapid.IntRange(int(offsets[i-1]), len(text)).Draw(rt, "offset"))
			for runesOnly && int(offsets[i]) < len(text) && !utf8.RuneStart(text[offsets[i]]) {
				offsets[i]++
			}
		}
		for range rapid.IntRange(0, 1).Draw(rt, "faults") {
			faults := rapid.SampledFrom([]int32{-1, 0, 1, 41, -1 << 31, 1<<31 - 1})
			offsets[rapid.IntRange(0, rows).Draw(rt, "at")] = faults.Draw(rt, "fault")
		}
		bitmap, nulls := []byte(nil), 0
		if rapid.Bool().Draw(rt, "bitmap") {
			bitmap, nulls = []byte{rapid.Byte().Draw(rt, "valid")}, rapid.IntRange(0, rows).Draw(rt, "nulls")
		}
		buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.GetBytes(offsets)), memory.NewBufferBytes(text)}
		if bitmap != nil {
			buffers[0] = memory.NewBufferBytes(bitmap)
		}
		var column arrow.Array
		if err := core.Guard(func() error {
			column = array.MakeFromData(array.NewData(arrow.BinaryTypes.String, rows, buffers, nil, nulls, 0))
			return nil
		}); err != nil {
			return // cannot be made at all
		}
		want := core.Guard(func() error { return array.ValidateFull(column) })
		got := core.Guard(func() error { return validateColumn(column) })
		require.Equal(rt, want == nil, got == nil, "%v: %v", want, got)
		if want == nil {
			valid++
			for row := range rows {
				_ = column.ValueStr(row)
			}
		} else {
			refused++
		}
	}
	for range 5 { // a fifth of the draws under go test -short would not find all of them
		rapid.Check(t, property)
	}
	require.Positive(t, valid)
	require.Positive(t, refused)
}
