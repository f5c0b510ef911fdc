package join

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/relation"
)

// Spill lets streams whose build side does not fit in memory divide both sides into parts by the hashes of their keys (a
// hybrid hash join; RT 3.4), which are joined one after the other. Those that half of the memory has no room for are in
// a temporary file in dir; all files have at most limitBytes together. If only memory of the device is limited, streams
// divide both sides in memory of the host, also without Spill. Call it before the first join.
func (e *Engine) Spill(dir string, limitBytes uint64) {
	e.tempDir = dir
	e.Budget().AllowDisk(limitBytes)
}

// mostDivisions is how often a part that does not fit either is divided again. If it does not fit then, its rows have
// few keys.
const mostDivisions = 4

// whole returns why a stream cannot be divided; "" if it can.
func (e *Engine) whole(spec *Spec, depth int) (reason string) {
	switch {
	case e.tempDir == "" && e.HostCapBytes() != exec.Unlimited:
		return "there is no temp_dir"
	case depth > mostDivisions:
		return "a block of few rows does not fit"
	case spec.How == NotIn:
		return fmt.Sprintf("temp_dir is of no use: %s needs all rows at once", spec.How.noun())
	case spec.Output == Pairs:
		return "temp_dir is of no use: rows of parts have no numbers"
	case spec.Order != Unordered:
		return "temp_dir is of no use: parts are in no order"
	case spec.Validate != Any:
		return "temp_dir is of no use: keys are not validated in parts"
	}
	return ""
}

// sides are both sides of a join that were divided.
type sides struct {
	*tasks
	engine *Engine
	layout *Layout     // of a task
	grant  *exec.Grant // of disk space
	file   *exchange.File
	place  *exchange.Place
	seed   uint64 // of the division
}

// parts are the tasks of a join that was divided by hashes of the keys.
type parts struct {
	*sides
	depth  int      // of divisions
	rows   [2]int64 // of all parts
	number int      // of parts
	next   int
}

// divide divides what c has gathered and reads into parts, of which it begins to join the first. It ends the flow and
// the grant of c.
func (e *Engine) divide(ctx context.Context, c *collector, layout *Layout, depth int, progress *exec.Progress) (
	*Result, error) {
	if layout.Spec.How == Cross || depth == mostDivisions {
		return e.nest(ctx, c, layout, progress)
	}
	p := &parts{sides: &sides{engine: e, layout: layout, grant: e.Budget().Empty(), seed: uint64(depth)}, depth: depth}
	if err := c.beginBoth(); err != nil {
		return nil, firstError(c.flow, err)
	}
	p.number = c.partsNumber(e)
	return p.begin(ctx, c, p, p.number, progress, func() {
		for side := range p.rows {
			for part := range p.number {
				p.rows[side] += p.place.Rows(relation.Side(side), part)
			}
		}
	})
}

// begin divides both sides into as many parts, and begins the first task; all of them if rows are only counted.
func (p *sides) begin(ctx context.Context, c *collector, of divided, number int, progress *exec.Progress, filled func()) (
	result *Result, err error) {
	p.tasks = newTasks(ctx, p.engine, p.layout, of)
	defer func() {
		if result == nil {
			p.tasks.close()
		}
	}()
	if err := c.beginBoth(); err != nil {
		return nil, firstError(c.flow, err)
	}
	if err := p.settle(c, number); err != nil {
		return nil, err
	}
	progress.Start("divide both")
	if err := p.fill(c); err != nil {
		return nil, firstError(c.flow, cmp.Or(p.err(), err))
	}
	c.release()
	c.flow.Stop()
	c.grant.Release()
	filled()
	return p.tasks.begin()
}

