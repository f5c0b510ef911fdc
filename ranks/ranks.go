// Package ranks joins tables of which each rank of a job has a share (docs/ranks.md). The ranks agree on what they join
// and how rows meet. Each moves its shares to where they are joined, and joins what comes as a local join of two
// sources.
//
//	agree.go     what a rank says of its shares        choose.go    way and build side, alike on all ranks
//	weigh.go     shares of unequal ranks               skew.go      hot keys, whose rows stay
//	filter.go    rows without a partner, dropped       coder.go     where columns are compressed
//	ranks.go     one join from shares to rows          sorted.go    output that moves to its order
//	result.go    output, and the end of the join       forecast.go  what a join would send
package ranks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exchange/shuffle"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// Engine joins shares. Each rank has one of its own.
type Engine struct {
	Joins *engine.Engine
	Knobs
}

// Knobs are for measurements and tests.
type Knobs struct {
	Owners     bool    // rows go to owners, whatever the sizes
	Copies     bool    // a side goes to all ranks if the join allows it, whatever the sizes
	Filtering          // of rows of the probe side that have no partner
	BlockBytes uint64  // rows that are divided at a time; 0: as memory allows
	Speed      float64 // rows that this rank joins a second; 0: as predicted for its devices
	Codec      Codec   // where columns are encoded on their way
	// LinkBytesPerSecond is what this rank sends to all others together; 0: it is measured.
	LinkBytesPerSecond float64
}

// exchangeShare is the inverse of the share of the memory limit that the exchange of both sides takes.
const exchangeShare = 4

// Blocks that are exchanged without a memory limit: partBytes for each rank, within bounds.
const (
	partBytes       = 256 << 10
	leastBlockBytes = 8 << 20
	mostBlockBytes  = 64 << 20
)

// seed of the division among ranks. Parts of a rank, which spills, are divided with others.
const seed = 1 << 40

// run is a join that begins.
type run struct {
	*Engine
	*Result
	all     []share
	totals  totals
	sources [2]source.Source
	schemas [2]*arrow.Schema  // of the needed columns, with row numbers where rows get them
	numbers [2]int64          // of the first row of this rank's share; negative: rows get none
	sent    []cluster.Traffic // by rank: what a forecast counts instead of starting the exchange; nil: no forecast
	slots   []uint16          // owners of equal ranges of hashes; nil: each rank owns one

	probe     relation.Side
	partBytes uint64 // of the part of a filter of each rank; 0: rows without a partner are not dropped
}

// Join joins the shares of all ranks; left and right are those of this one. It is collective: all ranks call it with
// equal specifications. It returns when this rank has its first rows. The caller closes the result and keeps the
// sources alive until then; ctx must not end before.
//
// An error ends the job. Errors: as for [engine.Engine.Stream]; ErrInvalidInput if ranks
// differ in what they join; ErrUnsupported for what docs/ranks.md lists; *cluster.Lost after an error of another rank.
func (e *Engine) Join(ctx context.Context, job cluster.Job, left, right source.Source, spec join.Spec) (
	*Result, error) {
	return e.start(ctx, job, left, right, layoutOf(left, right, spec))
}

// layoutOf returns a function that derives the layout when an error of it ends the job.
func layoutOf(left, right source.Source, spec join.Spec) func() (*join.Layout, error) {
	return func() (*join.Layout, error) { return join.NewLayout(left.Schema, right.Schema, spec) }
}

// JoinLayout is Join with an existing layout. It may come from schemas with more columns than the sources.
func (e *Engine) JoinLayout(ctx context.Context, job cluster.Job, layout *join.Layout, left, right source.Source) (
	*Result, error) {
	return e.start(ctx, job, left, right, func() (*join.Layout, error) { return layout, nil })
}

