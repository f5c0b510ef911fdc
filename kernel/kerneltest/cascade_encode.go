package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.CascadeEncode, cascadeEncodeCase, cascadeEncodeBenchmark)
}

func cascadeEncodeCase(m *maker) *Case {
	bits, scheme := m.config["value_bits"], m.draw("scheme", 7, 5, 6, 4, 3, 1, 0, 2)
	values := m.shaped(m.column(m.rows, bits, 0), bits)
	parts, table, blocks := m.cascadeParts()
	first := m.IntN(len(blocks) + 1)
	slotWords := int(kernel.CascadeSlotWords(bits / 8))
	slots, sizes := slices.Repeat([]uint32{untouched32}, slotWords*(len(blocks)-first)), []uint32{}
	for i, block := range blocks[first:] {
		words := cascaded(values[block[0]:][:block[1]], int(bits), kernel.CascadeScheme(scheme))
		copy(slots[i*slotWords:], words)
		sizes = append(sizes, uint32(len(words)))
	}
	return m.newCase(uint32(len(sizes)), kernel.CascadeEncodeArgsOf[argument]{
		Values: inOf(bits, values), Parts: in(table), Slots: out(slots), Sizes: out(sizes),
		PartCount: uint32(len(parts)), FirstBlock: uint32(first),
	})
}

// benchmarkRuns are values in runs of 1 to 7, ascending by 1 to 16.
func (m *maker) benchmarkRuns(bits uint32) []byte {
	value, left := uint64(1)<<20, 0
	return words(m.rows, bits, func(int) uint64 {
		if left--; left < 0 {
			value, left = value+1+m.Uint64N(16), m.IntN(7)
		}
		return value
	})
}

func (m *maker) cascadeDispatch(groups int, args any) *Dispatch {
	d := m.dispatch(m.rows, args)
	d.EndGroup = uint32(groups)
	return d
}

func (m *maker) benchmarkBlocks() int {
	return (m.rows + kernel.CascadeBlock - 1) / kernel.CascadeBlock
}

func (m *maker) cascadeEncodeArgs() kernel.CascadeEncodeArgsOf[[]byte] {
	bits, blocks := m.config["value_bits"], m.benchmarkBlocks()
	return kernel.CascadeEncodeArgsOf[[]byte]{
		Values: m.benchmarkRuns(bits), Parts: in([]uint32{0, 0, uint32(m.rows), uint32(blocks)}).before,
		Slots: zeros(blocks*int(kernel.CascadeSlotWords(bits/8)), 32), Sizes: zeros(blocks, 32), PartCount: 1,
	}
}

func cascadeEncodeBenchmark(m *maker) *Dispatch {
	return m.cascadeDispatch(m.benchmarkBlocks(), m.cascadeEncodeArgs())
}
