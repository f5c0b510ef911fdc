package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.MarkKept, markKeptCase, markKeptBenchmark)
}

func markKeptCase(m *maker) *Case {
	rows := 1 + m.IntN(2*m.rows+1)
	kept, keep := m.bitmap(m.rows)
	ids := m.ids(rows)
	_, before := m.bitmap(rows)
	after := slices.Clone(before)
	for i, id := range ids {
		if kept[i] {
			after[id/32] |= 1 << (id % 32)
		}
	}
	return m.newCase(m.groups(), kernel.MarkKeptArgsOf[argument]{
		Keep: in(keep), IDs: in(ids), Marks: changed(before, after), Rows: uint32(m.rows),
	})
}

func markKeptBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.MarkKeptArgsOf[[]byte]{
		Keep: slices.Repeat([]byte{0xff}, (m.rows+31)/32*4), IDs: m.randomIDs(), Marks: zeros((m.rows+31)/32, 32),
		Rows: uint32(m.rows),
	})
}
