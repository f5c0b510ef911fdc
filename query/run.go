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

// Team says how the lanes of a query make its output together.
type Team interface {
	// Join acquires the memory of the lanes, builds, and joins all portions of the probe side.
	Join(ctx context.Context, lanes []*Lane) error
	// Finish outputs what depends on the whole probe side: rows of the build side with or without a partner, of which each
	// lane knows only the ones that it has met.
	Finish(ctx context.Context, lanes []*Lane) error
	// Left returns the lanes that have not failed.
	Left(lanes []*Lane) []*Lane
	// Close frees what was not delivered, when the lanes have ended.
	Close()
	// Failures lists the devices that failed while the other lanes went on, and why.
	Failures() []DeviceFailure
}

// AllOrNone is the part of a [Team] that ends when one of its lanes fails.
type AllOrNone struct{}

// Left implements Team.
func (AllOrNone) Left(lanes []*Lane) []*Lane { return lanes }

// Failures implements Team.
func (AllOrNone) Failures() []DeviceFailure { return nil }

// Close implements Team.
func (AllOrNone) Close() {}

// alone is the team of a lane that runs a query by itself.
type alone struct{ AllOrNone }

// Join implements Team.
func (alone) Join(ctx context.Context, lanes []*Lane) error {
	l := lanes[0]
	if !l.kept {
		if err := Acquire(ctx, lanes); err != nil {
			return err
		}
		if err := l.Build(ctx, nil); err != nil {
			return err
		}
	}
	return l.Probe(ctx)
}

// Finish implements Team.
func (alone) Finish(ctx context.Context, lanes []*Lane) error {
	return lanes[0].Finish(ctx)
}

// Start starts a query, as planned for each of some devices, in a flow, which belongs to the result from then on. team
// prepares the lanes, of which the first runs the first query. It returns when there are rows or, for a count, at the
// end.
func Start(flow *exec.Flow, queries []*Query, team func([]*Lane) Team) (*Result, error) {
	q := queries[0]
	r := &Result{Query: q, Device: *q.Engine.Device().Info(), started: time.Now(), flow: flow,
		out: exec.NewOutput[*deliver.Piece](flow)}
	for _, q := range queries {
		r.lanes = append(r.lanes, r.newLane(q))
	}
	r.lanes[0].Source = r.lanes[0].Whole()
	r.team = team(r.lanes)
	for _, l := range r.lanes {
		if !l.kept {
			l.Query.rehearsing(flow)
		}
	}
	r.checked = r.check()
	r.flow.Go("join", func(ctx context.Context) error {
		defer r.out.End()
		return r.join(ctx)
	})
	some := r.out.Begin()
	if r.matched = time.Since(r.started); !some {
		if err := r.flow.Wait(); err != nil {
			r.Query.Quota.Return(r.Rows())
			r.Close()
			return nil, err
		}
	}
	return r, nil
}

// join runs the query.
func (r *Result) join(ctx context.Context) (err error) {
	r.Query.Progress.Expect(r.work())
	defer func() {
		for _, l := range r.lanes {
			l.close()
		}
		r.team.Close()
	}()
	if err := r.team.Join(ctx, r.lanes); err != nil {
		return err
	}
	left := r.team.Left(r.lanes)
	if r.Query.Empty == "" {
		err := r.team.Finish(ctx, left)
		if err == nil {
			err = left[0].finishKeyless(ctx)
		}
		if err != nil {
			return err
		}
	}
	r.all.Store(true)
	r.Query.Progress.AllJoined(r.Rows())
	if len(left) == 1 && !left[0].separate() {
		return left[0].end(ctx)
	}
	return Each(left, "deliver", nil, func(ctx context.Context, _ int, l *Lane) error { return l.end(ctx) })
}

// check begins to check the query, and returns a function that waits for the end of the check.
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
	first := r.lanes[0]
	f, total := &first.taken.Facts, first.taken.Time()
	for _, stage := range first.taken.Stages {
		if stage.Name == operator.Deliver {
			w.Deliver = stage.Time
		}
	}
	if !first.kept {
		rows := float64(f.Rows[operator.Build] + f.Rows[operator.Probe])
		w.Build = time.Duration(float64(total-w.Deliver) * float64(f.Rows[operator.Build]) / max(1, rows))
	}
	w.Probe = total - w.Deliver - w.Build
	if w.ProbeRows = r.Query.PartsRows; !r.Query.Parts {
		w.ProbeRows = first.taken.Scans[operator.Probe].loads()
	}
	if w.Counts = !r.Query.delivers(first.taken); !w.Counts {
		w.OutputRows = r.Query.allRows()
	}
	return w
}

