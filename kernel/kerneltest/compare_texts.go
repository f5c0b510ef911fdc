package kerneltest

import (
	"bytes"
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.CompareTexts, compareTextsCase, compareTextsBenchmark)
}

func compareTextsCase(m *maker) *Case {
	piece := int(m.draw("piece", kernel.TextPiece, 16, 48))
	begin := piece * m.IntN(3)
	if piece == kernel.TextPiece {
		begin = 0
	}
	longest := min(4*piece, 300)
	left := m.texts(1+m.IntN(m.rows+1), longest)
	right := left // the same texts, so that many pairs are equal
	if m.IntN(2) == 0 {
		right = m.texts(1+m.IntN(m.rows+1), longest)
	}
	args := kernel.CompareTextsArgsOf[argument]{
		LeftTexts: left.bytes, LeftStarts: left.starts, LeftWidth: left.width, LeftFirst: m.Uint32(),
		RightTexts: right.bytes, RightStarts: right.starts, RightWidth: right.width, RightFirst: m.Uint32(),
		Begin: uint32(begin), Rows: uint32(m.rows),
	}
	leftIDs, rightIDs := m.ids(len(left.of)), m.ids(len(right.of))
	_, before := m.bitmap(m.rows)
	after := slices.Clone(before)
	part := func(text []byte) []byte { return text[min(begin, len(text)):min(begin+piece, len(text))] }
	for i := range leftIDs {
		if m.IntN(2) == 0 && len(right.of) == len(left.of) {
			rightIDs[i] = leftIDs[i]
		}
		a, b := left.of[leftIDs[i]], right.of[rightIDs[i]]
		if len(a) != len(b) || !bytes.Equal(part(a), part(b)) {
			after[i/32] &^= 1 << (i % 32)
		}
		leftIDs[i] += args.LeftFirst
		rightIDs[i] += args.RightFirst
	}
	args.LeftIDs, args.RightIDs, args.Keep = in(leftIDs), in(rightIDs), changed(before, after)
	return m.newCase(m.groups(), args)
}

func compareTextsBenchmark(m *maker) *Dispatch {
	texts, starts, ids := m.benchmarkTexts(), m.benchmarkStarts(), m.randomIDs()
	return m.dispatch(m.rows, kernel.CompareTextsArgsOf[[]byte]{
		LeftTexts: texts, LeftStarts: starts, LeftIDs: ids, RightTexts: texts, RightStarts: starts, RightIDs: ids,
		Keep: slices.Repeat([]byte{0xff}, (m.rows+31)/32*4), Rows: uint32(m.rows),
	})
}