func (e *Engine) start(ctx context.Context, job cluster.Job, left, right source.Source,
	layout func() (*join.Layout, error)) (result *Result, err error) {
	r := e.newRun(ctx, job, left, right)
	defer func() {
		if result != nil {
			return
		}
		if err != nil {
			err = r.fail(err)
		}
		r.Close() // after a panic, this ends the job
	}()
	if err := r.plan(ctx, layout); err != nil {
		return nil, err
	}
	if r.Way == Stay {
		r.Result.Result, err = e.Joins.Sources(ctx, r.layout, left, right, nil)
	} else {
		err = r.begin(ctx)
	}
	if err != nil {
		return nil, err
	}
	if r.layout.Spec.Output == join.Count { // which is complete
		r.end()
	}
	return r.Result, nil
}

func (e *Engine) newRun(ctx context.Context, job cluster.Job, left, right source.Source) *run {
	return &run{Engine: e, Result: newResult(exec.WithTrace(ctx, e.Joins.Trace), job),
		sources: [2]source.Source{left, right}, numbers: [2]int64{-1, -1}}
}

// plan agrees with the other ranks on what is joined and how.
func (r *run) plan(ctx context.Context, layout func() (*join.Layout, error)) (err error) {
	for side := range r.sources {
		if err := r.sources[side].Check(relation.Side(side)); err != nil {
			return err
		}
	}
	if r.layout, err = layout(); err != nil {
		return err
	}
	for side := range r.schemas {
		r.schemas[side], err = source.Schema(r.sources[side].Schema, relation.Side(side), r.layout.Needed[side])
		if err != nil {
			return err
		}
	}
	mine := newShare(r.layout, r.sources, r.schemas, r.Joins.HostCapBytes())
	if mine.Speed = r.Speed; mine.Speed == 0 && r.job.Size() > 1 {
		if mine.Speed, err = r.Joins.Speed(ctx); err != nil {
			return err
		}
	}
	if r.all, err = agree(ctx, r.job, mine); err != nil {
		return err
	}
	r.totals = sum(r.all)
	r.totals.nodes = slices.Max(r.job.Nodes()) + 1
	r.Way = chooseWay(&r.layout.Spec, r.totals)
	r.chooseOrdered()
	mayLeft, mayRight := mayGoToAll(&r.layout.Spec, relation.Left), mayGoToAll(&r.layout.Spec, relation.Right)
	_, ordered := r.ordered()
	switch {
	case r.Way == Stay || r.layout.Spec.How == join.Cross:
	case r.Owners:
		r.Way = Owners
	case r.Copies && mayRight && !ordered:
		r.Way = RightToAll
	case r.Copies && mayLeft && !ordered:
		r.Way = LeftToAll
	}
	return r.check()
}

// chooseOrdered has the rows of the side stay in whose order the output is, so that the output of each rank follows
// that of the ranks before; or rows meet on the owners of their keys, and the output moves to its order ([run.sort]).
func (r *run) chooseOrdered() {
	of, ordered := r.ordered()
	other := [2]Way{LeftToAll, RightToAll}[1-of]
	switch spec := &r.layout.Spec; {
	case r.Way == Stay || !ordered:
	case spec.How == join.Cross, r.Copies && mayGoToAll(spec, 1-of):
		r.Way = other
	case r.Way != other:
		r.Way = Owners
	}
}

// ordered returns the side in whose order the output is, if it has an order.
func (r *run) ordered() (side relation.Side, ordered bool) {
	if r.layout.Spec.Order == join.RightOrder {
		side = relation.Right
	}
	return side, r.layout.Form().Ordered()
}

func (r *run) speeds() (speeds []float64) {
	for _, s := range r.all {
		speeds = append(speeds, s.Speed)
	}
	return speeds
}

// tables reports whether all shares are tables, so that the number of rows is known.
func (r *run) tables() bool {
	for _, s := range r.all {
		if !s.Tables {
			return false
		}
	}
	return true
}

