package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.PartitionMark, partitionMarkCase, partitionMarkBenchmark)
	add(kernel.MergeMark, mergeMarkCase, mergeMarkBenchmark)
}

// marks are bitmaps of both sides, with some bits set before, to which rows with a match come. That of a side that is
// not marked may be absent.
func (m *maker) marks(j join, sides uint32) (left, right argument) {
	return m.marksOf(len(j.left), sides&kernel.MarkLeft != 0, j.rows, func(r joined) uint32 { return r.left }),
		m.marksOf(len(j.right), sides&kernel.MarkRight != 0, j.rows, func(r joined) uint32 { return r.right })
}

func (m *maker) marksOf(rows int, marked bool, matches []joined, row func(joined) uint32) argument {
	_, before := m.bitmap(rows)
	after := slices.Clone(before)
	if !marked {
		return []argument{{}, changed(before, after)}[m.IntN(2)]
	}
	for _, match := range matches {
		after[row(match)/32] |= 1 << (row(match) % 32)
	}
	return changed(before, after)
}

const bothSides = kernel.MarkLeft | kernel.MarkRight

func partitionMarkCase(m *maker) *Case {
	sides := m.drawDear("sides", bothSides, kernel.MarkLeft, kernel.MarkRight)
	j, shift := m.partitionedUnits(m.Uint32())
	keyBits := m.config["key_bits"]
	left, right := m.marks(j, sides)
	return m.newCase(j.groups, kernel.PartitionMarkArgsOf[argument]{
		Units: in(j.units), LeftKeys: inOf(keyBits, j.left), RightKeys: inOf(keyBits, j.right), LeftMarks: left,
		RightMarks: right, Shift: shift,
	})
}

func mergeMarkCase(m *maker) *Case {
	sides := m.drawDear("sides", bothSides, kernel.MarkLeft, kernel.MarkRight)
	j, keyBits := m.sortedUnits(), m.config["key_bits"]
	left, right := m.marks(j, sides)
	return m.newCase(j.groups, kernel.MergeMarkArgsOf[argument]{
		Units: in(j.units), LeftKeys: inOf(keyBits, j.left), RightKeys: inOf(keyBits, j.right), LeftMarks: left,
		RightMarks: right,
	})
}

func partitionMarkBenchmark(m *maker) *Dispatch {
	units, unitRows, c, rows := m.joinOfPairs(int(m.config["table"]), spread)
	return m.dispatch(units*m.tileRows(), kernel.PartitionMarkArgsOf[[]byte]{
		Units: unitRows, LeftKeys: c.LeftKeys, RightKeys: c.RightKeys, LeftMarks: zerosFor(rows), RightMarks: zerosFor(rows),
	})
}

func mergeMarkBenchmark(m *maker) *Dispatch {
	units, unitRows, c, rows := m.joinOfPairs(min(m.tileRows()/2, int(m.config["table"])), number)
	return m.dispatch(units*m.tileRows(), kernel.MergeMarkArgsOf[[]byte]{
		Units: unitRows, LeftKeys: c.LeftKeys, RightKeys: c.RightKeys, LeftMarks: zerosFor(rows), RightMarks: zerosFor(rows),
	})
}

// zerosFor is a bitmap without marks of as many rows as a join makes: enough for either side.
func zerosFor(rows kernel.JoinRows) []byte { return zeros((int(rows.OutRows)+31)/32, 32) }
