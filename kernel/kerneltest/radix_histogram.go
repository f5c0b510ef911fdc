package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.RadixHistogram, radixHistogramCase, radixHistogramBenchmark)
}

func radixHistogramCase(m *maker) *Case {
	keys, _, d, counts, _ := m.radix()
	column, high := m.narrow(keys)
	return m.newCase(m.tileGroups(), kernel.RadixHistogramArgsOf[argument]{
		Keys: column, Counts: out(counts), High: high, Rows: uint32(m.rows), Tiles: m.tiles(), Shift: d.shift,
		Bits: d.bits, Seed: d.seed,
	})
}

func radixHistogramBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, m.digitCounts())
}

// digitCounts are the arguments that count the second lowest bytes.
func (m *maker) digitCounts() kernel.RadixHistogramArgsOf[[]byte] {
	return kernel.RadixHistogramArgsOf[[]byte]{
		Keys: m.random(m.rows, m.config["key_bits"]), Counts: zeros(256*int(m.tiles()), 32),
		Rows: uint32(m.rows), Tiles: m.tiles(), Shift: 8, Bits: 8,
	}
}
