package kerneltest

import (
	"math/bits"
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

// mix returns what digits are cut from: draws whether it is the key or the mix of the key and a seed.
func (m *maker) mix(keyBits uint32) (mix func(key uint64) uint64, seed uint32) {
	seed = m.Uint32()
	mixed := m.byShape("mixed", 0, 1) == 1
	return func(key uint64) uint64 {
		switch {
		case mixed && keyBits == 64:
			return kernel.Mix(key, seed)
		case mixed:
			return uint64(kernel.Mix(uint32(key), seed))
		}
		return key
	}, seed
}

// place is where a digit lies.
type place struct{ shift, bits, seed uint32 }

// radix draws keys and a digit, and returns them, what digits are cut from, and the counts of each tile. A digit of a
// wide key lies in one of its words.
func (m *maker) radix() (keys, mixed []uint64, d place, counts []uint32, digit func(mixed uint64) int) {
	keyBits := m.config["key_bits"]
	most := uint32(8)
	if m.config["serial"] == 1 {
		most = uint32(bits.Len32(m.byShape("digits", 256, 1024)) - 1)
	}
	bits := 1 + m.Uint32N(most)
	if m.IntN(2) == 0 {
		bits = most
	}
	shift := [...]uint32{0, keyBits - bits, m.Uint32N(keyBits)}[m.IntN(3)]
	if shift < 32 && keyBits == 64 {
		shift = min(shift, 32-bits)
	}
	mix, seed := m.mix(keyBits)
	keys = m.column(m.rows, keyBits, 0)
	digit = func(mixed uint64) int { return int(mixed >> shift & (1<<bits - 1)) }
	tiles := m.tiles()
	counts = make([]uint32, tiles<<bits)
	mixed = make([]uint64, len(keys))
	for i, key := range keys {
		mixed[i] = mix(key)
		counts[digit(mixed[i])*int(tiles)+i/m.tileRows()]++
	}
	return keys, mixed, place{shift, bits, seed}, counts, digit
}

// narrow returns a column of keys: some of 32 bits are the low words of wide ones, of which few may have another high
// word than the others.
func (m *maker) narrow(keys []uint64) (column, high argument) {
	keyBits := m.config["key_bits"]
	if keyBits == 64 || m.byShape("narrow", 1, 0) == 0 {
		return inOf(keyBits, keys), argument{}
	}
	expected, differing, wide := m.Uint32(), uint32(0), slices.Clone(keys)
	for i := range wide {
		word := expected
		if m.distribution == "random" && m.IntN(100) == 0 {
			word = m.Uint32()
		}
		differing |= word ^ expected
		wide[i] |= uint64(word) << 32
	}
	return in(wide), changed([]uint32{expected, 0}, []uint32{expected, differing})
}
