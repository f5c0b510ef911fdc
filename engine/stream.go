package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
	"github.com/spirjoin/spirjoin/task"
)

// Stream joins two sources. One is collected as the build side; the other, the probe side, is joined part by part: its
// batches are gathered into parts, joined, delivered and released while the next ones are read, so it may be larger
// than memory. A part has as many rows as the build side, but at least 2^20, and fewer if memory is short.
//
// The build side is the one that spec.BuildSide names. BuildAuto selects the side with fewer rows, or a table beside a
// reader. If that does not decide, both sides are read at once and kept in memory, and the one that ends first is the
// build side. If both together take a quarter of the host memory limit before that, the left one is the build side.
// Some joins leave no choice: the build side is the side whose keys must be unique, the side in whose order pairs do
// not come, or the right side of a not-in join. If the build side exceeds the host memory limit, the join ends with an
// error.
//
// The output is the same as with [Engine.Plan], in the order of the probe side if an order is requested. The order of
// the build side is possible only under a host memory limit with a place for parts ([Engine.Spill]): then both sides
// are divided at once. The caller closes the result; both sources must stay alive until then.
//
// Errors: as for [Engine.Plan] and [Plan.Run]; errors of the sources; backend.ErrUnsupported if all rows of the probe
// side would be needed at once: to check that its keys are unique, or to return pairs in the order of the build
// side.
func (e *Engine) Stream(ctx context.Context, left, right source.Source, spec join.Spec) (*Result, error) {
	if err := sourcesGiven(left, right); err != nil {
		return nil, err
	}
	layout, err := join.NewLayout(left.Schema, right.Schema, spec)
	if err != nil {
		return nil, err
	}
	return e.StreamLayout(ctx, layout, left, right)
}

// StreamLayout is Stream with an existing layout, whose schemas may have had more columns: the sources must have those
// in layout.Needed.
func (e *Engine) StreamLayout(ctx context.Context, layout *join.Layout, left, right source.Source) (*Result, error) {
	if err := sourcesGiven(left, right); err != nil {
		return nil, err
	}
	return e.stream(ctx, task.Whole(layout, left, right, nil), opening{})
}

// opening says how a stream begins; the zero value: as its plan decides.
type opening struct {
	turn    task.Turn // on the device
	guess   bool      // the range of the keys may be guessed
	divides bool      // both sides are divided at once
	short   error     // what the device lacks for a join that is not divided, if that is why
}

