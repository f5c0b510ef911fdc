package keys

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Bitmaps are 64-bit words, the lowest bit first. On a little-endian machine, their bytes are in Arrow's order.

// fullBits returns a bitmap of n ones; the bits above n are zero.
func fullBits(n int) []uint64 {
	words := make([]uint64, (n+63)/64)
	fill(words, n)
	return words
}

// fill sets the first n bits and clears the rest.
func fill(words []uint64, n int) {
	for i := range words {
		words[i] = ^uint64(0)
	}
	if n&63 != 0 {
		words[n>>6] = 1<<(n&63) - 1
	}
}

// invert inverts the first n bits; the bits above n stay zero.
func invert(words []uint64, n int) {
	for i := range words {
		words[i] = ^words[i]
	}
	words[len(words)-1] &= ^uint64(0) >> (-n & 63)
}

func hasBit(words []uint64, i int) bool { return words[i>>6]>>(i&63)&1 != 0 }
func setBit(words []uint64, i int)      { words[i>>6] |= 1 << (i & 63) }
func clearBit(words []uint64, i int)    { words[i>>6] &^= 1 << (i & 63) }

func countBits(words []uint64) (n int) {
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}

// andBits clears bit at+i of words where bit offset+i of bitmap is clear, for every i below n.
func andBits(words []uint64, at int, bitmap []byte, offset, n int) {
	for n > 0 {
		shift := at & 63
		part := min(64-shift, n)
		clear := ^loadBits(bitmap, offset) & (^uint64(0) >> (64 - part))
		words[at>>6] &^= clear << shift
		at, offset, n = at+part, offset+part, n-part
	}
}

// loadBits returns up to 64 bits of a bitmap, starting at any bit; bits beyond its end are zero.
func loadBits(bitmap []byte, offset int) uint64 {
	rest, shift := bitmap[offset>>3:], offset&7
	if len(rest) < 9 {
		var padded [9]byte
		copy(padded[:], rest)
		rest = padded[:]
	}
	return binary.LittleEndian.Uint64(rest)>>shift | uint64(rest[8])<<(64-shift)
}

// bitBytes returns a view of the bitmap in Arrow's byte order.
func bitBytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

// listBits writes first + i for every set bit i, in ascending order, and returns their number.
func listBits(to []uint32, first uint32, words []uint64) (n int) {
	for w, word := range words {
		base := first + uint32(w*64)
		for ; word != 0; word &= word - 1 {
			to[n] = base + uint32(bits.TrailingZeros64(word))
			n++
		}
	}
	return n
}

// pick gathers from[id-first] for each id.
func pick[T any](to, from []T, ids []uint32, first uint32) {
	to = to[:len(ids)]
	for i, id := range ids {
		to[i] = from[id-first]
	}
}
