// Package engine runs joins: of two tables ([Engine.Plan]), of sources that are read as they come ([Engine.Stream]),
// and with a build side that stays ([Engine.Build]). It lowers a task to physical trees, which package query plans and
// runs on one device, and package team on several. If a join does not fit in memory, package task divides it and has
// the engine run each task. So does the strategy hmg, unless both tables fit the devices together.
package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exchange/topology"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/source"
	"github.com/spirjoin/spirjoin/task"
)

// Engine joins tables on one device, and streams on several. Safe for concurrent use.
type Engine struct {
	task.Means // of the first device
	Knobs
	// Wires are the links between host memory and the devices, in the order of the devices, and between the devices.
	// With links to the host, a stream is planned for as many devices as shared links can feed; with links between
	// devices, also for build sides that devices load once, and for rows that meet by their keys. Unknown links are
	// absent: each device is then assumed to have a link of its own.
	Wires *topology.Topology

	others []*query.Engine
}

// NewEngine returns an engine on the device of ops; see [query.NewEngine]. Streams may use other devices too.
func NewEngine(ops *primitive.Ops, allocator memory.Allocator, memoryLimitBytes uint64,
	others ...query.Member) *Engine {
	all := query.NewEngines(append([]query.Member{{Ops: ops, Allocator: allocator}}, others...), memoryLimitBytes)
	return &Engine{Means: task.Means{Engine: all[0]}, others: all[1:]}
}

// Connect makes the links between all devices, so that streams with large build sides use them from the first one on,
// see [query.Engine.Connect], and measures the links to the host ([Engine.MeasureWires]). Wires then has both.
func (e *Engine) Connect(ctx context.Context) error {
	if err := e.Engine.Connect(ctx, e.others...); err != nil {
		return err
	}
	if err := e.MeasureWires(ctx); err != nil || len(e.others) == 0 {
		return err
	}
	e.knowLinks()
	return nil
}

// Spill lets streams whose build side does not fit in memory divide both sides into parts by the hashes of their keys
// (a hybrid hash join; RT 3.4), which are joined one after the other. Parts beyond half of the memory go to a temporary
// file in dir; all files together have at most limitBytes. If only device memory is limited, streams divide both sides
// in host memory, even without Spill. Call it before the first join.
func (e *Engine) Spill(dir string, limitBytes uint64) {
	e.TempDir = dir
	e.Budget().AllowDisk(limitBytes)
}

// Engines returns the engines of all devices, for measurements and tests.
func (e *Engine) Engines() []*query.Engine { return append([]*query.Engine{e.Engine}, e.others...) }

// Leaving returns an engine that leaves memory to the reader of the output of its joins; see [query.Engine.Leaving].
// divisor is the share of the limits: 4 leaves a quarter of each.
func (e *Engine) Leaving(divisor uint64) *Engine {
	less, leave := *e, func(of *query.Engine) *query.Engine {
		return of.Leaving(of.HostCapBytes()/divisor, of.DeviceCapBytes()/divisor)
	}
	less.Engine, less.others = leave(e.Engine), make([]*query.Engine, len(e.others))
	for i, other := range e.others {
		less.others[i] = leave(other)
	}
	return &less
}

// LeavingOnDevice is [Engine.Leaving] of some memory of the first device alone.
func (e *Engine) LeavingOnDevice(sizeBytes uint64) *Engine {
	less := *e
	less.Engine = e.Engine.Leaving(0, sizeBytes)
	return &less
}

// Sources joins two sources: tables as [Engine.PlanLayout] does, others as [Engine.StreamLayout]. A consumer takes the
// rows on the devices. Its layout outputs rows, without StrategyHMG, and the join has ended when Sources returns.
func (e *Engine) Sources(ctx context.Context, layout *join.Layout, left, right source.Source,
	consumer deliver.Consumer) (*Result, error) {
	if err := sourcesGiven(left, right); err != nil {
		return nil, err
	}
	if left.Table() == nil || right.Table() == nil {
		return e.stream(ctx, task.Whole(layout, left, right, consumer), opening{})
	}
	plan, err := e.PlanLayout(ctx, layout, left.Table(), right.Table(), consumer)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx)
}

