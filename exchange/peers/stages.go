package peers

import (
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// merging merges the rows of ranks low to middle-1 with the rows of ranks middle to high-1; both halves are in order.
// Afterwards each rank's rows are sorted, and the left half's rows come before the right half's.
type merging struct {
	low, middle, high int
	last              bool // each half then has as many rows as it is to have in the end
}

// stages returns the mergings of ranks low to high-1 whose chunks are sorted, stage by stage. Mergings of one stage
// have no ranks in common (HMG 3.1.1, figure 6). Both halves are ordered and then merged with each other. That breaks
// the order within each half, so each half is ordered once more.
//
// Example: for 4 ranks 0+1 and 2+3; 01+23; 0+1 and 2+3.
func stages(low, high int, last bool) [][]merging {
	if high-low < 2 {
		return nil
	}
	middle := low + (high-low)/2
	all := together(stages(low, middle, false), stages(middle, high, false))
	all = append(all, []merging{{low, middle, high, last}})
	return append(all, together(stages(low, middle, last), stages(middle, high, last))...)
}

// together does the stages of two halves at the same time.
func together(left, right [][]merging) (both [][]merging) {
	for i := range max(len(left), len(right)) {
		var stage []merging
		if i < len(left) {
			stage = append(stage, left[i]...)
		}
		if i < len(right) {
			stage = append(stage, right[i]...)
		}
		both = append(both, stage)
	}
	return both
}

// swap parts the sorted chunks of ranks for one stage: the last rows of the left half of a merging change place with
// the first rows of the right one. The pivot is the leftmost: of equal keys, those on the left stay there.
type swap struct {
	rank    int
	stage   []merging
	weights []uint32

	chunk  *relation.Chunk
	rows   []uint64 // of each rank
	wanted []uint64 // in the end
	search search   // one cut for each merging
}

func (s *swap) Measure(ctx context.Context, lane *exec.Lane, chunks []*relation.Chunk) ([]byte, error) {
	s.chunk = chunks[0]
	if s.rows == nil {
		return putNumbers(s.chunk.Rows), nil
	}
	return s.search.ask(ctx, lane, s.rank, chunks)
}

func (s *swap) Decide(said [][]byte) (again bool, err error) {
	if s.rows != nil {
		err = s.search.hear(said, 1)
		return !s.search.found(), err
	}
	all, err := allNumbers(said, 1)
	if err != nil {
		return false, err
	}
	total := uint64(0)
	for _, of := range all {
		s.rows = append(s.rows, of[0])
		total += of[0]
	}
	ends := targets(total, s.weights)
	for rank := range all {
		s.wanted = append(s.wanted, ends[rank+1]-ends[rank])
	}
	for _, m := range s.stage {
		var through []sequence
		left := uint64(0)
		for rank := m.low; rank < m.high; rank++ {
			through = append(through, sequence{rank, 0})
			if rank < m.middle {
				left += s.after(m, rank)
			}
		}
		s.search.add(newCut(s.rows[m.low:m.high], left), through)
	}
	return !s.search.found(), nil
}

// after is how many rows a rank should have after a merging: the left half has as many together.
func (s *swap) after(m merging, rank int) uint64 {
	if m.last {
		return s.wanted[rank]
	}
	return s.rows[rank]
}

// Apply returns the parts: of each rank those that stay, and those that come from the other half. Ranks that keep all
// rows and get none take no part.
func (s *swap) Apply(int) *Parts {
	p := &Parts{Chunk: *s.chunk}
	for i, m := range s.stage {
		at := s.search.cuts[i].low // rows of each rank that belong to the left half
		size := len(s.rows)
		stay, leave, come := make([]uint64, size), make([]uint64, size), make([][]uint64, size)
		for rank := m.low; rank < m.high; rank++ {
			stay[rank] = at[rank-m.low]
			if leave[rank] = s.rows[rank] - stay[rank]; rank >= m.middle {
				stay[rank], leave[rank] = leave[rank], stay[rank]
			}
		}
		// The greatest rows of the left half, which come from the right one, go to its last ranks; the least of the right
		// half to its first ranks.
		var descending, ascending []int
		for rank := m.middle - 1; rank >= m.low; rank-- {
			descending = append(descending, rank)
		}
		for rank := m.middle; rank < m.high; rank++ {
			ascending = append(ascending, rank)
		}
		s.fill(m, come, descending, ascending, stay, leave)
		s.fill(m, come, ascending, descending, stay, leave)
		for _, half := range [][]int{descending, ascending} {
			for _, rank := range half {
				if slices.Max(come[rank]) == 0 && leave[rank] == 0 {
					stay[rank] = 0
				}
			}
		}
		only := func(rank int) []uint64 {
			rows := make([]uint64, size)
			rows[rank] = stay[rank]
			return rows
		}
		for rank := m.low; rank < m.middle; rank++ {
			p.add(rank, only(rank), false)
		}
		for rank := m.low; rank < m.high; rank++ {
			p.add(rank, come[rank], false)
		}
		for rank := m.middle; rank < m.high; rank++ {
			p.add(rank, only(rank), false)
		}
	}
	p.apart = true
	return p
}

// fill gives ranks of one half what ranks of the other one send away, in the order of both, as far as they have room.
func (s *swap) fill(m merging, come [][]uint64, to, from []int, stay, leave []uint64) {
	left := slices.Clone(leave)
	// to and from run in opposite directions; rows go from greatest to greatest, or from least to least.
	next := len(from) - 1
	for _, rank := range to {
		come[rank] = make([]uint64, len(leave))
		room := s.after(m, rank) - min(s.after(m, rank), stay[rank])
		for room > 0 && next >= 0 {
			other := from[next]
			n := min(room, left[other])
			come[rank][other] += n
			left[other] -= n
			if room -= n; left[other] == 0 {
				next--
			}
		}
	}
}
