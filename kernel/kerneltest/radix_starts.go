package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.RadixStarts, radixStartsCase, radixStartsBenchmark)
}

func radixStartsCase(m *maker) *Case {
	tiles, end := 1+m.IntN(5), m.Uint32()
	offsets, starts := narrow(m.column(m.rows*tiles, 32, 0)), make([]uint32, m.rows+1)
	for i := range m.rows {
		starts[i] = offsets[i*tiles]
	}
	starts[m.rows] = end
	return m.newCase(m.groupsFor(m.rows+1), kernel.RadixStartsArgsOf[argument]{
		Offsets: in(offsets), Starts: out(starts), Digits: uint32(m.rows), Tiles: uint32(tiles), End: end,
	})
}

func radixStartsBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.RadixStartsArgsOf[[]byte]{
		Offsets: m.random(m.rows, 32), Starts: zeros(m.rows+1, 32), Digits: uint32(m.rows), Tiles: 1,
	})
}
