package kerneltest

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.PartitionStarts, partitionStartsCase, partitionStartsBenchmark)
}

func partitionStartsCase(m *maker) *Case {
	keyBits := m.config["key_bits"]
	width := max(1, uint32(bits.Len32(uint32(m.rows))))
	shift := m.Uint32N(keyBits)
	shift -= min(shift, max(0, shift%32+width-min(shift%32+width, 32)))
	bound := uint64(0)
	if m.IntN(3) == 0 { // a digit of a whole word
		shift, width, bound = 0, 32, uint64(m.rows)+2
	}
	digit := func(key uint64) uint32 { return uint32(key >> shift & (1<<width - 1)) }
	keys := m.column(m.IntN(5*m.rows+2), keyBits, bound)
	slices.SortFunc(keys, func(a, b uint64) int { return cmp.Compare(digit(a), digit(b)) })
	starts := make([]uint32, m.rows)
	for _, key := range keys {
		if d := int(digit(key)) + 1; d < len(starts) {
			starts[d]++
		}
	}
	for d := 1; d < len(starts); d++ {
		starts[d] += starts[d-1]
	}
	return m.newCase(m.groups(), kernel.PartitionStartsArgsOf[argument]{
		Keys: inOf(keyBits, keys), Starts: out(starts), Digits: uint32(m.rows), Rows: uint32(len(keys)),
		Shift: shift, Bits: width,
	})
}

func partitionStartsBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.PartitionStartsArgsOf[[]byte]{
		Keys: words(m.rows, m.config["key_bits"], number), Starts: zeros(m.rows, 32), Digits: uint32(m.rows),
		Rows: uint32(m.rows), Bits: 32,
	})
}
