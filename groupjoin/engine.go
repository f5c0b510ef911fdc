package groupjoin

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// Engine groups the rows of joins. Safe for concurrent use.
type Engine struct {
	Join   *engine.Engine
	Groups *groupby.Engine
	// HostReduces has the host reduce windows, too, as devices do. It groups record batches strip by strip otherwise,
	// which is faster if there are many groups. For measurements and tests.
	HostReduces bool
}

// windows are the windows in which rows of a layout are grouped where they are joined; nil if rows come as batches.
func (e *Engine) windows(l *Layout) *groupby.Windows {
	if e.Join.Device().Info().Type == backend.Host && !e.HostReduces {
		return nil
	}
	return l.windows
}

// The memory limits are divided: the join is planned for what the group-by leaves. The groups may take what is free
// beyond their share.
const groupShare = 4 // a quarter

// Run joins two sources and groups the rows. Both are read before it returns. The caller closes the result; ctx must
// not end before.
//
// Errors: as for [engine.Engine.Stream] and [groupby.Engine.Stream]; ErrLimit for a count beyond int64. A group-by
// takes memory as groups come and never waits for it: if other queries hold it, the error is ErrHostMemory or
// ErrDeviceMemory.
func (e *Engine) Run(ctx context.Context, l *Layout, left, right source.Source) (*Result, error) {
	sources := [2]source.Source{left, right}
	if l.byKey != nil {
		if most := e.fewRows(l, sources); most > 0 {
			r, err := e.runWindows(ctx, l.ofRows(), sources, false, most)
			if !e.otherwise(err) {
				return r, err
			}
		}
		r, err := e.runByKey(ctx, l, sources)
		short := backend.OutOfMemory(err)
		if !short || !left.Again || !right.Again {
			return r, err
		}
		l = l.ofRows() // which need less memory than the groups of both sides
	}
	if again := left.Again && right.Again; e.reduces(l, sources) {
		r, err := e.runWindows(ctx, l, sources, !again, 0)
		if !again || !e.otherwise(err) {
			return r, err
		}
	}
	joined, err := e.Join.Leaving(groupShare).Sources(ctx, l.Join, left, right, nil)
	if err != nil {
		return nil, err
	}
	defer joined.Close()
	if l.sums == nil {
		return e.group(ctx, l, l.Groups, joined, joined.Batches)
	}
	total := joined.Rows()
	if total > math.MaxInt64 {
		return nil, errCount
	}
	r, err := e.group(ctx, l, l.sums, joined, totals(l.Groups.Schema, int64(total)))
	if err == nil {
		r.rows = total
	}
	return r, err
}

// fewRows returns the number of joined rows up to which the devices that join them group them, although the groups of
// both sides could be joined instead: as many as both tables have, as if the keys of one side are unique. 0: none.
func (e *Engine) fewRows(l *Layout, of [2]source.Source) uint64 {
	if of[0].Table() == nil || of[1].Table() == nil || !e.reduces(l, of) {
		return 0
	}
	return uint64(of[0].Rows + of[1].Rows)
}

// expectsMore reports whether a plan expects more rows than most, which is not 0, or has tables divided.
func expectsMore(plan *engine.Plan, most uint64) bool {
	return plan.Query == nil || plan.Facts.OutputRows > most
}

// reduces reports whether rows are grouped on the devices that join them. If a source cannot be read again, nothing may
// go wrong that the host could do otherwise: keys without short codes, the loss of one of several devices, too little
// memory.
func (e *Engine) reduces(l *Layout, of [2]source.Source) bool {
	windows := e.windows(l)
	if windows == nil {
		return false
	}
	for side := range of {
		if of[side].Table() == nil && !windows.Fixed(relation.Side(side)) {
			return false
		}
	}
	return of[0].Again && of[1].Again ||
		windows.Sure() && len(e.Join.Engines()) == 1 && e.Join.HostCapBytes() == exec.Unlimited
}

// otherwise reports whether the host may group rows after the devices that join them failed to. After the loss of a
// device that had groups already, rows are joined again on the others.
func (e *Engine) otherwise(err error) bool {
	return errors.Is(err, groupby.ErrUnfit) || errors.Is(err, groupby.ErrMany) || backend.OutOfMemory(err) ||
		errors.Is(err, backend.ErrDeviceLost) && len(e.Join.Engines()) > 1
}

// behind is the engine that groups rows of a join.
func (e *Engine) behind() *groupby.Engine {
	host, device := e.Groups.HostCapBytes(), e.Groups.DeviceCapBytes()
	return e.Groups.Behind(host-host/groupShare, device-device/groupShare)
}

