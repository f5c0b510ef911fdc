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

// Sample returns the packed codes of about rows rows of a side, or of all, in [Blocks] of block adjacent rows, at most
// stripRows. It skips rows that are left out, and reads no other rows.
func (p *KeyPlan) Sample(side Side, rows, block int) (sample [][]uint64) {
	s, buffers := &p.sides[side], scratches.Get().(*scratch)
	defer scratches.Put(buffers)
	codes := make([]uint64, 0, min(2*rows, s.rows))
	for from, to := range Blocks(uint64(s.rows), uint64(rows), uint64(block)) {
		packed, first := buffers.packed[:to-from], len(codes)
		packStrip(p, s, buffers, int(from), int(to), packed)
		for i, code := range packed {
			if s.selected == nil || hasBit(s.selected.words, int(from)+i) {
				codes = append(codes, code)
			}
		}
		sample = append(sample, codes[first:len(codes):len(codes)])
	}
	return sample
}
