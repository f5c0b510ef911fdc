package task

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// blocks is the policy for joins whose sides cannot be divided by keys: few keys have most of the rows, or there are no
// keys. Block after block of one side is joined with all rows of the other side, which is read again for each block (a
// block nested loop). The blocks come from the side whose rows with or without a partner are in the output: such a row
// meets all rows of the other side in one task. A full join takes two passes. Left blocks give the pairs and the left
// rows, as in a left join. Then right blocks give the right rows without a partner: a right anti join finds them, and a
// full join without left rows gives them the columns of the output.
type blocks struct {
	*sides
	run        Run           // runs the right anti join of a block
	side       relation.Side // of the blocks
	blockBytes uint64
	at         int           // next block of the place
	rest       bool          // the second pass of a full join has begun
	waiting    []arrow.Table // pieces of blocks that come before block at
	number     int           // of that block
	given      int64         // rows of the blocks so far
}

// leastBlockRows is the least number of rows to which a block is divided: if a smaller block does not fit, nothing
// does.
const leastBlockRows = 1 << 10

// partShare is the inverse of the share of memory that a block, or the smaller side of a part, takes.
const partShare = 16

// Prepare puts both sides in their place, undivided.
func (b *blocks) Prepare(context.Context) error {
	if err := b.read.beginBoth(); err != nil {
		return b.read.flow.End(err)
	}
	capBytes := b.read.capBytes
	if err := b.divide(1); err != nil {
		return err
	}
	b.side = blockSide(b.whole.How, b.place.SizeBytes(relation.Left, 0), b.place.SizeBytes(relation.Right, 0))
	b.blockBytes = cmp.Or(b.DivideBytes, min(capBytes, b.DeviceCapBytes())/partShare)
	return nil
}

// blockSide is the side of the blocks of a join; of a full join, of its first pass.
func blockSide(how join.How, leftBytes, rightBytes uint64) relation.Side {
	shorter := how == join.Inner || how == join.Cross
	if !how.Has(relation.Left) || how == join.Right || shorter && rightBytes < leftBytes {
		return relation.Right
	}
	return relation.Left
}

// Next joins the next block.
func (b *blocks) Next(ctx context.Context) (*Task, error) {
	table, err := b.block(ctx)
	if err == nil && table == nil && b.part.How == join.Full && !b.rest {
		b.side, b.rest, b.at = relation.Right, true, 0
		table, err = b.block(ctx)
	}
	if err != nil || table == nil {
		return nil, err
	}
	b.number++
	all := b.place.Rows(b.side, 0)
	if b.part.How == join.Full {
		all += b.place.Rows(1-b.side, 0)
	}
	from := share(b.given, all)
	b.given += table.NumRows()
	sources := [2]source.Source{}
	sources[b.side], sources[1-b.side] = source.FromTable(table), b.other()
	if b.rest {
		sources = [2]source.Source{b.none(relation.Left), b.unmatched(table)}
	}
	t := b.part.part(fmt.Sprintf("block %d", b.number), mostDivisions+1, sources[0], sources[1]).Building(b.side)
	switch {
	case b.rest:
		t.Build = join.BuildLeft
	case t.How == join.Full:
		t.How = join.Left
	}
	t.again, t.from, t.to, t.ended = [2]bool{b.number > 1, b.number > 1}, from, share(b.given, all), table.Release
	t.again[b.side], t.block = b.rest, table
	return t, nil
}

// block is the next block, of no more than about blockBytes; nil if there are no more. The first one may be empty.
func (b *blocks) block(ctx context.Context) (arrow.Table, error) {
	if len(b.waiting) == 0 {
		batch, err := b.place.Block(ctx, b.side, 0, b.at)
		switch {
		case err != nil:
			return nil, err
		case batch == nil && b.number > 0:
			return nil, nil
		case batch == nil:
			return source.NoRows(b.place.Schemas[b.side]), nil
		}
		b.at++
		b.waiting = []arrow.Table{array.NewTableFromRecords(b.place.Schemas[b.side], []arrow.RecordBatch{batch})}
		batch.Release()
	}
	table := b.waiting[0]
	b.waiting = b.waiting[1:]
	rowBytes := b.place.SizeBytes(b.side, 0)/uint64(max(1, b.place.Rows(b.side, 0))) + 1
	if most := int64(max(1, b.blockBytes/rowBytes)); table.NumRows() > most {
		b.cut(table, most)
		return b.block(ctx)
	}
	return table, nil
}

// cut puts a table, which it releases, before the tables that wait, in pieces of at most this many rows.
func (b *blocks) cut(table arrow.Table, rows int64) {
	defer table.Release()
	reader := array.NewTableReader(table, rows)
	defer reader.Release()
	var pieces []arrow.Table
	for reader.Next() {
		pieces = append(pieces, array.NewTableFromRecords(table.Schema(), []arrow.RecordBatch{reader.RecordBatch()}))
	}
	b.waiting = append(pieces, b.waiting...)
}

// Failed divides the block of a task that failed for lack of memory.
func (b *blocks) Failed(t *Task, err error) (again bool) {
	rows := t.block.NumRows()
	if !backend.OutOfMemory(err) || rows < 2*leastBlockRows {
		return false
	}
	t.block.Retain()
	b.cut(t.block, rows/2)
	b.number--
	b.given -= rows
	return true
}

// other is the side that is read for each block.
func (b *blocks) other() source.Source {
	side := 1 - b.side
	return source.Source{Schema: b.place.Schemas[side], Rows: b.place.Rows(side, 0),
		Batches: func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] { return b.place.Read(ctx, side, 0) }}
}

// unmatched are the rows of a right block without a partner.
func (b *blocks) unmatched(table arrow.Table) source.Source {
	left, spec := b.other(), &b.part.Layout.Spec
	return source.Source{Schema: table.Schema(), Rows: -1,
		Batches: func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
			return func(yield func(arrow.RecordBatch, error) bool) {
				layout, err := join.NewLayout(left.Schema, table.Schema(), join.Spec{How: join.RightAnti, LeftOn: spec.LeftOn,
					RightOn: spec.RightOn, NullsEqual: spec.NullsEqual, Columns: b.part.Layout.Needed[relation.Right],
					Algorithm: spec.Algorithm, BatchRows: spec.BatchRows, BuildSide: join.BuildRight})
				if err != nil {
					yield(nil, err)
					return
				}
				anti := Whole(layout, left, source.FromTable(table), nil)
				anti.Depth = mostDivisions + 1
				result, err := b.run(ctx, anti, nil)
				if err != nil {
					yield(nil, err)
					return
				}
				defer result.Close()
				for batch, err := range result.Batches(ctx) {
					if !yield(batch, err) || err != nil {
						return
					}
				}
			}
		}}
}

// Close frees what waits, and both sides.
func (b *blocks) Close() {
	relation.ReleaseAll(b.waiting)
	b.waiting = nil
	b.sides.Close()
}

// String says how the sides are joined.
func (b *blocks) String() string {
	return fmt.Sprintf("divided      the %s side into blocks, because few keys have its rows, %s", b.side, b.where())
}
