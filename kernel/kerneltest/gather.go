package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.Gather, gatherCase, gatherBenchmark)
}

func gatherCase(m *maker) *Case {
	bits := m.config["value_bits"]
	values := m.column(1+m.IntN(2*m.rows+10), bits, 0)
	ids := m.ids(len(values))
	gathered := make([]uint64, m.rows)
	for i, id := range ids {
		gathered[i] = values[id]
	}
	return m.newCase(m.groups(), kernel.GatherArgsOf[argument]{
		Values: inOf(bits, values), IDs: in(ids), Gathered: outOf(bits, gathered), Rows: uint32(m.rows),
	})
}

func gatherBenchmark(m *maker) *Dispatch {
	bits := m.config["value_bits"]
	return m.dispatch(m.rows, kernel.GatherArgsOf[[]byte]{
		Values: m.random(m.rows, bits), IDs: m.randomIDs(), Gathered: zeros(m.rows, bits), Rows: uint32(m.rows),
	})
}
