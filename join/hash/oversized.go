package hash

import (
	"context"
	"iter"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// What is too much for units, because a key of the build side is hot or because keys collide, is peeled: the rows of
// oversized partitions are sorted, which minds neither, and their pairs are expanded with the work divided by output, so
// that one hot key occupies the whole device. As many rows are peeled at a time as the plan has memory for.

// peel joins the rows of the oversized partitions.
func (p *probing) peel(ctx context.Context, sink operator.Sink) error {
	want := &p.plan.Want
	if !want.Count && !p.units.Untransformed {
		for side, in := range p.units.Inputs {
			if err := in.MoveAll(func() error { return p.units.Move(ctx, side) }); err != nil {
				return err
			}
		}
	}
	spans, err := p.oversizedSpans(ctx)
	if err != nil {
		return err
	}
	return p.eachPeeled(ctx, spans, func(lane *exec.Lane, chunks [2]*relation.Chunk) error {
		return ranges.Join(ctx, lane, chunks, want.Count, p.places(lane, sink))
	})
}

// markPeeled marks the rows of the oversized partitions that have a partner.
func (p *probing) markPeeled(ctx context.Context) error {
	spans, err := p.oversizedSpans(ctx)
	if err != nil {
		return err
	}
	return p.eachPeeled(ctx, spans, func(lane *exec.Lane, chunks [2]*relation.Chunk) error {
		return markSorted(ctx, lane, chunks, p.marks.Of)
	})
}

// markSorted marks the rows of two chunks that have a partner, by sorting both. The payload of a row is the number of
// its bit.
func markSorted(ctx context.Context, lane *exec.Lane, chunks [2]*relation.Chunk, marks [2]backend.Range) error {
	var sorted [2]*ranges.Sorted
	for side, c := range chunks {
		var err error
		numbers := ranges.Numbers{Given: c.Payload[0].Data}
		if sorted[side], err = ranges.Sort(ctx, lane, c, "oversized", numbers); err != nil {
			return err
		}
	}
	return ranges.Mark(ctx, lane, sorted, marks)
}

// eachPeeled has join go through the rows of pairs of spans, chunks of keys with their places among all rows as payload.
func (p *probing) eachPeeled(ctx context.Context, spans [][2]ranges.Span,
	join func(*exec.Lane, [2]*relation.Chunk) error) error {
	var all [2]uint64
	for _, pair := range spans {
		for side, s := range pair {
			all[side] += s.End - s.First
		}
	}
	most, err := atOnce(p.lane, p.plan, p.build.MovedKeyBytes(), all, p.peelRows(&p.plan.Facts))
	if err != nil {
		return err
	}
	for some := range together(spans, most) {
		if err := p.peelSome(ctx, some, join); err != nil {
			return err
		}
	}
	return nil
}

func (p *probing) peelSome(ctx context.Context, spans [2][]ranges.Span,
	join func(*exec.Lane, [2]*relation.Chunk) error) (err error) {
	lane := p.lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	var chunks [2]*relation.Chunk
	for side, in := range p.units.Inputs {
		if chunks[side], err = ranges.Extract(ctx, lane, in, spans[side]); err != nil {
			return err
		}
	}
	return join(lane, chunks)
}

// atOnce is how many of all rows of either side are sorted at a time: all, or half of them and so on, for as much memory
// as is free beside a window, but at least as many as the plan has memory for.
func atOnce(lane *exec.Lane, p *operator.Plan, keyBytes int, all, planned [2]uint64) (rows [2]uint64, err error) {
	for unused := uint64(0); ; all = [2]uint64{all[0] / 2, all[1] / 2} {
		rows = [2]uint64{max(all[0], planned[0]), max(all[1], planned[1])}
		if rows == planned {
			return rows, nil
		}
		need, err := ranges.UnitBytes(lane.Tuning(), keyBytes, rows)
		if err != nil {
			return rows, err
		}
		if p.Want.Pairs && !p.Want.Count {
			need += p.Facts.Room() * operator.PlacesBytes(&p.Facts, &p.Want)
		}
		need += operator.Slack(need)
		if unused == 0 {
			unused = lane.Memory.Reserve(need)
		}
		if need <= unused {
			return rows, nil
		}
	}
}

// mostSpans is how many partitions are peeled together: each takes copies of its own.
const mostSpans = 256

// together yields spans of both sides, paired by index. It groups pairs while their spans have at most most rows of
// each side together. Longer spans are cut, and every piece of one side is paired with every piece of the other. All
// pieces but the last are full, so that no two pairs of a group share a key.
func together(pairs [][2]ranges.Span, most [2]uint64) iter.Seq[[2][]ranges.Span] {
	return func(yield func([2][]ranges.Span) bool) {
		var some [2][]ranges.Span
		var rows [2]uint64
		for _, pair := range pairs {
			for build := range pieces(pair[operator.Build], most[operator.Build]) {
				for probe := range pieces(pair[operator.Probe], most[operator.Probe]) {
					own := [2]uint64{build.End - build.First, probe.End - probe.First}
					full := rows[0]+own[0] > most[0] || rows[1]+own[1] > most[1] || len(some[0]) == mostSpans
					if full && len(some[0]) > 0 {
						if !yield(some) {
							return
						}
						some, rows = [2][]ranges.Span{}, [2]uint64{}
					}
					some = [2][]ranges.Span{append(some[0], build), append(some[1], probe)}
					rows = [2]uint64{rows[0] + own[0], rows[1] + own[1]}
				}
			}
		}
		if len(some[0]) > 0 {
			yield(some)
		}
	}
}

// pieces yields the pieces of a span, each of at most most rows.
func pieces(span ranges.Span, most uint64) iter.Seq[ranges.Span] {
	return func(yield func(ranges.Span) bool) {
		for first := span.First; first < span.End; first += most {
			if !yield(ranges.Span{First: first, End: min(first+most, span.End)}) {
				return
			}
		}
	}
}

// oversizedSpans reads where partitions begin. It lists the partitions that have rows on both sides and too many build
// rows for units, as pairs of spans.
func (p *probing) oversizedSpans(ctx context.Context) (spans [][2]ranges.Span, err error) {
	var starts [2][]uint32
	for side, at := range [2]backend.Range{p.build.starts, p.probe.starts} {
		starts[side] = make([]uint32, 1<<p.bits+1)
		if err := p.lane.Download(ctx, backend.AsBytes(starts[side]), at); err != nil {
			return nil, err
		}
	}
	for i := range 1 << p.bits {
		var pair [2]ranges.Span
		for side, starts := range starts {
			pair[side] = ranges.Span{First: uint64(starts[i]), End: uint64(starts[i+1])}
		}
		build, probe := pair[operator.Build], pair[operator.Probe]
		if build.End-build.First > uint64(p.oversizedBuild()) && probe.End > probe.First {
			spans = append(spans, pair)
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
	var rows [4]uint32 // first and end row of the build side, then of the probe side
	if err := p.lane.Download(ctx, backend.AsBytes(rows[:]), p.unitTable.Range(uint64(unit)*16, 16)); err != nil {
		return err
	}
	spans := [2]ranges.Span{{First: uint64(rows[0]), End: uint64(rows[1])},
		{First: uint64(rows[2]), End: uint64(rows[3])}}
	return p.eachPeeled(ctx, [][2]ranges.Span{spans}, func(lane *exec.Lane, chunks [2]*relation.Chunk) error {
		places := p.places(lane, sink)
		places.Counted = true
		return ranges.Join(ctx, lane, chunks, false, places)
	})
}
