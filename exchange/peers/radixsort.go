package peers

import (
	"cmp"
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/relation"
)

// radixPartition partitions, moves each bucket to its rank, and sorts it there. Buckets that are settled early are on
// their way while others are refined.
func (s *sorter) radixPartition(ctx context.Context) (err error) {
	x := &radixSorter{sorter: s, early: make([]*movement, len(s.rows)), by: &radix{rank: s.Rank.Rank(), size: s.Size(),
		weights: s.Weights, whole: s.whole, fusing: s.fusing}}
	defer func() { x.release(err) }()
	for again := true; again; {
		if again, err = s.measure(ctx, s.Lane, x.by, s.chunks()); err != nil {
			return err
		}
		if x.by.settled() {
			if err = x.sendEarly(ctx); err != nil {
				return err
			}
		}
	}
	x.rest = x.by.deliver(false)
	for i := range s.rows {
		if err = x.finish(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// radixSorter is a sort by radix partition in progress.
type radixSorter struct {
	*sorter
	by      *radix
	early   []*movement // of each chunk; nil if there is none, or it has ended
	settled *delivery   // what moves early; nil if nothing does
	rest    *delivery
}

// sendEarly begins to send what is settled, of all chunks.
func (x *radixSorter) sendEarly(ctx context.Context) (err error) {
	x.settled = x.by.deliver(true)
	for i := range x.early {
		if x.early[i], err = x.begin(ctx, x.by.parts(x.settled, i)); err != nil {
			return err
		}
	}
	return nil
}

// release ends what is on its way, because of an error, and releases what was partitioned.
func (x *radixSorter) release(reason error) {
	for i := range x.rows {
		x.early[i].abandon(reason)
		x.by.release(i)
	}
}

// unsorted is a group that a rank received.
type unsorted struct {
	from        *Held
	first, rows uint64
	least       uint64 // its least key
	differing   uint64 // bits in which its keys differ
}

// finish moves the rest of a chunk, waits for what was sent before, and sorts both.
func (x *radixSorter) finish(ctx context.Context, chunk int) error {
	rest, err := x.move(ctx, x.by.parts(x.rest, chunk))
	if err != nil {
		return err
	}
	got := []*Held{&rest.Held}
	defer func() {
		for _, h := range got {
			h.Release()
		}
	}()
	groups := unsortedOf(got[0], rest.Runs, x.rest)
	if before := x.early[chunk]; before != nil {
		x.early[chunk] = nil
		settled, err := before.end(ctx)
		if err != nil {
			return err
		}
		got = append(got, &settled.Held)
		groups = append(groups, unsortedOf(got[1], settled.Runs, x.settled)...)
		slices.SortFunc(groups, func(a, b unsorted) int { return cmp.Compare(a.least, b.least) })
	}
	x.by.release(chunk)
	out, err := x.sortGroups(ctx, &x.rows[chunk].Chunk, groups)
	if err == nil {
		x.replace(chunk, out)
	}
	return x.all(ctx, "sort", err)
}

// unsortedOf are the groups of a delivery that a rank received.
func unsortedOf(from *Held, runs []Run, d *delivery) (groups []unsorted) {
	for _, run := range byGroup(runs) {
		groups = append(groups, unsorted{from, run.First, run.Rows, d.least[run.Group], d.groups[run.Group].differing})
	}
	return groups
}

// sortGroups sorts groups, in ascending order, each by the bits in which its keys differ, and puts them one behind the
// other in memory of their own. columns says what they look like.
func (s *sorter) sortGroups(ctx context.Context, columns *relation.Chunk, groups []unsorted) (*Held, error) {
	all := part(columns, 0, 0)
	for _, g := range groups {
		all.Rows += g.rows
		all.Narrow, all.HighWord = g.from.Narrow, g.from.HighWord
	}
	if len(groups) == 1 && groups[0].differing != 0 && all.Rows > 1 { // one row stays where it is, which is released
		c := part(&groups[0].from.Chunk, groups[0].first, groups[0].rows)
		return sortBits(ctx, s.Lane, &c, groups[0].differing)
	}
	out := &Held{Chunk: all, memory: s.Lane.Scope(ctx)}
	out.allocate(&all, all.Rows, "sorted rows")
	err, at := out.memory.Err(), uint64(0)
	for i := 0; i < len(groups) && err == nil; i++ {
		err = s.putSorted(ctx, out, at, &groups[i])
		at += groups[i].rows
	}
	if err != nil {
		out.Release()
		return nil, err
	}
	return out, nil
}

// putSorted sorts a group and copies it to where it belongs.
func (s *sorter) putSorted(ctx context.Context, out *Held, at uint64, g *unsorted) error {
	one := &Held{Chunk: part(&g.from.Chunk, g.first, g.rows)}
	if g.differing != 0 {
		sorted, err := sortBits(ctx, s.Lane, &one.Chunk, g.differing)
		if err != nil {
			return err
		}
		one = sorted
	}
	defer one.Release()
	to := part(&out.Chunk, at, g.rows)
	return copyRows(ctx, s.Lane, "put behind", &to, &one.Chunk)
}
