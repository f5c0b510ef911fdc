package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.Iota, iotaCase, iotaBenchmark)
}

func iotaCase(m *maker) *Case {
	first := [...]uint32{0, m.Uint32(), 1<<32 - 3}[m.IntN(3)]
	values := make([]uint32, m.rows)
	for i := range values {
		values[i] = first + uint32(i)
	}
	return m.newCase(m.groups(), kernel.IotaArgsOf[argument]{
		Values: out(values), Rows: uint32(m.rows), First: first,
	})
}

func iotaBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.IotaArgsOf[[]byte]{Values: zeros(m.rows, 32), Rows: uint32(m.rows)})
}
