package peers

import (
	"math/bits"
	"sort"
)

// targets returns where the rows of each rank begin among all rows, and the end, if they are shared out to the row:
// proportionally to the weights, or evenly without.
func targets(rows uint64, size int, weights []uint32) []uint64 {
	t, total, before := make([]uint64, size+1), sumOr(weights, size), uint64(0)
	for i := range size {
		before += weight(weights, i)
		t[i+1] = mulDiv(rows, before, total)
	}
	return t
}

// assign assigns buckets to ranks, neighbouring buckets to neighbouring ranks. rows is the number of rows of each
// bucket. The largest load of a rank, relative to its weight, is as small as possible.
//
// Example: buckets of 5 1 1 1 4 rows to 3 ranks of equal weight are shared out as 5, 1 1 1, 4.
func assign(rows []uint64, size int, weights []uint32) (owners []int) {
	total := sumOr(weights, size)
	// Rows of all ranks, if each had as many for its weight as the fullest.
	least := sort.Search(63, func(n int) bool { return fill(rows, size, weights, total, 1<<n) != nil })
	low, high := uint64(1)<<least/2, uint64(1)<<least
	for low+1 < high {
		if middle := low + (high-low)/2; fill(rows, size, weights, total, middle) != nil {
			high = middle
		} else {
			low = middle
		}
	}
	return fill(rows, size, weights, total, high)
}

// fill gives each rank buckets up to its share of level rows by weight, and returns nil if buckets remain.
func fill(rows []uint64, size int, weights []uint32, total, level uint64) (owners []int) {
	owners = make([]int, len(rows))
	rank, has := 0, uint64(0)
	for i, r := range rows {
		for has+r > mulDiv(level, weight(weights, rank), total) {
			if rank, has = rank+1, 0; rank == size {
				return nil
			}
		}
		has, owners[i] = has+r, rank
	}
	return owners
}

func weight(weights []uint32, rank int) uint64 {
	if weights == nil {
		return 1
	}
	return uint64(weights[rank])
}

func sumOr(weights []uint32, size int) uint64 {
	if weights == nil {
		return uint64(size)
	}
	return sum(weights)
}

// mulDiv is a * b / c, where b is at most c.
func mulDiv(a, b, c uint64) uint64 {
	high, low := bits.Mul64(a, b)
	quotient, _ := bits.Div64(high, low, c)
	return quotient
}
