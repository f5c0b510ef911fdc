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

// run starts an alternative in a flow, which is the result's then, with a build side or without. parts are those of the
// probe side where it comes part by part, otherwise nil.
func run(flow *exec.Flow, q *Query, a *Alternative, built *Built, parts *exec.Pipe[*Part]) (*Result, error) {
	device := q.Engine.Device()
	device.ResetPeak()
	r := &Result{Query: q, Device: *device.Info(), taken: a, built: built, parts: parts, started: time.Now(), flow: flow}
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
	if r.parts != nil {
		return r.stream(ctx, lane, built)
	}
	out := r.output(lane, built.grant)
	defer out.close()
	if err := r.probe(ctx, lane, built, out.sink); err != nil {
		return err
	}
	if r.built == nil {
		built.release() // what remains is the output
	}
	return out.end(ctx)
}

// probe runs the operator with the probe side.
func (r *Result) probe(ctx context.Context, lane *exec.Lane, built *Built, sink operator.Sink) error {
	a := r.taken
	s := a.Scans[operator.Probe]
	if r.built != nil { // otherwise it was proved before
		if err := r.Query.prove(ctx, lane, s); err != nil {
			return err
		}
	}
	if r.Query.Empty != "" {
		return nil
	}
	bounds := s.granules(a.Facts.Granule, a.Facts.Brought(operator.Probe))
	for i := range bounds[1:] {
		if err := r.granule(ctx, lane, built.op, s, bounds[i], bounds[i+1], sink); err != nil {
			return err
		}
	}
	if err := built.op.Finish(ctx, sink); err != nil {
		return err
	}
	for side, s := range a.Scans {
		if err := s.keyless(ctx, lane, side, sink, a.Want.Count); err != nil {
			return err
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
	r.granules.Add(1)
	return op.Probe(ctx, lane, chunk, sink)
}

// output is what takes the output of a query.
type output struct {
	sink  operator.Sink
	rows  *deliver.Rows               // nil of a count
	end   func(context.Context) error // puts what is left; what comes then is in an order of its own
	close func()                      // releases its memory
}

func (r *Result) output(lane *exec.Lane, grant *exec.Grant) *output {
	q, a := r.Query, r.taken
	limit := &deliver.Limit{Most: q.MostRows, Rows: &r.rows}
	out := &output{sink: limit, end: func(context.Context) error { return nil }, close: func() {}}
	if a.Want.Count {
		limit.Sink = new(operator.Counter)
		return out
	}
	rows := &deliver.Rows{Lane: lane.Nested(r.flow.Context()), Allocator: q.Engine.Allocator,
		Wanted: q.Numbers, PieceRows: a.batch, WindowRows: a.Facts.Window, PlannedRows: planner.Output(a.Plan),
		Out: r.out, Time: &r.deliver}
	rows.Reserve = func(sizeBytes uint64) uint64 { return grant.Reserve(q.Engine.Device(), sizeBytes) }
	rows.Last = r.parts == nil && a.Facts.Granules() == 1
	limit.Sink, out.rows, out.end, out.close = rows, rows, rows.End, rows.Close
	if q.Ordered {
		order := &deliver.Order{Rows: rows, First: q.First}
		limit.Sink, out.end, out.close = order, order.End, order.Close
	}
	out.turn(a.Join, nil)
	return out
}

// turn makes what comes next rows of a tree: of the query, or of a part of the probe side.
func (o *output) turn(join *Join, part *Part) {
	rows := o.rows
	if rows == nil {
		return
	}
	rows.Columns, rows.Part, rows.First = join.Columns, nil, [2]uint64{}
	if part != nil {
		rows.Part, rows.First[join.Scans[operator.Probe].Side] = part.Table, part.First
	}
	rows.RowBytes = 2 * 4 // row numbers by which columns are gathered
	for side, s := range join.Scans {
		rows.Sides[side], rows.Words[side], rows.Numbers[side] = s.Side, &s.Words, -1
		if s.Numbers {
			rows.Numbers[side] = len(s.Words.Bytes)
		}
		for _, bytes := range s.Payload() {
			rows.RowBytes += uint64(bytes)
		}
	}
	rows.RowBytes += rows.RowBytes / 8 // for scratch
}