// Plan is a planned join, ready to run. It refers to both tables, which must stay alive while it is used.
type Plan struct {
	*query.Query // on the first device; nil if tables are divided, by StrategyHMG too
	Layout       *join.Layout

	engine   *Engine
	consumer deliver.Consumer // of the rows; nil: they come to the host, or are counted
	tables   [2]arrow.Table
	without  []query.DeviceFailure // devices of the engine that were lost before
	short    error                 // what the device lacks for whole tables, which are divided; nil if they are not
	ranges   *lowering             // of tables that are joined by ranges of keys; nil for others
}

// Run runs the plan up to its first rows or, if only their number is wanted, to the end; see [query.Query.Run]. If the
// engine has several devices, and rows of a long join are wanted in any order, it is a stream of one of the tables,
// which several devices may join ([Engine.Stream]). Tables that are divided are a stream, too, whose parts may not fit
// either: then the error is backend.ErrDeviceMemory.
func (p *Plan) Run(ctx context.Context) (*Result, error) { return reportWithout(p.without)(p.run(ctx)) }

func (p *Plan) run(ctx context.Context) (*Result, error) {
	switch {
	case p.short != nil:
		return p.runDivided(ctx)
	case !p.hmg() && p.severally():
		return p.engine.stream(ctx, p.task(), opening{})
	}
	begin := p.runAlone
	if p.hmg() {
		begin = p.runHMG
	}
	return p.engine.orOnOthers(p.consumer, func(on *Engine) (*Result, error) {
		if on != p.engine {
			return p.again(ctx, on, anew{guess: true})
		}
		return begin(ctx)
	})
}

// hmg reports whether the plan uses StrategyHMG.
func (p *Plan) hmg() bool { return p.Layout.Spec.Strategy == join.StrategyHMG }

// runAlone runs the plan on the first device.
func (p *Plan) runAlone(ctx context.Context) (*Result, error) {
	result, err := p.Query.Run(ctx)
	if errors.Is(err, errOutside) {
		return p.again(ctx, p.engine, anew{})
	}
	return resultOf(result, err)
}

// anew says how tables are planned, perhaps after an earlier plan failed.
type anew struct {
	guess   bool // the range of the keys may be guessed
	byRange bool // StrategyHMG joins ranges of keys one by one
}

// again plans and runs the join anew, on the devices of an engine.
func (p *Plan) again(ctx context.Context, on *Engine, how anew) (*Result, error) {
	plan, err := on.planTables(ctx, p.Layout, p.tables, p.consumer, how)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx)
}

// runHMG runs the strategy on all devices. A device may have no room for its range, because a few keys have most of the
// rows. Then ranges of keys are joined one by one.
func (p *Plan) runHMG(ctx context.Context) (*Result, error) {
	if p.ranges != nil {
		return p.runRanges(ctx)
	}
	result, err := p.runSorted(ctx)
	if errors.Is(err, backend.ErrDeviceMemory) && len(p.Others) > 0 {
		return p.again(ctx, p.engine, anew{guess: true, byRange: true})
	}
	return result, err
}

// String returns the text of the plan.
func (p *Plan) String() string {
	switch {
	case p.short != nil:
		return p.dividedText()
	case p.ranges != nil:
		return p.rangesText()
	}
	s := p.Query.String()
	if !p.hmg() && p.severally() {
		for _, e := range p.engine.others {
			info := e.Device().Info()
			s += fmt.Sprintf("%-12s %s (%s, %s), if the join is predicted to be faster with it\n", "also", info.Name,
				info.Backend, info.Type)
		}
	}
	return s
}

