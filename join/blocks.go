package join

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// blocks are the tasks of a join whose sides cannot be divided by keys, because few keys have the rows or because there
// are no keys: block after block of one side is joined with all of the other, which is read again for each (a block
// nested loop). That side is the one whose rows with or without a partner are in the output, so that each block has all
// that tells which they are. A full join has two of them: first left blocks give the pairs and the left rows, as in a
// left join, and then right blocks the right rows without a partner, as in a right anti join; a full join without left
// rows brings those to the form of the others.
type blocks struct {
	*sides
	side       relation.Side // of the blocks
	blockBytes uint64
	at         int           // block of the place
	rest       bool          // the right rows of a full join are under way
	waiting    []arrow.Table // parts of blocks, before what comes
	under      arrow.Table   // of the last task
	number     int           // of that
	given      int64         // rows of the blocks so far
}

// leastBlockRows is how many rows a block has that is not divided again: if they do not fit, nothing does.
const leastBlockRows = 1 << 10

// nest joins what c has gathered and reads by blocks, of which it begins the first. It ends the flow and the grant of
// c.
func (e *Engine) nest(ctx context.Context, c *collector, of *task) (*Result, error) {
	b := &blocks{sides: e.newSides(of)}
	b.divider.Parts = 1
	return b.begin(ctx, c, of, b, func() {
		left, right := b.place.SizeBytes(relation.Left, 0), b.place.SizeBytes(relation.Right, 0)
		switch how := of.how; {
		case !how.Has(relation.Left), how == Right, (how == Inner || how == Cross) && right < left:
			b.side = relation.Right
		}
		b.blockBytes = cmp.Or(e.DivideBytes, min(c.capBytes, e.DeviceCapBytes())/partShare)
	})
}

// next joins the next block.
func (b *blocks) next() *run {
	table, err := b.block()
	if err == nil && table == nil && b.part.how == Full && !b.rest {
		b.side, b.rest, b.at = relation.Right, true, 0
		table, err = b.block()
	}
	if err != nil || table == nil {
		return b.failing(err)
	}
	b.under = table
	b.number++
	of := b.part.at(mostDivisions + 1).building(b.side)
	t := &run{task: of, name: fmt.Sprintf("block %d", b.number), ended: table.Release,
		again: [2]bool{b.number > 1, b.number > 1}}
	t.again[b.side] = b.rest
	t.from = b.share()
	b.given += table.NumRows()
	t.to = b.share()
	t.sources[b.side], t.sources[1-b.side] = source.FromTable(table), b.other()
	switch {
	case b.rest:
		t.sources = [2]source.Source{b.none(relation.Left), b.unmatched(table)}
		of.build = BuildLeft
	case of.how == Full:
		of.how = Left
	}
	return t
}

// share is how much of the join the blocks so far are.
func (b *blocks) share() float64 {
	all := b.place.Rows(b.side, 0)
	if b.part.how == Full {
		all = b.place.Rows(relation.Left, 0) + b.place.Rows(relation.Right, 0)
	}
	return min(1, float64(b.given)/float64(max(1, all)))
}

// failing is a task that only has an error; nil without one.
func (b *blocks) failing(err error) *run {
	if err == nil {
		return nil
	}
	broken := source.Source{Schema: b.place.Schemas[b.side],
		Batches: func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
			return func(yield func(arrow.RecordBatch, error) bool) { yield(nil, err) }
		}}
	t := &run{task: b.part.at(mostDivisions + 1), name: "the next block", ended: func() {}}
	t.sources[b.side], t.sources[1-b.side] = broken, b.none(1-b.side)
	return t
}

// block is the next block, of no more than about blockBytes; nil if there are no more. The first one may be empty.
func (b *blocks) block() (arrow.Table, error) {
	if len(b.waiting) == 0 {
		batch, err := b.place.Block(b.flow.Context(), b.side, 0, b.at)
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
		return b.block()
	}
	return table, nil
}

// cut puts a table, which it releases, before what waits, in pieces of some rows.
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

// again divides the block of a task that failed, if it is for lack of memory.
func (b *blocks) again(err error) bool {
	short := backend.OutOfMemory(err)
	if !short || b.under == nil || b.under.NumRows() < 2*leastBlockRows {
		return false
	}
	b.under.Retain()
	b.cut(b.under, b.under.NumRows()/2)
	b.number--
	b.given -= b.under.NumRows()
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
	left, spec := b.other(), &b.part.layout.Spec
	return source.Source{Schema: table.Schema(), Rows: -1,
		Batches: func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
			return func(yield func(arrow.RecordBatch, error) bool) {
				layout, err := NewLayout(left.Schema, table.Schema(), Spec{How: RightAnti, LeftOn: spec.LeftOn,
					RightOn: spec.RightOn, NullsEqual: spec.NullsEqual, Columns: b.part.layout.Needed[relation.Right],
					Algorithm: spec.Algorithm, BatchRows: spec.BatchRows, BuildSide: BuildRight})
				if err != nil {
					yield(nil, err)
					return
				}
				result, err := b.engine.stream(ctx, layout.task().at(mostDivisions+1), [2]source.Source{left, source.FromTable(table)},
					opening{})
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

// end frees what waits, and both sides.
func (b *blocks) end() {
	for _, table := range b.waiting {
		table.Release()
	}
	b.waiting = nil
	b.sides.end()
}

// String says how the sides are joined.
func (b *blocks) String() string {
	return fmt.Sprintf("divided      the %s side into blocks, because few keys have its rows, %s", b.side, b.where())
}