// run runs a task of a join that was divided.
func (e *Engine) run(ctx context.Context, of *task.Task, turn task.Turn) (task.Output, error) {
	result, err := e.stream(ctx, of, opening{turn: turn})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// stream joins two sources. If both can be read again, the join may begin again after a device was lost. If both are
// tables, the range of the keys may be guessed.
func (e *Engine) stream(ctx context.Context, of *task.Task, as opening) (*Result, error) {
	as.guess = of.Depth == 0 && of.Tables()
	e, without, err := e.able()
	if err != nil {
		return nil, err
	}
	begin := func(on *Engine) (*Result, error) {
		if on != e {
			return on.stream(ctx, of, as)
		}
		result, err := e.beginStream(ctx, of, as)
		if errors.Is(err, errOutside) {
			as.guess = false
			result, err = e.beginStream(ctx, of, as)
		}
		return result, err
	}
	if !of.Sources[0].Again || !of.Sources[1].Again {
		return reportWithout(without)(begin(e))
	}
	return reportWithout(without)(e.orOnOthers(of.Consumer, begin))
}

// beginStream collects the build side and starts the join on the devices of the engine, or has both sides divided.
func (e *Engine) beginStream(ctx context.Context, of *task.Task, as opening) (result *Result, err error) {
	joined := of
	if side, _ := of.BuildSide(); e.Divisible() && of.CheckStream(side) != nil {
		as.divides = true // parts need no order
	}
	if as.divides {
		joined = of.Unordered()
	}
	side, known := joined.BuildSide()
	if err := joined.CheckStream(side); err != nil {
		return nil, err
	}
	flow, begun, err := e.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer begun()
	var grant *exec.Grant
	defer func() {
		if result == nil { // after a panic too
			flow.Stop()
			grant.Release()
		}
	}()
	if e.HostCapBytes() != exec.Unlimited { // memory of what is read before the join is planned is acquired as it comes
		if grant, err = e.Budget().Open(flow.Context()); err != nil {
			return nil, err
		}
	}
	c := task.NewCollector(flow, &e.Means, of, grant)
	defer c.Release()
	switch {
	case as.divides:
		err = task.ErrDivide
	case !known:
		of.Progress.Start("read both")
		side, err = c.Shorter(flow.Context())
	case of.Sources[side].Table() == nil:
		of.Progress.Start("read " + side.String())
	}
	if err == nil {
		result, err = e.streamFrom(flow, grant, c, joined.Building(side), side, as)
	}
	whole := e.Whole(of)
	if unfit := (*unfitError)(nil); errors.As(err, &unfit) {
		if errors.Is(err, backend.ErrDeviceMemory) {
			as.short = unfit.error
		}
		if err = unfit.error; whole == "" {
			err = cmp.Or(unfit.giveBack(flow.Context(), c, of, side), task.ErrDivide)
		}
		unfit.release()
	}
	switch {
	case errors.Is(err, task.ErrDivide):
		if err := as.turn.Wait(flow.Context()); err != nil {
			return nil, flow.End(err)
		}
		return e.divided(task.Divide(ctx, &e.Means, c, of, as.short, e.run))
	case err != nil:
		err = flow.End(err)
		if backend.OutOfMemory(err) && e.TempDir != "" && whole != "" {
			err = fmt.Errorf("%w; %s", err, whole)
		}
		return nil, err
	}
	return result, nil
}

// divided is the result of a join that is divided.
func (e *Engine) divided(tasks *task.Scheduler, err error) (*Result, error) {
	if err != nil {
		return nil, err
	}
	return &Result{Device: *e.Device().Info(), of: tasks}, nil
}

// streamFrom collects the build side and starts the join.
func (e *Engine) streamFrom(flow *exec.Flow, grant *exec.Grant, c *task.Collector, of *task.Task, side relation.Side,
	as opening) (*Result, error) {
	table, probe, err := c.Collect(flow.Context(), side)
	if err != nil {
		return nil, err
	}
	of.Progress.Start("plan")
	b := &buildSide{engine: e, task: of, side: side, table: table, spareBytes: c.SpareBytes, turn: as.turn,
		guess: as.guess, divides: of.Depth == 0 && len(e.others) == 0 && e.Whole(of) == ""}
	return resultOf(b.stream(flow, grant, probe, of.Sources[1-side].Rows))
}

// JoinStream is Join with a probe side that is read part by part, as in [Engine.Stream]. A part has at most as many
// rows as the build side was planned for.
//
// Errors: as for [Engine.Stream]; backend.ErrInvalidInput for another schema or a build side that is in use.
func (b *Built) JoinStream(ctx context.Context, probe source.Source) (*Result, error) {
	if err := b.task.CheckStream(b.side); err != nil {
		return nil, err
	}
	if err := probe.Check(1 - b.side); err != nil {
		return nil, err
	}
	if err := b.check(probe.Schema); err != nil {
		return nil, err
	}
	flow, begun, err := b.engine.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer begun()
	from, err := source.Read(flow, 1-b.side, probe, b.task.Layout.Needed[1-b.side])
	if err != nil {
		flow.Stop()
		return nil, err
	}
	s, err := newStream(flow, &b.buildSide, b.task.Renewed(), from, probe.Rows)
	if err != nil {
		flow.Stop()
		return nil, err
	}
	q := s.query(s.none.lower())
	q.Release = sync.OnceFunc(s.none.tables[1-b.side].Release)
	taken := b.built.Taken()
	s.ahead = taken.Facts.Ahead
	s.mostRows = min(s.bestRows(), taken.Facts.Granule)
	s.partsBytes, s.aloneBytes = b.built.PartsRoom(s.wishBytes())
	if err := s.fitBatches(); err != nil {
		flow.Stop()
		q.Release()
		return nil, err
	}
	result, err := b.built.Stream(flow, b.engine.Bind(q), s.parts(nil))
	if err != nil {
		q.Release()
	}
	return reportWithout(b.without)(resultOf(result, err))
}
