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

// Matched is how two sides were matched.
type Matched struct {
	Tasks int // range searches
	Whole int // keys at boundaries, or that fill segments, which take no search
}

// matchSorted finds the pairs of two sorted sides. The merge path cuts them into a part for each device, and each part
// into tasks of at most TaskRows rows (HMG 3.3.1). Each device has several streams, so that the upload of a task, the
// range search of another and the download of a third overlap (figure 12); a stream takes the next task as soon as it
// is free.
func matchSorted[K runs.Word](ctx context.Context, c *Config, sides [2]runs.Block[K, uint32], out Output,
	put func(context.Context, *Found) error) (how Matched, err error) {
	var sorted [2]runs.Run[K, uint32]
	for i := range sides {
		if sorted[i], err = runs.NewRun(sides[i]); err != nil {
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
					found, err := search(ctx, c, c.Lanes[device].Nested(ctx), sides, tasks[i], out)
					if err == nil && found.Rows > 0 {
						err = put(ctx, found)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	how.Whole = len(parts.Whole)
	flow.Go("pair whole keys", func(ctx context.Context) error { return pairWhole(ctx, sides, parts.Whole, out, put) })
	return how, flow.Wait()
}

// pairWhole puts the pairs of keys of which all rows of one side pair with all of the other.
func pairWhole[K runs.Word](ctx context.Context, sides [2]runs.Block[K, uint32], whole []runs.Pair, out Output,
	put func(context.Context, *Found) error) error {
	for _, w := range whole {
		p := runs.Product[uint32]{Rows: sides[0].Rows[w.R.First:w.R.End], Others: sides[1].Rows[w.S.First:w.S.End]}
		found := &Found{Rows: p.Len()}
		if out == OutputPairs {
			found.Pairs = p
		}
		if err := put(ctx, found); err != nil {
			return err
		}
	}
	return nil
}

// search uploads the keys of a task to a device and finds the ranges.
func search[K runs.Word](ctx context.Context, c *Config, lane *exec.Lane, sides [2]runs.Block[K, uint32],
	task runs.Pair, out Output) (*Found, error) {
	defer lane.Memory.ReleaseAll()
	var rows [2]uint64
	var keys [2]backend.Range
	var own [2]runs.Block[K, uint32]
	for i, span := range [2]runs.Span{task.R, task.S} {
		rows[i] = span.Rows()
		own[i].Keys, own[i].Rows = sides[i].Keys[span.First:span.End], sides[i].Rows[span.First:span.End]
		keys[i] = lane.Memory.New(rows[i]*uint64(bytesOf[K]()), "keys of a task").All()
	}
	if err := lane.Memory.Err(); err != nil {
		return nil, err
	}
	if _, err := lane.Device().UploadAll(ctx, []backend.Transfer{
		{Device: keys[0], Host: backend.AsBytes(own[0].Keys)}, {Device: keys[1], Host: backend.AsBytes(own[1].Keys)},
	}); err != nil {
		return nil, err
	}
	m, err := searchRanges(ctx, lane.Nested(ctx), keys, rows, bytesOf[K](), out)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	return fetch(ctx, c, lane, &m, own, out)
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

// searchRanges finds the ranges of the rows of the shorter side in the longer one, both sorted (HMG 3.3.3). They are in
// the memory of the lane.
func searchRanges(ctx context.Context, lane *exec.Lane, keys [2]backend.Range, rows [2]uint64, keyBytes int,
	out Output) (m matched, err error) {
	m.memory = lane.Memory
	if rows[1] < rows[0] {
		m.few = 1
	}
	few, many := m.few, 1-m.few
	p, err := primitive.PlanRangeSearch(lane.Tuning(), rows[few], rows[many], keyBytes)
	if err != nil {
		return m, err
	}
	defer func() {
		if err != nil {
			m.Release()
		}
	}()
	scratch := lane.Memory.New(p.ScratchBytes, "search scratch").All()
	if out == OutputPairs {
		m.begins = lane.Memory.New(rows[few]*4, "range begins").All()
		m.counts = lane.Memory.New(rows[few]*4, "range counts").All()
	}
	if err := lane.Memory.Err(); err != nil {
		return m, err
	}
	list := lane.List("range search")
	if err := lane.RangeSearch(list, p, keys[few], keys[many], m.begins, m.counts, scratch); err != nil {
		return m, err
	}
	m.pairs, err = lane.FetchNumber(ctx, list, scratch.Part(p.TotalOffset, 8))
	return m, err
}

// fetch downloads ranges of the rows of own, if there are any.
func fetch[K runs.Word](ctx context.Context, c *Config, lane *exec.Lane, m *matched, own [2]runs.Block[K, uint32],
	out Output) (*Found, error) {
	found := &Found{Rows: m.pairs, Probe: m.few, alloc: c.Alloc}
	if out == OutputCount || m.pairs == 0 {
		return found, nil
	}
	n := len(own[m.few].Rows)
	found.ranges = c.Alloc.Allocate(8 * n)
	words := backend.Words(found.ranges)
	to := runs.Matches[uint32]{Rows: own[m.few].Rows, Begins: words[:n], Counts: words[n:], Others: own[1-m.few].Rows}
	err := lane.Device().DownloadAll(ctx, []backend.Transfer{
		{Device: m.begins, Host: backend.AsBytes(to.Begins)}, {Device: m.counts, Host: backend.AsBytes(to.Counts)}})
	if err == nil {
		found.Pairs, err = to.Expand(ctx, 1)
	}
	if err != nil {
		found.Release()
		return nil, err
	}
	return found, nil
}
