package columnchunk

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
)

// source is a sequence of rows in parts, with the bitmap of those that are not null.
type source struct {
	parts       []arrow.ArrayData
	rows, nulls int
	valid       []uint64 // one bit a row, then zeros
}

// findNulls sets rows, nulls and valid from the parts.
func (s *source) findNulls() {
	s.rows = 0
	for _, part := range s.parts {
		s.rows += part.Len()
	}
	clear(grow(&s.valid, s.rows/64+2))
	at := 0
	for _, part := range s.parts {
		var bitmap []byte
		if buffers := part.Buffers(); len(buffers) > 0 && buffers[0] != nil {
			bitmap = buffers[0].Bytes()
		}
		switch {
		case storage(part.DataType()).ID() == arrow.NULL:
		case len(bitmap) > 0:
			copyBits(s.valid, at, bitmap, part.Offset(), part.Len())
		default:
			setBits(s.valid, at, part.Len())
		}
		at += part.Len()
	}
	s.nulls = s.rows
	for _, word := range s.valid {
		s.nulls -= bits.OnesCount64(word)
	}
}

func (s *source) isValid(row int) bool { return s.valid[row>>6]>>(row&63)&1 == 1 }

func (s *source) setNull(row int) {
	s.valid[row>>6] &^= 1 << (row & 63)
	s.nulls++
}

// advance goes on from a row past at most a number of rows and of values that are not null. It returns the row that it
// reaches and the number of values passed.
func (s *source) advance(row, maxRows, maxValues int) (end, values int) {
	last := min(row+maxRows, s.rows)
	if s.nulls == 0 {
		end = min(last, row+maxValues)
		return end, end - row
	}
	for row < last {
		n := min(64, last-row)
		word := bitsAt(bytesOf(s.valid), row, n)
		if count := bits.OnesCount64(word); values+count <= maxValues {
			values += count
			row += n
			continue
		}
		for ; values < maxValues || word&1 == 0; word >>= 1 {
			values += int(word & 1)
			row++
		}
		break
	}
	return row, values
}

// compact moves the values whose bit is set, from the bit of a row on, to the front, and returns their number. Both
// slices have one length; they may be the same.
func compact[T any](to, from []T, valid []uint64, row int) int {
	n := 0
	for i := 0; i < len(from); {
		bit := (row + i) & 63
		word := valid[(row+i)>>6] >> bit
		rows := min(64-bit, len(from)-i)
		part := from[i : i+rows]
		i += rows
		switch {
		case word == 0:
		case bits.TrailingZeros64(^word) >= rows:
			n += copy(to[n:], part)
		default:
			for _, v := range part {
				to[n] = v // overwritten by the next one, if it is null
				n += int(word & 1)
				word >>= 1
			}
		}
	}
	return n
}

// bitsAt reads up to 64 bits that begin at a bit. Bits beyond them are 0.
func bitsAt(bitmap []byte, at, n int) uint64 {
	bytes := bitmap[at>>3:]
	if len(bytes) < 9 {
		var padded [9]byte
		copy(padded[:], bytes)
		bytes = padded[:]
	}
	shift := at & 7
	word := binary.LittleEndian.Uint64(bytes)>>shift | uint64(bytes[8])<<(64-shift)
	if n < 64 {
		word &= 1<<n - 1
	}
	return word
}

// copyBits copies n bits to a bit of words whose bits from there on are 0.
func copyBits(to []uint64, at int, from []byte, begin, n int) {
	for n > 0 {
		count := min(64, n)
		orBits(to, at, bitsAt(from, begin, count))
		at, begin, n = at+count, begin+count, n-count
	}
}

func setBits(to []uint64, at, n int) {
	for n > 0 {
		count := min(64, n)
		orBits(to, at, ^uint64(0)>>(64-count))
		at, n = at+count, n-count
	}
}

func orBits(to []uint64, at int, word uint64) {
	to[at>>6] |= word << (at & 63)
	to[at>>6+1] |= word >> (64 - at&63)
}
