package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.Copy, copyCase, copyBenchmark)
}

func copyCase(m *maker) *Case {
	// Both columns aligned to 16 bytes or both not, or anywhere.
	alike := m.IntN(4)
	firsts := [...][2]int{{}, {4 * m.IntN(20), 4 * m.IntN(20)}, {alike, alike}, {m.IntN(20), m.IntN(20)}}[m.IntN(4)]
	source, copied := narrow(m.column(firsts[0]+m.rows, 32, 0)), slices.Repeat([]uint32{untouched32}, firsts[1])
	copied = append(copied, source[firsts[0]:]...)
	return m.newCase(m.groups(), kernel.CopyArgsOf[argument]{
		Source: in(source), Destination: out(copied), Rows: uint32(m.rows), SourceFirst: uint32(firsts[0]),
		DestinationFirst: uint32(firsts[1]),
	})
}

func copyBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.CopyArgsOf[[]byte]{
		Source: m.random(m.rows, 32), Destination: zeros(m.rows, 32), Rows: uint32(m.rows),
	})
}
