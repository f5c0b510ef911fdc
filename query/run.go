package query

import (
	"context"
	"fmt"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
)

func hostMemoryError(device string, need, limit uint64) error {
	return &backend.OpError{Op: "plan join", Device: device, Err: backend.ErrHostMemory, Detail: fmt.Sprintf(
		"tables, device memory in host memory and the smallest batch need %d bytes, the limit is %d; raise memory_limit",
		need, limit)}
}

// run starts an alternative, with a build side or without.
func run(ctx context.Context, q *Query, a *Alternative, built *Built) (*Result, error) {
	device := q.Engine.Device()
	device.ResetPeak()
	r := &Result{Query: q, Device: *device.Info(), taken: a, built: built, started: time.Now(), flow: exec.NewFlow(ctx)}
	r.lane = exec.NewLane(r.flow.Context(), q.Engine.Ops, nil)
	r.out = exec.NewPipe[*deliver.Piece](r.flow, 0)
	r.flow.Go("join", func(ctx context.Context) error {
		defer r.out.End()
		return r.join(ctx)
	})
	r.first, _, _ = r.out.Take(r.flow.Context()) // nil where nothing comes
	r.matched = time.Since(r.started)
	if r.first == nil {
		if err := r.flow.Wait(); err != nil {
			r.Close()
			return nil, err
		}
	}
	return r, nil
}

// join runs the alternative.
func (r *Result) join(ctx context.Context) (err error) {
	built := r.built
	if built == nil {
		scans := r.taken.Scans[:]
		if built, err = r.Query.build(ctx, r.taken, scans, r.lane.Profile, &r.encode); err != nil {
			return err
		}
		defer built.Close()
	}
	lane := &exec.Lane{Ops: built.lane.Ops, Memory: built.lane.Scope(ctx), Profile: r.lane.Profile}
	defer lane.Memory.ReleaseAll()
	sink, end, closeSink := r.sink(lane, built.grant)
	defer closeSink()
	if err := r.probe(ctx, lane, built, sink, r.filter(lane, built.grant, sink)); err != nil {
		return err
	}
	if r.built == nil {
		built.release() // what remains is the output
	}
	return end(ctx)
}

// probe runs the operator with the probe side. Where there is a filter, it is before the sink.
func (r *Result) probe(ctx context.Context, lane *exec.Lane, built *Built, sink operator.Sink, f *deliver.Filter) error {
	a, pairs := r.taken, sink
	if f != nil {
		pairs = f
	}
	s := a.Scans[operator.Probe]
	if r.built != nil { // otherwise it was proved before
		if err := r.Query.prove(ctx, lane, s); err != nil {
			return err
		}
	}
	bounds := s.granules(a.Facts.Granule, a.Facts.Brought(operator.Probe))
	for i := range bounds[1:] {
		if err := r.granule(ctx, lane, built.op, s, bounds[i], bounds[i+1], pairs); err != nil {
			return err
		}
	}
	if err := built.op.Finish(ctx, pairs); err != nil {
		return err
	}
	for side, s := range a.Scans {
		if f != nil {
			for i, wanted := range [2]bool{a.Output.Rest[side], a.Output.Matched[side]} {
				if !wanted {
					continue
				}
				if err := s.put(ctx, lane, side, i == 1, f.Rows(side, i == 1), sink, a.Output.Count); err != nil {
					return err
				}
			}
		} else if s.Keyless {
			if err := s.keyless(ctx, lane, side, sink, a.Output.Count); err != nil {
				return err
			}
		}
	}
	return nil
}

// granule probes with the rows from from to to-1 of the table.
func (r *Result) granule(ctx context.Context, lane *exec.Lane, op operator.Operator, probe *Scan, from, to int,
	sink operator.Sink) error {
	memory := lane.Scope(ctx)
	defer memory.ReleaseAll()
	r.Query.Progress.Start("load "+probe.Side.String(), 0)
	chunk, err := timedLoad(ctx, lane, memory, probe, from, to, &r.encode)
	if err != nil {
		return err
	}
	r.Query.Progress.Start("join", 0)
	return op.Probe(ctx, lane, chunk, sink)
}

// room is the memory of windows.
func (r *Result) room(lane *exec.Lane, grant *exec.Grant) deliver.Room {
	room := deliver.Room{Lane: lane.Nested(r.flow.Context()), WindowRows: r.taken.Facts.Window,
		PlannedRows: planner.Output(r.taken.Plan)}
	room.RowBytes = 2 * 4 // row numbers by which columns are gathered
	for _, s := range r.taken.Scans {
		for _, bytes := range s.Payload() {
			room.RowBytes += uint64(bytes)
		}
	}
	room.RowBytes += room.RowBytes / 8 // for scratch
	room.Reserve = func(sizeBytes uint64) uint64 { return grant.Reserve(r.Query.Engine.Device(), sizeBytes) }
	return room
}

// filter is the sink that tests pairs, before that of the output; nil where all pairs are partners.
func (r *Result) filter(lane *exec.Lane, grant *exec.Grant, sink operator.Sink) *deliver.Filter {
	a := r.taken
	if a.Keep == nil {
		return nil
	}
	f := &deliver.Filter{Sink: sink, Room: r.room(lane, grant), Keep: a.Keep, Want: a.Output, Time: &r.deliver}
	var rows [2]uint64
	for side, s := range a.Scans {
		f.Sides[side], f.Payload[side], f.Numbers[side] = s.Side, s.Payload(), len(s.Columns)
		rows[side] = uint64(s.Table.NumRows())
	}
	f.Open(rows)
	return f
}

// sink returns what takes the output, what is to do at its end, and what releases its memory.
func (r *Result) sink(lane *exec.Lane, grant *exec.Grant) (sink operator.Sink, end func(context.Context) error,
	closeSink func()) {
	q, a := r.Query, r.taken
	end, closeSink = func(context.Context) error { return nil }, func() {}
	limit := &deliver.Limit{Most: q.MostRows, Rows: &r.rows}
	if a.Output.Count {
		limit.Sink = new(operator.Counter)
		return limit, end, closeSink
	}
	rows := &deliver.Rows{Room: r.room(lane, grant), Allocator: q.Engine.Allocator, Columns: a.Columns, Wanted: q.Numbers,
		PieceRows: a.batch, Out: r.out, Time: &r.deliver}
	for side, s := range a.Scans {
		rows.Sides[side], rows.Numbers[side] = s.Side, -1
		if s.Numbers {
			rows.Numbers[side] = len(s.Columns)
		}
	}
	rows.Last = a.Facts.Granules() == 1
	limit.Sink, end, closeSink = rows, rows.End, rows.Close
	if q.Ordered {
		order := &deliver.Order{Rows: rows, First: q.First}
		limit.Sink, end, closeSink = order, order.End, order.Close
	}
	return limit, end, closeSink
}
