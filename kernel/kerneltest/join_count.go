package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.PartitionCount, partitionCountCase, partitionCountBenchmark)
	add(kernel.MergeCount, mergeCountCase, mergeCountBenchmark)
}

func partitionCountCase(m *maker) *Case {
	m.drawDear("distinct", 1, 0)
	j, shift := m.partitionedUnits(m.Uint32())
	keyBits := m.config["key_bits"]
	return m.newCase(j.groups, kernel.PartitionCountArgsOf[argument]{
		Units: in(j.units), LeftKeys: inOf(keyBits, j.left), RightKeys: inOf(keyBits, j.right), Counts: out(j.counts),
		Shift: shift,
	})
}

func mergeCountCase(m *maker) *Case {
	j, keyBits := m.sortedUnits(), m.config["key_bits"]
	return m.newCase(j.groups, kernel.MergeCountArgsOf[argument]{
		Units: in(j.units), LeftKeys: inOf(keyBits, j.left), RightKeys: inOf(keyBits, j.right), Counts: out(j.counts),
	})
}

func partitionCountBenchmark(m *maker) *Dispatch {
	units, unitRows, c, _ := m.joinOfPairs(int(m.config["table"]), spread)
	return m.dispatch(units*m.tileRows(), kernel.PartitionCountArgsOf[[]byte]{
		Units: unitRows, LeftKeys: c.LeftKeys, RightKeys: c.RightKeys, Counts: zeros(units, 64),
	})
}

func mergeCountBenchmark(m *maker) *Dispatch {
	units, unitRows, c, _ := m.joinOfPairs(min(m.tileRows()/2, int(m.config["table"])), number)
	return m.dispatch(units*m.tileRows(), kernel.MergeCountArgsOf[[]byte]{
		Units: unitRows, LeftKeys: c.LeftKeys, RightKeys: c.RightKeys, Counts: zeros(units, 64),
	})
}
