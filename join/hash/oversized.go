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

// span is the rows from first to end-1 of a partitioned side.
type span struct{ first, end uint64 }

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
	for side, in := range p.inputs() {
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
	rows := &peeledRows{probing: p, lane: lane, sink: sink}
	defer func() { rows.out.Release() }()
	if err := o.Build(ctx, chunks[operator.Build]); err != nil {
		return err
	}
	return o.Probe(ctx, lane, chunks[operator.Probe], rows)
}

func (p *probing) inputs() [2]*operator.Input { return p.units.Inputs }

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
	return ranges.Mark(ctx, lane, sorted[operator.Build], sorted[operator.Probe], p.marks[operator.Build],
		p.marks[operator.Probe])
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

// oversizedRows copies the keys of the oversized partitions as they are, with their places among all rows as payload.
func (p *probing) oversizedRows(ctx context.Context, lane *exec.Lane) (chunks [2]*relation.Chunk, err error) {
	spans, err := p.oversizedSpans(ctx)
	if err != nil {
		return chunks, err
	}
	for side, in := range p.inputs() {
		rows := uint64(0)
		for _, s := range spans[side] {
			rows += s.end - s.first
		}
		width := in.MovedKeyBytes()
		keys, ids := lane.Memory.New(rows*uint64(width), "oversized keys"), lane.Memory.New(rows*4, "oversized rows")
		if err := lane.Memory.Err(); err != nil {
			return chunks, err
		}
		chunks[side] = &relation.Chunk{Rows: rows, Keys: relation.Values{Data: keys.All(), Bytes: width},
			Payload: []relation.Values{{Data: ids.All(), Bytes: 4}}}
		if err := loadSpans(ctx, lane, in, spans[side], keys.All(), ids.All()); err != nil {
			return chunks, err
		}
	}
	return chunks, nil
}

// oversizedSpans reads where partitions begin and lists those that have no units on both sides.
func (p *probing) oversizedSpans(ctx context.Context) (spans [2][]span, err error) {
	most := uint32(mostRanges)
	if p.force.ranges > 0 {
		most = p.force.ranges
	}
	if p.oversized > most {
		p.units.Number = 0
		return [2][]span{{{0, p.build.Rows}}, {{0, p.probe.Rows}}}, nil
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
				spans[side] = append(spans[side], span{uint64(starts[side][i]), uint64(starts[side][i+1])})
			}
		}
	}
	return spans, nil
}

// loadSpans copies the keys of spans, and makes the numbers of their rows.
func loadSpans(ctx context.Context, lane *exec.Lane, in *operator.Input, spans []span, keys, ids backend.Range) error {
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	numbers := temporary.New(in.Rows*4, "row numbers")
	if err := temporary.Err(); err != nil {
		return err
	}
	list := lane.List("peel")
	if err := lane.Iota(list, numbers.All(), in.Rows, 0); err != nil {
		return err
	}
	width, at := uint64(in.MovedKeyBytes()), uint64(0)
	for _, s := range spans {
		rows := s.end - s.first
		if err := lane.Copy(list, part(keys, at*width, rows*width), part(in.Ordered, s.first*width,
			rows*width)); err != nil {
			return err
		}
		if err := lane.Copy(list, part(ids, at*4, rows*4), numbers.Range(s.first*4, rows*4)); err != nil {
			return err
		}
		at += rows
	}
	return lane.Submit(ctx, list)
}

func part(r backend.Range, offsetBytes, sizeBytes uint64) backend.Range {
	return backend.Range{Buffer: r.Buffer, OffsetBytes: r.OffsetBytes + offsetBytes, SizeBytes: sizeBytes}
}

// peeledRows is the sink of the join of peeled rows: of pairs of places it makes rows of the join.
type peeledRows struct {
	*probing
	lane *exec.Lane
	sink operator.Sink
	out  *operator.Window // for the window that is being filled
}

// Count passes the number on.
func (r *peeledRows) Count(ctx context.Context, rows uint64) error { return r.sink.Count(ctx, rows) }

// Window has as much room as the sink gives or, where that has little, half of it: pairs of places take memory too.
func (r *peeledRows) Window(ctx context.Context, rows uint64) (_ *operator.Window, err error) {
	r.out.Release()
	if r.out, err = r.sink.Window(ctx, rows); err != nil {
		return nil, err
	}
	if r.out.Rows < rows {
		rows = max(1, r.out.Rows/2)
	}
	return operator.NewWindow(ctx, r.lane, rows), nil
}

// Put gathers all columns of the rows by the places.
func (r *peeledRows) Put(ctx context.Context, w *operator.Window) error {
	defer w.Release()
	pairs := operator.Pairs{Lane: r.lane, Keys: r.plan.Want.Keys, KeyBytes: r.build.Chunk.Keys.Bytes}
	numbered := [2]bool{} // sides whose rows are told by the row numbers of their chunk
	for side, in := range r.inputs() {
		pairs.Chunks[side] = in.Chunk
		if numbered[side] = r.units.Untransformed && in.IDs.Buffer != nil; numbered[side] {
			continue
		}
		moved := relation.Chunk{Keys: relation.Values{Data: in.Ordered, Bytes: in.MovedKeyBytes()}}
		for i, column := range in.Payload {
			moved.Payload = append(moved.Payload, relation.Values{Data: in.Moved[i], Bytes: column.Bytes})
		}
		pairs.Chunks[side] = &moved
	}
	if r.bits > 0 && !numbered[operator.Probe] {
		pairs.Unmix = r.unmix
	}
	out := r.out
	r.out = nil
	return pairs.Write(ctx, r.sink, out, w.Rows, func(list *backend.List, build, probe backend.Range) error {
		for side, to := range [2]backend.Range{build, probe} {
			places := w.Payload[side][0].Range(0, w.Rows*4)
			if !numbered[side] {
				list.Copy(to, places)
			} else if err := r.lane.Gather(list, 4, r.inputs()[side].IDs, places, to, uint32(w.Rows)); err != nil {
				return err
			}
		}
		return nil
	})
}
