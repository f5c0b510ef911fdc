package kernel

import (
	"sync/atomic"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
)

const maxDigits = 256

// MaxSerialDigits is the maximum of the constant digits.
const MaxSerialDigits = 1024

// digit is a place of bits in a key, mixed or not: (key >> shift) & mask.
type digit struct {
	shift uint32
	mask  uint8
	mixed bool
	seed  uint32
}

func newDigit(mixed, shift, bits, seed uint32) digit {
	return digit{shift, uint8(1<<bits - 1), mixed == 1, seed}
}

// wideDigitOf is a digit of more than 8 bits.
func wideDigitOf[K word](key K, shift, bits uint32) int {
	return int(uint64(key)>>(shift&63)) & (1<<bits - 1)
}

// digitOf is the digit of a key that is mixed already where the digit wants that.
func digitOf[K word](key K, shift uint32, mask uint8) uint8 {
	return uint8(uint64(key)>>(shift&63)) & mask
}

// source returns the keys that digits are taken from: keys, or their mix in buffer.
func source[K word](keys, buffer []K, d digit) []K {
	if !d.mixed {
		return keys
	}
	mixAll(buffer, keys, d.seed)
	return buffer[:len(keys)]
}

// keyColumn is a column of keys: own, or the low words of wide.
type keyColumn[K word] struct {
	own  []K
	wide []uint64
}

// keysOf is a column of keys that may be narrow.
func keysOf[K word](column []byte, narrow uint32) keyColumn[K] {
	if narrow == 1 {
		return keyColumn[K]{wide: backend.Longs(column)}
	}
	return keyColumn[K]{own: view[K](column)}
}

// source returns the keys of rows first to end-1 that digits are taken from: as they are, or in buffer.
func (c keyColumn[K]) source(first, end int, buffer []K, d digit) []K {
	if c.wide == nil {
		return source(c.own[first:end], buffer, d)
	}
	for i, key := range c.wide[first:end] {
		buffer[i] = K(key)
	}
	return source(buffer[:end-first], buffer, d)
}

// check holds the high words of rows first to end-1 against high.
func (c keyColumn[K]) check(high []byte, first, end int) {
	if c.wide == nil {
		return
	}
	words, differing := backend.Words(high), uint32(0)
	for _, key := range c.wide[first:end] {
		differing |= uint32(key>>32) ^ words[0]
	}
	if differing != 0 {
		atomic.OrUint32(&words[1], differing)
	}
}

// The factors of the finalizer of MurmurHash3, and their inverses modulo 2^32.
const (
	mixFactor1, mixInverse1 = 0x85ebca6b, 0xa5cb9243
	mixFactor2, mixInverse2 = 0xc2b2ae35, 0x7ed1b41d
)

// Mix is an invertible hash of a key with a seed; each bit of the result depends on every bit of the key.
func Mix[K word](key K, seed uint32) K {
	keys := [1]K{key}
	mixAll(keys[:], keys[:], seed)
	return keys[0]
}

// Unmix is the inverse of [Mix].
func Unmix[K word](key K, seed uint32) K {
	keys := [1]K{key}
	unmixAll(keys[:], seed)
	return keys[0]
}

// mixAll sets mixed to the mix of keys, in a loop without calls.
func mixAll[K word](mixed, keys []K, seed uint32) {
	mixed = mixed[:len(keys)]
	if unsafe.Sizeof(*new(K)) == 4 {
		for i, key := range keys {
			mixed[i] = K(mix32(uint32(key), seed))
		}
		return
	}
	for i, key := range keys {
		low, high := uint32(key), uint32(uint64(key)>>32)
		low ^= mix32(high, seed) // a Feistel network
		high ^= mix32(low, ^seed)
		low ^= mix32(high, seed+1)
		mixed[i] = K(uint64(low) | uint64(high)<<32)
	}
}

// unmixAll undoes mixAll in place.
func unmixAll[K word](keys []K, seed uint32) {
	if unsafe.Sizeof(*new(K)) == 4 {
		for i, key := range keys {
			keys[i] = K(unmix32(uint32(key), seed))
		}
		return
	}
	for i, key := range keys {
		low, high := uint32(key), uint32(uint64(key)>>32)
		low ^= mix32(high, seed+1)
		high ^= mix32(low, ^seed)
		low ^= mix32(high, seed)
		keys[i] = K(uint64(low) | uint64(high)<<32)
	}
}

func mix32(key, seed uint32) uint32 {
	key ^= seed
	key = (key ^ key>>16) * mixFactor1
	key = (key ^ key>>13) * mixFactor2
	return key ^ key>>16
}

func unmix32(key, seed uint32) uint32 {
	key = (key ^ key>>16) * mixInverse2
	key = (key ^ key>>13 ^ key>>26) * mixInverse1
	return key ^ key>>16 ^ seed
}