// Plan checks a join against its tables and the limits, and decides how it will run. It reads the keys of the build
// side once, for the range of their values (of a large table, a sample), and samples both sides, to estimate how they
// match. It transfers nothing to the device. If the device is too small for any plan, or for one that is predicted to
// be faster than that, both tables are divided into parts that are joined one after the other, unless the join does not
// allow that ([Engine.Stream]).
//
// Errors: backend.ErrInvalidInput, backend.ErrUnsupported, backend.ErrDeviceMemory or ErrHostMemory with what the join
// needs, backend.ErrLimit for a cross join of too many rows, ErrDeviceLost if no device is left, ErrCancelled.
func (e *Engine) Plan(ctx context.Context, left, right arrow.Table, spec join.Spec) (*Plan, error) {
	if err := tablesGiven(left, right); err != nil {
		return nil, err
	}
	layout, err := join.NewLayout(left.Schema(), right.Schema(), spec)
	if err != nil {
		return nil, err
	}
	return e.PlanLayout(ctx, layout, left, right, nil)
}

// PlanLayout is Plan with an existing layout, whose schemas may have had more columns: the tables must have those in
// layout.Needed. A consumer takes the rows as in [Engine.Sources]; nil: there is none.
func (e *Engine) PlanLayout(ctx context.Context, layout *join.Layout, left, right arrow.Table,
	consumer deliver.Consumer) (*Plan, error) {
	if err := tablesGiven(left, right); err != nil {
		return nil, err
	}
	return e.planTables(ctx, layout, [2]arrow.Table{left, right}, consumer, anew{guess: true})
}

// planTables is PlanLayout on the devices that were not lost.
func (e *Engine) planTables(ctx context.Context, layout *join.Layout, tables [2]arrow.Table,
	consumer deliver.Consumer, how anew) (*Plan, error) {
	e, without, err := e.able()
	if err != nil {
		return nil, err
	}
	plan, err := e.planWhole(ctx, layout, tables, consumer, how)
	if errors.Is(err, backend.ErrDeviceMemory) && !e.Undivided {
		plan, err = e.planDivided(layout, tables, err)
	}
	if err != nil {
		return nil, err
	}
	plan.without, plan.consumer = without, consumer
	return plan, nil
}

// planWhole is planTables of tables that are not divided.
func (e *Engine) planWhole(ctx context.Context, layout *join.Layout, tables [2]arrow.Table,
	consumer deliver.Consumer, how anew) (_ *Plan, err error) {
	l := lowering{Task: wholeOf(layout, tables, consumer), engine: e, spec: &layout.Spec, tables: tables,
		guess: how.guess}
	for side, table := range l.tables {
		for _, name := range layout.Needed[side] {
			if err := relation.CheckColumn(table.Schema(), relation.Side(side), name); err != nil {
				return nil, err
			}
		}
	}
	l.byRange = l.spec.Strategy == join.StrategyHMG &&
		(how.byRange || e.ByRange.Way != task.RangesAuto || l.Ordered() && len(e.others) > 0)
	l.Progress.Start("plan")
	ctx, end := exec.Track(exec.WithTrace(ctx, e.Trace), "plan")
	defer end()
	if err := l.planKeys(ctx); err != nil {
		return nil, err
	}
	if err := l.planProofs(ctx); err != nil {
		return nil, err
	}
	if err := l.carry(ctx, relation.Left, relation.Right); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, backend.ContextError(ctx)
	}
	spec := l.lower()
	// If there are many more pairs than rows, it is less work to compare each row once than each pair.
	if f := &spec.Facts; !l.keys.Exact() && f.OutputRows > provePairs*(f.Rows[0]+f.Rows[1]) {
		exact, err := l.prove(ctx)
		if err != nil {
			return nil, err
		}
		if exact {
			spec = l.lower()
		}
	}
	p := &Plan{Layout: layout, engine: e, tables: l.tables}
	if l.spec.Strategy == join.StrategyHMG {
		return p, p.planHMG(ctx, &l, spec)
	}
	if !e.Undivided && len(e.others) == 0 && p.inParts() && e.Whole(l.Task) == "" {
		onDevice := e.DividesOnDevice(layout, [2]*arrow.Schema{tables[0].Schema(), tables[1].Schema()}, tables)
		spec.DivideTime = e.divideTime(uint64(tables[0].NumRows()+tables[1].NumRows()), relation.TableBytes(tables[:]...),
			onDevice)
	}
	if p.Query, err = e.Engine.Plan(spec); err != nil {
		return nil, err
	}
	return p, nil
}

