package query

import (
	"context"
	"iter"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// portion is what is known of the probe side at a time: all of it or, if it comes part by part, a part.
type portion struct {
	*Join
	part     *Part             // nil if the portion is the whole probe side
	delivery *deliver.Delivery // of the part, among several devices; otherwise nil
}

// granule is a range of rows of a portion on the device, or, without a chunk, the end of the portion.
type granule struct {
	of     *portion
	rows   uint64 // at the end of a portion those that were skipped
	chunk  *relation.Chunk
	texts  *deliver.Texts // nil unless keys are compared on the device
	memory *exec.Scope
	// received has the rows of the chunk instead, where they came from other devices.
	received *peers.Received
	end      *granule // the end of the portion, which comes with its last granule: the next one is loaded meanwhile
}

// Release releases the chunk or, at the end of a portion, the part. Safe on nil.
func (g *granule) Release() {
	switch {
	case g == nil:
	case g.chunk != nil:
		g.memory.ReleaseAll()
		g.received.Release()
		g.end.Release()
	case g.of.part != nil:
		g.of.part.Release()
	}
}

// probe runs the operator with the probe side, or with the parts of it that the strand takes, granule by granule. Rows
// of a part without a key are output with the part, so that they are in its order.
func (r *strand) probe(ctx context.Context) error {
	r.joining = &exec.Lane{Ops: r.built.lane.Ops, Memory: r.built.lane.Scope(r.flow.Context()), Profile: r.profile}
	r.out = r.output()
	if err := r.checked(); err != nil {
		return err
	}
	if r.Result.built != nil && r.parts == nil { // otherwise build has proved it, or there is nothing to prove
		if err := r.built.prove(ctx, r.Query, r.joining, r.taken.Scans[operator.Probe]); err != nil {
			return err
		}
	}
	var at *portion
	for g, err := range r.granulesOf(ctx) {
		if err != nil {
			return err
		}
		if at != g.of && g.of.part != nil {
			r.out.turn(g.of)
		}
		at = g.of
		if err := r.withEnd(ctx, g); err != nil {
			if r.handout != nil { // this ends the wait for a part to load, which may not come before the error is known
				r.flow.Fail(err)
			}
			return err
		}
	}
	if r.parts != nil {
		r.out.turn(&portion{Join: r.taken.Join})
	}
	return nil
}

// probeNothing probes with a granule without rows, which is none of the parts'.
func (r *strand) probeNothing(ctx context.Context) error {
	g, err := r.load(ctx, r.joining, &portion{Join: r.taken.Join}, 0, 0)
	if err != nil {
		return err
	}
	if r.parts != nil {
		defer r.granules.Add(^uint64(0))
		defer r.begun.Add(^uint64(0))
	}
	return r.granule(ctx, g)
}

// granulesOf yields the granules of the probe side, which the receiver releases. With Facts.Ahead, the next one is
// loaded while the receiver has one.
func (r *strand) granulesOf(ctx context.Context) iter.Seq2[*granule, error] {
	if !r.taken.Facts.Ahead {
		return r.loaded(ctx, r.joining)
	}
	lane := r.joining.On(ctx, backend.Ingest)
	return exec.Ahead(exec.FlowOf(ctx), "load", func(ctx context.Context) iter.Seq2[*granule, error] {
		return r.loaded(ctx, lane)
	})
}

// loaded loads granule after granule. It skips granules of parts in which no row has a key that could match.
func (r *strand) loaded(ctx context.Context, lane *exec.Lane) iter.Seq2[*granule, error] {
	return func(yield func(*granule, error) bool) {
		for p, err := range r.portions(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !r.loadPortion(ctx, lane, p, yield) {
				return
			}
		}
	}
}

// loadPortion yields the granules of a portion, and its end.
func (r *strand) loadPortion(ctx context.Context, lane *exec.Lane, p *portion, yield func(*granule, error) bool) (
	more bool) {
	end := &granule{of: p}
	defer func() { end.Release() }()
	s, f := p.Scans[operator.Probe], &r.taken.Facts
	var loads [][2]int // ranges of rows
	var bounds []int
	if r.rank != nil {
		bounds = r.rank.all.bounds(int(s.Table.NumRows()))
	} else {
		bounds = s.granules(f.Granule, f.Brought(operator.Probe))
	}
	for i := range bounds[1:] {
		from, to := bounds[i], bounds[i+1]
		if r.rank != nil {
			from, to = r.rank.mine(from, to)
		} else if p.part != nil && s.Keys.RowsIn(s.Side, from, to) == 0 {
			end.rows += uint64(to - from)
			continue
		}
		loads = append(loads, [2]int{from, to})
	}
	for i, rows := range loads {
		g, err := r.load(ctx, lane, p, rows[0], rows[1])
		if err == nil && i == len(loads)-1 {
			g.end, end = end, nil
		}
		if !yield(g, err) || err != nil {
			return false
		}
	}
	if end == nil {
		return true
	}
	alone := end
	end = nil
	return yield(alone, nil)
}

// portions yields the portions of the probe side. The receiver releases their parts.
func (r *strand) portions(ctx context.Context) iter.Seq2[*portion, error] {
	return func(yield func(*portion, error) bool) {
		if r.parts == nil {
			if r.Query.Empty == "" {
				yield(&portion{Join: r.taken.Join}, nil)
			}
			return
		}
		for number := 0; ; number++ {
			part, delivery, err := r.part(ctx, number)
			if err != nil {
				yield(nil, err)
				return
			}
			if part == nil {
				return
			}
			if r.Query.Empty != "" {
				part.Release()
				delivery.End()
			} else if !yield(&portion{tree(part.Trees(r.Query.Engine), r.taken.Place), part, delivery}, nil) {
				return
			}
		}
	}
}

// part takes the next part, or the one with this number, of which all ranks join rows; nil after the last one.
func (r *strand) part(ctx context.Context, number int) (part *Part, delivery *deliver.Delivery, err error) {
	switch {
	case r.handout != nil:
		return r.handout.take(ctx, r)
	case r.rank != nil:
		part, err = r.rank.all.part(ctx, number)
	default:
		part, _, err = r.parts.Take(ctx)
	}
	if part != nil && (r.rank == nil || r == r.strands[0]) {
		r.probed.Add(uint64(part.Table.NumRows()))
	}
	return part, nil, err
}

// load loads the rows [from, to) of a portion.
func (r *strand) load(ctx context.Context, lane *exec.Lane, p *portion, from, to int) (
	loaded *granule, err error) {
	g, s := &granule{of: p, rows: uint64(to - from), memory: lane.Scope(ctx)}, p.Scans[operator.Probe]
	defer exec.Begin(ctx, "load granule").Rows(g.rows).End()
	defer func() {
		if loaded == nil { // after a panic too
			g.memory.ReleaseAll()
		}
	}()
	g.chunk, err = timed(&r.encode, func() (_ *relation.Chunk, err error) {
		if g.texts, err = r.probeTexts(ctx, lane, g.memory, s, from, to); err != nil {
			return nil, err
		}
		return s.load(ctx, lane, g.memory, from, to, g.texts)
	})
	if err == nil && r.rank != nil && p.part != nil {
		err = r.rank.exchange(ctx, lane, g)
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// withEnd does what granule does, and then the same with the end of the portion, if it came with the granule.
func (r *strand) withEnd(ctx context.Context, g *granule) error {
	end := g.end
	g.end = nil
	defer func() { end.Release() }()
	if err := r.granule(ctx, g); err != nil || end == nil {
		return err
	}
	last := end
	end = nil
	return r.granule(ctx, last)
}

// granule probes with a granule, and releases it. At the end of a part, it outputs the rows that the operator does not.
func (r *strand) granule(ctx context.Context, g *granule) (err error) {
	out := r.out
	defer g.Release()
	r.Query.Progress.Join()
	defer func() {
		if err == nil {
			r.Query.Progress.Joined(g.rows, r.Rows())
			if g.of.delivery != nil {
				g.of.delivery.Joined.Add(g.rows)
			}
		}
	}()
	if g.chunk == nil {
		if g.of.part == nil {
			return nil
		}
		if r.rank != nil && r != r.strands[0] { // the first one does it for all
			return nil
		}
		if err := r.alone(ctx, g.of.Scans[operator.Probe], operator.Probe); err != nil {
			return err
		}
		if err := out.part(ctx); err != nil {
			return err
		}
		g.of.delivery.End()
		return nil
	}
	if g.received != nil && g.chunk.Rows == 0 {
		return nil
	}
	r.begun.Add(1)
	if g.of.delivery == nil {
		r.brought.Add(g.rows)
	} else { // it may fail
		g.of.delivery.Granules.Add(1)
	}
	r.granules.Add(1)
	defer exec.Begin(ctx, "join granule").Rows(g.rows).End()
	if out.filter != nil {
		out.filter.Texts = [2]*deliver.Texts{operator.Build: r.built.texts, operator.Probe: g.texts}
		defer func() { out.filter.Texts = [2]*deliver.Texts{} }() // they go with the granule
	}
	sink := out.pairs
	if len(r.strands) == 1 { // otherwise only whole granules are reported
		sink = &advance{Sink: sink, result: r.Result, tests: out.filter != nil, rows: g.rows, before: r.Rows()}
	}
	return r.pieces(g.chunk, func(c *relation.Chunk) error { return r.built.op.Probe(ctx, r.joining, c, sink) })
}
