package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.SplitPairs, splitPairsCase, splitPairsBenchmark)
}

func splitPairsCase(m *maker) *Case {
	pairs, left, right := make([]uint64, m.rows), make([]uint32, m.rows), make([]uint32, m.rows)
	for i := range pairs {
		left[i], right[i] = m.Uint32(), m.Uint32()
		pairs[i] = uint64(right[i])<<32 | uint64(left[i])
	}
	return m.newCase(m.groups(), kernel.SplitPairsArgsOf[argument]{
		Pairs: in(pairs), Left: out(left), Right: out(right), Rows: uint32(m.rows),
	})
}

func splitPairsBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.SplitPairsArgsOf[[]byte]{Pairs: zeros(m.rows, 64), Left: zeros(m.rows, 32),
		Right: zeros(m.rows, 32), Rows: uint32(m.rows)})
}
