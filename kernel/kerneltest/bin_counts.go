package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.BinCounts, binCountsCase, binCountsBenchmark)
}

func binCountsCase(m *maker) *Case {
	bins := 1 + m.IntN(300)
	values, before := make([]uint32, m.rows), make([]uint32, bins)
	for i := range before {
		before[i] = m.Uint32() >> 1
	}
	after := slices.Clone(before)
	for i := range values {
		values[i] = uint32(m.IntN(bins + bins/4 + 1)) // some lie beyond
		if int(values[i]) < bins {
			after[values[i]]++
		}
	}
	return m.newCase(m.groups(), kernel.BinCountsArgsOf[argument]{Values: in(values), Counts: changed(before, after),
		Rows: uint32(m.rows), Bins: uint32(bins)})
}

func binCountsBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.BinCountsArgsOf[[]byte]{
		Values: words(m.rows, 32, func(int) uint64 { return m.Uint64N(1 << 20) }), Counts: zeros(1<<20, 32),
		Rows: uint32(m.rows), Bins: 1 << 20,
	})
}
