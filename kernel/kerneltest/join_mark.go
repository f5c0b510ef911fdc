package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.PartitionMark, partitionMarkCase, partitionMarkBenchmark)
	add(kernel.MergeMark, mergeMarkCase, mergeMarkBenchmark)
}

// marks is a bitmap of the right rows, with some bits set before, to which those with a match come.
func (m *maker) marks(j join) argument {
	_, before := m.bitmap(len(j.right))
	after := slices.Clone(before)
	for _, row := range j.rows {
		after[row.right/32] |= 1 << (row.right % 32)
	}
	return changed(before, after)
}

func partitionMarkCase(m *maker) *Case {
	j, shift := m.partitionedUnits(m.Uint32())
	keyBits := m.config["key_bits"]
	return m.newCase(j.groups, kernel.PartitionMarkArgsOf[argument]{
		Units: in(j.units), LeftKeys: inOf(keyBits, j.left), RightKeys: inOf(keyBits, j.right), Marks: m.marks(j),
		Shift: shift,
	})
}

func mergeMarkCase(m *maker) *Case {
	j, keyBits := m.sortedUnits(), m.config["key_bits"]
	return m.newCase(j.groups, kernel.MergeMarkArgsOf[argument]{
		Units: in(j.units), LeftKeys: inOf(keyBits, j.left), RightKeys: inOf(keyBits, j.right), Marks: m.marks(j),
	})
}

func partitionMarkBenchmark(m *maker) *Dispatch {
	units, unitRows, c, rows := m.joinOfPairs(int(m.config["table"]), spread)
	return m.dispatch(units*m.tileRows(), kernel.PartitionMarkArgsOf[[]byte]{
		Units: unitRows, LeftKeys: c.LeftKeys, RightKeys: c.RightKeys, Marks: zeros((int(rows.OutRows)+31)/32, 32),
	})
}

func mergeMarkBenchmark(m *maker) *Dispatch {
	units, unitRows, c, rows := m.joinOfPairs(min(m.tileRows()/2, int(m.config["table"])), number)
	return m.dispatch(units*m.tileRows(), kernel.MergeMarkArgsOf[[]byte]{
		Units: unitRows, LeftKeys: c.LeftKeys, RightKeys: c.RightKeys, Marks: zeros((int(rows.OutRows)+31)/32, 32),
	})
}
