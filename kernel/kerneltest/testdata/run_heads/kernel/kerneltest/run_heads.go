package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.RunHeads, runHeadsCase, runHeadsBenchmark)
}

func runHeadsCase(m *maker) *Case {
	bits := m.config["key_bits"]
	keys := m.column(m.rows, bits, m.someBound(m.rows))
	heads := make([]uint32, m.rows)
	for i, key := range keys {
		if i == 0 || key != keys[i-1] {
			heads[i] = 1
		}
	}
	return m.newCase(m.groups(), kernel.RunHeadsArgsOf[argument]{
		Keys: inOf(bits, keys), Heads: out(heads), Rows: uint32(m.rows),
	})
}

func runHeadsBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.RunHeadsArgsOf[[]byte]{
		Keys: m.random(m.rows, m.config["key_bits"]), Heads: zeros(m.rows, 32), Rows: uint32(m.rows),
	})
}
