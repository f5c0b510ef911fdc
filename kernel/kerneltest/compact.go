package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.CompactCount, compactCountCase, compactCountBenchmark)
	add(kernel.Compact, compactCase, compactBenchmark)
}

func compactCountCase(m *maker) *Case {
	inverted := m.draw("inverted", 0, 1) == 1
	bits, words := m.bitmap(m.rows)
	counts := make([]uint32, m.tiles())
	for i, set := range bits {
		if set != inverted {
			counts[i/m.tileRows()]++
		}
	}
	return m.newCase(m.tileGroups(), kernel.CompactCountArgsOf[argument]{
		Bits: in(words), Counts: out(counts), Rows: uint32(m.rows), Tiles: m.tiles(),
	})
}

func compactCase(m *maker) *Case {
	width, inverted := m.config["value_bits"], m.draw("inverted", 0, 1) == 1
	bits, words := m.bitmap(m.rows)
	values := m.column(m.rows, width, 0)
	valuesArg := inOf(width, values)
	mixed, seed := m.byShape("mixed", 0, 1) == 1, m.Uint32()
	if width == 32 && !mixed && m.IntN(3) == 0 {
		for i := range values {
			values[i] = uint64(i)
		}
		valuesArg = argument{}
	}
	offsets, kept := make([]uint64, m.tiles()), []uint64{}
	for i := range max(1, m.rows) {
		if i%m.tileRows() == 0 { // offsets need not be the plain scan of the counts
			kept = append(kept, slices.Repeat([]uint64{untouched}, m.IntN(3))...)
			offsets[i/m.tileRows()] = uint64(len(kept))
		}
		if i < m.rows && bits[i] != inverted {
			kept = append(kept, values[i])
			if mixed && width == 64 {
				kept[len(kept)-1] = kernel.Unmix(values[i], seed)
			} else if mixed {
				kept[len(kept)-1] = uint64(kernel.Unmix(uint32(values[i]), seed))
			}
		}
	}
	return m.newCase(m.tileGroups(), kernel.CompactArgsOf[argument]{
		Bits: in(words), Offsets: in(offsets), Values: valuesArg, Kept: outOf(width, kept),
		Rows: uint32(m.rows), Tiles: m.tiles(), Seed: seed,
	})
}

func compactCountBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, m.compactCounts())
}

func (m *maker) compactCounts() kernel.CompactCountArgsOf[[]byte] {
	return kernel.CompactCountArgsOf[[]byte]{
		Bits: m.random((m.rows+31)/32, 32), Counts: zeros(int(m.tiles()), 32), Rows: uint32(m.rows),
		Tiles: m.tiles(),
	}
}

func compactBenchmark(m *maker) *Dispatch {
	count, width := m.compactCounts(), m.config["value_bits"]
	NewDispatch(kernel.CompactCount.KernelSpec, m.config, m.rows, count).RunReference()
	sum := uint64(0)
	offsets := words(int(m.tiles()), 64, func(i int) uint64 {
		before := sum
		sum += uint64(backend.Words(count.Counts)[i])
		return before
	})
	return m.dispatch(m.rows, kernel.CompactArgsOf[[]byte]{
		Bits: count.Bits, Offsets: offsets, Values: m.random(m.rows, width), Kept: zeros(int(sum), width),
		Rows: count.Rows, Tiles: count.Tiles,
	})
}
