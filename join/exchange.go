package join

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/source"
)

// Spill lets streams whose build side does not fit in memory divide both sides into parts by the hashes of their keys
// (a hybrid hash join; RT 3.4), which are joined one after the other. Those that half of the memory has no room for are
// in a temporary file in dir; all files have at most limitBytes together. If only memory of the device is limited,
// streams divide both sides in memory of the host, also without Spill. Call it before the first join.
func (e *Engine) Spill(dir string, limitBytes uint64) {
	e.tempDir = dir
	e.Budget().AllowDisk(limitBytes)
}

// mostDivisions is how often a part that does not fit either is divided again. If it does not fit then, its rows have
// few keys.
const mostDivisions = 4

// whole returns why a task cannot be divided; "" if it can.
func (e *Engine) whole(of *task) (reason string) {
	switch {
	case e.tempDir == "" && e.HostCapBytes() != exec.Unlimited:
		return "there is no temp_dir"
	case of.depth > mostDivisions:
		return "a block of few rows does not fit"
	case of.layout.Spec.Validate != Any && of.depth >= mostDivisions:
		return "a part does not fit, because few keys have its rows, which cannot be validated in blocks"
	}
	return ""
}

// divisible reports whether sides that are too large for a limit of host memory can be divided.
func (e *Engine) divisible() bool { return e.tempDir != "" && e.HostCapBytes() != exec.Unlimited }

// newSides returns both sides of a task that is to be divided.
func (e *Engine) newSides(of *task) *sides {
	return &sides{engine: e, part: of.numbered(), grant: e.Budget().Empty()}
}

// sides are both sides of a join that were divided.
type sides struct {
	*tasks
	engine *Engine
	part   *task       // what parts are joined for
	grant  *exec.Grant // of disk space
	file   *exchange.File
	place  *exchange.Place

	divider  exchange.Divider
	onDevice atomic.Int64 // blocks that the device divided
	numbers  [2]bool      // sides that get numbers of their rows
	taken    [2]int64     // rows of the sides that were divided
}

// parts are the tasks of a join that was divided by hashes of the keys.
type parts struct {
	*sides
	rows  [2]int64 // of all parts
	at    int
	given int64 // rows of both sides of the parts before
	some  bool  // there was a task
	// nothing and noNulls are of a not-in join: no rows are in the output, because the right side has a NULL; no left rows
	// with a NULL, because it has rows.
	nothing, noNulls bool
}

// divide divides what c has gathered and reads into parts, of which it begins to join the first. It ends the flow and
// the grant of c.
func (e *Engine) divide(ctx context.Context, c *collector, of *task) (*Result, error) {
	if of.how == Cross || of.depth == mostDivisions {
		return e.nest(ctx, c, of)
	}
	p := &parts{sides: e.newSides(of)}
	if err := c.beginBoth(); err != nil {
		return nil, firstError(c.flow, err)
	}
	p.divider = exchange.Divider{Parts: c.partsNumber(e), Seed: uint64(of.depth), Nulls: of.how == NotIn}
	return p.begin(ctx, c, of, p, func() {
		for side := range p.rows {
			for part := range p.divider.Parts {
				p.rows[side] += p.place.Rows(relation.Side(side), part)
			}
		}
		if of.how == NotIn { // what is left is an anti join
			nulls := p.place.Rows(relation.Right, p.divider.Parts)
			p.nothing, p.noNulls = nulls > 0, p.rows[relation.Right] > 0
			anti := *p.part
			anti.how = Anti
			p.part = &anti
		}
	})
}

// begin divides both sides into as many parts, and begins the first task; all of them if rows are only counted.
func (p *sides) begin(ctx context.Context, c *collector, of *task, by divided, filled func()) (result *Result,
	err error) {
	p.tasks = newTasks(ctx, p.engine, of, by)
	if p.tasks.oneByOne = c.short != nil; of.depth == 0 {
		p.tasks.short = c.short
	}
	if _, parts := by.(*parts); parts && c.grant == nil {
		p.tasks.mostAhead = 2
	}
	defer func() {
		if result == nil {
			p.tasks.Close()
		}
	}()
	if err := c.beginBoth(); err != nil {
		return nil, firstError(c.flow, err)
	}
	if err := p.planDivider(c); err != nil {
		return nil, firstError(c.flow, err)
	}
	if err := p.settle(c); err != nil {
		return nil, err
	}
	of.progress.StartOf("divide both", c.rows())
	if err := p.fill(c); err != nil {
		return nil, firstError(c.flow, cmp.Or(p.err(), err))
	}
	c.release()
	c.flow.Stop()
	c.grant.Release()
	filled()
	p.tasks.merge = newMerge(of, p)
	return p.tasks.begin()
}

