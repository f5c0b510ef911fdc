package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.ScanLookback, scanLookbackCase, scanLookbackBenchmark)
}

// scanLookback often runs the last tiles only: of those before them the status tells everything, the sum of the tile,
// nothing, or something torn, as if they were under way.
func scanLookbackCase(m *maker) *Case {
	m.draw("patience", 256, 0, 1)
	sumBits := m.config["sum_bits"]
	values := m.column(m.rows, m.config["in_bits"], 0)
	total, tiles, tileRows := m.Uint32N(2), m.tiles(), m.tileRows()
	first := uint32(0)
	if m.IntN(2) == 0 {
		first = m.Uint32N(tiles)
	}
	parts := []uint32{16, 16}
	if sumBits == 64 {
		parts = []uint32{22, 22, 20}
	}
	const missing, tileSum, prefixSum = 0, 1, 2
	var before, after []uint32
	sums, sum := make([]uint64, m.rows+int(total)), uint64(0)
	for tile := range tiles {
		prefix := sum
		for i := int(tile) * tileRows; i < min(int(tile+1)*tileRows, m.rows); i++ {
			sums[i] = sum
			sum += values[i]
			if tile < first {
				sums[i] = untouched
			}
		}
		words := func(flag uint32, v uint64) (words []uint32) {
			for _, bits := range parts {
				words = append(words, uint32(v&(1<<bits-1))<<2|flag)
				v >>= bits
			}
			return words
		}
		pad := func(words []uint32) []uint32 { return append(words, make([]uint32, int(sumBits)/16-len(words))...) }
		state := words(missing, 0)
		if tile < first {
			switch m.IntN(4) {
			case 1:
				state = words(tileSum, sum-prefix)
			case 2:
				state = words(prefixSum, sum)
			case 3: // one word is not yet there, or still there
				flag := []uint32{missing, tileSum, prefixSum}
				m.Shuffle(len(flag), func(i, j int) { flag[i], flag[j] = flag[j], flag[i] })
				state = words(flag[0], m.Uint64())
				state[m.IntN(len(state))] = m.Uint32()&^3 | flag[1]
			}
			after = append(after, pad(state)...)
		} else {
			after = append(after, pad(words(prefixSum, sum))...)
		}
		before = append(before, pad(state)...)
	}
	if total == 1 {
		sums[m.rows] = sum
	}
	c := m.newCase(tiles, kernel.ScanLookbackArgsOf[argument]{
		Values: inOf(m.config["in_bits"], values), Sums: outOf(sumBits, sums), Status: changed(before, after),
		Rows: uint32(m.rows), Tiles: tiles, Total: total,
	})
	c.FirstGroup = first
	return c
}

func scanLookbackBenchmark(m *maker) *Dispatch {
	sumBits := m.config["sum_bits"]
	return m.dispatch(m.rows, kernel.ScanLookbackArgsOf[[]byte]{
		Values: m.random(m.rows, m.config["in_bits"]), Sums: zeros(m.rows, sumBits),
		Status: zeros(int(kernel.ScanStatusWords(sumBits, m.tiles())), 32), Rows: uint32(m.rows),
		Tiles: m.tiles(),
	})
}