// check refuses what cannot be joined.
func (r *run) check() error {
	if r.Way == Stay {
		return nil
	}
	spec, detail := &r.layout.Spec, ""
	if spec.How == join.Cross && r.tables() {
		if err := spec.CheckCross(uint64(r.totals.rows[0]), uint64(r.totals.rows[1])); err != nil {
			return err
		}
	}
	switch f := r.layout.Form(); {
	case spec.Strategy == join.StrategyHMG:
		detail = "the strategy hmg joins tables of one process; leave it out"
	case f.Output == join.Pairs && !r.tables():
		detail = "pairs of row numbers need shares that are tables, because rows of others are not counted before"
	default:
		return nil
	}
	return &backend.OpError{Op: "distributed join", Err: backend.ErrUnsupported, Detail: detail}
}

// begin starts the exchange and the local join.
func (r *run) begin(ctx context.Context) error {
	of, ordered := r.ordered()
	sorts := ordered && r.Way == Owners
	form := r.layout.Form()
	if !sorts {
		form.Order = join.Unordered // each rank has its rows in their order
	}
	layout, form := r.layout.Numbered(form)
	layout.Spec.Output = form.Output
	streamed := r.layout
	if sorts {
		layout.Spec.Order, layout.Spec.Deterministic, streamed = join.Unordered, false, layout
	}
	for side := range r.schemas {
		if len(layout.Needed[side]) > len(r.layout.Needed[side]) || ordered && !sorts && relation.Side(side) != of {
			r.number(side)
		}
	}
	build, streams := chooseBuild(streamed, r.Way, r.totals)
	if layout.Spec.BuildSide != join.BuildAuto && !streams {
		return streamed.CheckStream(build)
	}
	if layout.Spec.BuildSide = build; !streams {
		layout.Spec.BuildSide = join.BuildAuto
	}
	r.slots = weigh(r.speeds())
	if r.probe = 1 - build.Side(); streams && r.Way == Owners && r.slots == nil && r.sent == nil {
		r.partBytes = r.planFilter(&r.layout.Spec, r.probe, r.totals)
	}
	joins, options, err := r.prepare(sorts)
	if err != nil {
		return err
	}
	if err := r.exchange(ctx, options); err != nil || r.sent != nil {
		return err
	}
	if !streams || ordered && !sorts {
		if err := r.collect(ctx); err != nil {
			return err
		}
	}
	joined, err := joins.Sources(ctx, layout, r.sources[0], r.sources[1], nil)
	if err != nil {
		return err
	}
	r.Result.Result = joined
	r.count()
	if sorts {
		return r.sort(options, layout)
	}
	return nil
}

// prepare acquires the memory of the exchange, and returns an engine that leaves it alone, and as much for sorting.
func (r *run) prepare(sorts bool) (joins *engine.Engine, o shuffle.Options, err error) {
	at, deviceBytes, err := r.coderRuns()
	if err != nil {
		return nil, o, err
	}
	joins = r.Joins
	limitBytes, device, need := joins.HostCapBytes(), joins.Device(), exec.Need{}
	blockBytes := uint64(min(max(partBytes*r.job.Size(), leastBlockBytes), mostBlockBytes))
	if deviceBytes > 0 { // each block is a few round trips
		need.Device, blockBytes = map[*backend.Device]uint64{device: deviceBytes}, mostBlockBytes
	}
	if limitBytes != exec.Unlimited {
		if need.Host = limitBytes / exchangeShare; device.Info().InHostMemory() {
			need.Host -= deviceBytes
		}
		held := uint64(shuffle.BlocksHeld)
		if at != CodecOff {
			held = shuffle.CodedBlocksHeld
		}
		blockBytes = max(1, (need.Host-r.filterHeldBytes())/2/held)
		if joins = joins.Leaving(exchangeShare); sorts {
			joins = r.Joins.Leaving(exchangeShare / 2)
		}
	} else if deviceBytes > 0 {
		joins = joins.LeavingOnDevice(deviceBytes)
	}
	if need.Host > 0 || deviceBytes > 0 {
		if r.grant, err = joins.Budget().Acquire(r.flow.Context(), need); err != nil {
			return nil, o, err
		}
	}
	if r.BlockBytes > 0 {
		blockBytes = r.BlockBytes
	}
	return joins, shuffle.Options{Job: r.job, BlockBytes: blockBytes, Alloc: joins.Allocator,
		Coding: r.coding(at, deviceBytes)}, nil
}

