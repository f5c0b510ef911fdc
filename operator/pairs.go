package operator

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

var sideNames = [2]string{Build: "build", Probe: "probe"}

// Pairs turns pairs of row numbers into output rows: keys and payload are gathered from the columns of the chunks
// (gather from untransformed relations, GFUR; GFTR, section 2.4).
type Pairs struct {
	Lane   *exec.Lane
	Chunks [2]*relation.Chunk // build and probe
	Keys   bool               // rows have a key column
	// Unmix converts keys of the chunks to output keys of KeyBytes; nil if they are the same.
	Unmix    func(list *backend.List, keys, to backend.Range, rows uint64) error
	KeyBytes int
}

// Write fills a window with rows pairs, no more than its capacity, and puts it. record records commands that write the
// row numbers of both sides. On failure, the window is released.
func (p *Pairs) Write(ctx context.Context, sink Sink, w *Window, rows uint64,
	record func(list *backend.List, build, probe backend.Range) error) error {
	err := p.fill(ctx, w, rows, record)
	if err != nil {
		w.Release()
		return err
	}
	return w.put(ctx, sink, rows)
}

func (p *Pairs) fill(ctx context.Context, w *Window, rows uint64,
	record func(list *backend.List, build, probe backend.Range) error) error {
	w.clear()
	w.Of, w.Matched = [2]bool{true, true}, true
	temporary := p.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	var ids [2]backend.Range
	for side, name := range sideNames {
		ids[side] = temporary.New(rows*4, "output row numbers, "+name).All()
	}
	if err := temporary.Err(); err != nil {
		return err
	}
	list := p.Lane.List("expand")
	if err := record(list, ids[Build], ids[Probe]); err != nil {
		return err
	}
	if err := p.Lane.Submit(ctx, list); err != nil {
		return err
	}
	list = p.Lane.List("gather")
	column := func(from relation.Values, ids backend.Range, name string) (*backend.Buffer, error) {
		out := w.column(rows, from.Bytes, "output "+name)
		if err := w.memory.Err(); err != nil {
			return nil, err
		}
		return out, p.Lane.Gather(list, from.Bytes, from.Data, ids, out.All(), uint32(rows))
	}
	var err error
	if p.Keys {
		side := p.keySide()
		if w.Keys, err = column(p.Chunks[side].Keys, ids[side], "keys"); err != nil {
			return err
		}
	}
	if p.Keys && p.Unmix != nil {
		mixed := w.Keys
		w.memory.Move(temporary, mixed)
		w.Keys = w.column(rows, p.KeyBytes, "output keys")
		if err := w.memory.Err(); err != nil {
			return err
		}
		if err := p.Unmix(list, mixed.All(), w.Keys.All(), rows); err != nil {
			return err
		}
	}
	for side, name := range sideNames {
		w.Payload[side] = make([]*backend.Buffer, len(p.Chunks[side].Payload))
		for c, from := range p.Chunks[side].Payload {
			if w.Payload[side][c], err = column(from, ids[side], name); err != nil {
				return err
			}
		}
	}
	return p.Lane.Submit(ctx, list)
}

// keySide is the side whose keys are gathered: the one with fewer rows, of which caches hold more.
func (p *Pairs) keySide() int {
	if p.Chunks[Build].Rows <= p.Chunks[Probe].Rows {
		return Build
	}
	return Probe
}
