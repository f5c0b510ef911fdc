package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.CopyStrided, copyStridedCase, copyStridedBenchmark)
}

func copyStridedCase(m *maker) *Case {
	draw := func() (first, stride int) { return m.IntN(40), 1 + m.IntN(4) }
	from, fromStride := draw()
	to, toStride := draw()
	source := m.column(from+m.rows*fromStride, 64, 0)
	before := m.column(to+m.rows*toStride, 64, 0)
	after := slices.Clone(before)
	for i := range m.rows {
		after[to+i*toStride] = source[from+i*fromStride]
	}
	return m.newCase(m.groups(), kernel.CopyStridedArgsOf[argument]{
		Source: in(source), Destination: changed(before, after), Rows: uint32(m.rows), SourceFirst: uint32(from),
		SourceStride: uint32(fromStride), DestinationFirst: uint32(to), DestinationStride: uint32(toStride),
	})
}

func copyStridedBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.CopyStridedArgsOf[[]byte]{
		Source: m.random(2*m.rows, 64), Destination: zeros(m.rows, 64), Rows: uint32(m.rows), SourceStride: 2,
		DestinationStride: 1,
	})
}
