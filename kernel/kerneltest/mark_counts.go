package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.MarkCounts, markCountsCase, markCountsBenchmark)
}

func markCountsCase(m *maker) *Case {
	counts, bits := narrow(m.column(m.rows, 32, [...]uint64{0, 2, 5}[m.IntN(3)])), m.rows
	ids, idsArg := rowNumbers(m.rows), argument{}
	if m.IntN(2) == 0 {
		bits = 1 + m.IntN(2*m.rows+1)
		ids = m.ids(bits)
		idsArg = in(ids)
	}
	_, before := m.bitmap(bits)
	after := slices.Clone(before)
	for i, id := range ids {
		if counts[i] > 0 {
			after[id/32] |= 1 << (id % 32)
		}
	}
	return m.newCase(m.groups(), kernel.MarkCountsArgsOf[argument]{
		Counts: in(counts), IDs: idsArg, Marks: changed(before, after), Rows: uint32(m.rows),
	})
}

// rowNumbers are the row numbers below n.
func rowNumbers(n int) []uint32 {
	numbers := make([]uint32, n)
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	return numbers
}

func markCountsBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.MarkCountsArgsOf[[]byte]{
		Counts: words(m.rows, 32, func(int) uint64 { return m.Uint64N(2) }), Marks: zeros((m.rows+31)/32, 32),
		Rows: uint32(m.rows),
	})
}
