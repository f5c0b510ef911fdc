package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.SegmentedScan, segmentedScanCase, segmentedScanBenchmark)
}

func segmentedScanCase(m *maker) *Case {
	inBits, sumBits := m.config["in_bits"], m.config["sum_bits"]
	values := m.column(m.rows, inBits, 0)
	heads, words := m.bitmap(m.rows)
	carries := m.Uint32N(2)
	if carries == 1 { // a word for each row
		words = make([]uint32, m.rows)
		for i, head := range heads {
			if head {
				words[i] = 1
			}
		}
	}
	var enters []uint64
	var carriesArg argument
	if m.IntN(3) > 0 {
		enters = m.column(int(m.tiles()), sumBits, 0)
		carriesArg = inOf(sumBits, enters)
	}
	sums, tileSums, tileHeads := make([]uint64, m.rows), make([]uint64, m.tiles()), make([]uint32, m.tiles())
	for tile := range int(m.tiles()) {
		sum := uint64(0)
		if enters != nil {
			sum = enters[tile]
		}
		for i := tile * m.tileRows(); i < min((tile+1)*m.tileRows(), m.rows); i++ {
			sums[i] = sum
			if heads[i] {
				tileHeads[tile], sum = 1, 0
				if carries == 0 {
					sums[i] = 0
				}
			}
			sum += values[i]
		}
		tileSums[tile] = sum
	}
	var sumsArg, tileSumsArg, tileHeadsArg argument
	which := m.IntN(3)
	if which != 0 {
		sumsArg = outOf(sumBits, sums)
	}
	if which != 1 {
		tileSumsArg, tileHeadsArg = outOf(sumBits, tileSums), out(tileHeads)
	}
	return m.newCase(m.tileGroups(), kernel.SegmentedScanArgsOf[argument]{
		Values: inOf(inBits, values), Heads: in(words), TileCarries: carriesArg, Sums: sumsArg,
		TileSums: tileSumsArg, TileHeads: tileHeadsArg, Rows: uint32(m.rows), Tiles: m.tiles(),
		Carries: carries,
	})
}

func segmentedScanBenchmark(m *maker) *Dispatch {
	heads := words((m.rows+31)/32, 32, func(int) uint64 { return m.Uint64() & m.Uint64() & m.Uint64() })
	return m.dispatch(m.rows, kernel.SegmentedScanArgsOf[[]byte]{
		Values: m.random(m.rows, m.config["in_bits"]), Heads: heads, Sums: zeros(m.rows, m.config["sum_bits"]),
		Rows: uint32(m.rows), Tiles: m.tiles(),
	})
}
