package task

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// parts is the policy that divides both sides by hashes of the keys into parts, which lie in memory or on disk and are
// joined pair by pair (a hybrid hash join; RT 3.4). A part that does not fit either divides itself.
type parts struct {
	*sides
	rows  [2]int64 // of all parts
	at    int
	given int64 // rows of both sides of the parts before
	some  bool  // there was a task
	// nothing and noNulls describe a not-in join. nothing: the output has no rows, because the right side has a NULL.
	// noNulls: it has no left rows with a NULL, because the right side has rows.
	nothing, noNulls bool
}

// Prepare divides both sides.
func (p *parts) Prepare(context.Context) error {
	if err := p.read.beginBoth(); err != nil {
		return p.read.flow.End(err)
	}
	c := p.read
	number := partsNumber(estimateBytes(c.sources[0].Rows, &c.gathered[0]),
		estimateBytes(c.sources[1].Rows, &c.gathered[1]), min(c.capBytes, p.DeviceCapBytes()))
	if err := p.divide(number); err != nil {
		return err
	}
	for side := range p.rows {
		for part := range p.divider.Parts {
			p.rows[side] += p.place.Rows(relation.Side(side), part)
		}
	}
	if p.whole.How == join.NotIn { // what is left is an anti join
		nulls := p.place.Rows(relation.Right, p.divider.Parts)
		p.nothing, p.noNulls = nulls > 0, p.rows[relation.Right] > 0
		anti := *p.part
		anti.How = join.Anti
		p.part = &anti
	}
	return nil
}

// Next returns the next part that may have output or keys to validate. If no part does, it returns one task without
// rows.
func (p *parts) Next(context.Context) (*Task, error) {
	for p.at < p.divider.All() {
		under := p.at
		p.at++
		left, right := p.source(relation.Left, under), p.source(relation.Right, under)
		rows, all := [2]int64{left.Rows, right.Rows}, p.rows[relation.Left]+p.rows[relation.Right]
		from, validate := share(p.given, all), p.part.Layout.Spec.Validate
		p.given += left.Rows + right.Rows
		silent := p.silent(under, left.Rows, right.Rows)
		switch {
		case silent && (under == p.divider.Parts || !validates(validate, rows)): // keys of the last part may be NULL
			p.skip(left.Rows, right.Rows)
			p.place.Forget(under)
			continue
		case silent && p.part.How == join.Anti: // by itself the part may have output; the right side is validated
			p.skip(left.Rows, 0)
			left = p.none(relation.Left)
		}
		p.some = true
		t := p.part.part(fmt.Sprintf("part %d of %d", p.at, p.divider.Parts),
			deeper(p.part.Depth, validate, [2]int64{left.Rows, right.Rows}, p.rows), left, right)
		t.ended = func() { p.place.Forget(under) }
		t.from, t.to = from, share(p.given, all)
		return t, nil
	}
	if p.some {
		return nil, nil
	}
	p.some = true
	return p.part.part("no part", p.part.Depth+1, p.none(relation.Left), p.none(relation.Right)), nil
}

// silent reports whether a part has no output.
func (p *parts) silent(part int, leftRows, rightRows int64) bool {
	return p.nothing || p.noNulls && part == p.divider.Parts || silent(p.part.How, leftRows, rightRows)
}

// validates reports whether a part with these rows has keys that must be unique and may not be.
func validates(v join.Validate, rows [2]int64) bool {
	return v.Unique(relation.Left) && rows[relation.Left] > 1 || v.Unique(relation.Right) && rows[relation.Right] > 1
}

// deeper is the depth of the divisions of a part of what was divided depth times; rows are the rows of the part, all
// those of all parts. If the part has most rows of its shorter side, few keys have them, and another division would not
// help. Keys that are validated need one nevertheless, because blocks cannot be validated.
func deeper(depth int, v join.Validate, rows, all [2]int64) int {
	for side, n := range rows {
		if v == join.Any && n == min(rows[0], rows[1]) && 2*n > all[side] {
			return mostDivisions
		}
	}
	return depth + 1
}

// Failed returns false: a part that does not fit divides itself.
func (p *parts) Failed(*Task, error) bool { return false }

// source is a side of a part, which can be read once.
func (p *parts) source(side relation.Side, part int) source.Source {
	return source.Source{Schema: p.place.Schemas[side], Rows: p.place.Rows(side, part),
		Batches: func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
			return p.place.Take(ctx, side, part)
		}}
}

// String says how both sides were divided.
func (p *parts) String() string {
	by := ""
	if p.onDevice.Load() > 0 {
		by = " by the device"
	}
	return fmt.Sprintf("divided      into %d parts by hashes of the keys%s, %s", p.divider.Parts, by, p.where())
}
