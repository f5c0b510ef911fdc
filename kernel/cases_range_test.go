package kernel_test

import (
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

func (m *maker) rangeSearch() *kernelCase {
	bits := m.config["key_bits"]
	// As many different keys as rows, or few, so that matches are neither certain nor rare.
	bound := uint64(0)
	if m.distribution == "random" || m.distribution == "sorted" {
		bound = uint64(1 + m.IntN(2*m.rows+10))
	}
	left := m.column(m.rows, bits, bound)
	right := m.column([]int{0, 1, m.rows / 3, m.rows, 3*m.rows + 5}[m.IntN(5)], bits, bound)
	if len(right) > 0 && m.IntN(2) == 0 {
		right = append(right[1:], left[:min(1, len(left))]...)
	}
	slices.Sort(left)
	slices.Sort(right)
	begins, counts, totals := make([]uint32, m.rows), make([]uint32, m.rows), make([]uint64, m.tiles())
	for i, key := range left {
		begin, _ := slices.BinarySearch(right, key)
		end := len(right)
		if key < ^uint64(0) {
			end, _ = slices.BinarySearch(right, key+1)
		}
		begins[i], counts[i] = uint32(begin), uint32(end-begin)
		totals[i/int(kernel.TileRows(kernel.Named(m.config)))] += uint64(end - begin)
	}
	var beginsArg, countsArg any = out(begins), out(counts)
	if m.IntN(4) == 0 {
		beginsArg, countsArg = nil, nil
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), uint32(len(right)), m.tiles()},
		inOf(bits, left), inOf(bits, right), beginsArg, countsArg, out(totals))
}

// rangeExpand makes a piece of rows outputs somewhere in a longer expansion.
func (m *maker) rangeExpand() *kernelCase {
	type pair struct{ left, right uint32 }
	before, behind := m.IntN(2*m.rows+10), m.IntN(m.rows+10)
	base := uint64(before)
	shift := uint64(0) // as if so many matches came before the first left row
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
	var leftArg, rightArg any
	withLeft, withRight := m.IntN(2) == 0, m.IntN(2) == 0
	if withLeft {
		leftArg = leftIDs
	}
	if withRight {
		rightArg = rightIDs
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
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), []uint32{uint32(len(counts)), uint32(m.rows), uint32(base), uint32(base >> 32)},
		offsets, begins, leftArg, rightArg, out(leftOut), out(rightOut))
}
