package query

import (
	"context"
	"iter"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// granule is a range of rows of a portion on the device, or, without a chunk, the end of the portion.
type granule struct {
	of     *Portion
	rows   uint64 // at the end of a portion those that were skipped
	chunk  *relation.Chunk
	texts  *deliver.Texts // nil unless keys are compared on the device
	memory *exec.Scope
	moved  func()   // releases rows that came from other lanes; nil if none did
	end    *granule // the end of the portion, which comes with its last granule: the next one is loaded meanwhile
}

// Release releases the chunk or, at the end of a portion, the part. Safe on nil.
func (g *granule) Release() {
	switch {
	case g == nil:
	case g.chunk != nil:
		g.memory.ReleaseAll()
		if g.moved != nil {
			g.moved()
		}
		g.end.Release()
	default:
		g.of.release()
	}
}

// release releases the part, if the portion is one.
func (p *Portion) release() {
	if p.Part != nil {
		p.Part.Release()
	}
}

// Probe runs the operator with all portions that the source gives, granule by granule. Rows of a part without a key are
// output with the part, so that they are in its order.
func (l *Lane) Probe(ctx context.Context) error {
	l.joining = &exec.Lane{Ops: l.built.lane.Ops, Memory: l.built.lane.Scope(l.flow.Context()), Profile: l.profile}
	l.out = l.output()
	if err := l.result.checked(); err != nil {
		return err
	}
	if l.kept && !l.Query.Parts { // otherwise build has proved it, or there is nothing to prove
		if err := l.built.prove(ctx, l.Query, l.joining, l.taken.Scans[operator.Probe]); err != nil {
			return err
		}
	}
	var at *Portion
	for g, err := range l.granulesOf(ctx) {
		if err != nil {
			return err
		}
		if at != g.of && g.of.Part != nil {
			l.out.turn(g.of)
		}
		at = g.of
		if err := l.withEnd(ctx, g); err != nil {
			if l.separate() { // this ends the wait for a part to load, which may not come before the error is known
				l.flow.Fail(err)
			}
			return err
		}
	}
	if l.Query.Parts {
		l.out.turn(&Portion{Join: l.taken.Join})
	}
	return nil
}

// probeNothing probes with a granule without rows, which is none of the parts'.
func (l *Lane) probeNothing(ctx context.Context) error {
	nothing := &Portion{Join: l.taken.Join, Delivery: deliver.NewDelivery(func() {})}
	g, err := l.load(ctx, l.joining, nothing, 0, 0)
	if err != nil {
		return err
	}
	if l.Query.Parts {
		defer l.result.granules.Add(^uint64(0))
		defer l.begun.Add(^uint64(0))
	}
	return l.granule(ctx, g)
}

// granulesOf yields the granules of the probe side, which the receiver releases. With Facts.Ahead, the next one is
// loaded while the receiver has one.
func (l *Lane) granulesOf(ctx context.Context) iter.Seq2[*granule, error] {
	if !l.taken.Facts.Ahead {
		return l.loaded(ctx, l.joining)
	}
	lane := l.joining.On(ctx, backend.Ingest)
	return exec.Ahead(exec.FlowOf(ctx), "load", func(ctx context.Context) iter.Seq2[*granule, error] {
		return l.loaded(ctx, lane)
	})
}

// loaded loads granule after granule. It skips granules of parts in which no row has a key that could match.
func (l *Lane) loaded(ctx context.Context, lane *exec.Lane) iter.Seq2[*granule, error] {
	return func(yield func(*granule, error) bool) {
		for p, err := range l.portions(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !l.loadPortion(ctx, lane, p, yield) {
				return
			}
		}
	}
}

// loadPortion yields the granules of a portion, and its end.
func (l *Lane) loadPortion(ctx context.Context, lane *exec.Lane, p *Portion, yield func(*granule, error) bool) (
	more bool) {
	loads, skipped := l.Rows.Loads(p, &l.taken.Facts)
	end := &granule{of: p, rows: skipped}
	defer func() { end.Release() }()
	for i, rows := range loads {
		g, err := l.load(ctx, lane, p, rows[0], rows[1])
		if err == nil {
			g, err = l.exchange(ctx, lane, g)
		}
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
func (l *Lane) portions(ctx context.Context) iter.Seq2[*Portion, error] {
	return func(yield func(*Portion, error) bool) {
		for {
			p, err := l.Source(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			switch {
			case p == nil:
				return
			case l.Query.Empty != "":
				p.release()
				p.Delivery.End()
			case !yield(p, nil):
				return
			}
		}
	}
}

// load loads the rows [from, to) of a portion.
func (l *Lane) load(ctx context.Context, lane *exec.Lane, p *Portion, from, to int) (
	loaded *granule, err error) {
	g, s := &granule{of: p, rows: uint64(to - from), memory: lane.Scope(ctx)}, p.Scans[operator.Probe]
	defer exec.Begin(ctx, "load granule").Rows(g.rows).End()
	defer func() {
		if loaded == nil { // after a panic too
			g.memory.ReleaseAll()
		}
	}()
	g.chunk, err = timed(&l.result.encode, func() (_ *relation.Chunk, err error) {
		if g.texts, err = l.probeTexts(ctx, lane, g.memory, s, from, to); err != nil {
			return nil, err
		}
		return s.load(ctx, lane, g.memory, from, to, g.texts)
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

// exchange replaces the rows of a granule by the ones that the lane joins for them.
func (l *Lane) exchange(ctx context.Context, lane *exec.Lane, g *granule) (*granule, error) {
	joined, release, err := l.Rows.Exchange(ctx, lane, g.chunk)
	if err != nil {
		g.memory.ReleaseAll()
		return nil, err
	}
	if joined != g.chunk {
		g.memory.ReleaseAll()
		g.chunk, g.moved = joined, release
	}
	return g, nil
}

// withEnd does what granule does, and then the same with the end of the portion, if it came with the granule.
func (l *Lane) withEnd(ctx context.Context, g *granule) error {
	end := g.end
	g.end = nil
	defer func() { end.Release() }()
	if err := l.granule(ctx, g); err != nil || end == nil {
		return err
	}
	last := end
	end = nil
	return l.granule(ctx, last)
}

// granule probes with a granule, and releases it. At the end of a part, it outputs the rows that the operator does not.
func (l *Lane) granule(ctx context.Context, g *granule) (err error) {
	out, delivery := l.out, g.of.Delivery
	defer g.Release()
	l.Query.Progress.Join()
	defer func() {
		if err == nil {
			l.Query.Progress.Joined(g.rows, l.result.Rows())
			delivery.Joined.Add(g.rows)
		}
	}()
	if g.chunk == nil {
		switch {
		case g.of.Part == nil:
			return nil
		case !l.Leads && l.Query.Scattered: // all lanes have the part, and the first one outputs rows without a key
			return out.part(ctx)
		}
		if err := l.alone(ctx, g.of.Scans[operator.Probe], operator.Probe); err != nil {
			return err
		}
		if err := out.part(ctx); err != nil {
			return err
		}
		delivery.End()
		return nil
	}
	if g.moved != nil && g.chunk.Rows == 0 {
		return nil
	}
	l.begun.Add(1)
	delivery.Granules.Add(1)
	l.result.granules.Add(1)
	defer exec.Begin(ctx, "join granule").Rows(g.rows).End()
	if out.filter != nil {
		out.filter.Texts = [2]*deliver.Texts{operator.Build: l.built.texts, operator.Probe: g.texts}
		defer func() { out.filter.Texts = [2]*deliver.Texts{} }() // they go with the granule
	}
	sink := out.pairs
	if len(l.result.lanes) == 1 { // otherwise only whole granules are reported
		sink = &advance{Sink: sink, result: l.result, tests: out.filter != nil, rows: g.rows, before: l.result.Rows()}
	}
	return l.pieces(g.chunk, func(c *relation.Chunk) error { return l.built.op.Probe(ctx, l.joining, c, sink) })
}

// pieceRows is a multiple of the rows at which the pieces of a granule begin, so that kernels can read them.
const pieceRows = backend.PlanAlignment / 4

// pieces yields a granule in pieces of at most the rows that the operator was planned for: a lane may receive more from
// others, if a key is frequent.
func (l *Lane) pieces(c *relation.Chunk, yield func(*relation.Chunk) error) error {
	most := max(l.taken.Facts.Held(operator.Probe)/pieceRows, 1) * pieceRows
	if !l.Query.Scattered || c.Rows <= most {
		return yield(c)
	}
	for from := uint64(0); from < c.Rows; from += most {
		rows := min(most, c.Rows-from)
		cut := func(v relation.Values) relation.Values {
			v.Data = v.Data.Part(from*uint64(v.Bytes), rows*uint64(v.Bytes))
			return v
		}
		piece := *c
		piece.Rows, piece.Keys, piece.Payload = rows, cut(c.Keys), nil
		for _, v := range c.Payload {
			piece.Payload = append(piece.Payload, cut(v))
		}
		if err := yield(&piece); err != nil {
			return err
		}
	}
	return nil
}
