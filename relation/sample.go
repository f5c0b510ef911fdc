package relation

import (
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
)

// workerBlocks is how many sampled blocks are worth a goroutine.
const workerBlocks = 1 << 8

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

// Sample returns the packed codes of about rows rows of a side, or of all, in [Blocks] of block adjacent rows, at most
// stripRows. It skips rows that are left out, and reads no other rows. All cores read, because most rows are cache
// misses.
func (p *KeyPlan) Sample(side Side, rows, block int) [][]uint64 {
	s := &p.sides[side]
	var starts []int
	all := 0
	for from, to := range Blocks(uint64(s.rows), uint64(rows), uint64(block)) {
		starts = append(starts, int(from))
		all += int(to - from)
	}
	codes, sample := make([]uint64, all), make([][]uint64, len(starts))
	var group sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(starts)/workerBlocks+1)
	for worker := range workers {
		group.Go(func() {
			buffers := scratches.Get().(*scratch)
			defer scratches.Put(buffers)
			for i := len(starts) * worker / workers; i < len(starts)*(worker+1)/workers; i++ {
				from, to := starts[i], min(starts[i]+block, s.rows)
				into := codes[i*block:][:to-from] // only the last block of a table is shorter
				packed := buffers.packed[:to-from]
				packStrip(p, s, buffers, from, to, packed)
				n := 0
				for j, code := range packed {
					if s.selected == nil || hasBit(s.selected.words, from+j) {
						into[n] = code
						n++
					}
				}
				sample[i] = into[:n:n]
			}
		})
	}
	group.Wait()
	return sample
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
