package peers

import (
	"math/bits"
	"sort"
)

// targets returns where the rows of each rank begin among all rows, and the end, if they are shared out to the row:
// proportionally to the weights.
func targets(rows uint64, weights []uint32) []uint64 {
	t, total, before := make([]uint64, len(weights)+1), sum(weights), uint64(0)
	for i, weight := range weights {
		before += uint64(weight)
		t[i+1] = mulDiv(rows, before, total)
	}
	return t
}

// assign assigns buckets to ranks, neighbouring buckets to neighbouring ranks. rows is the number of rows of each
// bucket. The largest load of a rank, relative to its weight, is as small as possible.
//
// Example: buckets of 5 1 1 1 4 rows to 3 ranks of equal weight are shared out as 5, 1 1 1, 4.
func assign(rows []uint64, weights []uint32) (owners []int) {
	// Rows of all ranks, if each had as many for its weight as the fullest.
	least := sort.Search(63, func(n int) bool { return fill(rows, weights, 1<<n) != nil })
	low, high := uint64(1)<<least/2, uint64(1)<<least
	for low+1 < high {
		if middle := low + (high-low)/2; fill(rows, weights, middle) != nil {
			high = middle
		} else {
			low = middle
		}
	}
	return fill(rows, weights, high)
}

// fill gives each rank buckets up to its share of level rows by weight, and returns nil if buckets remain.
func fill(rows []uint64, weights []uint32, level uint64) (owners []int) {
	owners = make([]int, len(rows))
	rank, has, total := 0, uint64(0), sum(weights)
	for i, r := range rows {
		for has+r > mulDiv(level, uint64(weights[rank]), total) {
			if rank, has = rank+1, 0; rank == len(weights) {
				return nil
			}
		}
		has, owners[i] = has+r, rank
	}
	return owners
}

func sum(weights []uint32) (total uint64) {
	for _, w := range weights {
		total += uint64(w)
	}
	return total
}

// mulDiv is a * b / c, where b is at most c.
func mulDiv(a, b, c uint64) uint64 {
	high, low := bits.Mul64(a, b)
	quotient, _ := bits.Div64(high, low, c)
	return quotient
}