// runWindows groups the rows on the devices that join them. sure is that of [groupby.Engine.Consume]. If more rows than
// most are expected, or more than twice as many come, the error is groupby.ErrMany. 0: any number may come.
func (e *Engine) runWindows(ctx context.Context, l *Layout, of [2]source.Source, sure bool, most uint64) (*Result,
	error) {
	r := &Result{Layout: l}
	var joinErr error
	groups, err := e.behind().Consume(ctx, l.windows, sure, 2*most, func(ctx context.Context, to deliver.Consumer) error {
		var joined *engine.Result
		joined, joinErr = e.joinTo(ctx, l, of, to, most)
		if joinErr == nil {
			defer joined.Close()
			r.Device, r.join, r.joined = joined.Device, joined.Stats(), joined.Explain()
		}
		return joinErr
	})
	if err := cmp.Or(joinErr, err); err != nil {
		return nil, err
	}
	r.groups, r.rows = groups, groups.Stats().Rows
	return r, nil
}

// joinTo joins two sources for a consumer. most is that of runWindows, and for tables only.
func (e *Engine) joinTo(ctx context.Context, l *Layout, of [2]source.Source, to deliver.Consumer, most uint64) (
	*engine.Result, error) {
	on := e.Join.Leaving(groupShare)
	if most == 0 {
		return on.Sources(ctx, l.Join, of[0], of[1], to)
	}
	plan, err := on.PlanLayout(ctx, l.Join, of[0].Table(), of[1].Table(), to)
	if err == nil && expectsMore(plan, most) {
		err = groupby.ErrMany
	}
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx)
}

// totals yields one row, in which every aggregate is the number of all rows.
func totals(schema *arrow.Schema, rows int64) func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) {
			b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
			defer b.Release()
			for i := range schema.Fields() {
				b.Field(i).(*array.Int64Builder).Append(rows)
			}
			yield(b.NewRecordBatch(), nil)
		}
	}
}

// runByKey groups both sides by the keys, and joins their groups.
func (e *Engine) runByKey(ctx context.Context, l *Layout, sources [2]source.Source) (*Result, error) {
	var tables [2]arrow.Table
	var grouped [2]groupby.Stats
	defer func() { relation.ReleaseAll(tables[:]) }()
	held := e.Join.Budget().Empty() // for the groups of a side, until the join has them
	defer held.Release()
	for side := range sources {
		var err error
		if tables[side], grouped[side], err = e.groupSide(ctx, l.byKey.sides[side], sources[side]); err != nil {
			return nil, err
		}
		if e.Join.HostCapBytes() != exec.Unlimited && side == 0 {
			if err := held.Grow(exec.Need{Shared: relation.SharedBytes(tables[side])}); err != nil {
				return nil, err
			}
		}
	}
	held.Release() // who waits for memory must hold none
	joined, err := e.Join.Leaving(groupShare).Sources(ctx, l.byKey.join, source.FromTable(tables[0]),
		source.FromTable(tables[1]), nil)
	if err != nil {
		return nil, err
	}
	defer joined.Close()
	rows := uint64(0)
	r, err := e.group(ctx, l, l.sums, joined, l.byKey.batches(joined, &rows))
	if err == nil {
		r.rows, r.sides = rows, grouped[:]
	}
	return r, err
}

// groupSide returns the groups of a side as a table, which the caller releases.
func (e *Engine) groupSide(ctx context.Context, l *groupby.Layout, source source.Source) (arrow.Table, groupby.Stats,
	error) {
	var r *groupby.Result
	var err error
	if table := source.Table(); table != nil && e.Join.HostCapBytes() == exec.Unlimited {
		r, err = e.Groups.GroupLayout(ctx, l, table)
	} else { // which does not wait for memory
		r, err = e.Groups.Stream(ctx, l, source.Batches)
	}
	if err != nil {
		return nil, groupby.Stats{}, err
	}
	defer r.Close()
	var batches []arrow.RecordBatch
	defer func() { relation.ReleaseAll(batches) }()
	for batch, err := range r.Batches(ctx) {
		if err != nil {
			return nil, groupby.Stats{}, err
		}
		batches = append(batches, batch)
	}
	return array.NewTableFromRecords(l.Schema, batches), r.Stats(), nil
}

// group groups the output of a join, which it draws to the end.
func (e *Engine) group(ctx context.Context, l *Layout, by *groupby.Layout, joined *engine.Result,
	batches func(context.Context) iter.Seq2[arrow.RecordBatch, error]) (*Result, error) {
	groups, err := e.behind().Stream(ctx, by, batches)
	if err != nil {
		return nil, l.explain(err)
	}
	return &Result{Layout: l, Device: joined.Device, groups: groups, join: joined.Stats(), joined: joined.Explain(),
		rows: groups.Stats().Rows}, nil
}

// explain tells a sum of counts that is too large from one of values. Other errors stay as they are.
func (l *Layout) explain(err error) error {
	if overflow := (groupby.OverflowError{}); l.sums != nil && errors.As(err, &overflow) {
		return errCount
	}
	return err
}
