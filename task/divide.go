package task

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// mostDivisions is how often a part that does not fit either is divided again. If it does not fit then, its rows have
// few keys.
const mostDivisions = 4

// Whole returns why a task must be joined whole; "" if it can be divided.
func (m *Means) Whole(of *Task) (reason string) {
	switch {
	case m.TempDir == "" && m.HostCapBytes() != exec.Unlimited:
		return "there is no temp_dir"
	case of.Depth > mostDivisions:
		return "a block of few rows does not fit"
	case of.Layout.Spec.Validate != join.Any && of.Depth >= mostDivisions:
		return "a part does not fit, because few keys have its rows, which cannot be validated in blocks"
	}
	return ""
}

// Divisible reports whether sides that are too large for a limit of host memory can be divided.
func (m *Means) Divisible() bool { return m.TempDir != "" && m.HostCapBytes() != exec.Unlimited }

// Divide divides what c has gathered and reads into tasks, of which it begins the first: into parts by hashes of the
// keys or, if few keys have the rows or there are no keys, into blocks. It ends the flow and the grant of c. short is
// what the device lacks for the whole join, if that is why it is divided; otherwise nil.
func Divide(ctx context.Context, m *Means, c *Collector, of *Task, short error, run Run) (_ *Scheduler, err error) {
	both := &sides{Means: m, whole: of, part: of.numbered(), read: c, grant: m.Budget().Empty()}
	byKey := of.How != join.Cross && of.Depth < mostDivisions
	var policy Policy = &blocks{sides: both, run: run}
	if byKey {
		policy = &parts{sides: both}
	}
	s := newScheduler(exec.NewFlow(exec.WithTrace(ctx, m.Trace)), of, both.part, policy)
	s.inOrder, s.workers, s.short, s.limited = true, []*worker{{run: run}}, short, c.grant != nil
	if both.fail, both.skip = s.flow.Fail, s.skip; byKey && !s.limited {
		s.lines++ // the task after the next one is read and planned
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := policy.Prepare(s.flow.Context()); err != nil {
		return nil, err
	}
	s.merge = newMerge(both)
	return s, s.begin()
}

// sides are both sides of a join, which are divided into parts, or kept as one to be read block by block.
type sides struct {
	*Means
	whole *Task
	part  *Task       // the task of which policies make parts
	read  *Collector  // of both sides, until they are divided
	grant *exec.Grant // of disk space
	file  *exchange.File
	place *exchange.Place
	fail  func(error)                     // ends the join
	skip  func(leftRows, rightRows int64) // counts rows that no task has

	divider  exchange.Divider
	onDevice atomic.Int64 // blocks that the device divided
	numbers  [2]bool      // sides that get numbers of their rows
	taken    [2]int64     // rows of the sides that were divided
}

// divide divides both sides into this many parts, in the place. It ends the flow and the grant of the collector.
func (p *sides) divide(parts int) error {
	c := p.read
	p.divider = exchange.Divider{Parts: parts, Seed: uint64(p.whole.Depth), Nulls: parts > 1 && p.whole.How == join.NotIn}
	if err := p.planDivider(c); err != nil {
		return c.flow.End(err)
	}
	if err := p.settle(c); err != nil {
		return err
	}
	p.whole.Progress.StartOf("divide both", c.rows())
	if err := p.fill(c); err != nil {
		return c.flow.End(cmp.Or(p.Err(), err))
	}
	c.Release()
	c.flow.Stop()
	c.grant.Release()
	return nil
}

// settle makes the place for parts of both sides: in memory alone if that has no limit, otherwise in half of it, and in
// a file. Each task acquires its memory itself; the disk is no reason for it to wait.
func (p *sides) settle(c *Collector) (err error) {
	options := exchange.PlaceOptions{Parts: p.divider.All(), Alloc: p.Allocator, Budget: p.Budget(),
		MemoryBytes: cmp.Or(p.PartsBytes, c.capBytes/2), Fail: p.fail}
	for side, r := range c.sides {
		options.Schemas[side] = r.Schema
		needed := p.part.Layout.Needed[side]
		if slices.Contains(needed, join.NumberColumn) && !r.Schema.HasField(join.NumberColumn) {
			fields := append(slices.Clone(r.Schema.Fields()), join.NumberField)
			options.Schemas[side], p.numbers[side] = arrow.NewSchema(fields, nil), true
		}
	}
	if options.MemoryBytes < exec.Unlimited/2 {
		if p.file, err = exchange.NewFile(p.TempDir, p.grant); err != nil {
			return err
		}
		options.File = p.file
	}
	p.divider.Together = p.file == nil // a part that is written frees memory
	p.place = exchange.NewPlace(options)
	return nil
}

// Close frees memory and disk.
func (p *sides) Close() {
	if p.place != nil {
		p.place.Close()
	}
	if p.file != nil {
		_ = p.file.Close() // it has no name
	}
	p.grant.Release()
}

// Err returns the error of a write of parts; nil if there was none.
func (p *sides) Err() error {
	if p.place == nil {
		return nil
	}
	return p.place.Err()
}

// none is a side without rows.
func (p *sides) none(side relation.Side) source.Source { return source.Empty(p.place.Schemas[side]) }

// where says where both sides are.
func (p *sides) where() string {
	if p.file == nil {
		return "in memory"
	}
	return text.Bytes(p.file.SizeBytes()) + " on disk"
}