// prove proves hashes if the limit of host memory allows it. It waits for the memory.
func (l *lowering) prove(ctx context.Context) (exact bool, err error) {
	need := exec.Need{Host: keys.ProveBytes * min(l.keys.Rows(relation.Left), l.keys.Rows(relation.Right))}
	if limit := l.engine.HostCapBytes(); limit != exec.Unlimited {
		if need.Host+relation.TableBytes(l.tables[:]...) > limit {
			return false, nil
		}
		need.Shared = relation.SharedBytes(l.tables[:]...)
	}
	grant, err := l.engine.Budget().Acquire(ctx, need)
	if err != nil {
		return false, err
	}
	defer grant.Release()
	l.Progress.Start("prove hashes")
	return l.keys.Prove(ctx)
}

// provePairs is the average number of candidates for a row of either table beyond which hashes are proved, instead of
// comparing candidates.
const provePairs = 2

// planKeys plans the codes of the keys of both tables.
func (l *lowering) planKeys(ctx context.Context) (err error) {
	defer exec.Begin(ctx, "measure keys").End()
	left, right := l.tables[relation.Left], l.tables[relation.Right]
	if l.How == join.Cross {
		if err := l.spec.CheckCross(uint64(left.NumRows()), uint64(right.NumRows())); err != nil {
			return err
		}
		l.keys, err = keys.PlanCross(left, right)
		return err
	}
	if l.byRange { // in the order of the keys
		l.keys, err = keys.PlanJoin(ctx, left, right, l.spec.LeftOn, l.spec.RightOn, l.spec.NullEquals()...)
	} else {
		probe := relation.Right // most likely: keys may be NULL
		if l.Build == join.BuildRight || l.Build == join.BuildAuto && right.NumRows() < left.NumRows() {
			probe = relation.Left
		}
		l.keys, err = keys.PlanOpen(ctx, left, right, l.spec.LeftOn, l.spec.RightOn, probe,
			l.guess && l.engine.guesses(l.spec, l.tables[1-probe]), l.spec.NullEquals()...)
	}
	if err != nil {
		return err
	}
	l.engine.Collide(l.keys)
	return nil
}

// planProofs plans the codes of keys that must be unique, on sides where this was not done. They include keys that
// match nothing.
func (l *lowering) planProofs(ctx context.Context) (err error) {
	for side, table := range l.tables {
		if side := relation.Side(side); err == nil && l.spec.Validate.Unique(side) && l.unique[side] == nil {
			l.unique[side], err = l.keys.Alone(ctx, side, table)
		}
	}
	return err
}

// sample estimates how the keys match, from a sample.
func (l *lowering) sample(f *operator.Facts) {
	build, probe := l.sides[operator.Build], l.sides[operator.Probe]
	if l.How == join.Cross {
		f.OutputRows, f.MatchRatio, f.BuildRatio = f.Rows[operator.Build]*f.Rows[operator.Probe], 1, 1
		f.Hottest, f.Distinct, f.Sorted = [2]float64{1, 1}, float64(f.Rows[operator.Build]), [2]bool{true, true}
		return
	}
	var probed, built [][]uint64
	var both sync.WaitGroup
	both.Go(func() { probed = l.keys.Sample(probe, planner.SampleRows, 1) })
	both.Go(func() { built = l.keys.Sample(build, int(planner.ScanRows(f.Rows[operator.Build])), planner.BlockRows) })
	both.Wait()
	planner.Sample(f, probed, built)
}
