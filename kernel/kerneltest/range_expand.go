package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.RangeExpand, rangeExpandCase, rangeExpandBenchmark)
}

// rangeExpand makes a piece of rows outputs somewhere in a longer expansion.
func rangeExpandCase(m *maker) *Case {
	type pair struct{ left, right uint32 }
	before, behind := [...]int{0, 1, m.IntN(2*m.rows + 10)}[m.IntN(3)], m.IntN(m.rows+10)
	base := uint64(before)
	shift := uint64(0) // as if this many matches came before the first left row
	if m.IntN(2) == 0 {
		shift = 1<<33 - uint64(m.IntN(before+m.rows+1))
	}
	var counts, begins []uint32
	var pairs []pair
	offsets := []uint64{shift}
	rightRows := 1 + m.IntN(2*m.rows+10)
	rightIDs := narrow(m.column(rightRows, 32, 0))
	for len(pairs) < before+m.rows+behind {
		count := 0
		switch m.distribution {
		case "equal":
			count = 1
		case "extreme":
			count = (1 + m.IntN(rightRows)) * m.IntN(2) * m.IntN(2)
		case "few": // most rows without a match
			count = 1 - min(1, m.IntN(40))
		default:
			count = min(m.IntN(4), rightRows)
		}
		begin := m.IntN(rightRows - count + 1)
		for k := range count {
			pairs = append(pairs, pair{uint32(len(counts)), uint32(begin + k)})
		}
		counts, begins = append(counts, uint32(count)), append(begins, uint32(begin))
		offsets = append(offsets, offsets[len(offsets)-1]+uint64(count))
	}
	leftIDs := narrow(m.column(len(counts), 32, 0))
	leftOut, rightOut := make([]uint32, m.rows), make([]uint32, m.rows)
	var leftArg, rightArg argument
	withLeft, withRight := m.IntN(2) == 0, m.IntN(2) == 0
	if withLeft {
		leftArg = in(leftIDs)
	}
	if withRight {
		rightArg = in(rightIDs)
	}
	for j := range m.rows {
		p := pairs[base+uint64(j)]
		leftOut[j], rightOut[j] = p.left, p.right
		if withLeft {
			leftOut[j] = leftIDs[p.left]
		}
		if withRight {
			rightOut[j] = rightIDs[p.right]
		}
	}
	base += shift
	return m.newCase(m.groups(), kernel.RangeExpandArgsOf[argument]{
		Offsets: in(offsets), Begins: in(begins), LeftIDs: leftArg, RightIDs: rightArg, LeftOut: out(leftOut),
		RightOut: out(rightOut), LeftRows: uint32(len(counts)), OutRows: uint32(m.rows), BaseLo: uint32(base),
		BaseHi: uint32(base >> 32),
	})
}

func rangeExpandBenchmark(m *maker) *Dispatch {
	left, fourth := m.rows/4, func(i int) uint64 { return 4 * uint64(i) }
	return m.dispatch(m.rows, kernel.RangeExpandArgsOf[[]byte]{
		Offsets: words(left+1, 64, fourth), Begins: words(left, 32, fourth), LeftIDs: m.random(left, 32),
		RightIDs: m.random(m.rows, 32), LeftOut: zeros(m.rows, 32), RightOut: zeros(m.rows, 32),
		LeftRows: uint32(left), OutRows: uint32(left * 4),
	})
}