// settle makes the place for parts of both sides: in memory alone if that has no limit, otherwise in half of it, and in
// a file. Each task acquires its memory itself; the disk is no reason for it to wait.
func (p *sides) settle(c *collector) (err error) {
	e := p.engine
	options := exchange.PlaceOptions{Parts: p.divider.All(), Alloc: e.Allocator, Budget: e.Budget(),
		MemoryBytes: cmp.Or(e.PartsBytes, c.capBytes/2), Fail: p.flow.Fail}
	for side, r := range c.sides {
		options.Schemas[side] = r.Schema
		if needed := p.part.layout.Needed[side]; slices.Contains(needed, numberColumn) && !r.Schema.HasField(numberColumn) {
			fields := append(slices.Clone(r.Schema.Fields()), numberField)
			options.Schemas[side], p.numbers[side] = arrow.NewSchema(fields, nil), true
		}
	}
	if options.MemoryBytes < exec.Unlimited/2 {
		if p.file, err = exchange.NewFile(e.tempDir, p.grant); err != nil {
			return err
		}
		options.File = p.file
	}
	p.divider.Together = p.file == nil // a part that is written frees memory
	p.place = exchange.NewPlace(options)
	return nil
}

// end frees memory and disk.
func (p *sides) end() {
	if p.place != nil {
		p.place.Close()
	}
	if p.file != nil {
		_ = p.file.Close() // it has no name
	}
	p.grant.Release()
}

// err is the error of a write for which others waited.
func (p *sides) err() error {
	if p.place == nil {
		return nil
	}
	return p.place.Err()
}

// sideBlock is rows of a side on their way to the place.
type sideBlock struct {
	side relation.Side
	rows source.Gathered
}

// Release releases the rows.
func (b *sideBlock) Release() { b.rows.Release() }

// dividedBlock is rows of a side, part by part, on their way to the place.
type dividedBlock struct {
	side  relation.Side
	parts []arrow.RecordBatch
}

// Release releases the rows.
func (b *dividedBlock) Release() {
	for _, part := range b.parts {
		part.Release()
	}
}

// mostBlockBytes is the size of the pieces in which sides are divided, so that a part of each is large enough for a
// write. While one is divided, the next one is read and the one before put in the place. Of tables, which are there
// already, pieces are larger: a device reads fewer of them for each part.
const (
	mostBlockBytes      = 64 << 20
	mostTableBlockBytes = 256 << 20
)

// planDivider plans the hashes of keys, and where both sides are divided. Keys of a side that must be unique have
// hashes even if the other side's type cannot hold them.
func (p *sides) planDivider(c *collector) (err error) {
	spec := &p.part.layout.Spec
	schemas, on := [2]*arrow.Schema{c.sides[0].Schema, c.sides[1].Schema}, spec.on()
	if p.divider.Parts == 1 {
		return nil
	}
	if p.divider.Hashes, err = keys.PlanHashes(schemas, on, spec.nullsEqual()...); err != nil {
		return err
	}
	for side, schema := range schemas {
		if spec.Validate.Unique(relation.Side(side)) && err == nil {
			p.divider.Alone[side], err = keys.PlanHashes([2]*arrow.Schema{schema, schema},
				[2][]string{on[side], on[side]}, spec.nullsEqual()...)
		}
	}
	if err == nil {
		p.planOnDevice()
	}
	return err
}

// fill divides both sides into the place. The flow of c has ended then.
func (p *sides) fill(c *collector) error {
	ctx := c.flow.Context()
	full := exec.NewPipe[*sideBlock](c.flow, 0)
	divided := exec.NewPipe[*dividedBlock](c.flow, 0)
	if p.divider.KeyBytes > 0 {
		p.divideOnDevice(c.flow, full, divided)
	} else {
		passOn(c.flow, "divide", full, divided, p.divideBlock)
	}
	c.flow.Go("put", func(ctx context.Context) error {
		return divided.Each(ctx, func(d *dividedBlock) error {
			defer exec.Begin(ctx, "put").End()
			return p.place.PutAll(ctx, d.side, d.parts)
		})
	})
	rows, blockBytes := uint64(0), min(mostBlockBytes, c.capBytes/blocksShare)
	if p.file == nil && c.sources[relation.Left].Table() != nil && c.sources[relation.Right].Table() != nil {
		blockBytes = mostTableBlockBytes
	}
	if p.divider.KeyBytes > 0 {
		blockBytes = min(blockBytes, p.engine.blockBytesOnDevice())
	}
	if p.engine.DivideBytes > 0 {
		blockBytes = min(blockBytes, p.engine.DivideBytes)
	}
	blocks := [2]source.Gathered{{Schema: c.sides[0].Schema}, {Schema: c.sides[1].Schema}}
	defer blocks[0].Release()
	defer blocks[1].Release()
	pass := func(side relation.Side) error {
		b := &sideBlock{side, blocks[side]}
		blocks[side] = source.Gathered{Schema: b.rows.Schema}
		if err := full.Put(ctx, b); err != nil || c.grant == nil {
			return err
		}
		return c.grant.Await(ctx, exec.Need{Host: c.heldBytes() + c.capBytes/4})
	}
	if c.grant != nil {
		if err := c.grant.Await(ctx, exec.Need{Host: c.heldBytes() + c.capBytes/4}); err != nil {
			return err
		}
	}
	if err := c.drain(ctx, func(side relation.Side, s source.Slice) error {
		rows += uint64(s.Rows())
		c.progress.Done(rows)
		g := &blocks[side]
		if g.Add(s); g.Bytes < blockBytes && g.Rows < 1<<30 {
			return nil
		}
		return pass(side)
	}); err != nil {
		return err
	}
	for side := range blocks {
		if err := pass(relation.Side(side)); err != nil {
			return err
		}
	}
	full.End()
	return c.flow.Wait()
}

