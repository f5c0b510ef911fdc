// Package ranks joins tables of which each rank of a job has a share (docs/ranks.md). The ranks agree on what they join
// and how rows meet. Each moves its shares to where they are joined, and joins what comes as a local join of two
// sources.
//
//	share.go     what a rank says of its shares     choose.go   way and build side, alike on all ranks
//	ranks.go     one join from shares to rows       result.go   output, and the end of the join on all ranks
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
	Owners     bool   // rows go to owners, whatever the sizes
	Copies     bool   // a side goes to all ranks if the join allows it, whatever the sizes
	BlockBytes uint64 // rows that are divided at a time; 0: as memory allows
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
	schemas [2]*arrow.Schema // of the needed columns, with row numbers where rows get them
	numbers [2]int64         // of the first row of this rank's share; negative: rows get none
}

// Join joins the shares of all ranks; left and right are those of this one. It is collective: all ranks call it with
// equal specifications. It returns when this rank has its first rows. The caller closes the result and keeps the
// sources alive until then; ctx must not end before.
//
// An error ends the job. Errors: as for [engine.Engine.Stream]; ErrInvalidInput if ranks
// differ in what they join; ErrUnsupported for what docs/ranks.md lists; *cluster.Lost after an error of another rank.
func (e *Engine) Join(ctx context.Context, job cluster.Job, left, right source.Source, spec join.Spec) (
	*Result, error) {
	return e.start(ctx, job, left, right, func() (*join.Layout, error) {
		return join.NewLayout(left.Schema, right.Schema, spec)
	})
}

// JoinLayout is Join with an existing layout. It may come from schemas with more columns than the sources.
func (e *Engine) JoinLayout(ctx context.Context, job cluster.Job, layout *join.Layout, left, right source.Source) (
	*Result, error) {
	return e.start(ctx, job, left, right, func() (*join.Layout, error) { return layout, nil })
}

func (e *Engine) start(ctx context.Context, job cluster.Job, left, right source.Source,
	layout func() (*join.Layout, error)) (result *Result, err error) {
	r := &run{Engine: e, Result: newResult(exec.WithTrace(ctx, e.Joins.Trace), job),
		sources: [2]source.Source{left, right}, numbers: [2]int64{-1, -1}}
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
	if r.all, err = agree(ctx, r.job, mine); err != nil {
		return err
	}
	r.totals = sum(r.all)
	r.Way = chooseWay(&r.layout.Spec, r.totals)
	if of, ordered := r.ordered(); ordered && r.Way != Stay {
		r.Way = [2]Way{LeftToAll, RightToAll}[1-of]
		return r.check()
	}
	mayLeft, mayRight := mayGoToAll(&r.layout.Spec, relation.Left), mayGoToAll(&r.layout.Spec, relation.Right)
	switch {
	case r.Way == Stay || r.layout.Spec.How == join.Cross:
	case r.Owners:
		r.Way = Owners
	case r.Copies && mayRight:
		r.Way = RightToAll
	case r.Copies && mayLeft:
		r.Way = LeftToAll
	}
	return r.check()
}

// ordered returns the side in whose order the output is, if it has an order. Its rows stay then, so that the output of
// each rank follows that of the ranks before.
func (r *run) ordered() (side relation.Side, ordered bool) {
	if r.layout.Spec.Order == join.RightOrder {
		side = relation.Right
	}
	return side, r.layout.Form().Ordered()
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
	case f.Ordered() && !(mayGoToAll(spec, relation.Left) && r.Way == LeftToAll) &&
		!(mayGoToAll(spec, relation.Right) && r.Way == RightToAll):
		detail = "rows of several ranks are in the order of a side if a copy of the other side may be on each rank, which " +
			"this join does not allow; sort the output, or leave out order and deterministic"
	case f.Output == join.Pairs && !r.tables():
		detail = "pairs of row numbers need shares that are tables, because rows of others are not counted before"
	default:
		return nil
	}
	return &backend.OpError{Op: "distributed join", Err: backend.ErrUnsupported, Detail: detail}
}

// begin starts the exchange and the local join.
func (r *run) begin(ctx context.Context) error {
	joins, limitBytes := r.Joins, r.Joins.HostCapBytes()
	blockBytes := uint64(min(max(partBytes*r.job.Size(), leastBlockBytes), mostBlockBytes))
	if limitBytes != exec.Unlimited {
		var err error
		need := exec.Need{Host: limitBytes / exchangeShare}
		if r.grant, err = joins.Budget().Acquire(r.flow.Context(), need); err != nil {
			return err
		}
		blockBytes = max(1, limitBytes/exchangeShare/2/shuffle.BlocksHeld)
		joins = joins.Leaving(exchangeShare)
	}
	if r.BlockBytes > 0 {
		blockBytes = r.BlockBytes
	}
	form := r.layout.Form()
	form.Order = join.Unordered // each rank has its rows in their order
	layout, form := r.layout.Numbered(form)
	layout.Spec.Output = form.Output
	of, ordered := r.ordered()
	for side := range r.schemas {
		if len(layout.Needed[side]) > len(r.layout.Needed[side]) || ordered && relation.Side(side) != of {
			r.number(side)
		}
	}
	build, streams := chooseBuild(r.layout, r.Way, r.totals)
	if layout.Spec.BuildSide != join.BuildAuto && !streams {
		return r.layout.CheckStream(build)
	}
	if layout.Spec.BuildSide = build; !streams {
		layout.Spec.BuildSide = join.BuildAuto
	}
	options := shuffle.Options{Job: r.job, BlockBytes: blockBytes, Alloc: joins.Allocator}
	if err := r.exchange(ctx, options); err != nil {
		return err
	}
	if !streams || ordered {
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
	return nil
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
	if r.Way == Owners {
		divider = &exchange.Divider{Parts: r.job.Size(), Seed: seed, Nulls: notIn}
		if divider.Hashes, divider.Alone, err = r.layout.Hashes(r.schemas); err != nil {
			return err
		}
		if hot, err = r.findHot(ctx, divider.Hashes); err != nil {
			return err
		}
		r.HotKeys = len(hot)
	}
	for side := range r.sources {
		side := relation.Side(side)
		if r.Way.stays(side) {
			continue
		}
		o.Stream = r.job.Open("join " + side.String())
		o.Side, o.Schema, o.Number = side, r.schemas[side], r.numbers[side]
		if divider != nil {
			of := *divider
			of.Hot, o.Copies = moves(hot, side, r.job.Rank(), r.job.Size())
			of.HotParts, o.Divider = len(o.Copies), &of
		}
		o.Witness = notIn && side == relation.Right && divider != nil
		rows := r.totals.rows[side]
		if r.Way == Owners && rows >= 0 {
			rows /= int64(r.job.Size())
		}
		r.sides[side] = shuffle.Start(r.flow, r.sources[side], o)
		r.sources[side] = r.sides[side].Source(rows)
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
