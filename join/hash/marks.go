package hash

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
)

// mark marks the rows with a partner on the sides that want marks. If rows are marked while pairs are made, only
// oversized partitions remain to be marked.
func (p *probing) mark(ctx context.Context) error {
	if p.plan.Want.Sides() == 0 {
		return nil
	}
	if err := p.newMarks(ctx); err != nil {
		return err
	}
	if p.oversized > 0 {
		if err := p.markPeeled(ctx); err != nil {
			return err
		}
	}
	if p.units.Number == 0 || p.units.Marks != nil {
		return nil
	}
	c := &p.config
	config := kernel.PartitionMarkConfig{KeyBits: c.KeyBits, Shared: c.Shared, Tile: c.Tile, Sides: p.marks.Sides,
		Mixed: c.Mixed, Table: c.Table, Heads: c.Heads, Decided: c.Decided}
	args := kernel.PartitionMarkArgs{Units: p.unitTable.All(), LeftKeys: p.build.Ordered, RightKeys: p.probe.Ordered,
		LeftMarks: p.marks.Of[operator.Build], RightMarks: p.marks.Of[operator.Probe], Shift: uint32(p.bits)}
	return p.lane.Run(ctx, "mark", func(list *backend.List) error {
		return kernel.PartitionMark.Record(list, p.lane.Device(), config, p.units.Number, args)
	})
}

// newMarks makes bitmaps: of the probe side and, where that comes in one granule, of the build side too.
func (p *probing) newMarks(ctx context.Context) (err error) {
	want, m := &p.plan.Want, &p.marks
	if p.plan.Facts.Kept() {
		m.Sides, m.Of[operator.Build] = want.Sides(), p.partitioned.marks
		m.Of[operator.Probe], err = want.NewBitmap(ctx, p.lane, operator.Probe, p.probe.Rows)
		return err
	}
	*m, err = operator.NewMarks(ctx, p.partitioned.lane, p.units.Inputs, want)
	p.partitioned.marks = m.Of[operator.Build]
	if p.marksPairs(p.plan, &p.shape) {
		p.units.Marks = m
	}
	return err
}

// Finish puts the build rows with or without a partner.
func (j *partitioned) Finish(ctx context.Context, sink operator.Sink) error {
	if !j.plan.Want.Marks(operator.Build) || j.build.Rows == 0 {
		return nil
	}
	if j.narrow { // no granule may have had rows
		if err := j.fetch(ctx, new(backend.List)); err != nil {
			return err
		}
	}
	return j.rows(ctx, sink, &j.build, operator.Build, j.marks)
}

// rows puts the rows of a side that are wanted for themselves; without marks none has a partner.
func (j *partitioned) rows(ctx context.Context, sink operator.Sink, in *input, side int, marks backend.Range) error {
	want := &j.plan.Want
	if marks.Buffer == nil {
		var err error
		if marks, err = want.NewBitmap(ctx, in.Lane, side, in.Rows); err != nil {
			return err
		}
	}
	moved := in.starts.Buffer != nil && j.bits > 0
	r := operator.Rows{Input: &in.Input, Side: side, Marks: marks,
		Untransformed: moved && j.Untransformed,
		Move:          func(ctx context.Context) error { return j.move(ctx, in, backend.Range{}) },
	}
	if moved && j.narrow {
		r.Unmix = j.unmix
	} else if moved {
		r.Mixed, r.Seed = true, partitionSeed
	}
	return r.WriteWanted(ctx, sink, want)
}

// Rewind forgets which rows of the build side have a partner.
func (j *partitioned) Rewind(ctx context.Context) error {
	return operator.ClearBitmap(ctx, j.lane, j.marks)
}
