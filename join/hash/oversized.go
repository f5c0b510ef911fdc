package hash

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// mostRanges is the number of oversized partitions beyond which all rows are joined anew instead of theirs.
const mostRanges = 256

// peel joins the rows of the oversized partitions, all together. Keys that collide are told apart by a partition with a
// fresh seed. What is too much for units then too, because a key is hot or because keys were made to collide again, is
// sorted: that minds neither, and pairs are expanded with the work divided by output, so that one hot key occupies the
// whole device. What is only counted is sorted at once.
func (p *probing) peel(ctx context.Context, sink operator.Sink) error {
	lane := p.lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	chunks, err := p.oversizedRows(ctx, lane)
	if err != nil {
		return err
	}
	if p.plan.Want.Count {
		sorted, err := sortBoth(ctx, lane, chunks, true)
		if err != nil {
			return err
		}
		m, err := ranges.Search(ctx, lane, sorted[operator.Build], sorted[operator.Probe], true)
		if err != nil {
			return err
		}
		return sink.Count(ctx, m.Total)
	}
	for side, in := range p.units.Inputs {
		if !p.units.Untransformed {
			if err := in.MoveAll(func() error { return p.units.Move(ctx, side) }); err != nil {
				return err
			}
		}
	}
	o, err := p.nested(ctx, lane, chunks)
	if err != nil {
		return err
	}
	defer o.Close()
	rows := p.places(lane, sink)
	defer rows.Release()
	if err := o.Build(ctx, chunks[operator.Build]); err != nil {
		return err
	}
	return o.Probe(ctx, lane, chunks[operator.Probe], rows)
}

// nested is the join of peeled rows.
func (p *probing) nested(ctx context.Context, lane *exec.Lane, chunks [2]*relation.Chunk) (operator.Operator, error) {
	want := operator.Want{Pairs: true}
	if p.round+1 == len(seeds) {
		return ranges.Open(ctx, lane, want), nil
	}
	a := Partitioned{CountFirst: p.CountFirst, round: p.round + 1, force: p.force}
	f := p.plan.Facts
	f.KeyBytes, f.KeyBits, f.Narrow, f.Granule = p.build.MovedKeyBytes(), 0, false, 0
	for side, c := range chunks {
		f.Rows[side], f.Payload[side] = c.Rows, []int{4}
	}
	f.OutputRows, f.MostRows = f.Rows[operator.Probe], 0
	plan, err := a.Plan(&f, want)
	if err != nil {
		return nil, err
	}
	return a.Open(ctx, lane, plan), nil
}

// markPeeled marks the rows of the oversized partitions that have a partner.
func (p *probing) markPeeled(ctx context.Context) error {
	lane := p.lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	chunks, err := p.oversizedRows(ctx, lane)
	if err != nil {
		return err
	}
	sorted, err := sortBoth(ctx, lane, chunks, false)
	if err != nil {
		return err
	}
	return ranges.Mark(ctx, lane, sorted, p.marks.Of)
}

// sortBoth sorts peeled rows by key, alone or with what their payload says: where they are among the partitions.
func sortBoth(ctx context.Context, lane *exec.Lane, chunks [2]*relation.Chunk, alone bool) (sorted [2]*ranges.Sorted,
	err error) {
	for side, c := range chunks {
		numbers := ranges.Numbers{None: alone}
		if !alone {
			numbers.Given = c.Payload[0].Data
		}
		if sorted[side], err = ranges.Sort(ctx, lane, c, "oversized", numbers); err != nil {
			return sorted, err
		}
	}
	return sorted, nil
}

// oversizedRows are the rows of the oversized partitions of both sides, with their places among all.
func (p *probing) oversizedRows(ctx context.Context, lane *exec.Lane) (chunks [2]*relation.Chunk, err error) {
	spans, err := p.oversizedSpans(ctx)
	for side, in := range p.units.Inputs {
		if err == nil {
			chunks[side], err = ranges.Extract(ctx, lane, in, spans[side])
		}
	}
	return chunks, err
}

// oversizedSpans reads where partitions begin and lists those that have no units on both sides.
func (p *probing) oversizedSpans(ctx context.Context) (spans [2][]ranges.Span, err error) {
	most := uint32(mostRanges)
	if p.force.ranges > 0 {
		most = p.force.ranges
	}
	if p.oversized > most {
		p.units.Number = 0
		return [2][]ranges.Span{{{End: p.build.Rows}}, {{End: p.probe.Rows}}}, nil
	}
	var starts [2][]uint32
	for side, at := range [2]backend.Range{p.build.starts, p.probe.starts} {
		starts[side] = make([]uint32, 1<<p.bits+1)
		if err := p.lane.Download(ctx, backend.AsBytes(starts[side]), at); err != nil {
			return spans, err
		}
	}
	build, probe := starts[operator.Build], starts[operator.Probe]
	for i := range 1 << p.bits {
		if build[i+1]-build[i] > p.oversizedBuild() && probe[i+1] > probe[i] {
			for side := range spans {
				spans[side] = append(spans[side], ranges.Span{First: uint64(starts[side][i]), End: uint64(starts[side][i+1])})
			}
		}
	}
	return spans, nil
}

// places is a sink for pairs of places among the rows of both sides.
func (p *probing) places(lane *exec.Lane, sink operator.Sink) *operator.Places {
	places := &operator.Places{Lane: lane, Inputs: p.units.Inputs, Keys: p.plan.Want.Keys, Sink: sink,
		Untransformed: p.units.Untransformed}
	if p.bits > 0 {
		places.Unmix = p.unmix
	}
	return places
}

// large joins a unit that makes more output than a window has room for.
func (p *probing) large(ctx context.Context, unit uint32, sink operator.Sink) error {
	places := p.places(p.lane, sink)
	places.Counted = true
	return ranges.JoinUnit(ctx, p.lane, p.unitTable.Range(uint64(unit)*16, 16), operator.Build, places)
}
