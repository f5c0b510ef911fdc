package keys

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"runtime"

	"github.com/spirjoin/spirjoin/relation"
)

// The range of the keys of a large side can be guessed from a sample, so that the side is loaded while the guess is
// checked, rather than after a pass over all keys.

// A guess looks at some rows, and adds a part of the range of their keys at both ends: of keys that are spread evenly,
// one in ten million guesses is wrong.
const (
	guessRows    = 1 << 14
	guessBlock   = 8
	guessedSlack = 10 // a 1024th
)

// extents returns the ranges of the keys of a side: measured or, if guess is given and that is possible, guessed.
func (p *Plan) extents(ctx context.Context, side relation.Side, guess bool) ([]extent, error) {
	if guess {
		if e, ok := p.guess(side); ok {
			p.guessed[side] = true
			return []extent{e}, nil
		}
	}
	return measure(ctx, p.keys, &p.sides[side])
}

// guess guesses the range of the key of a side. It does so for single keys without NULL, of which no row is left out.
func (p *Plan) guess(side relation.Side) (guessed extent, ok bool) {
	s := &p.sides[side]
	if len(p.keys) != 1 || s.selected != nil || s.rows == 0 || s.columns[0].hasNulls() ||
		s.columns[0].numbered != nil {
		return extent{}, false
	}
	d, sampled := p.keys[0].domain, extent{}
	buffers := scratches.Get().(*scratch)
	defer scratches.Put(buffers)
	for from, to := range relation.Blocks(uint64(s.rows), guessRows, guessBlock) {
		sampled.include(d, extentOf(d, s.columns[0].codes(buffers, int(from), int(to))))
	}
	guessed = sampled.widened(d)
	return guessed, sampled.some && guessed.bits() != 32 // which a mark would make codes of 8 bytes
}

// widened returns a range of 2^n codes around the range e. Its ends are multiples of 2^(n-1), so that codes from 0 or 1
// on begin at 0; n is at most one or two more than e needs.
func (e extent) widened(d domain) extent {
	zero := uint64(0) // where the order of codes has it
	if d != domainUnsigned {
		zero = 1 << 63
	}
	lo, hi := e.min^zero, e.max^zero
	slack := (hi-lo)>>guessedSlack + 1
	least, most := lo-min(slack, lo), hi+min(slack, math.MaxUint64-hi)
	if lo >= zero {
		least = max(least, zero)
	}
	for n := max(1, bits.Len64(most-least)); n < 64; n++ {
		begin := least &^ (1<<(n-1) - 1)
		if size := uint64(1)<<n - 1; most-begin <= size {
			return extent{min: begin ^ zero, max: (begin + min(size, math.MaxUint64-begin)) ^ zero, some: true}
		}
	}
	return extent{min: zero, max: math.MaxUint64 ^ zero, some: true}
}

// ErrGuess ends what was done with keys whose range was guessed wrong.
var ErrGuess = errors.New("a key is outside the range that was guessed")

// Guessed reports whether the range of the keys of a side was guessed.
func (p *Plan) Guessed() bool { return p.guessed != [2]bool{} }

// Check measures the sides whose ranges were guessed, in a pass over their keys, and reports whether all keys are in
// the range. If not, codes are wrong, and so is all that was made of them. A quarter of the cores stay free to move
// the rows meanwhile: on two GPUs, copies stood still for 20 ms while all 32 cores measured. A quarter of the
// cores would be too few: they took longer than the build side to arrive. Errors wrap backend.ErrCancelled or
// backend.ErrTimedOut.
func (p *Plan) Check(ctx context.Context) (within bool, err error) {
	cores := max(1, runtime.GOMAXPROCS(0)*3/4)
	for side := range p.sides {
		if !p.guessed[side] {
			continue
		}
		found, err := measureOn(ctx, cores, p.keys, &p.sides[side])
		if err != nil {
			return false, err
		}
		all := p.keys[0].extent
		if all.include(p.keys[0].domain, found[0]); all != p.keys[0].extent {
			return false, nil
		}
	}
	return true, nil
}
