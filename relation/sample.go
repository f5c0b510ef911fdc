package relation

import (
	"iter"
	"math"
	"math/rand/v2"
)

// Blocks samples about some of rows rows, or all. It yields the ranges [from, to) of sampled blocks of block adjacent
// rows, in ascending order. Each block is drawn independently with the same probability (Bernoulli sampling; the gaps
// between drawn blocks have a geometric distribution), so that neither the order nor a period of the rows biases the
// sample. The same arguments give the same blocks.
func Blocks(rows, some, block uint64) iter.Seq2[uint64, uint64] {
	return func(yield func(from, to uint64) bool) {
		random, rate := rand.New(rand.NewPCG(some, block)), 0.0
		if some < rows {
			rate = -1 / math.Log1p(-float64(some)/float64(rows))
		}
		for at, all := 0.0, math.Ceil(float64(rows)/float64(block)); ; at++ {
			if at += math.Floor(random.ExpFloat64() * rate); at >= all {
				return
			}
			if from := uint64(at) * block; !yield(from, min(from+block, rows)) {
				return
			}
		}
	}
}

// DrawnFrom returns of how many equally frequent keys rows draws are expected to have different ones.
func DrawnFrom(rows, different float64) uint64 {
	low, high := different, different*1e5
	for range 60 {
		middle := math.Sqrt(low * high)
		if middle*-math.Expm1(-rows/middle) < different-0.5 {
			low = middle
		} else {
			high = middle
		}
	}
	return uint64(math.Ceil(low))
}
