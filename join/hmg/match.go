package hmg

import (
	"context"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/runs"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
)

// Found is the pairs of one task. The owner releases it.
type Found struct {
	Rows uint64 // number of pairs
	// Pairs are row numbers of side Probe and of the other one; nil if only the number is wanted.
	Pairs runs.Pairs[uint32]
	Probe int // 0 is left, 1 is right

	alloc  runs.Allocator
	ranges []byte // begins and counts on the host
}

// Release returns the memory of the ranges. A second Release does nothing.
func (f *Found) Release() {
	if f.ranges != nil {
		f.alloc.Free(f.ranges)
		f.ranges = nil
	}
}

// putFound receives what is found.
type putFound = func(context.Context, *Found) error

// Matched is how two sides were matched.
type Matched struct {
	Tasks int // range searches
	Whole int // keys at boundaries, or that fill segments, which take no search
}

// matchSorted finds the pairs of two sorted sides. The merge path cuts them into a part for each device, and each part
// into tasks of at most TaskRows rows (HMG 3.3.1). Each device has several streams, so that the upload of a task, the
// range search of another and the download of a third overlap (figure 12); a stream takes the next task as soon as it
// is free.
func (s *Sides[K]) matchSorted(ctx context.Context, put putFound) (how Matched, err error) {
	c := s.config
	var sorted [2]runs.Run[K, uint32]
	for i, b := range s.buffers {
		if sorted[i], err = runs.NewRun(b.Block); err != nil {
			return how, err
		}
	}
	parts, err := runs.Partition(ctx, sorted[0], sorted[1],
		runs.Cut{Parts: len(c.Lanes), Subparts: c.streams(), MostRows: c.TaskRows}, c.Cores)
	if err != nil {
		return how, err
	}
	flow := exec.NewFlow(ctx)
	for device, tasks := range parts.Tasks {
		how.Tasks += len(tasks)
		next := new(atomic.Int64)
		for range min(c.streams(), len(tasks)) {
			flow.Go("search ranges", func(ctx context.Context) error {
				for i := next.Add(1) - 1; int(i) < len(tasks); i = next.Add(1) - 1 {
					if err := s.matchTask(ctx, c.Lanes[device], tasks[i], put); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	how.Whole = len(parts.Whole)
	flow.Go("pair whole keys", func(ctx context.Context) error { return s.pairWhole(ctx, parts.Whole, put) })
	return how, flow.Wait()
}

// pairWhole puts the pairs of keys of which all rows of one side pair with all of the other.
func (s *Sides[K]) pairWhole(ctx context.Context, whole []runs.Pair, put putFound) error {
	for _, w := range whole {
		p := runs.Product[uint32]{Rows: s.buffers[0].Rows[w.R.First:w.R.End],
			Others: s.buffers[1].Rows[w.S.First:w.S.End]}
		found := &Found{Rows: p.Len()}
		if s.out == OutputPairs {
			found.Pairs = p
		}
		if err := put(ctx, found); err != nil {
			return err
		}
	}
	return nil
}

// matchTask uploads the keys of a task to a device, finds the ranges and brings them back.
func (s *Sides[K]) matchTask(ctx context.Context, lane *exec.Lane, task runs.Pair, put putFound) error {
	g, _, err := s.upload(ctx, lane, task, [2]numbers{})
	if err != nil {
		return err
	}
	if err := g.search(ctx, lane, s.out); err != nil {
		g.Release()
		return err
	}
	return s.bringBack(ctx, lane, g, put)
}

// matched is the ranges that a device found.
type matched struct {
	pairs          uint64
	few            int // the shorter side, of whose rows they are; 0 is left
	begins, counts backend.Range
	memory         *exec.Scope
}

// Release releases the device memory. A second Release does nothing.
func (m *matched) Release() {
	if m.memory != nil {
		m.memory.ReleaseAll()
	}
}

// search finds the ranges of the rows of the shorter side in the longer one, both sorted (HMG 3.3.3).
func (g *segment) search(ctx context.Context, lane *exec.Lane, out Output) (err error) {
	if g.chunks[1].Rows < g.chunks[0].Rows {
		g.few = 1
	}
	few, many := &g.chunks[g.few].Chunk, &g.chunks[1-g.few].Chunk
	if few.Rows == 0 {
		return nil
	}
	p, err := primitive.PlanRangeSearch(lane.Tuning(), few.Rows, many.Rows, few.Keys.Bytes)
	if err != nil {
		return err
	}
	g.memory = lane.Scope(ctx)
	scratch := g.memory.New(p.ScratchBytes, "search scratch").All()
	if out == OutputPairs {
		g.begins = g.memory.New(few.Rows*4, "range begins").All()
		g.counts = g.memory.New(few.Rows*4, "range counts").All()
	}
	if err := g.memory.Err(); err != nil {
		return err
	}
	list := lane.List("range search")
	if err := lane.RangeSearch(list, p, few.Keys.Data, many.Keys.Data, g.begins, g.counts, scratch); err != nil {
		return err
	}
	g.pairs, err = lane.FetchNumber(ctx, list, scratch.Part(p.TotalOffset, 8))
	return err
}

// fetch downloads the ranges of a segment, if there are any.
func fetch(ctx context.Context, c *Config, lane *exec.Lane, g *segment, out Output) (*Found, error) {
	found := &Found{Rows: g.pairs, Probe: g.few, alloc: c.Alloc}
	if out == OutputCount || g.pairs == 0 {
		return found, nil
	}
	probe, other := g.rows[g.few], g.rows[1-g.few]
	n := len(probe)
	found.ranges = c.Alloc.Allocate(8 * n)
	words := backend.Words(found.ranges)
	to := runs.Matches[uint32]{Rows: probe, Begins: words[:n], Counts: words[n:], Others: other}
	err := lane.Device().DownloadAll(ctx, []backend.Transfer{
		{Device: g.begins, Host: backend.AsBytes(to.Begins)}, {Device: g.counts, Host: backend.AsBytes(to.Counts)}})
	if err == nil {
		found.Pairs, err = to.Expand(ctx, c.Cores)
	}
	if err != nil {
		found.Release()
		return nil, err
	}
	return found, nil
}
