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
func (e *Engine) Stream(ctx context.Context, left, right Source, spec Spec) (*Result, error) {
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
func (e *Engine) StreamLayout(ctx context.Context, layout *Layout, left, right Source) (*Result, error) {
	if err := sourcesGiven(left, right); err != nil {
		return nil, err
	}
	return e.streamLayout(ctx, layout, [2]Source{left, right}, part{})
}

// part is what both sources are of a join that was divided; the zero value: all of one that was not.
type part struct {
	depth   int   // of the divisions
	turn    turn  // on the device
	guess   bool  // the range of the keys may be guessed
	divides bool  // both sides are divided at once
	short   error // what the device lacks for a join that is not divided, if that is why
}

// streamLayout is StreamLayout for a part of both sides. Where these can be read once more, devices may be lost; of
// tables, the range of the keys may be guessed.
func (e *Engine) streamLayout(ctx context.Context, layout *Layout, sources [2]Source, of part) (*Result, error) {
	of.guess = of.depth == 0 && sources[0].table != nil && sources[1].table != nil
	e, without, err := e.able()
	if err != nil {
		return nil, err
	}
	begin := func(on *Engine) (*Result, error) {
		if on != e {
			return on.streamLayout(ctx, layout, sources, of)
		}
		result, err := e.beginStream(ctx, layout, sources, of)
		if errors.Is(err, errOutside) {
			of.guess = false
			result, err = e.beginStream(ctx, layout, sources, of)
		}
		return result, err
	}
	if !sources[0].Again || !sources[1].Again {
		return reportWithout(without)(begin(e))
	}
	return reportWithout(without)(e.orOnOthers(begin))
}

func (e *Engine) beginStream(ctx context.Context, layout *Layout, sources [2]Source, of part) (
	result *Result, err error) {
	if err := e.checkWires(); err != nil {
		return nil, err
	}
	fixed := *layout
	if side, _ := fixed.streamBuildSide(sources); e.divisible() && fixed.checkStream(side) != nil {
		of.divides = true // parts need no order
	}
	if of.divides {
		fixed = *layout.ofParts()
	}
	side, known := fixed.streamBuildSide(sources)
	if err := fixed.checkStream(side); err != nil {
		return nil, err
	}
	progress := exec.NewProgress(fixed.Spec.Progress)
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
	c := &collector{flow: flow, sources: sources, needed: fixed.Needed, grant: grant, capBytes: e.HostCapBytes(),
		boundBytes: exec.Unlimited, part: of, progress: progress}
	defer c.release()
	whole := e.whole(&fixed.Spec, of.depth)
	switch {
	case whole != "":
	case e.DivideBytes > 0:
		c.boundBytes = e.DivideBytes
	case c.capBytes != exec.Unlimited:
		c.boundBytes = c.capBytes / 2
		c.spareBytes = c.capBytes / 16
	}
	switch {
	case of.divides:
		err = errDivide
	case !known:
		progress.Start("read both")
		side, err = c.shorter(flow.Context())
	case sources[side].table == nil:
		progress.Start("read " + side.String())
	}
	if err == nil {
		fixed.Spec.BuildSide = [2]BuildSide{BuildLeft, BuildRight}[side]
		result, err = e.streamFrom(c, &fixed, side, progress)
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
		if err := of.turn.wait(flow.Context()); err != nil {
			return nil, firstError(flow, err)
		}
		return e.divide(ctx, c, layout, of.depth, progress)
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
func (e *Engine) streamFrom(c *collector, layout *Layout, side relation.Side, progress *exec.Progress) (*Result, error) {
	table, probe, err := c.build(c.flow.Context(), side)
	if err != nil {
		return nil, err
	}
	progress.Start("plan")
	b := &buildSide{engine: e, layout: layout, side: side, table: table, spareBytes: c.spareBytes, turn: c.turn,
		guess: c.guess, divides: c.depth == 0 && len(e.others) == 0 && e.whole(&layout.Spec, 0) == ""}
	return resultOf(b.stream(c.flow, c.grant, probe, c.sources[1-side].Rows, progress))
}

// JoinStream is Join with a probe side that is read part by part, as in [Engine.Stream]. A part has at most as many
// rows as the build side was planned for.
//
// Errors: as for [Engine.Stream]; backend.ErrInvalidInput for another schema or a build side that is in use.
func (b *Built) JoinStream(ctx context.Context, probe Source) (*Result, error) {
	if err := b.layout.CheckStream(); err != nil {
		return nil, err
	}
	if err := probe.given(1 - b.side); err != nil {
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
	source, err := read(flow, 1-b.side, probe, b.layout.Needed[1-b.side])
	if err != nil {
		flow.Stop()
		return nil, err
	}
	s, err := newStream(flow, &b.buildSide, source, probe.Rows, exec.NewProgress(b.layout.Spec.Progress))
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

// streamBuildSide is the side of two sources that is the build side. If it is not known, either may be it.
func (l *Layout) streamBuildSide(sources [2]Source) (side relation.Side, known bool) {
	left, right := &sources[relation.Left], &sources[relation.Right]
	leftAble, rightAble := l.checkStream(relation.Left) == nil, l.checkStream(relation.Right) == nil
	takeRight := false
	switch {
	case l.Spec.BuildSide != BuildAuto:
		takeRight = l.Spec.BuildSide == BuildRight
	case leftAble != rightAble:
		takeRight = rightAble
	case left.Rows >= 0 && right.Rows >= 0:
		takeRight = right.Rows < left.Rows
	case left.table != nil || right.table != nil:
		takeRight = left.table == nil
	default:
		return relation.Left, false
	}
	if takeRight {
		return relation.Right, true
	}
	return relation.Left, true
}

// CheckStream returns backend.ErrUnsupported if the join needs all rows of the probe side at once. Spec.BuildSide must
// name the build side.
func (l *Layout) CheckStream() error {
	if l.Spec.BuildSide == BuildRight {
		return l.checkStream(relation.Right)
	}
	return l.checkStream(relation.Left)
}

func (l *Layout) checkStream(build relation.Side) error {
	spec, probe := &l.Spec, 1-build
	detail, ordered := "", [...]relation.Side{LeftOrder: relation.Left, RightOrder: relation.Right}
	switch {
	case spec.Strategy == StrategyHMG:
		detail = "the strategy hmg sorts both tables; read both whole"
	case spec.How == NotIn && probe == relation.Right:
		detail = "a not-in join needs all rows of the right side first; make it the build side"
	case spec.Output == Ranges:
		detail = "key ranges need two tables; read both sources whole"
	case spec.Validate.Unique(probe):
		detail = fmt.Sprintf("the keys of the %s side are checked for uniqueness only if it is the build side; leave out "+
			"validate or read the source whole", probe)
	case spec.Order != Unordered && spec.Output != Count && spec.How.Pairs() && ordered[spec.Order] == build:
		detail = fmt.Sprintf("rows come in the order of the side that is read part by part; for that of the %s side, make "+
			"the %s side the build side, or read both whole", build, probe)
	default:
		return nil
	}
	return &backend.OpError{Op: "join stream", Err: backend.ErrUnsupported, Detail: detail}
}
