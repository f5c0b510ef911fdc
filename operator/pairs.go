package operator

import (
	"cmp"
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
)

// Pairs are output rows that an algorithm knows as pairs of rows, and whose columns are all gathered.
type Pairs struct {
	Lane   *exec.Lane
	Inputs [2]*Input
	Keys   bool // rows have a key column
	// Untransformed says that payload is gathered from the columns of the chunks, by the row number that IDs have for a
	// row, or by the row itself where there are none. Otherwise rows are those of moved columns, of which all are moved.
	Untransformed bool
	// Unmix turns moved keys back into those of the chunks; nil where they are those.
	Unmix func(list *backend.List, keys, to backend.Range, rows uint64) error
}

// Put gathers the columns of rows pairs, which ids tells of each side, into a window, and hands it over.
func (p *Pairs) Put(ctx context.Context, sink Sink, w *Window, ids [2]backend.Range, rows uint64) (err error) {
	defer func() {
		if err != nil {
			w.Release()
		}
	}()
	temporary := p.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	w.clear()
	w.Of, w.Matched = [2]bool{true, true}, true
	list := p.Lane.List("gather pairs")
	if p.Keys {
		in := p.Inputs[Build]
		w.Keys = w.column(rows, in.Keys.Bytes, "output keys")
		keys := w.Keys
		if p.Unmix != nil {
			keys = temporary.New(rows*uint64(in.MovedKeyBytes()), "keys, transformed")
		}
		if err := cmp.Or(w.memory.Err(), temporary.Err()); err != nil {
			return err
		}
		from := in.Ordered
		if from.Buffer == nil {
			from = in.Chunk.Keys.Data
		}
		if err := p.Lane.Gather(list, in.MovedKeyBytes(), from, ids[Build], keys.All(), uint32(rows)); err != nil {
			return err
		}
		if p.Unmix != nil {
			if err := p.Unmix(list, keys.All(), w.Keys.All(), rows); err != nil {
				return err
			}
		}
	}
	for side, in := range p.Inputs {
		w.Payload[side] = make([]*backend.Buffer, len(in.Payload))
		at := ids[side]
		if p.Untransformed && in.IDs.Buffer != nil && len(in.Payload) > 0 {
			at = temporary.New(rows*4, "row numbers, "+in.Name).All()
			if err := temporary.Err(); err != nil {
				return err
			}
			if err := p.Lane.Gather(list, 4, in.IDs, ids[side], at, uint32(rows)); err != nil {
				return err
			}
		}
		for c, column := range in.Payload {
			from := in.Moved[c]
			if p.Untransformed {
				from = column.Data
			}
			out := w.column(rows, column.Bytes, "output "+in.Name)
			if err := w.memory.Err(); err != nil {
				return err
			}
			if err := p.Lane.Gather(list, column.Bytes, from, at, out.All(), uint32(rows)); err != nil {
				return err
			}
			w.Payload[side][c] = out
		}
	}
	if err := p.Lane.Submit(ctx, list); err != nil {
		return err
	}
	return w.put(ctx, sink, rows)
}
