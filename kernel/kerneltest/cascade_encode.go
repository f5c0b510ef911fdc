package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.CascadeEncode, cascadeEncodeCase, cascadeEncodeBenchmark)
	add(kernel.CascadePlace, cascadePlaceCase, cascadePlaceBenchmark)
	add(kernel.CascadeSizes, cascadeSizesCase, cascadeSizesBenchmark)
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

func cascadeSizesCase(m *maker) *Case {
	bits := m.config["value_bits"]
	values := m.shaped(m.column(m.rows, bits, 0), bits)
	var blocks, sizes []uint32
	for range min(m.rows, 1+m.IntN(5)) {
		first := m.IntN(m.rows)
		count := min(m.rows-first, 1+m.IntN(kernel.CascadeBlock))
		blocks = append(blocks, uint32(first), uint32(count))
		for scheme := range kernel.CascadeScheme(kernel.CascadeSchemes) {
			sizes = append(sizes, uint32(4*len(cascaded(values[first:][:count], int(bits), scheme))))
		}
	}
	return m.newCase(uint32(len(blocks)/2), kernel.CascadeSizesArgsOf[argument]{
		Values: inOf(bits, values), Blocks: in(blocks), Bytes: out(sizes),
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

func cascadePlaceBenchmark(m *maker) *Dispatch {
	const size = 100 // words of a block
	bits, blocks := m.config["value_bits"], m.benchmarkBlocks()
	return m.cascadeDispatch(blocks, kernel.CascadePlaceArgsOf[[]byte]{
		Slots: m.random(blocks*int(kernel.CascadeSlotWords(bits/8)), 32),
		Ends:  words(blocks+1, 32, func(i int) uint64 { return uint64(size * i) }), Directory: zeros(blocks+1, 32),
		Payload: zeros(size*blocks, 32),
	})
}

func cascadeSizesBenchmark(m *maker) *Dispatch {
	bits, blocks := m.config["value_bits"], m.benchmarkBlocks()
	at := func(i int) uint64 {
		if first := i / 2 * kernel.CascadeBlock; i%2 == 0 {
			return uint64(first)
		} else {
			return uint64(min(kernel.CascadeBlock, m.rows-first))
		}
	}
	return m.cascadeDispatch(blocks, kernel.CascadeSizesArgsOf[[]byte]{
		Values: m.benchmarkRuns(bits), Blocks: words(2*blocks, 32, at), Bytes: zeros(kernel.CascadeSchemes*blocks, 32),
	})
}
