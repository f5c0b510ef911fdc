package kerneltest

import (
	"math"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.FloatCounts, floatCountsCase, floatCountsBenchmark)
}

func floatCountsCase(m *maker) *Case {
	floats, counts := make([]uint32, m.rows), make([]uint32, m.rows)
	for i := range counts {
		counts[i] = [...]uint32{0, 1, m.Uint32() >> 16, 1<<24 - 1, 1 << 24}[m.IntN(5)]
		floats[i] = math.Float32bits(float32(counts[i]))
	}
	return m.newCase(m.groups(), kernel.FloatCountsArgsOf[argument]{
		Floats: in(floats), Counts: out(counts), Rows: uint32(m.rows),
	})
}

func floatCountsBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.FloatCountsArgsOf[[]byte]{Floats: zeros(m.rows, 32), Counts: zeros(m.rows, 32),
		Rows: uint32(m.rows)})
}
