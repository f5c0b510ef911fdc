package peers

import (
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/relation"
)

// Method is a way to sort across ranks. All give the same keys on each rank, up to where equal keys and shares are cut.
type Method uint8

const (
	// MergeStages sorts each chunk and merges them in stages, half with half (HMG 3.1.1): 1 stage for 2 ranks, 3 for 4, 7
	// for 8. Equal keys are in no particular order where chunks and shares differ in size.
	MergeStages Method = iota
	// MergeOnce sorts each chunk, finds the boundaries of all ranks at once, and merges what comes from all of them: each
	// row moves once. Equal keys keep the order of ranks, and of rows on a rank.
	MergeOnce
	// RadixPartition partitions each chunk by the most significant bits, sends buckets to where they belong, and sorts
	// them there by the other bits (HMG 3.1.2): each row moves once. Equal keys keep the order of ranks, and of rows.
	RadixPartition
)

func (m Method) String() string {
	return [...]string{"merge in stages", "merge once", "radix partition"}[m]
}

// Sort sorts the rows of all ranks by key and returns this rank's range of the keys, in ascending order. No key of a
// rank is less than a key of a rank before. Each rank gets as many rows as its weight says: to the row by merges,
// within 0.5% of an even share by radix partition. Several chunks are sorted each by itself, with common boundaries, so that
// rows with equal keys are on one rank; shares are then as near as whole keys allow. The chunks stay as they are. All
// ranks call Sort with the same method and number of chunks, whose columns have the same widths.
//
// Errors: *TooLarge on all ranks if one has too little memory, and then nothing stays allocated; ErrInvalidInput if
// ranks disagree; link and device errors; ErrCancelled.
func (r *Rank) Sort(ctx context.Context, method Method, chunks ...*relation.Chunk) ([]*Held, error) {
	return (&sorter{Rank: r, whole: len(chunks) > 1, fusing: fusingRows}).sort(ctx, method, chunks)
}

// sorter is a sort in progress.
type sorter struct {
	*Rank
	whole  bool   // all rows with a key are to be on one rank
	fusing uint64 // rows that buckets that are sorted together may have in any case
	rows   []*Held
}

func (s *sorter) sort(ctx context.Context, method Method, chunks []*relation.Chunk) (_ []*Held, err error) {
	for _, c := range chunks {
		if err := c.Check("sort"); err != nil {
			return nil, err
		}
		s.rows = append(s.rows, &Held{Chunk: *c})
	}
	switch {
	case method > RadixPartition:
		err = invalid("method %d", method)
	case s.Size() == 1:
		err = s.sortLocal(ctx)
	case method == RadixPartition:
		err = s.radixPartition(ctx)
	default:
		err = s.merge(ctx, method)
	}
	if err == nil {
		err = s.own(ctx)
	}
	if err != nil {
		for _, h := range s.rows {
			h.Release()
		}
		return nil, err
	}
	return s.rows, nil
}

// chunks are the rows so far.
func (s *sorter) chunks() (all []*relation.Chunk) {
	for _, h := range s.rows {
		all = append(all, &h.Chunk)
	}
	return all
}

// replace replaces the rows of a chunk and releases the memory of the old rows.
func (s *sorter) replace(chunk int, by *Held) {
	if s.rows[chunk] != by {
		s.rows[chunk].Release()
		s.rows[chunk] = by
	}
}

// sortLocal sorts the chunks of this rank.
func (s *sorter) sortLocal(ctx context.Context) error {
	for i, h := range s.rows {
		sorted, err := sortLocally(ctx, s.Lane, &h.Chunk)
		if err == nil && sorted.memory != nil {
			s.replace(i, sorted)
		}
		if err := s.all(ctx, "sort", err); err != nil {
			return err
		}
	}
	return nil
}

// merge sorts the chunks of each rank. Either it cuts them into the ranges of all ranks and each rank merges its pieces,
// or it merges chunk by chunk, in stages. Then boundaries move to where keys differ, if keys are to be whole.
func (s *sorter) merge(ctx context.Context, method Method) error {
	if err := s.sortLocal(ctx); err != nil {
		return err
	}
	if method == MergeOnce {
		return s.cut(ctx, true)
	}
	for i := range s.rows {
		for _, stage := range stages(0, s.Size(), true) {
			by := &swap{rank: s.Rank.Rank(), stage: stage, weights: s.Weights}
			if err := s.agree(ctx, s.Lane, by, []*relation.Chunk{&s.rows[i].Chunk}); err != nil {
				return err
			}
			if err := s.moveAndMerge(ctx, by, i); err != nil {
				return err
			}
		}
	}
	if !s.whole {
		return nil
	}
	return s.cut(ctx, false)
}

// cut moves the ranges of keys of sorted chunks to their ranks. apart says that what comes from several ranks is to be
// merged; otherwise it is in order.
func (s *sorter) cut(ctx context.Context, apart bool) error {
	by := s.keyRange(s.whole)
	by.apart = apart
	if err := s.agree(ctx, s.Lane, by, s.chunks()); err != nil {
		return err
	}
	for i := range s.rows {
		if err := s.moveAndMerge(ctx, by, i); err != nil {
			return err
		}
	}
	return nil
}

// moveAndMerge moves the parts of a chunk and merges the runs that this rank gets.
func (s *sorter) moveAndMerge(ctx context.Context, by Partitioner, chunk int) error {
	parts := by.Apply(chunk)
	if parts.stay() {
		return nil
	}
	received, err := s.move(ctx, parts)
	if err != nil {
		return err
	}
	if received.Rows == 0 && !parts.has(s.Rank.Rank()) { // this rank takes no part
		received.Release()
		return s.all(ctx, "merge", nil)
	}
	got := &received.Held
	s.replace(chunk, got)
	if parts.apart {
		merged, failed := mergeRuns(ctx, s.Lane, &got.Chunk, byGroup(received.Runs))
		switch {
		case failed != nil:
			err = failed
		case merged.memory == nil:
			got.Chunk = merged.Chunk
		default:
			s.replace(chunk, merged)
		}
	}
	return s.all(ctx, "merge", err)
}

// has reports whether a rank has rows among the parts.
func (p *Parts) has(rank int) bool {
	return slices.ContainsFunc(p.Rows, func(rows []uint64) bool { return rows[rank] > 0 })
}

// byGroup joins the runs of each group, which are in order.
func byGroup(runs []Run) (joined []Run) {
	for _, run := range runs {
		if n := len(joined); n > 0 && joined[n-1].Group == run.Group {
			joined[n-1].Rows += run.Rows
		} else {
			joined = append(joined, run)
		}
	}
	return joined
}

// own copies rows that are still in columns of the caller.
func (s *sorter) own(ctx context.Context) error {
	var failed error
	for i, h := range s.rows {
		if h.memory == nil && failed == nil {
			mine := &Held{memory: s.Lane.Scope(ctx)}
			failed = mine.copy(ctx, s.Lane, &h.Chunk)
			s.rows[i] = mine
		}
	}
	return s.all(ctx, "own", failed)
}

// all ends a step that takes memory on all ranks: if it failed on one for lack of it, all return *TooLarge.
func (r *Rank) all(ctx context.Context, step string, failed error) error {
	_, err := r.gatherUnless(ctx, step, nil, failed)
	return err
}