// settle makes the place for parts of both sides: in memory alone if that has no limit, otherwise in half of it, and in
// a file. Each task acquires its memory itself; the disk is no reason for it to wait.
func (p *sides) settle(c *collector, number int) (err error) {
	e := p.engine
	options := exchange.PlaceOptions{Schemas: [2]*arrow.Schema{c.sides[0].schema, c.sides[1].schema}, Parts: number,
		Alloc: e.Allocator, Budget: e.Budget(), MemoryBytes: cmp.Or(e.PartsBytes, c.capBytes/2), Fail: p.flow.Fail}
	if options.MemoryBytes < exec.Unlimited/2 {
		if p.file, err = exchange.NewFile(e.tempDir, p.grant); err != nil {
			return err
		}
		options.File = p.file
	}
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

// err is that of a write for which others waited.
func (p *sides) err() error {
	if p.place == nil {
		return nil
	}
	return p.place.Err()
}

// sideBlock is rows of a side on their way to the place.
type sideBlock struct {
	side relation.Side
	rows gathered
}

// Release releases the rows.
func (b *sideBlock) Release() { b.rows.release() }

// mostBlockBytes is the size of the pieces in which sides are divided, so that a part of each is large enough for a
// write. While one is divided, the next one is read.
const mostBlockBytes = 64 << 20

// fill divides both sides into the place. The flow of c has ended then.
func (p *sides) fill(c *collector) error {
	ctx, spec := c.flow.Context(), &p.layout.Spec
	divider := exchange.Divider{Parts: p.place.Parts, Seed: p.seed}
	if divider.Parts > 1 {
		var err error
		divider.Hashes, err = relation.PlanHashes(p.place.Schemas, [2][]string{spec.LeftOn, spec.RightOn},
			spec.nullsEqual()...)
		if err != nil {
			return err
		}
	}
	full := exec.NewPipe[*sideBlock](c.flow, 0)
	c.flow.Go("divide", func(ctx context.Context) error {
		for {
			b, some, err := full.Take(ctx)
			if err != nil || !some {
				return err
			}
			if err := p.put(ctx, &divider, b); err != nil {
				return err
			}
		}
	})
	rows, blockBytes := uint64(0), min(mostBlockBytes, c.capBytes/blocksShare)
	blocks := [2]gathered{{schema: p.place.Schemas[0]}, {schema: p.place.Schemas[1]}}
	defer blocks[0].release()
	defer blocks[1].release()
	pass := func(side relation.Side) error {
		b := &sideBlock{side, blocks[side]}
		blocks[side] = gathered{schema: b.rows.schema}
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
	if err := c.drain(ctx, func(side relation.Side, s slice) error {
		rows += uint64(s.to - s.from)
		c.progress.Done(rows)
		g := &blocks[side]
		if g.add(s); g.bytes < blockBytes && g.rows < 1<<30 {
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

// blocksShare is the share of memory of a block, of which there are four: one is gathered of each side, and one is
// divided, to a copy.
const blocksShare = 20

// put divides a block, and puts its rows in the place.
func (p *sides) put(ctx context.Context, divider *exchange.Divider, b *sideBlock) error {
	defer b.Release()
	if b.rows.rows == 0 {
		return nil
	}
	table := b.rows.table()
	defer table.Release()
	b.Release()
	span := exec.Begin(ctx, "divide")
	batches, err := divider.Divide(ctx, b.side, table, p.engine.Allocator)
	span.End()
	if err != nil {
		return err
	}
	defer exec.Begin(ctx, "put").End()
	return p.place.PutAll(ctx, b.side, batches)
}

// task returns the next part that may have output, or the last one; nil if there is none.
func (p *parts) task() *task {
	for p.next < p.number {
		under := p.next
		p.next++
		left, right, how := p.source(relation.Left, under), p.source(relation.Right, under), p.layout.Spec.How
		without := left.Rows == 0 && !how.Keeps(relation.Right) || right.Rows == 0 && !how.Keeps(relation.Left)
		if without && p.next < p.number {
			p.skip(left.Rows, right.Rows)
			p.place.Forget(under)
			continue
		}
		return &task{layout: p.layout, sources: [2]Source{left, right}, depth: p.deeper(left.Rows, right.Rows),
			name: fmt.Sprintf("part %d of %d", p.next, p.number), ended: func() { p.place.Forget(under) }}
	}
	return nil
}

// deeper is the depth of the divisions of a part with so many rows. If it has most rows of the side that is its shorter
// one, few keys have them, and another division would not help.
func (p *parts) deeper(leftRows, rightRows int64) int {
	if rows, of := min(leftRows, rightRows), p.rows; leftRows <= rightRows && 2*rows > of[relation.Left] ||
		rightRows <= leftRows && 2*rows > of[relation.Right] {
		return mostDivisions
	}
	return p.depth + 1
}

// again is false: a part that does not fit divides itself.
func (p *parts) again(error) bool { return false }

// source is a side of a part, which can be read once.
func (p *parts) source(side relation.Side, part int) Source {
	return Source{Schema: p.place.Schemas[side], Rows: p.place.Rows(side, part),
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
	return fmt.Sprintf("divided      into %d parts by hashes of the keys, %s", p.number, p.where())
}
