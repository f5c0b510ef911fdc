package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.GatherBits, gatherBitsCase, gatherBitsBenchmark)
}

func gatherBitsCase(m *maker) *Case {
	firstBit := [...]int{0, 1, 37, m.IntN(70)}[m.IntN(4)]
	bits := narrow(m.column(1+m.IntN(m.rows/8+10), 32, 0))
	if room := len(bits)*32 - firstBit; room <= 0 {
		firstBit = 0
	}
	ids := m.ids(len(bits)*32 - firstBit)
	gathered := make([]uint32, (m.rows+31)/32)
	for i, id := range ids {
		if bit := firstBit + int(id); bits[bit/32]>>(bit%32)&1 == 1 {
			gathered[i/32] |= 1 << (i % 32)
		}
	}
	return m.newCase(m.groups(), kernel.GatherBitsArgsOf[argument]{
		Bits: in(bits), IDs: in(ids), Gathered: out(gathered), Rows: uint32(m.rows), FirstBit: uint32(firstBit),
	})
}

func gatherBitsBenchmark(m *maker) *Dispatch {
	words := (m.rows + 31) / 32
	return m.dispatch(m.rows, kernel.GatherBitsArgsOf[[]byte]{
		Bits: m.random(words, 32), IDs: m.randomIDs(), Gathered: zeros(words, 32), Rows: uint32(m.rows),
	})
}
