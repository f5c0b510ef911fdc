package kernel_test

import (
	"math"
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func (m *maker) reduce() *kernelCase {
	op := kernel.ReduceOp(m.set("op", 0, 1, 2, 3, 4))
	values := m.column(m.rows, m.config["in_bits"], 0)
	results := make([]uint64, m.tiles())
	if op == kernel.ReduceMin || op == kernel.ReduceAnd {
		results = slices.Repeat([]uint64{math.MaxUint64}, len(results))
	}
	for i, v := range values {
		result := &results[i/int(kernel.TileRows(kernel.Named(m.config)))]
		*result = [...]uint64{*result + v, min(*result, v), max(*result, v), *result & v, *result | v}[op]
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles()}, inOf(m.config["in_bits"], values), outOf(m.config["sum_bits"], results))
}

func (m *maker) varyingBits() *kernelCase {
	bits := m.config["key_bits"]
	keys := m.column(m.rows, bits, 0)
	fixed := m.Uint64() // bits that are the same in all keys
	if m.distribution == "sorted" {
		fixed = math.MaxUint64
	}
	before := []uint64{m.Uint64() | m.Uint64(), m.Uint64() & m.Uint64(), uint64(m.Uint32N(5))}
	after := slices.Clone(before)
	for i := range keys {
		keys[i] = (keys[i]&fixed | ^fixed&0x123456789abcdef0) & (math.MaxUint64 >> (64 - bits))
		after[0], after[1] = after[0]&keys[i], after[1]|keys[i]
		if i > 0 && keys[i] < keys[i-1] {
			after[2]++
		}
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles()}, inOf(bits, keys), changed{outOf(bits, before), outOf(bits, after)})
}

func (m *maker) scanTiles() *kernelCase {
	values := m.column(m.rows, m.config["in_bits"], 0)
	total := m.Uint32N(2)
	var prefixes []uint64
	var prefixArg any
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
		for i := tile * int(kernel.TileRows(kernel.Named(m.config))); i < min((tile+1)*int(kernel.TileRows(kernel.Named(m.config))), m.rows); i++ {
			sums[i] = sum
			sum += values[i]
		}
		if total == 1 {
			sums[m.rows] = sum // the last tile has the last word
		}
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles(), total},
		inOf(m.config["in_bits"], values), prefixArg, outOf(m.config["sum_bits"], sums))
}

// scanLookback often runs the last tiles only: of those before them the status tells everything, the sum of the tile,
// nothing, or something torn, as if they were under way.
func (m *maker) scanLookback() *kernelCase {
	m.set("patience", 256, 0, 1)
	sumBits := m.config["sum_bits"]
	values := m.column(m.rows, m.config["in_bits"], 0)
	total, tiles, tileRows := m.Uint32N(2), m.tiles(), int(kernel.TileRows(kernel.Named(m.config)))
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
				sums[i] = marker * (1<<64 - 1) / 255
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
	c := m.newCase(tiles, []uint32{uint32(m.rows), tiles, total}, inOf(m.config["in_bits"], values), outOf(sumBits, sums), changed{out(before), out(after)})
	c.firstGroup = first
	return c
}

// bitmap draws n bits, mostly set, mostly not, or evenly, and more behind them.
func (m *maker) bitmap(n int) (bits []bool, words []uint32) {
	bits, words = make([]bool, n), make([]uint32, (n+31)/32)
	often := []int{1, 2, 50, 98, 99}[m.IntN(5)]
	for i := range len(words) * 32 {
		if set := m.IntN(100) < often; set {
			words[i/32] |= 1 << (i % 32)
			if i < n {
				bits[i] = true
			}
		}
	}
	return bits, words
}

func (m *maker) segmentedScan() *kernelCase {
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
	var entersArg any
	if m.IntN(3) > 0 {
		enters = m.column(int(m.tiles()), sumBits, 0)
		entersArg = inOf(sumBits, enters)
	}
	sums, tileSums, tileHeads := make([]uint64, m.rows), make([]uint64, m.tiles()), make([]uint32, m.tiles())
	for tile := range int(m.tiles()) {
		sum := uint64(0)
		if enters != nil {
			sum = enters[tile]
		}
		for i := tile * int(kernel.TileRows(kernel.Named(m.config))); i < min((tile+1)*int(kernel.TileRows(kernel.Named(m.config))), m.rows); i++ {
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
	var sumsArg, tileSumsArg, tileHeadsArg any
	which := m.IntN(3)
	if which != 0 {
		sumsArg = outOf(sumBits, sums)
	}
	if which != 1 {
		tileSumsArg, tileHeadsArg = outOf(sumBits, tileSums), out(tileHeads)
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles(), carries}, inOf(inBits, values), words, entersArg, sumsArg, tileSumsArg, tileHeadsArg)
}
