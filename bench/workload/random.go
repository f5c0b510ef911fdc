package workload

import (
	"context"
	"errors"
	"math/bits"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// mix64 is a bijection of 64-bit words in which each input bit changes each
// output bit with probability one half (the finalizer of SplitMix64).
func mix64(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

const goldenGamma = 0x9e3779b97f4a7c15

// at is the word at one place of an endless random sequence named by seed. Rows
// take their randomness from their own number, so that they can be made in any
// order and on any number of cores.
func at(seed, index uint64) uint64 {
	return mix64(seed + goldenGamma*(index+1))
}

// derive gives a seed for one purpose, independent of the others.
func derive(seed, purpose uint64) uint64 {
	return mix64(mix64(seed^0x6a09e667f3bcc909) + goldenGamma*purpose)
}

// stream is a random sequence of its own, as long as rejection sampling needs it.
type stream struct{ state uint64 }

// streamAt is the stream of one row.
func streamAt(seed, index uint64) stream { return stream{at(seed, index)} }

func (s *stream) next() uint64 {
	s.state += goldenGamma
	return mix64(s.state)
}

// float64 is uniform in [0, 1) with 53 bits.
func (s *stream) float64() float64 { return float64(s.next()>>11) * 0x1p-53 }

// below is uniform in [0, n), without bias, n > 0.
func (s *stream) below(n uint64) uint64 {
	high, low := bits.Mul64(s.next(), n)
	for low < n && low < -n%n {
		high, low = bits.Mul64(s.next(), n)
	}
	return high
}

const blockRows = 1 << 16

// ForBlocks calls work for ranges that cover [0, rows), on all cores.
func ForBlocks(ctx context.Context, rows int64, work func(start, end int64)) error {
	var tasks errgroup.Group
	tasks.SetLimit(runtime.GOMAXPROCS(0))
	for start := int64(0); start < rows && ctx.Err() == nil; start += blockRows {
		tasks.Go(func() error {
			work(start, min(start+blockRows, rows))
			return nil
		})
	}
	return errors.Join(tasks.Wait(), ctx.Err())
}
