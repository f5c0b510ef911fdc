package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.Histogram, histogramCase, histogramBenchmark)
}

func histogramCase(m *maker) *Case {
	keyBits := m.config["key_bits"]
	bits := 1 + m.Uint32N(kernel.MaxHistogramBits)
	shift := [...]uint32{0, keyBits - bits, m.Uint32N(keyBits)}[m.IntN(3)]
	keys := m.column(m.rows, keyBits, 0)
	before := m.column(1<<bits, 64, 1<<20)
	after := slices.Clone(before)
	for _, key := range keys {
		after[key>>shift&(1<<bits-1)]++
	}
	return m.newCase(m.tileGroups(), kernel.HistogramArgsOf[argument]{
		Keys: inOf(keyBits, keys), Counts: changed(before, after), Rows: uint32(m.rows), Shift: shift,
		Bits: bits,
	})
}

func histogramBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.HistogramArgsOf[[]byte]{
		Keys: m.random(m.rows, m.config["key_bits"]), Counts: zeros(1<<kernel.MaxHistogramBits, 64),
		Rows: uint32(m.rows), Shift: 8, Bits: kernel.MaxHistogramBits,
	})
}
