package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.Scatter, scatterCase, scatterBenchmark)
}

func scatterCase(m *maker) *Case {
	bits := m.config["value_bits"]
	values := m.column(m.rows, bits, 0)
	scattered := slices.Repeat([]uint64{untouched}, m.rows+m.IntN(m.rows+10))
	ids := make([]uint32, m.rows)
	for i, id := range m.Perm(len(scattered))[:m.rows] {
		ids[i] = uint32(id)
	}
	if m.distribution == "sorted" {
		slices.Sort(ids)
	}
	for i, id := range ids {
		scattered[id] = values[i]
	}
	return m.newCase(m.groups(), kernel.ScatterArgsOf[argument]{
		Values: inOf(bits, values), IDs: in(ids), Scattered: outOf(bits, scattered), Rows: uint32(m.rows),
	})
}

func scatterBenchmark(m *maker) *Dispatch {
	bits, ids := m.config["value_bits"], m.Perm(m.rows)
	return m.dispatch(m.rows, kernel.ScatterArgsOf[[]byte]{
		Values: m.random(m.rows, bits), IDs: words(m.rows, 32, func(i int) uint64 { return uint64(ids[i]) }),
		Scattered: zeros(m.rows, bits), Rows: uint32(m.rows),
	})
}
