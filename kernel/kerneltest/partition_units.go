package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.PartitionUnits, partitionUnitsCase, partitionUnitsBenchmark)
	add(kernel.PartitionPieces, partitionPiecesCase, partitionPiecesBenchmark)
}

// cut is how partitions are cut into units.
type cut struct {
	starts    [2][]uint32 // of partitions on both sides
	counts    []uint32    // of units, by partition
	oversized uint32
	units     []uint32 // begin and end on the left, begin and end on the right
}

// unitsOf cuts partitions of random sizes.
func (m *maker) unitsOf(partitions int, leftRows, rightRows, mostLeft uint32) cut {
	var starts [2][]uint32
	var oversized uint32
	var units []uint32
	for side := range starts {
		starts[side] = make([]uint32, partitions+1)
		for p := range partitions {
			size := uint32(0)
			switch m.IntN(4) {
			case 1:
				size = m.Uint32N(2 * [2]uint32{leftRows, rightRows}[side])
			case 2:
				size = [2]uint32{leftRows, rightRows}[side] * m.Uint32N(3)
			case 3:
				size = m.Uint32N(mostLeft + 3)
			}
			starts[side][p+1] = starts[side][p] + size
		}
	}
	counts := make([]uint32, partitions)
	for p := range partitions {
		if starts[0][p+1]-starts[0][p] > mostLeft {
			if starts[1][p+1] > starts[1][p] {
				oversized++
			}
			continue
		}
		for left := starts[0][p]; left < starts[0][p+1]; left += leftRows {
			for right := starts[1][p]; right < starts[1][p+1]; right += rightRows {
				counts[p]++
				leftEnd, rightEnd := min(left+leftRows, starts[0][p+1]), min(right+rightRows, starts[1][p+1])
				units = append(units, left, leftEnd, right, rightEnd)
			}
		}
	}
	return cut{starts, counts, oversized, units}
}

func partitionUnitsCase(m *maker) *Case {
	leftRows, rightRows := 1+m.Uint32N(50), 1+m.Uint32N(80)
	mostLeft := leftRows * m.Uint32N(4)
	c := m.unitsOf(m.rows, leftRows, rightRows, mostLeft)
	before := m.Uint32N(5)
	return m.newCase(m.groups(), kernel.PartitionUnitsArgsOf[argument]{
		LeftStarts: in(c.starts[0]), RightStarts: in(c.starts[1]), Counts: out(c.counts),
		Oversized: changed([]uint32{before}, []uint32{before + c.oversized}), Partitions: uint32(m.rows),
		LeftRows: leftRows, RightRows: rightRows, MostLeft: mostLeft,
	})
}

func partitionPiecesCase(m *maker) *Case {
	leftRows, rightRows := 1+m.Uint32N(50), 1+m.Uint32N(80)
	c := m.unitsOf(m.rows/3+1, leftRows, rightRows, 100)
	starts, counts, units := c.starts, c.counts, c.units[:4*min(m.rows, len(c.units)/4)]
	offsets := make([]uint32, len(counts)+1)
	for p, n := range counts {
		offsets[p+1] = offsets[p] + n
	}
	stride := 1 + m.Uint32N(2)
	for side := range starts {
		if stride == 2 {
			bounds := make([]uint32, 0, 2*len(counts))
			for p := range counts {
				bounds = append(bounds, starts[side][p], starts[side][p+1])
			}
			starts[side] = bounds
		}
	}
	return m.newCase(m.groupsFor(len(units)/4), kernel.PartitionPiecesArgsOf[argument]{
		Offsets: in(offsets), LeftStarts: in(starts[0]), RightStarts: in(starts[1]), Units: out(units),
		Count: uint32(len(units) / 4), Partitions: uint32(len(counts)), LeftRows: leftRows,
		RightRows: rightRows, Stride: stride,
	})
}

func every2048(i int) uint64 { return 2048 * uint64(i) }

func partitionUnitsBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.PartitionUnitsArgsOf[[]byte]{
		LeftStarts:  words(m.rows+1, 32, every2048),
		RightStarts: words(m.rows+1, 32, every2048), Counts: zeros(m.rows, 32),
		Oversized: zeros(1, 32), Partitions: uint32(m.rows), LeftRows: 2048, RightRows: 4096, MostLeft: 4096,
	})
}

func partitionPiecesBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.PartitionPiecesArgsOf[[]byte]{
		Offsets: words(m.rows+1, 32, number), LeftStarts: words(m.rows+1, 32, every2048),
		RightStarts: words(m.rows+1, 32, every2048), Units: zeros(4*m.rows, 32), Count: uint32(m.rows),
		Partitions: uint32(m.rows), LeftRows: 2048, RightRows: 4096, Stride: 1,
	})
}
