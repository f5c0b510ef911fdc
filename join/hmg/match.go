package hmg

import (
	"cmp"
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

// Matched is how two sorted sides were matched.
type Matched struct {
	Tasks int // range searches
	Whole int // keys at boundaries, which take no search
}

// Match finds the pairs of two sorted sides, whose memory must stay as long as Found are used. The merge path cuts them
// into a part for each device, and each part into tasks of at most TaskRows rows (HMG 3.3.1). Each device has several
// streams, so that the upload of a task, the range search of another and the download of a third overlap (figure 12);
// a stream takes the next task as soon as it is free. put receives what is found, from several goroutines at a time and
// in no particular order; with count, only numbers of pairs.
//
// Errors: backend.ErrDeviceMemory if TaskRows are too many for a device; those of put and of the devices; ErrCancelled.
func Match[K runs.Word](ctx context.Context, c *Config, sides [2]runs.Block[K, uint32], count bool,
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
					found, err := search(ctx, c, c.Lanes[device].Nested(ctx), sides, tasks[i], count)
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
	flow.Go("pair whole keys", func(ctx context.Context) error {
		for _, w := range parts.Whole {
			p := runs.Product[uint32]{Rows: sides[0].Rows[w.R.First:w.R.End], Others: sides[1].Rows[w.S.First:w.S.End]}
			found := &Found{Rows: p.Len()}
			if !count {
				found.Pairs = p
			}
			if err := put(ctx, found); err != nil {
				return err
			}
		}
		return nil
	})
	return how, flow.Wait()
}

// search finds the ranges of a task on a device: those of the rows of the shorter side in the longer one (HMG 3.3.3).
func search[K runs.Word](ctx context.Context, c *Config, lane *exec.Lane, sides [2]runs.Block[K, uint32],
	task runs.Pair, count bool) (*Found, error) {
	defer lane.Memory.ReleaseAll()
	var rows [2]uint64
	var keys [2]backend.Range
	var own [2]runs.Block[K, uint32]
	for i, span := range [2]runs.Span{task.R, task.S} {
		rows[i] = span.Rows()
		own[i].Keys, own[i].Rows = sides[i].Keys[span.First:span.End], sides[i].Rows[span.First:span.End]
		keys[i] = lane.Memory.New(rows[i]*uint64(bytesOf[K]()), "keys of a task").All()
	}
	found := &Found{alloc: c.Alloc}
	if rows[1] < rows[0] {
		found.Probe = 1
	}
	few, many := found.Probe, 1-found.Probe
	p, err := primitive.PlanRangeSearch(lane.Tuning(), rows[few], rows[many], bytesOf[K]())
	if err != nil {
		return nil, err
	}
	scratch := lane.Memory.New(p.ScratchBytes, "search scratch").All()
	var begins, counts backend.Range
	if !count {
		begins = lane.Memory.New(rows[few]*4, "range begins").All()
		counts = lane.Memory.New(rows[few]*4, "range counts").All()
	}
	if err := lane.Memory.Err(); err != nil {
		return nil, err
	}
	if _, err := lane.Device().UploadAll(ctx, []backend.Transfer{
		{Device: keys[0], Host: backend.AsBytes(own[0].Keys)}, {Device: keys[1], Host: backend.AsBytes(own[1].Keys)},
	}); err != nil {
		return nil, err
	}
	list := lane.List("range search")
	if err := lane.RangeSearch(list, p, keys[few], keys[many], begins, counts, scratch); err != nil {
		return nil, err
	}
	found.Rows, err = lane.FetchNumber(ctx, list, scratch.Part(p.TotalOffset, 8))
	if err != nil || count || found.Rows == 0 {
		return found, err
	}
	n := int(rows[few])
	found.ranges = c.Alloc.Allocate(8 * n)
	words := backend.Words(found.ranges)
	m := runs.Matches[uint32]{Rows: own[few].Rows, Begins: words[:n], Counts: words[n:], Others: own[many].Rows}
	err = lane.Device().DownloadAll(ctx, []backend.Transfer{
		{Device: begins, Host: backend.AsBytes(m.Begins)}, {Device: counts, Host: backend.AsBytes(m.Counts)}})
	var expandErr error
	if err == nil {
		found.Pairs, expandErr = m.Expand(ctx, 1)
	}
	if err = cmp.Or(err, expandErr); err != nil {
		found.Release()
		return nil, err
	}
	return found, nil
}
