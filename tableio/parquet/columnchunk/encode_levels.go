package columnchunk

import (
	"encoding/binary"
	"math/bits"
)

// appendLevels appends the definition levels of rows [begin, end) with their length: 1 for a value, 0 for a null.
func appendLevels(out []byte, rows *source, begin, end int) []byte {
	at := len(out)
	out = append(out, 0, 0, 0, 0)
	if rows.nulls == 0 || rows.nulls == rows.rows {
		out = appendBitRun(out, end-begin, rows.nulls == 0)
	} else {
		out = appendBits(out, bytesOf(rows.valid), begin, end)
	}
	binary.LittleEndian.PutUint32(out[at:], uint32(len(out)-at-4))
	return out
}

// appendBits encodes bits [begin, end) of a bitmap as the hybrid of runs and bit-packed groups of width 1. The latter
// are the bits of the bitmap themselves. A run has at least 64 bits or reaches the end.
func appendBits(out, bitmap []byte, begin, end int) []byte {
	for begin < end {
		if run := equalBits(bitmap, begin, end); run >= 64 || begin+run == end {
			out = appendBitRun(out, run, bitsAt(bitmap, begin, 1) == 1)
			begin += run
			continue
		}
		stop := begin + 64
		for stop < end && equalBits(bitmap, stop, min(stop+64, end)) < 64 {
			stop += 64
		}
		stop = min(stop, end)
		groups := (stop - begin + 7) / 8
		out = binary.AppendUvarint(out, uint64(groups)<<1|1)
		length := len(out) + groups
		for ; begin < stop; begin += 64 {
			out = binary.LittleEndian.AppendUint64(out, bitsAt(bitmap, begin, min(64, stop-begin)))
		}
		out, begin = out[:length], stop
	}
	return out
}

func appendBitRun(out []byte, n int, set bool) []byte {
	if n == 0 {
		return out
	}
	out = binary.AppendUvarint(out, uint64(n)<<1)
	if set {
		return append(out, 1)
	}
	return append(out, 0)
}

// equalBits counts the bits that equal the first one, from it on.
func equalBits(bitmap []byte, begin, end int) int {
	flip := -bitsAt(bitmap, begin, 1) // all ones if the first bit is 1
	for at := begin; at < end; at += 64 {
		if n := bits.TrailingZeros64(bitsAt(bitmap, at, 64) ^ flip); n < 64 {
			return min(at+n, end) - begin
		}
	}
	return end - begin
}
