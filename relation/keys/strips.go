package keys

import (
	"context"

	"github.com/spirjoin/spirjoin/relation"
)

// Strips makes the packed codes, of 4 bytes, of all rows of the left side strip by strip, on all cores, and hands their
// products with a factor, which fit too, to work. Each call of start begins a block of strips that one core works on;
// work then gets the first row of each of them and the products, which it must not keep. Every row must have a code,
// unless the range of the key was guessed.
//
// Errors wrap backend.ErrCancelled or backend.ErrTimedOut, or ErrGuess, where a key is outside the range.
func (p *Plan) Strips(ctx context.Context, factor uint32,
	start func() (work func(row int, scaled []uint32), end func())) error {
	side := &p.sides[relation.Left]
	return forBlocks(ctx, side.rows, func(s *scratch, from, to int) error {
		work, end := start()
		defer end()
		for ; from < to; from += StripRows {
			codes := s.packed32[:min(StripRows, to-from)]
			if p.guessed[relation.Left] {
				if !p.scaleGuessed(side, s, from, codes, factor) {
					return ErrGuess
				}
			} else {
				packStrip(p, side, s, from, from+len(codes), codes)
				for i := range codes {
					codes[i] *= factor
				}
			}
			work(from, codes)
		}
		return nil
	})
}

// scaleGuessed writes the products of a factor and the codes of a key whose range was guessed, and reports whether all
// are in the range.
func (p *Plan) scaleGuessed(side *keySide, s *scratch, from int, out []uint32, factor uint32) bool {
	key, all := &p.keys[0], uint64(0)
	for part := range side.columns[0].segments(from, from+len(out)) {
		into := out[part.at:][:part.n]
		if r, ok := part.reader.(wholeReader); ok && r.whole() {
			all |= r.scale(into, part.from, key.extent.min, factor)
			continue
		}
		for i, code := range part.codes(s.codes[:], part.from, part.n) {
			into[i] = uint32(code-key.extent.min) * factor
			all |= code - key.extent.min
		}
	}
	return all>>key.bits == 0
}