// number has the rows of a side get their numbers: over all shares if these are tables.
func (r *run) number(side int) {
	r.numbers[side] = int64(r.job.Rank()+1) * relation.RankRows
	if r.tables() {
		r.numbers[side] = 0
		for _, s := range r.all[:r.job.Rank()] {
			r.numbers[side] += s.Rows[side]
		}
	}
	r.schemas[side] = arrow.NewSchema(append(slices.Clone(r.schemas[side].Fields()), join.NumberField), nil)
}

// exchange starts to move the sides that do not stay.
func (r *run) exchange(ctx context.Context, o shuffle.Options) (err error) {
	notIn := r.layout.Spec.How == join.NotIn
	var divider *exchange.Divider
	var hot []hotKey
	var filter *prefilter
	if r.Way == Owners {
		divider = &exchange.Divider{Parts: r.job.Size(), Slots: r.slots, Seed: seed, Nulls: notIn}
		if divider.Hashes, divider.Alone, err = r.layout.Hashes(r.schemas); err != nil {
			return err
		}
		samples, err := r.sampleRanks(ctx, divider.Hashes)
		if err != nil {
			return err
		}
		hot = chooseHot(&r.layout.Spec, divider.Hashes.ValueBytes() > 0, samples)
		if r.HotKeys = len(hot); r.partBytes > 0 {
			filter = r.newPrefilter(divider, samples, hot)
		}
	}
	for side := range r.sources {
		side := relation.Side(side)
		if r.Way.stays(side) {
			continue
		}
		o.Side, o.Schema, o.Number = side, r.schemas[side], r.numbers[side]
		if divider != nil {
			of := *divider
			of.Hot, o.Copies = moves(hot, side, r.job.Rank(), r.job.Size())
			of.HotParts, o.Divider = len(o.Copies), &of
		}
		if filter != nil {
			filter.use(&o)
		}
		o.Witness = notIn && side == relation.Right && divider != nil
		if r.sent != nil {
			if err := shuffle.Forecast(ctx, r.sources[side], o, r.sent); err != nil {
				return err
			}
			continue
		}
		o.Stream = r.job.Open("join " + side.String())
		rows := r.totals.rows[side]
		if r.Way == Owners && rows >= 0 {
			rows /= int64(r.job.Size())
		}
		r.sides[side] = shuffle.Start(r.flow, r.sources[side], o)
		r.sources[side] = r.sides[side].Source(rows)
	}
	if filter != nil {
		r.flow.Go("share the filter", filter.share)
	}
	return nil
}

// collect makes tables of the sides that moved, with rows in the order of their numbers if they have any. Their memory
// is acquired as rows come, without waiting, and given up again for the join, which acquires all that it needs at once.
func (r *run) collect(ctx context.Context) error {
	grant := r.Joins.Budget().Empty()
	defer grant.Release()
	for side := range r.sources {
		if r.sides[side] == nil {
			continue
		}
		rows := &source.Gathered{Schema: r.schemas[side]}
		defer rows.Release()
		for s, err := range r.sources[side].Slices(ctx, relation.Side(side), rows.Schema) {
			if err != nil {
				return err
			}
			before := rows.Bytes
			rows.Add(s)
			if r.Joins.HostCapBytes() == exec.Unlimited {
				continue
			}
			if err := grant.Grow(exec.Need{Host: rows.Bytes - before}); err != nil {
				return fmt.Errorf("collect the %s side, which a join in an order or with unique keys on both sides needs "+
					"whole: %w", relation.Side(side), err)
			}
		}
		if r.numbers[side] >= 0 {
			rows.SortBy(rows.Schema.NumFields() - 1)
		}
		table := rows.Table()
		r.tablesHeld = append(r.tablesHeld, table)
		r.sources[side] = source.FromTable(table)
	}
	return nil
}

// errUndrawn is the error of a join that ends on a rank before all ranks have ended.
var errUndrawn = errors.New("the result was closed before the join had ended on all ranks")
