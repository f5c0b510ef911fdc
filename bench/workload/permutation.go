package workload

import "math/bits"

// Permutation is a pseudo-random bijection of [0, n) that needs no memory for large n and whose values can be computed
// in any order.
//
// Up to tableRows it is a Fisher-Yates shuffle, kept as a table. Above, it is a
// Feistel network over the next power of two: each round replaces one half of
// the bits by its exclusive or with a random function of the other half, which
// is invertible whatever the function; results outside [0, n) are fed back until
// they fall inside ("cycle walking"), less than twice on average. Six rounds
// pass the tests of permutation_test.go, which two rounds fail.
type Permutation struct {
	n     uint64
	table []uint32
	keys  [feistelRounds]uint64
	width int // bits
}

const (
	tableRows     = 4096
	feistelRounds = 6
)

// NewPermutation returns the permutation of [0, n) for a seed. For n of 0 or 1 it is the only one.
func NewPermutation(n int64, seed uint64) *Permutation {
	p := &Permutation{n: uint64(max(n, 0))}
	if p.n <= tableRows {
		p.table = make([]uint32, p.n)
		random := stream{seed}
		for i := range p.table {
			j := random.below(uint64(i) + 1)
			p.table[i] = p.table[j]
			p.table[j] = uint32(i)
		}
		return p
	}
	p.width = bits.Len64(p.n - 1)
	for round := range p.keys {
		p.keys[round] = derive(seed, uint64(round))
	}
	return p
}

// At returns the image of i, which must be in [0, n).
func (p *Permutation) At(i int64) int64 {
	if p.table != nil {
		return int64(p.table[i])
	}
	x := p.round(uint64(i))
	for x >= p.n {
		x = p.round(x)
	}
	return int64(x)
}

// round is one pass through the network: an odd width makes halves that differ
// by a bit and change places in every round.
func (p *Permutation) round(x uint64) uint64 {
	low, high := p.width/2, p.width-p.width/2
	for _, key := range p.keys {
		right := x & (1<<low - 1)
		left := x >> low
		left ^= mix64(right^key) & (1<<high - 1)
		x = right<<high | left
		low, high = high, low
	}
	return x
}
