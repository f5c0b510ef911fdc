package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

func hostMemoryError(device string, need, limit uint64) error {
	return &backend.OpError{Op: "plan join", Device: device, Err: backend.ErrHostMemory, Detail: fmt.Sprintf(
		"tables, device memory in host memory and the smallest batch need %d bytes, the limit is %d; raise memory_limit",
		need, limit)}
}

func run(ctx context.Context, q *Query) (*Result, error) {
	device := q.Engine.Device()
	device.ResetPeak()
	r := &Result{Query: q, Device: *device.Info(), taken: &q.Alternatives[0], started: time.Now(),
		flow: exec.NewFlow(ctx)}
	r.lane = exec.NewLane(r.flow.Context(), q.Engine.Ops, nil)
	r.out = exec.NewPipe[*deliver.Piece](r.flow, 0)
	r.flow.Go("join", func(ctx context.Context) error {
		defer r.out.End()
		return r.produce(ctx)
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

// errKeysRepeat is the error of an algorithm whose build side has keys that repeat too often for it.
type errKeysRepeat struct{ error }

func (e errKeysRepeat) Unwrap() error { return e.error }

// produce runs the best alternative. Where keys repeat more often than a sample could tell, and the algorithm was not
// asked for, the next algorithm takes over: nothing has been put then.
func (r *Result) produce(ctx context.Context) error {
	for i := range r.Query.Alternatives {
		a := &r.Query.Alternatives[i]
		if a.Err != nil || i > 0 && a.Algorithm.Name() == r.taken.Algorithm.Name() {
			continue
		}
		r.taken = a
		err := r.join(ctx)
		if repeat := (errKeysRepeat{}); !errors.As(err, &repeat) || r.Query.Forced {
			return err
		}
		r.instead = fmt.Sprintf("%s failed: %v", a.Algorithm.Name(), err)
	}
	return &backend.OpError{Op: "join", Err: backend.ErrLimit, Detail: r.instead}
}

// join runs an alternative.
func (r *Result) join(ctx context.Context) (err error) {
	q, a := r.Query, r.taken
	need := q.Engine.need(min(a.PeakBytes, q.Engine.capBytes()))
	q.Progress.Start("wait", 0)
	grant, err := q.Engine.budget.Acquire(ctx, need, need)
	if err != nil {
		return err
	}
	defer grant.Release()
	lane := &exec.Lane{Ops: r.lane.Ops, Memory: exec.NewScope(ctx, q.Engine.Device(), grant), Profile: r.lane.Profile}
	defer lane.Memory.ReleaseAll()
	for _, s := range a.Scans {
		if q.Unique[s.Side] {
			q.Progress.Start("validate "+s.Side.String(), 0)
			if err := prove(ctx, lane, s); err != nil {
				return err
			}
		}
	}
	sink, end, closeSink := r.sink(lane, grant)
	defer closeSink()
	if err := r.operate(ctx, lane, sink); err != nil {
		return err
	}
	return end(ctx)
}

// operate runs the operator of the alternative.
func (r *Result) operate(ctx context.Context, lane *exec.Lane, sink operator.Sink) error {
	q, a := r.Query, r.taken
	build, probe := a.Scans[operator.Build], a.Scans[operator.Probe]
	memory := lane.Scope(ctx)
	defer memory.ReleaseAll()
	q.Progress.Start("load "+build.Side.String(), 0)
	chunk, err := r.load(ctx, lane, memory, build, 0, int(build.Table.NumRows()))
	if err != nil {
		return err
	}
	op := a.Algorithm.Open(ctx, lane, a.Plan)
	defer op.Close()
	if err := op.Build(ctx, chunk); errors.Is(err, backend.ErrLimit) {
		return errKeysRepeat{err}
	} else if err != nil {
		return err
	}
	bounds := probe.granules(a.Facts.Granule)
	for i := range bounds[1:] {
		if err := r.granule(ctx, lane, op, probe, bounds[i], bounds[i+1], sink); err != nil {
			return err
		}
	}
	if err := op.Finish(ctx, sink); err != nil {
		return err
	}
	for side, s := range a.Scans {
		if s.Keyless {
			if err := s.keyless(ctx, lane, side, sink, a.Want.Count); err != nil {
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
	chunk, err := r.load(ctx, lane, memory, probe, from, to)
	if err != nil {
		return err
	}
	r.Query.Progress.Start("join", 0)
	return op.Probe(ctx, lane, chunk, sink)
}

func (r *Result) load(ctx context.Context, lane *exec.Lane, memory *exec.Scope, s *Scan, from, to int) (
	*relation.Chunk, error) {
	start := time.Now()
	defer func() { r.encode.Add(int64(time.Since(start))) }()
	return s.load(ctx, lane, memory, from, to)
}

// sink returns what takes the output, what is to do at its end, and what releases its memory.
func (r *Result) sink(lane *exec.Lane, grant *exec.Grant) (sink operator.Sink, end func(context.Context) error,
	closeSink func()) {
	q, a := r.Query, r.taken
	end, closeSink = func(context.Context) error { return nil }, func() {}
	limit := &deliver.Limit{Most: q.MostRows, Rows: &r.rows}
	if a.Want.Count {
		limit.Sink = new(operator.Counter)
		return limit, end, closeSink
	}
	rows := &deliver.Rows{Lane: lane.Nested(r.flow.Context()), Allocator: q.Engine.Allocator, Columns: a.Columns,
		Wanted: q.Numbers, PieceRows: a.batch, WindowRows: a.Facts.Window, Out: r.out, Time: &r.deliver}
	rowBytes := uint64(0)
	for side, s := range a.Scans {
		rows.Sides[side], rows.Numbers[side] = s.Side, -1
		if s.Numbers {
			rows.Numbers[side] = len(s.Columns)
		}
		rowBytes += 4
		for _, bytes := range s.Payload() {
			rowBytes += uint64(bytes)
		}
	}
	rows.Room = func() uint64 { return grant.Room(q.Engine.Device()) * 7 / 8 / rowBytes }
	limit.Sink, closeSink = rows, rows.Close
	if q.Ordered {
		order := &deliver.Order{Rows: rows, First: q.First}
		limit.Sink, end, closeSink = order, order.End, order.Close
	}
	return limit, end, closeSink
}

// prove refuses keys of a side that are there more than once.
//
// Errors: backend.ErrInvalidInput that names a key and two rows that have it.
func prove(ctx context.Context, lane *exec.Lane, s *Scan) error {
	lane = lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	keys := Scan{Side: s.Side, Table: s.Table, Keys: s.Keys, Numbers: true}
	chunk, err := keys.load(ctx, lane, lane.Memory, 0, int(s.Table.NumRows()))
	if err != nil || chunk.Rows == 0 {
		return err
	}
	sorted, err := ranges.Sort(ctx, lane, chunk, s.Side.String(), ranges.Numbers{Given: chunk.Payload[0].Data})
	if err != nil {
		return err
	}
	m, err := ranges.Search(ctx, lane, sorted, sorted, true)
	if err != nil || m.Total == chunk.Rows {
		return err
	}
	if m, err = ranges.Search(ctx, lane, sorted, sorted, false); err != nil {
		return err
	}
	defer m.Release()
	found, rows, _, err := m.Ranges(ctx)
	if err != nil {
		return err
	}
	for _, r := range found {
		if r.LeftCount > 1 {
			first, second := rows[r.LeftBegin], rows[r.LeftBegin+1]
			return &backend.OpError{Op: "validate join", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(
				"keys of the %s table must be unique, but rows %d and %d both have %s", s.Side, first, second,
				s.Keys.Text(s.Side, int(first)))}
		}
	}
	return nil
}
