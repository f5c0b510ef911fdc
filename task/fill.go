package task

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

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
	relation.ReleaseAll(b.parts)
}

// mostBlockBytes is the size of the blocks in which sides are divided: large enough that each part of a block is worth
// a write. While one block is divided, the next one is read, and the one before is put in the place. Tables are in
// memory already, so their blocks are larger: a part then consists of fewer slices for a device to read.
const (
	mostBlockBytes      = 64 << 20
	mostTableBlockBytes = 256 << 20
)

// planDivider plans the hashes of keys, and where both sides are divided. Keys of a side that must be unique have
// hashes even if the other side's type cannot hold them.
func (p *sides) planDivider(c *Collector) (err error) {
	if p.divider.Parts == 1 {
		return nil
	}
	p.divider.Hashes, p.divider.Alone, err = p.part.Layout.Hashes([2]*arrow.Schema{c.sides[0].Schema, c.sides[1].Schema})
	if err == nil {
		p.planOnDevice()
	}
	return err
}

// fill divides both sides into the place. The flow of c has ended then.
func (p *sides) fill(c *Collector) error {
	ctx := c.flow.Context()
	full := exec.NewPipe[*sideBlock](c.flow, 0)
	divided := exec.NewPipe[*dividedBlock](c.flow, 0)
	if p.divider.KeyBytes > 0 {
		p.divideOnDevice(c.flow, full, divided)
	} else {
		exec.PassOn(c.flow, "divide", full, divided, p.divideBlock)
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
		blockBytes = min(blockBytes, p.blockBytesOnDevice())
	}
	if p.DivideBytes > 0 {
		blockBytes = min(blockBytes, p.DivideBytes)
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

// blocksShare is the inverse of the share of memory that a block takes. There are five at a time: one of each side is
// gathered, one is divided, to a copy, and the copy of the one before is put in the place, which may have to write
// other parts first.
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
	d.parts, err = p.divider.Divide(ctx, b.side, table, p.Allocator)
	return d, err
}

// table returns the rows of a block as a table, with row numbers if they are needed, and releases the block. The caller
// releases the table.
func (p *sides) table(b *sideBlock) arrow.Table {
	defer b.Release()
	table, first := b.rows.Table(), p.taken[b.side]
	if p.taken[b.side] += table.NumRows(); p.numbers[b.side] {
		return source.WithNumbers(table, first, p.place.Schemas[b.side], p.Allocator)
	}
	return table
}