// blocksShare is the share of memory of a block, of which there are five: one is gathered of each side, one is divided,
// to a copy, and the copy of the one before is put in the place, which may have to write for it.
const blocksShare = 24

// divideBlock divides a block.
func (p *sides) divideBlock(ctx context.Context, b *sideBlock) (*dividedBlock, error) {
	d, table := &dividedBlock{side: b.side}, p.table(b)
	defer table.Release()
	if table.NumRows() == 0 {
		return d, nil
	}
	defer exec.Begin(ctx, "divide").End()
	var err error
	d.parts, err = p.divider.Divide(ctx, b.side, table, p.engine.Allocator)
	return d, err
}

// table returns the rows of a block as a table, with row numbers if they are needed, and releases the block. The caller
// releases the table.
func (p *sides) table(b *sideBlock) arrow.Table {
	defer b.Release()
	table, first := b.rows.Table(), p.taken[b.side]
	if p.taken[b.side] += table.NumRows(); p.numbers[b.side] {
		return withNumbers(table, first, p.place.Schemas[b.side], p.engine.Allocator)
	}
	return table
}

// task returns the next part that may have output or keys to validate; the first time one without rows if there is none.
func (p *parts) next() *run {
	for p.at < p.divider.All() {
		under := p.at
		p.at++
		left, right := p.source(relation.Left, under), p.source(relation.Right, under)
		all := float64(max(1, p.rows[relation.Left]+p.rows[relation.Right]))
		from := float64(p.given) / all
		p.given += left.Rows + right.Rows
		silent := p.silent(under, left.Rows, right.Rows)
		switch {
		case silent && !p.validates(under, left.Rows, right.Rows):
			p.skip(left.Rows, right.Rows)
			p.place.Forget(under)
			continue
		case silent && p.part.how == Anti: // by itself the part may have output; the right side is validated
			p.skip(left.Rows, 0)
			left = p.none(relation.Left)
		}
		p.some = true
		return &run{task: p.part.at(p.deeper(left.Rows, right.Rows)), sources: [2]source.Source{left, right},
			name: fmt.Sprintf("part %d of %d", p.at, p.divider.Parts), ended: func() { p.place.Forget(under) },
			from: min(1, from), to: min(1, float64(p.given)/all)}
	}
	if p.some {
		return nil
	}
	p.some = true
	return &run{task: p.part.at(p.part.depth + 1), sources: [2]source.Source{p.none(relation.Left), p.none(relation.Right)},
		name: "no part", ended: func() {}}
}

// silent reports whether a part has no output.
func (p *parts) silent(part int, leftRows, rightRows int64) bool {
	how := p.part.how
	return p.nothing || p.noNulls && part == p.divider.Parts || leftRows == 0 && !how.Keeps(relation.Right) ||
		rightRows == 0 && !how.Keeps(relation.Left)
}

// validates reports whether a part has keys that must be unique and may not be. Keys of the last part may be NULL.
func (p *parts) validates(part int, leftRows, rightRows int64) bool {
	v := p.part.layout.Spec.Validate
	return part < p.divider.Parts &&
		(v.Unique(relation.Left) && leftRows > 1 || v.Unique(relation.Right) && rightRows > 1)
}

// none is a side without rows.
func (p *sides) none(side relation.Side) source.Source { return source.Empty(p.place.Schemas[side]) }

// deeper is the depth of the divisions of a part with leftRows and rightRows rows. If the part has most rows of its
// shorter side, few keys have them, and another division would not help.
func (p *parts) deeper(leftRows, rightRows int64) int {
	if p.part.layout.Spec.Validate != Any {
		return p.part.depth + 1
	}
	if rows, of := min(leftRows, rightRows), p.rows; leftRows <= rightRows && 2*rows > of[relation.Left] ||
		rightRows <= leftRows && 2*rows > of[relation.Right] {
		return mostDivisions
	}
	return p.part.depth + 1
}

// again is false: a part that does not fit divides itself.
func (p *parts) again(error) bool { return false }

// source is a side of a part, which can be read once.
func (p *parts) source(side relation.Side, part int) source.Source {
	return source.Source{Schema: p.place.Schemas[side], Rows: p.place.Rows(side, part),
		Batches: func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
			return p.place.Take(ctx, side, part)
		}}
}

// where says where both sides are.
func (p *sides) where() string {
	if p.file == nil {
		return "in memory"
	}
	return text.Bytes(p.file.SizeBytes()) + " on disk"
}

// String says how both sides were divided.
func (p *parts) String() string {
	by := ""
	if p.onDevice.Load() > 0 {
		by = " by the device"
	}
	return fmt.Sprintf("divided      into %d parts by hashes of the keys%s, %s", p.divider.Parts, by, p.where())
}
