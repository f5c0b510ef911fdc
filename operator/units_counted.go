package operator

import (
	"context"
	"fmt"
	"sort"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// count reports the number of output rows to the sink.
func (u *Units) count(ctx context.Context, sink Sink) error {
	temporary := u.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	_, rows, err := u.offsets(ctx, temporary)
	if err != nil {
		return err
	}
	return sink.Count(ctx, rows)
}

// offsets returns the first output row of each unit, as 64-bit numbers, and the number of all rows.
func (u *Units) offsets(ctx context.Context, temporary *exec.Scope) (offsets backend.Range, rows uint64, err error) {
	units := uint64(u.Number)
	scan, err := primitive.PlanScan(u.Lane.Tuning(), units, 64, 64, true)
	if err != nil {
		return offsets, 0, err
	}
	counts, sums := temporary.New(units*8, "output counts"), temporary.New(units*8+8, "output offsets")
	scratch := temporary.New(scan.ScratchBytes, "scan scratch")
	if err := temporary.Err(); err != nil {
		return offsets, 0, err
	}
	list := u.Lane.List("count")
	if err := u.RecordCount(list, counts.All()); err != nil {
		return offsets, 0, err
	}
	if err := u.Lane.Scan(list, scan, counts.All(), sums.All(), scratch.All()); err != nil {
		return offsets, 0, err
	}
	rows, err = u.Lane.FetchNumber(ctx, list, sums.Range(units*8, 8))
	return sums.All(), rows, err
}

// countFirst counts the output of each unit, and then writes each unit to its place: into one window or, if the sink
// has no room for all rows, into several, each with the output of a run of consecutive units.
func (u *Units) countFirst(ctx context.Context, sink Sink, counted bool) error {
	temporary := u.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	offsets, total, err := u.offsets(ctx, temporary)
	if err != nil {
		return err
	}
	if !counted {
		if err := sink.Count(ctx, total); err != nil {
			return err
		}
	}
	if total == 0 {
		return nil
	}
	w, err := sink.Window(ctx, min(total, mostRows))
	if err != nil {
		return err
	}
	if w.Rows >= total {
		return u.run(ctx, sink, w, offsets, 0, u.Number, 0, total)
	}
	return u.runs(ctx, sink, w, offsets)
}

// WindowRows is about how many rows the windows of an output have that does not fit in one: enough that more would be
// no faster, and so few that the progress of the join is visible.
const WindowRows = 1 << 25

// runs writes the output in runs of units, each as long as its window and WindowRows allow. w is the first window.
func (u *Units) runs(ctx context.Context, sink Sink, w *Window, offsets backend.Range) error {
	begins := make([]uint64, u.Number+1)
	err := u.Lane.Download(ctx, backend.AsBytes(begins), offsets)
	for side, in := range u.Inputs {
		in.Keep = true
		if err == nil && !u.Untransformed {
			err = in.MoveAll(func() error { return u.Move(ctx, side) })
		}
	}
	if err != nil {
		w.Release()
		return err
	}
	for first := uint32(0); first < u.Number; {
		if w == nil {
			if w, err = sink.Window(ctx, min(begins[u.Number]-begins[first], mostRows)); err != nil {
				return err
			}
		}
		rest := begins[first+1:]
		most := min(w.Rows, max(WindowRows, rest[0]-begins[first]))
		end := first + uint32(sort.Search(len(rest), func(i int) bool { return rest[i]-begins[first] > most }))
		switch rows := begins[end] - begins[first]; {
		case end == first: // a single unit exceeds the window
			room := w.Rows
			w.Release()
			if w, end = nil, first+1; u.Large == nil {
				return &backend.OpError{Op: "write output", Err: backend.ErrDeviceMemory, Detail: fmt.Sprintf(
					"there is room for %d rows, the least part of the output has %d; raise device_memory, or take "+
						"smj-um", room, rest[0]-begins[first])}
			}
			err = u.Large(ctx, first, sink)
		case rows > 0:
			err, w = u.run(ctx, sink, w, offsets, first, end, begins[first], rows), nil
		}
		if err != nil {
			return err
		}
		first = end
	}
	w.Release()
	return nil
}

// run writes the output of the units first to end-1 into a window: rows rows, with before rows of the whole output
// before them.
func (u *Units) run(ctx context.Context, sink Sink, w *Window, offsets backend.Range, first, end uint32,
	before, rows uint64) error {
	list := u.Lane.List("match")
	err := u.allocate(w, rows)
	if err == nil {
		err = u.record(list, w, first, end, u.target(kernel.AtOffsets, offsets, before, rows))
	}
	if err == nil {
		err = u.Lane.Submit(ctx, list)
	}
	if err != nil {
		w.Release()
		return err
	}
	return u.put(ctx, sink, w, rows)
}
