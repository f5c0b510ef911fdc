package join

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// Stream joins two sources. One is collected as the build side; the other, the probe side, is joined part by part: its
// batches are gathered into granules, joined, delivered and released while the next ones are read, so it may be larger
// than memory. A granule has as many rows as the build side, but at least 2^20, and fewer if memory is short.
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
// side would be needed at once: to check that its keys are unique, to return pairs in the order of the build side, or
// for key ranges.
func (e *Engine) Stream(ctx context.Context, left, right source.Source, spec Spec) (*Result, error) {
	if err := sourcesGiven(left, right); err != nil {
		return nil, err
	}
	layout, err := NewLayout(left.Schema, right.Schema, spec)
	if err != nil {
		return nil, err
	}
	return e.StreamLayout(ctx, layout, left, right)
}

// StreamLayout is Stream with an existing layout, whose schemas may have had more columns: the sources must have those
// in layout.Needed.
func (e *Engine) StreamLayout(ctx context.Context, layout *Layout, left, right source.Source) (*Result, error) {
	if err := sourcesGiven(left, right); err != nil {
		return nil, err
	}
	return e.stream(ctx, layout.task(), [2]source.Source{left, right}, opening{})
}

// opening says how a stream begins; the zero value: as its plan decides.
type opening struct {
	turn    turn  // on the device
	guess   bool  // the range of the keys may be guessed
	divides bool  // both sides are divided at once
	short   error // what the device lacks for a join that is not divided, if that is why
}

// stream joins two sources. Where these can be read once more, devices may be lost; of tables, the range of the keys may
// be guessed.
func (e *Engine) stream(ctx context.Context, of *task, sources [2]source.Source, as opening) (*Result, error) {
	as.guess = of.depth == 0 && sources[0].Table() != nil && sources[1].Table() != nil
	e, without, err := e.able()
	if err != nil {
		return nil, err
	}
	begin := func(on *Engine) (*Result, error) {
		if on != e {
			return on.stream(ctx, of, sources, as)
		}
		result, err := e.beginStream(ctx, of, sources, as)
		if errors.Is(err, errOutside) {
			as.guess = false
			result, err = e.beginStream(ctx, of, sources, as)
		}
		return result, err
	}
	if !sources[0].Again || !sources[1].Again {
		return reportWithout(without)(begin(e))
	}
	return reportWithout(without)(e.orOnOthers(begin))
}

func (e *Engine) beginStream(ctx context.Context, of *task, sources [2]source.Source, as opening) (result *Result, err error) {
	if err := e.checkWires(); err != nil {
		return nil, err
	}
	joined, progress := of, of.progress
	if side, _ := of.streamBuildSide(sources); e.divisible() && of.checkStream(side) != nil {
		as.divides = true // parts need no order
	}
	if as.divides {
		joined = of.unordered()
	}
	side, known := joined.streamBuildSide(sources)
	if err := joined.checkStream(side); err != nil {
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
	c := &collector{flow: flow, sources: sources, needed: of.layout.Needed, grant: grant, capBytes: e.HostCapBytes(),
		boundBytes: exec.Unlimited, opening: as, progress: progress}
	defer c.release()
	whole := e.whole(of)
	switch {
	case whole != "":
	case e.DivideBytes > 0:
		c.boundBytes = e.DivideBytes
	case c.capBytes != exec.Unlimited:
		c.boundBytes = c.capBytes / 2
		c.spareBytes = c.capBytes / 16
	}
	switch {
	case as.divides:
		err = errDivide
	case !known:
		progress.Start("read both")
		side, err = c.shorter(flow.Context())
	case sources[side].Table() == nil:
		progress.Start("read " + side.String())
	}
	if err == nil {
		result, err = e.streamFrom(c, joined.building(side), side)
	}
	if unfit := (*unfitError)(nil); errors.As(err, &unfit) {
		if errors.Is(err, backend.ErrDeviceMemory) {
			c.short = unfit.error
		}
		if err = unfit.error; whole == "" {
			err = cmp.Or(unfit.giveBack(c, side), errDivide)
		}
		unfit.release()
	}
	switch {
	case errors.Is(err, errDivide):
		if err := as.turn.wait(flow.Context()); err != nil {
			return nil, firstError(flow, err)
		}
		return e.divide(ctx, c, of)
	case err != nil:
		err = firstError(flow, err)
		memory := backend.OutOfMemory(err)
		if memory && e.tempDir != "" && whole != "" {
			err = fmt.Errorf("%w; %s", err, whole)
		}
		return nil, err
	}
	return result, nil
}

// streamFrom collects the build side and starts the join.
func (e *Engine) streamFrom(c *collector, of *task, side relation.Side) (*Result, error) {
	table, probe, err := c.build(c.flow.Context(), side)
	if err != nil {
		return nil, err
	}
	of.progress.Start("plan")
	b := &buildSide{engine: e, task: of, side: side, table: table, spareBytes: c.spareBytes, turn: c.turn,
		guess: c.guess, divides: of.depth == 0 && len(e.others) == 0 && e.whole(of) == ""}
	return resultOf(b.stream(c.flow, c.grant, probe, c.sources[1-side].Rows))
}

// JoinStream is Join with a probe side that is read part by part, as in [Engine.Stream]. A part has at most as many
// rows as the build side was planned for.
//
// Errors: as for [Engine.Stream]; backend.ErrInvalidInput for another schema or a build side that is in use.
func (b *Built) JoinStream(ctx context.Context, probe source.Source) (*Result, error) {
	if err := b.task.checkStream(b.side); err != nil {
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
	from, err := source.Read(flow, 1-b.side, probe, b.task.layout.Needed[1-b.side])
	if err != nil {
		flow.Stop()
		return nil, err
	}
	s, err := newStream(flow, &b.buildSide, b.task.renewed(), from, probe.Rows)
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
