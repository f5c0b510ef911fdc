package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.GroupHeads, groupHeadsCase, groupHeadsBenchmark)
}

func groupHeadsCase(m *maker) *Case {
	bits, cut := m.config["key_bits"], uint32(32)<<m.IntN(4)
	keys := m.column(m.rows, bits, m.someBound(m.rows))
	slices.Sort(keys)
	heads, groups := make([]uint32, (m.rows+31)/32), uint32(0)
	for i, key := range keys {
		differs := i == 0 || key != keys[i-1]
		if differs {
			groups++
		}
		if differs || i%int(cut) == 0 {
			heads[i/32] |= 1 << (i % 32)
		}
	}
	before := m.Uint32()
	return m.newCase(m.groups(), kernel.GroupHeadsArgsOf[argument]{
		Keys: inOf(bits, keys), Heads: out(heads), Groups: changed([]uint32{before}, []uint32{before + groups}),
		Rows: uint32(m.rows), Cut: cut,
	})
}

func groupHeadsBenchmark(m *maker) *Dispatch {
	bits := m.config["key_bits"]
	return m.dispatch(m.rows, kernel.GroupHeadsArgsOf[[]byte]{
		Keys: m.ascending(m.rows, m.rows/4+1, bits), Heads: zeros((m.rows+31)/32, 32), Groups: zeros(1, 32),
		Rows: uint32(m.rows), Cut: 32,
	})
}
