package kerneltest

import (
	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.CascadeSizes, cascadeSizesCase, cascadeSizesBenchmark)
}

func cascadeSizesCase(m *maker) *Case {
	bits := m.config["value_bits"]
	values := m.shaped(m.column(m.rows, bits, 0), bits)
	var blocks, sizes []uint32
	for range min(m.rows, 1+m.IntN(5)) {
		first := m.IntN(m.rows)
		count := min(m.rows-first, 1+m.IntN(kernel.CascadeBlock))
		blocks = append(blocks, uint32(first), uint32(count))
		for scheme := range kernel.CascadeScheme(kernel.CascadeSchemes) {
			sizes = append(sizes, uint32(4*len(cascaded(values[first:][:count], int(bits), scheme))))
		}
	}
	return m.newCase(uint32(len(blocks)/2), kernel.CascadeSizesArgsOf[argument]{
		Values: inOf(bits, values), Blocks: in(blocks), Bytes: out(sizes),
	})
}

func cascadeSizesBenchmark(m *maker) *Dispatch {
	bits, blocks := m.config["value_bits"], m.benchmarkBlocks()
	at := func(i int) uint64 {
		if first := i / 2 * kernel.CascadeBlock; i%2 == 0 {
			return uint64(first)
		} else {
			return uint64(min(kernel.CascadeBlock, m.rows-first))
		}
	}
	return m.cascadeDispatch(blocks, kernel.CascadeSizesArgsOf[[]byte]{
		Values: m.benchmarkRuns(bits), Blocks: words(2*blocks, 32, at), Bytes: zeros(kernel.CascadeSchemes*blocks, 32),
	})
}
