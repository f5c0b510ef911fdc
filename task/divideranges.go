package task

import (
	"cmp"
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/source"
)

// DivideByRanges divides two tables by ranges of their keys, and runs each range on one of several devices. of is the
// whole join of tables, plan has the codes of their keys, and unique those of keys that must be unique, by side. run
// makes what runs a task on a device. The result has its first output or, for a count, is complete. The caller closes
// it.
//
// Errors: backend.ErrDeviceMemory, ErrHostMemory with what is needed; as for run.
func DivideByRanges(ctx context.Context, m *Means, devices []*query.Engine, of *Task, plan *keys.Plan,
	unique [2]*keys.Plan, run func(on *query.Engine) Run) (_ *Scheduler, err error) {
	flow, begun, err := m.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer begun()
	part := of.Unordered()
	if of.Ordered() {
		part = of.numbered()
	}
	p := &keyRanges{Means: m, KeyRanges: m.ByRange, devices: devices, part: part, keys: plan, unique: unique}
	p.Lines = cmp.Or(p.Lines, linesPerWorker)
	s := newScheduler(flow, of, part, p)
	s.lines, p.skip, p.prepared = p.Lines, s.skip, &s.before
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if of.Ordered() {
		if err := p.order(s); err != nil {
			return nil, err
		}
	}
	if err := exec.Protect("divide", func() error { return p.Prepare(flow.Context()) }); err != nil {
		return nil, flow.End(err)
	}
	for _, e := range devices {
		info := e.Device().Info()
		s.workers = append(s.workers, &worker{run: run(e.Leaving(p.coded.held.Host, 0)),
			stats: query.DeviceStats{Device: info.Name, Backend: info.Backend}})
	}
	return s, s.begin()
}

// order gives the rows of both tables numbers, by which the outputs of tasks are merged.
func (p *keyRanges) order(s *Scheduler) (err error) {
	both := &sides{Means: p.Means, whole: s.whole, part: p.part, grant: p.Budget().Empty(), fail: s.flow.Fail}
	if p.Divisible() {
		if both.file, err = exchange.NewFile(p.TempDir, both.grant); err != nil {
			return err
		}
	}
	p.ordered = both
	s.merge = newMerge(both)
	for side := range p.part.Sources {
		table := p.part.Sources[side].Table()
		if !slices.Contains(p.part.Layout.Needed[side], join.NumberColumn) || table.Schema().HasField(join.NumberColumn) {
			continue
		}
		table.Retain()
		schema := arrow.NewSchema(append(slices.Clone(table.Schema().Fields()), join.NumberField), nil)
		table = source.WithNumbers(table, 0, schema, p.Allocator)
		p.coded.tables = append(p.coded.tables, table)
		p.part.Sources[relation.Side(side)] = source.FromTable(table)
	}
	return nil
}
