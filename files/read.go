package files

import (
	"context"
	"errors"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
)

// Choose limits what is read to the columns that a join needs and to row groups that may have a match. Join and
// JoinGroups do so if the caller did not. Later calls do nothing.
func (p *Pair) Choose(layout *spirjoin.JoinLayout) {
	if p.chosen {
		return
	}
	p.chosen = true
	p.need(layout)
	p.skipRowGroups(&layout.Spec)
}

func (p *Pair) need(layout *spirjoin.JoinLayout) {
	for side, t := range p.tables {
		t.needed = layout.Needed[side]
	}
}

// Expected says what the files tell of a join before they are read, for [spirjoin.Engine.PrepareJoin]. Call Choose
// first.
func (p *Pair) Expected(layout *spirjoin.JoinLayout, use Use) (expected [2]spirjoin.JoinExpected) {
	streamed, any := p.streamedSide(&layout.Spec, use)
	for side, t := range p.tables {
		expected[side] = spirjoin.JoinExpected{Schema: t.Schema(), Rows: t.Rows(), Streamed: any && side == streamed,
			Nulls: t.Nulls, Bounds: func(column string) (least, most int64, ok bool) {
				b, ok := t.Bounds(column)
				return b.Min, b.Max, ok && b.Min <= b.Max
			}}
	}
	return expected
}

// load reads a side.
func (p *Pair) load(ctx context.Context, side int) (arrow.Table, error) {
	start := time.Now()
	table, err := p.tables[side].load(ctx)
	p.readSeconds += time.Since(start).Seconds()
	if errors.Is(err, backend.ErrHostMemory) && p.refused != nil {
		return nil, p.refused
	}
	return table, err
}

// loadBoth reads both sides. The caller releases the tables, also those that come with an error.
func (p *Pair) loadBoth(ctx context.Context) (tables [2]arrow.Table, err error) {
	for side := range tables {
		if tables[side], err = p.load(ctx, side); err != nil {
			return tables, err
		}
	}
	return tables, nil
}
