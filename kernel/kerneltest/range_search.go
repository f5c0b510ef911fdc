package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.RangeSearch, rangeSearchCase, rangeSearchBenchmark)
}

func rangeSearchCase(m *maker) *Case {
	bits := m.config["key_bits"]
	// As many different keys as rows, or few, so that matches are neither certain nor rare.
	bound := uint64(0)
	if m.distribution == "random" || m.distribution == "sorted" {
		bound = uint64(1 + m.IntN(2*m.rows+10))
	}
	left := m.column(m.rows, bits, bound)
	right := m.column([]int{0, 1, m.rows / 3, m.rows, 3*m.rows + 5}[m.IntN(5)], bits, bound)
	if len(right) > 0 && m.IntN(2) == 0 {
		right = append(right[1:], left[:min(1, len(left))]...)
	}
	slices.Sort(left)
	slices.Sort(right)
	begins, counts, totals := make([]uint32, m.rows), make([]uint32, m.rows), make([]uint64, m.tiles())
	for i, key := range left {
		begin, _ := slices.BinarySearch(right, key)
		end := len(right)
		if key < ^uint64(0) {
			end, _ = slices.BinarySearch(right, key+1)
		}
		begins[i], counts[i] = uint32(begin), uint32(end-begin)
		totals[i/m.tileRows()] += uint64(end - begin)
	}
	beginsArg, countsArg, totalsArg := out(begins), out(counts), out(totals)
	switch m.IntN(4) {
	case 0:
		beginsArg, countsArg = argument{}, argument{}
	case 1:
		beginsArg, totalsArg = argument{}, argument{}
	}
	return m.newCase(m.tileGroups(), kernel.RangeSearchArgsOf[argument]{
		LeftKeys: inOf(bits, left), RightKeys: inOf(bits, right), Begins: beginsArg, Counts: countsArg,
		TileTotals: totalsArg, LeftRows: uint32(m.rows), RightRows: uint32(len(right)), Tiles: m.tiles(),
	})
}

// rangeSearchBenchmark has a fifth of the rows on the left, with unique keys; each of the others matches one of them.
func rangeSearchBenchmark(m *maker) *Dispatch {
	left, keyBits := m.rows/5, m.config["key_bits"]
	tiles := kernel.Tiles(kernel.Named(m.config), uint64(left))
	return m.dispatch(left, kernel.RangeSearchArgsOf[[]byte]{
		LeftKeys:  words(left, keyBits, func(i int) uint64 { return 3 * uint64(i) }),
		RightKeys: m.ascending(m.rows-left, left, keyBits), Begins: zeros(left, 32), Counts: zeros(left, 32),
		TileTotals: zeros(int(tiles), 64), LeftRows: uint32(left), RightRows: uint32(m.rows - left),
		Tiles: tiles,
	})
}
