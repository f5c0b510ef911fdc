package kernel_test

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func (m *maker) iota() *kernelCase {
	first := [...]uint32{0, 7, 1<<32 - 3}[m.IntN(3)]
	values := make([]uint32, m.rows)
	for i := range values {
		values[i] = first + uint32(i)
	}
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), []uint32{uint32(m.rows), first}, out(values))
}

// ids draws row numbers below n.
func (m *maker) ids(n int) []uint32 { return narrow(m.column(m.rows, 32, uint64(n))) }

func (m *maker) gather() *kernelCase {
	bits := m.config["value_bits"]
	values := m.column(1+m.IntN(2*m.rows+10), bits, 0)
	ids := m.ids(len(values))
	gathered := make([]uint64, m.rows)
	for i, id := range ids {
		gathered[i] = values[id]
	}
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), []uint32{uint32(m.rows)}, inOf(bits, values), ids, outOf(bits, gathered))
}

func (m *maker) copy() *kernelCase {
	firsts := [2]int{4 * m.IntN(20), 4 * m.IntN(20)}
	if m.IntN(2) == 0 {
		firsts = [2]int{m.IntN(20), m.IntN(20)}
	}
	const untouched = marker * (1<<32 - 1) / 255
	source, copied := narrow(m.column(firsts[0]+m.rows, 32, 0)), slices.Repeat([]uint32{untouched}, firsts[1])
	copied = append(copied, source[firsts[0]:]...)
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), []uint32{uint32(m.rows), uint32(firsts[0]), uint32(firsts[1])}, source, out(copied))
}

func (m *maker) scatter() *kernelCase {
	bits := m.config["value_bits"]
	values := m.column(m.rows, bits, 0)
	scattered := slices.Repeat([]uint64{marker * (1<<64 - 1) / 255}, m.rows+m.IntN(m.rows+10))
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
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), []uint32{uint32(m.rows)}, inOf(bits, values), ids, outOf(bits, scattered))
}

func (m *maker) gatherBits() *kernelCase {
	firstBit := m.IntN(70)
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
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), []uint32{uint32(m.rows), uint32(firstBit)}, bits, ids, out(gathered))
}

func (m *maker) compactCount() *kernelCase {
	bits, words := m.bitmap(m.rows)
	counts := make([]uint32, m.tiles())
	for i, set := range bits {
		if set {
			counts[i/int(kernel.TileRows(kernel.Named(m.config)))]++
		}
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles()}, words, out(counts))
}

func (m *maker) compact() *kernelCase {
	width := m.config["value_bits"]
	bits, words := m.bitmap(m.rows)
	values := m.column(m.rows, width, 0)
	valuesArg := inOf(width, values)
	if width == 32 && m.IntN(3) == 0 {
		for i := range values {
			values[i] = uint64(i)
		}
		valuesArg = nil
	}
	const untouched = marker * (1<<64 - 1) / 255
	offsets, kept := make([]uint64, m.tiles()), []uint64{}
	for i := range max(1, m.rows) {
		if i%int(kernel.TileRows(kernel.Named(m.config))) == 0 { // offsets need not be the plain scan of the counts
			kept = append(kept, slices.Repeat([]uint64{untouched}, m.IntN(3))...)
			offsets[i/int(kernel.TileRows(kernel.Named(m.config)))] = uint64(len(kept))
		}
		if i < m.rows && bits[i] {
			kept = append(kept, values[i])
		}
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles()}, words, offsets, valuesArg, outOf(width, kept))
}
