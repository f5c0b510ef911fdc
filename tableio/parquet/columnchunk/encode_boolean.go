package columnchunk

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
)

// encodeBooleans encodes a column of booleans, one bit each.
func (e *Encoder) encodeBooleans(from *source) error {
	values := clearBits(&e.words, from.rows)
	row, n := 0, 0
	for _, part := range from.parts {
		if id := storage(part.DataType()).ID(); id != arrow.BOOL {
			return fmt.Errorf("type %s as %s of Parquet", part.DataType(), parquet.Types.Boolean)
		}
		if part.Len() == 0 {
			continue
		}
		data := part.Buffers()[1].Bytes()
		if from.nulls == 0 {
			copyBits(values, n, data, part.Offset(), part.Len())
			n += part.Len()
		} else {
			for i := range part.Len() {
				if from.isValid(row + i) {
					orBits(values, n, bitsAt(data, part.Offset()+i, 1))
					n++
				}
			}
		}
		row += part.Len()
	}
	if e.isDictionary() {
		entries := values
		values = clearBits(&e.raw, len(e.positions))
		for i, position := range e.positions {
			orBits(values, i, entries[position>>6]>>(position&63)&1)
		}
		n = len(e.positions)
	}
	if n > 0 {
		set := 0
		for _, word := range values {
			set += bits.OnesCount64(word)
		}
		e.chunk.setBounds([]byte{asByte(set == n)}, []byte{asByte(set > 0)})
	}
	fit := func(int) int { return pageRows }
	return e.dataPages(parquet.Encodings.Plain, fit, func(page []byte, from, n int) ([]byte, error) {
		length := len(page) + (n+7)/8
		for i := 0; i < n; i += 64 {
			page = binary.LittleEndian.AppendUint64(page, bitsAt(bytesOf(values), from+i, min(64, n-i)))
		}
		return page[:length], nil
	})
}

// clearBits returns zeroed words for n bits, and one word more.
func clearBits(scratch *[]uint64, n int) []uint64 {
	words := grow(scratch, n/64+2)
	clear(words)
	return words
}

func asByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}