// alone outputs the rows of one table that the operator does not: those without a key or, if a filter tests the pairs,
// all.
func (l *Lane) alone(ctx context.Context, s *Scan, side int) error {
	want, out, lane := &l.taken.Output, l.out, l.joining
	if out.filter == nil {
		return s.keyless(ctx, lane, side, out.sink, want.Count)
	}
	for i, wanted := range [2]bool{want.Rest[side], want.Matched[side]} {
		matched := i == 1
		if !wanted {
			continue
		}
		var rows []uint32
		var err error
		if s.Selection != nil {
			rows, err = out.filter.Among(ctx, side, s.Selection.numbers(), matched)
		} else {
			rows, err = out.filter.Rows(ctx, side, matched)
		}
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
	if s.Selection != nil {
		return s.keyless(ctx, lane, side, out.sink, want.Count)
	}
	return nil
}

// output holds the sinks of a query.
type output struct {
	sink   operator.Sink
	pairs  operator.Sink   // the sink of the operator: sink, or a filter in front of it
	filter *deliver.Filter // nil if all pairs are partners
	limit  *deliver.Limit
	turned func(*deliver.Format)       // sets the format of windows; nil for a count
	part   func(context.Context) error // ends a part of the probe side; rows that follow are ordered separately
	end    func(context.Context) error // returns when all is delivered
	close  func()                      // releases its memory
}

func (l *Lane) output() *output {
	q, a, lane := l.Query, l.taken, l.joining
	limit := &deliver.Limit{Quota: q.Quota, Rows: &l.result.rows, Advice: deliver.OfRows,
		Partial: q.Divided || q.Parts || q.Among > 1 || a.Facts.Granules() > 1 || a.Keep != nil || !a.Output.Once()}
	nothing := func(context.Context) error { return nil }
	out := &output{sink: limit, pairs: limit, limit: limit, part: nothing, end: nothing, close: func() {}}
	room := l.room()
	switch {
	case a.Output.Count:
		limit.Sink, limit.Advice = new(operator.Counter), deliver.OfCount
	case q.Consumer != nil:
		taken := q.Consumer.Open(room)
		limit.Sink, out.turned, out.part, out.end, out.close = taken, taken.Turn, taken.EndPart, taken.End, taken.Close
	default:
		down := room
		down.Lane = lane.On(l.flow.Context(), backend.Deliver)
		rows := &deliver.Rows{Room: down, Flow: l.flow, Allocator: q.Engine.Allocator, Wanted: q.Numbers,
			PieceRows: a.batch, Out: l.result.out.Pipe, Time: &l.result.deliver, Ahead: a.Facts.Ahead,
			Last: !q.Parts && a.Facts.Granules() == 1}
		limit.Sink, out.end, out.close = rows, rows.End, rows.Close
		out.turned = func(f *deliver.Format) { rows.Format = *f }
		if q.Ordered {
			order := &deliver.Order{Rows: rows, First: q.First}
			limit.Sink, out.part, out.end, out.close = order, order.End, order.End, order.Close
		}
	}
	if a.Keep != nil {
		out.filter = &deliver.Filter{Sink: limit, Room: room, Want: a.Output, Time: &l.result.deliver}
		out.filter.Open(operator.Build, uint64(a.Scans[operator.Build].Table.NumRows()))
		out.pairs = out.filter
		closeRows := out.close
		out.close = func() {
			out.filter.Close()
			closeRows()
		}
	}
	out.turn(&Portion{Join: a.Join})
	return out
}

// room describes the memory for windows.
func (l *Lane) room() deliver.Room {
	room := deliver.Room{Lane: l.joining.Nested(l.flow.Context()), WindowRows: l.taken.Facts.Window,
		PlannedRows: planner.Output(l.taken.Plan), RowBytes: 2 * 4} // row numbers by which columns are gathered
	for _, s := range l.taken.Scans {
		for _, bytes := range s.Payload() {
			room.RowBytes += uint64(bytes)
		}
	}
	room.RowBytes += room.RowBytes / 8 // for scratch
	room.Reserve = func(sizeBytes uint64) uint64 { return l.built.grant.Reserve(l.Query.Engine.Device(), sizeBytes) }
	return room
}

// turn sets the portion of the rows that come next: the whole probe side, or a part of it.
func (o *output) turn(p *Portion) {
	join, part := p.Join, p.Part
	o.limit.Delivery = p.Delivery
	if f := o.filter; f != nil {
		f.Keep = join.Keep
		for side, s := range join.Scans {
			f.Sides[side], f.Payload[side], f.Numbers[side] = s.Side, s.Payload(), len(s.Words.Bytes)
		}
		f.Open(operator.Probe, uint64(join.Scans[operator.Probe].Table.NumRows()))
	}
	if o.turned == nil {
		return
	}
	f := deliver.Format{Columns: join.Columns, Carried: join.Carried, Delivery: p.Delivery}
	if part != nil {
		f.Part, f.First[join.Scans[operator.Probe].Side] = part.Table, part.First
	}
	for side, s := range join.Scans {
		f.Sides[side], f.Words[side], f.Numbers[side] = s.Side, &s.Words, -1
		if s.Numbers {
			f.Numbers[side] = len(s.Words.Bytes)
		}
	}
	o.turned(&f)
}
