package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.CascadePlace, cascadePlaceCase, cascadePlaceBenchmark)
}

func cascadePlaceCase(m *maker) *Case {
	bits := m.byShape("value_bits", 64, 32)
	slotWords := int(kernel.CascadeSlotWords(bits / 8))
	count, first, base := m.rows/300, m.IntN(5), m.Uint32N(100)
	slots := narrow(m.column(count*slotWords, 32, 0))
	directory := narrow(m.column(first+1+count, 32, 0))
	directory[first] = base
	ends, after := []uint32{0}, slices.Clone(directory)
	payload := slices.Repeat([]uint32{untouched32}, int(base))
	for i := range count {
		size := 1 + m.IntN(int(kernel.CascadeBlockWords(kernel.CascadeBlock, bits/8)))
		payload = append(payload, slots[i*slotWords:][:size]...)
		ends = append(ends, ends[i]+uint32(size))
		after[first+1+i] = uint32(len(payload))
	}
	return m.newCase(uint32(count), kernel.CascadePlaceArgsOf[argument]{
		Slots: in(slots), Ends: in(ends), Directory: changed(directory, after), Payload: out(payload),
		FirstBlock: uint32(first),
	})
}

func cascadePlaceBenchmark(m *maker) *Dispatch {
	const size = 100 // words of a block
	bits, blocks := m.config["value_bits"], m.benchmarkBlocks()
	return m.cascadeDispatch(blocks, kernel.CascadePlaceArgsOf[[]byte]{
		Slots: m.random(blocks*int(kernel.CascadeSlotWords(bits/8)), 32),
		Ends:  words(blocks+1, 32, func(i int) uint64 { return uint64(size * i) }), Directory: zeros(blocks+1, 32),
		Payload: zeros(size*blocks, 32),
	})
}
