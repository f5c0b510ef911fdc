package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.ScanTiles, scanTilesCase, scanTilesBenchmark)
}

func scanTilesCase(m *maker) *Case {
	values := m.column(m.rows, m.config["in_bits"], 0)
	total := m.Uint32N(2)
	var prefixes []uint64
	var prefixArg argument
	if m.IntN(3) > 0 {
		prefixes = m.column(int(m.tiles()), m.config["sum_bits"], 0)
		prefixArg = inOf(m.config["sum_bits"], prefixes)
	}
	sums := make([]uint64, m.rows+int(total))
	for tile := range int(m.tiles()) {
		sum := uint64(0)
		if prefixes != nil {
			sum = prefixes[tile]
		}
		for i := tile * m.tileRows(); i < min((tile+1)*m.tileRows(), m.rows); i++ {
			sums[i] = sum
			sum += values[i]
		}
		if total == 1 {
			sums[m.rows] = sum // the last tile has the last word
		}
	}
	return m.newCase(m.tileGroups(), kernel.ScanTilesArgsOf[argument]{
		Values: inOf(m.config["in_bits"], values), TilePrefix: prefixArg,
		Sums: outOf(m.config["sum_bits"], sums), Rows: uint32(m.rows), Tiles: m.tiles(), Total: total,
	})
}

func scanTilesBenchmark(m *maker) *Dispatch {
	sumBits := m.config["sum_bits"]
	return m.dispatch(m.rows, kernel.ScanTilesArgsOf[[]byte]{
		Values: m.random(m.rows, m.config["in_bits"]), TilePrefix: m.random(int(m.tiles()), sumBits),
		Sums: zeros(m.rows, sumBits), Rows: uint32(m.rows), Tiles: m.tiles(),
	})
}
