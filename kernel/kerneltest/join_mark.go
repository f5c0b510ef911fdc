package kerneltest

import (
	"math/rand/v2"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.PartitionMark, partitionMarkCase, partitionMarkBenchmark)
	add(kernel.MergeMark, mergeMarkCase, mergeMarkBenchmark)
}

// marks are bitmaps of both sides, with some bits set before, in which the bits of rows with a match are set. The
// bitmap of a side that is not marked may be absent.
func (m *maker) marks(j join, sides uint32) (left, right argument) {
	return m.marksOf(len(j.left), sides&kernel.MarkLeft != 0, j.rows, joined.leftRow),
		m.marksOf(len(j.right), sides&kernel.MarkRight != 0, j.rows, joined.rightRow)
}

func (m *maker) marksOf(rows int, marked bool, matches []joined, row func(joined) uint32) argument {
	before, after := m.markedRows(rows, marked, matches, row)
	if !marked && m.IntN(2) == 0 {
		return argument{}
	}
	return changed(before, after)
}

// markedRows returns a bitmap with some bits set and, as after, the same bitmap with the bits of rows with a match set
// too, if these are marked.
func (m *maker) markedRows(rows int, marked bool, matches []joined, row func(joined) uint32) (before, after []uint32) {
	_, before = m.bitmap(rows)
	after = slices.Clone(before)
	for _, match := range matches {
		if marked {
			after[row(match)/32] |= 1 << (row(match) % 32)
		}
	}
	return before, after
}

// markedPlaces are the places of a join that has made total rows and marked those that have a match.
func (m *maker) markedPlaces(j join, total uint32) argument {
	sides := m.drawDear("sides", bothSides, kernel.MarkLeft, kernel.MarkRight)
	before := make([]uint32, kernel.MarksWord+2+m.IntN(5))
	after := slices.Clone(before)
	after[0], after[1] = total, total
	for side, row := range [2]func(joined) uint32{joined.leftRow, joined.rightRow} {
		marked := sides&[2]uint32{kernel.MarkLeft, kernel.MarkRight}[side] != 0
		bitmap, marks := m.markedRows([2]int{len(j.left), len(j.right)}[side], marked, j.rows, row)
		before[kernel.MarksWord+side], after[kernel.MarksWord+side] = uint32(len(before)), uint32(len(after))
		before, after = append(before, bitmap...), append(after, marks...)
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

// FrequentKeys is a case of a kernel that counts or marks the matches of units: one unit with two keys that hundreds of
// rows of either side have, and keys of one side only.
func FrequentKeys(spec *backend.KernelSpec, config backend.Config) (*Case, error) {
	const before = 37 // rows of no unit
	full, err := spec.Complete(config)
	if err != nil {
		return nil, err
	}
	keysOf := func(runs ...[2]int) (keys []uint64) {
		for _, run := range runs {
			keys = append(keys, slices.Repeat([]uint64{uint64(run[0])}, run[1])...)
		}
		return keys
	}
	left := keysOf([2]int{5, before}, [2]int{5, 300}, [2]int{6, 1}, [2]int{7, 399})
	right := keysOf([2]int{5, before}, [2]int{4, 3}, [2]int{5, 900}, [2]int{7, 500}, [2]int{8, 70})
	marked := func(of, other []uint64) argument {
		after := make([]uint32, (len(of)+31)/32)
		for row, key := range of {
			if row >= before && slices.Contains(other[before:], key) {
				after[row/32] |= 1 << (row % 32)
			}
		}
		return changed(make([]uint32, len(after)), after)
	}
	units := in([]uint32{before, uint32(len(left)), before, uint32(len(right))})
	leftKeys, rightKeys, counts := inOf(full["key_bits"], left), inOf(full["key_bits"], right),
		out([]uint64{300*900 + 399*500})
	m := &maker{rand.New(rand.NewPCG(1, 1)), spec, full, len(right), "random", Configured}
	switch spec {
	case kernel.PartitionCount.KernelSpec:
		return m.newCase(1, kernel.PartitionCountArgsOf[argument]{
			Units: units, LeftKeys: leftKeys, RightKeys: rightKeys, Counts: counts}), nil
	case kernel.MergeCount.KernelSpec:
		return m.newCase(1, kernel.MergeCountArgsOf[argument]{
			Units: units, LeftKeys: leftKeys, RightKeys: rightKeys, Counts: counts}), nil
	case kernel.PartitionMark.KernelSpec:
		return m.newCase(1, kernel.PartitionMarkArgsOf[argument]{Units: units, LeftKeys: leftKeys,
			RightKeys: rightKeys, LeftMarks: marked(left, right), RightMarks: marked(right, left)}), nil
	}
	return m.newCase(1, kernel.MergeMarkArgsOf[argument]{Units: units, LeftKeys: leftKeys, RightKeys: rightKeys,
		LeftMarks: marked(left, right), RightMarks: marked(right, left)}), nil
}

// zerosFor is a bitmap without marks of as many rows as a join makes: enough for either side.
func zerosFor(rows kernel.JoinRows) []byte { return zeros((int(rows.OutRows)+31)/32, 32) }
