package peers

import (
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// sequence is a sorted chunk of a rank.
type sequence struct{ rank, chunk int }

// search finds cuts through sorted chunks of ranks, all at once: in each round, every rank says the keys of its chunks
// that the cuts need to see.
type search struct {
	cuts []*cut
	of   [][]sequence // that each cut goes through
}

func (s *search) add(c *cut, through []sequence) {
	s.cuts, s.of = append(s.cuts, c), append(s.of, through)
}

func (s *search) found() bool {
	return !slices.ContainsFunc(s.cuts, func(c *cut) bool { return !c.found() })
}

// places calls visit for the places of a chunk of a rank that each cut needs to see.
func (s *search) places(at sequence, visit func(cut, sequence int, rows []uint64)) {
	for k, c := range s.cuts {
		for i, of := range s.of[k] {
			if of == at {
				visit(k, i, c.places(i))
			}
		}
	}
}

// ask returns the keys that this rank is to say.
func (s *search) ask(ctx context.Context, lane *exec.Lane, rank int, chunks []*relation.Chunk) ([]byte, error) {
	var all []uint64
	for i, c := range chunks {
		var rows []uint64
		s.places(sequence{rank, i}, func(_, _ int, more []uint64) { rows = append(rows, more...) })
		keys, err := keysAt(ctx, lane, c.Keys, rows)
		if err != nil {
			return nil, err
		}
		all = append(all, keys...)
	}
	return putNumbers(all...), nil
}

// hear narrows the cuts by the keys that all ranks said.
func (s *search) hear(said [][]byte, chunks int) error {
	keys := make([][][]uint64, len(s.cuts))
	for k := range keys {
		keys[k] = make([][]uint64, len(s.of[k]))
	}
	for rank := range said {
		theirs, short := numbersOf(8, said[rank]), false
		for chunk := range chunks {
			s.places(sequence{rank, chunk}, func(cut, sequence int, rows []uint64) {
				if short = short || len(rows) > len(theirs); !short {
					keys[cut][sequence], theirs = theirs[:len(rows)], theirs[len(rows):]
				}
			})
		}
		if short || len(theirs) > 0 {
			return invalid("rank %d says %d keys, which is not what was asked", rank, len(said[rank])/8)
		}
	}
	for k, c := range s.cuts {
		if !c.found() {
			c.narrow(keys[k])
		}
	}
	return nil
}
