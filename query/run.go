package query

import (
	"context"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// run starts an alternative in a flow, which belongs to the result from then on. built is the build side, or nil if the
// query builds it. parts yields the parts of a probe side that comes part by part; otherwise it is nil.
func run(flow *exec.Flow, q *Query, a *Alternative, built *Built, parts *exec.Pipe[*Part]) (*Result, error) {
	r := &Result{Query: q, Device: *q.Engine.Device().Info(), taken: a, built: built, parts: parts, started: time.Now(),
		flow: flow, out: exec.NewPipe[*deliver.Piece](flow, 0)}
	for _, q := range append([]*Query{q}, q.Others...) {
		r.strands = append(r.strands, r.newStrand(q))
	}
	r.checked = r.check()
	if len(r.strands) > 1 && !q.Scattered {
		r.handOut()
	}
	r.flow.Go("join", func(ctx context.Context) error {
		defer r.out.End()
		return r.join(ctx)
	})
	r.first, _, _ = r.out.Take(r.flow.Context()) // nil if there is no output
	r.matched = time.Since(r.started)
	if r.first == nil {
		if err := r.flow.Wait(); err != nil {
			r.Query.Quota.Return(r.Rows())
			r.Close()
			return nil, err
		}
	}
	return r, nil
}

// join runs the alternative.
func (r *Result) join(ctx context.Context) (err error) {
	r.Query.Progress.Expect(r.work())
	defer func() {
		for _, s := range r.strands {
			s.close()
		}
	}()
	if r.built != nil {
		r.strands[0].built = r.built
	} else if err := r.acquire(ctx); err != nil {
		return err
	}
	if r.Query.Scattered {
		err = r.meet(ctx)
	} else {
		err = r.apart(ctx)
	}
	if err != nil {
		return err
	}
	if r.Query.Empty == "" {
		if err := r.finish(ctx); err != nil {
			return err
		}
	}
	r.all.Store(true)
	r.Query.Progress.AllJoined(r.Rows())
	return r.each(ctx, r.survivors(), "deliver", nil, func(ctx context.Context, _ int, s *strand) error {
		if r.built == nil {
			s.built.release() // what remains is the output
		}
		return s.out.end(ctx)
	})
}

// check begins to check the query, and returns what waits for that.
func (r *Result) check() (wait func() error) {
	if r.Query.Check == nil {
		return func() error { return nil }
	}
	done, err := make(chan struct{}), error(nil)
	r.flow.Go("check", func(ctx context.Context) error {
		defer close(done)
		err = exec.Protect("check", func() error { return r.Query.Check(ctx) })
		return err
	})
	return func() error {
		<-done
		return err
	}
}

// work is what the plan expects. The time of all stages but the last one is divided by the rows of the sides.
func (r *Result) work() (w exec.Work) {
	f, total := &r.taken.Facts, r.taken.Time()
	for _, stage := range r.taken.Stages {
		if stage.Name == operator.Deliver {
			w.Deliver = stage.Time
		}
	}
	if r.built == nil {
		rows := float64(f.Rows[operator.Build] + f.Rows[operator.Probe])
		w.Build = time.Duration(float64(total-w.Deliver) * float64(f.Rows[operator.Build]) / max(1, rows))
	}
	w.Probe = total - w.Deliver - w.Build
	if w.ProbeRows = r.Query.PartsRows; r.parts == nil {
		w.ProbeRows = uint64(r.taken.Scans[operator.Probe].Table.NumRows())
	}
	if w.Counts = r.taken.Output.Count; !w.Counts {
		w.OutputRows = r.Query.allRows()
	}
	return w
}

// alone outputs the rows of one table that the operator does not: those without a key or, if a filter tests the pairs,
// all.
func (r *strand) alone(ctx context.Context, s *Scan, side int) error {
	want, out, lane := &r.taken.Output, r.out, r.joining
	if out.filter == nil {
		return s.keyless(ctx, lane, side, out.sink, want.Count)
	}
	for i, wanted := range [2]bool{want.Rest[side], want.Matched[side]} {
		matched := i == 1
		if !wanted {
			continue
		}
		rows, err := out.filter.Rows(ctx, side, matched)
		if err != nil {
			return err
		}
		if s.Keyless == keys.KeylessValues {
			rows = s.Keys.WithoutNulls(s.Side, rows)
		}
		if err := s.put(ctx, lane, side, matched, rows, out.sink, want.Count); err != nil {
			return err
		}
	}
	return nil
}

// output holds the sinks of a query.
type output struct {
	sink   operator.Sink
	pairs  operator.Sink   // the sink of the operator: sink, or a filter in front of it
	filter *deliver.Filter // nil if all pairs are partners
	limit  *deliver.Limit
	rows   *deliver.Rows               // nil for a count
	part   func(context.Context) error // ends a part of the probe side; rows that follow are ordered separately
	end    func(context.Context) error // returns when all is delivered
	close  func()                      // releases its memory
}

func (r *strand) output() *output {
	q, a, lane := r.Query, r.taken, r.joining
	limit := &deliver.Limit{Quota: q.Quota, Rows: &r.rows, Advice: deliver.OfRows,
		Partial: q.Divided || r.parts != nil || a.Facts.Granules() > 1}
	nothing := func(context.Context) error { return nil }
	out := &output{sink: limit, pairs: limit, limit: limit, part: nothing, end: nothing, close: func() {}}
	room := r.room()
	if a.Output.Count {
		limit.Sink, limit.Advice = new(operator.Counter), deliver.OfCount
	} else {
		down := room
		down.Lane = lane.On(r.flow.Context(), backend.Deliver)
		rows := &deliver.Rows{Room: down, Flow: r.flow, Allocator: q.Engine.Allocator, Wanted: q.Numbers,
			PieceRows: a.batch, Out: r.Result.out, Time: &r.deliver, Ahead: a.Facts.Ahead,
			Last: r.parts == nil && a.Facts.Granules() == 1}
		limit.Sink, out.rows, out.end, out.close = rows, rows, rows.End, rows.Close
		if q.Ordered {
			order := &deliver.Order{Rows: rows, First: q.First}
			limit.Sink, out.part, out.end, out.close = order, order.End, order.End, order.Close
		}
	}
	if a.Keep != nil {
		out.filter = &deliver.Filter{Sink: limit, Room: room, Want: a.Output, Time: &r.deliver}
		out.filter.Open(operator.Build, uint64(a.Scans[operator.Build].Table.NumRows()))
		out.pairs = out.filter
		closeRows := out.close
		out.close = func() {
			out.filter.Close()
			closeRows()
		}
	}
	out.turn(&portion{Join: a.Join})
	return out
}

// room describes the memory for windows.
func (r *strand) room() deliver.Room {
	room := deliver.Room{Lane: r.joining.Nested(r.flow.Context()), WindowRows: r.taken.Facts.Window,
		PlannedRows: planner.Output(r.taken.Plan), RowBytes: 2 * 4} // row numbers by which columns are gathered
	for _, s := range r.taken.Scans {
		for _, bytes := range s.Payload() {
			room.RowBytes += uint64(bytes)
		}
	}
	room.RowBytes += room.RowBytes / 8 // for scratch
	room.Reserve = func(sizeBytes uint64) uint64 { return r.built.grant.Reserve(r.Query.Engine.Device(), sizeBytes) }
	return room
}

// turn sets the portion of the rows that come next: the whole probe side, or a part of it.
func (o *output) turn(p *portion) {
	join, part := p.Join, p.part
	o.limit.Delivery = p.delivery
	if f := o.filter; f != nil {
		f.Keep = join.Keep
		for side, s := range join.Scans {
			f.Sides[side], f.Payload[side], f.Numbers[side] = s.Side, s.Payload(), len(s.Words.Bytes)
		}
		f.Open(operator.Probe, uint64(join.Scans[operator.Probe].Table.NumRows()))
	}
	rows := o.rows
	if rows == nil {
		return
	}
	rows.Columns, rows.Part, rows.First, rows.Delivery = join.Columns, nil, [2]uint64{}, p.delivery
	if part != nil {
		rows.Part, rows.First[join.Scans[operator.Probe].Side] = part.Table, part.First
	}
	for side, s := range join.Scans {
		rows.Sides[side], rows.Words[side], rows.Numbers[side] = s.Side, &s.Words, -1
		if s.Numbers {
			rows.Numbers[side] = len(s.Words.Bytes)
		}
	}
}
