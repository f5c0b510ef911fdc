package operator

import (
	"cmp"
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
)

// Rows outputs the rows of one side that have a partner, or have none, according to a bitmap in its transformed order:
// bit i%32 of word i/32 stands for row i.
type Rows struct {
	Input *Input
	Side  int // of the input: Build or Probe
	Marks backend.Range
	// Untransformed says that payload is gathered from the columns of the chunk by IDs, or by position without these.
	Untransformed bool
	// Move moves the next payload columns.
	Move func(ctx context.Context) error
	// Seed is the seed with which moved keys were mixed ([kernel.Mix]), if Mixed is set.
	Mixed bool
	Seed  uint32
	// Unmix converts moved keys back to keys of the chunk if moved keys are also narrower; nil if they are not.
	Unmix func(list *backend.List, keys, to backend.Range, rows uint64) error

	keys bool // rows have a key column
}

// WriteWanted outputs, or only counts, the wanted rows of the side.
func (r *Rows) WriteWanted(ctx context.Context, sink Sink, want *Want) error {
	for i, wanted := range [2]bool{want.Matched[r.Side], want.Rest[r.Side]} {
		matched := i == 0
		if !wanted {
			continue
		}
		rows, err := r.Count(ctx, matched)
		if err == nil {
			err = sink.Count(ctx, rows)
		}
		if err == nil && !want.Count && rows > 0 {
			r.keys = want.Keys
			err = r.write(ctx, sink, rows, matched)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// blockRows divides the first row of every part of an input, so that the ranges of all columns and bitmaps are aligned.
const blockRows = 8 * backend.PlanAlignment

// Count returns how many rows have a partner or, with matched false, how many have none.
func (r *Rows) Count(ctx context.Context, matched bool) (rows uint64, err error) {
	if r.Input.Rows == 0 {
		return 0, nil
	}
	temporary := r.Input.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	lane := r.Input.Lane
	p, err := primitive.PlanCountBits(lane.Tuning(), r.Input.Rows)
	if err != nil {
		return 0, err
	}
	p.Inverted = !matched
	scratch := temporary.New(p.ScratchBytes, "scratch")
	if err := temporary.Err(); err != nil {
		return 0, err
	}
	list := lane.List("count " + r.Input.Name)
	if err := lane.CountBits(list, p, r.Marks, scratch.All()); err != nil {
		return 0, err
	}
	return lane.FetchNumber(ctx, list, scratch.Range(p.CountOffset, 8))
}

// write outputs the rows that have a partner, or those that have none, by compaction of their columns: in one window
// or, if the sink has no room for all of them, part by part of the input.
func (r *Rows) write(ctx context.Context, sink Sink, total uint64, matched bool) error {
	in := r.Input
	if !r.Untransformed {
		if err := in.MoveAll(func() error { return r.Move(ctx) }); err != nil {
			return err
		}
	}
	w, err := sink.Window(ctx, total)
	if err != nil {
		return err
	}
	if w.Rows >= total {
		return r.part(ctx, sink, w, 0, in.Rows, total, matched)
	}
	for first := uint64(0); first < in.Rows; {
		rows := in.Rows - first
		if w.Rows < rows {
			rows = w.Rows / blockRows * blockRows
		}
		if rows == 0 {
			w.Release()
			return &backend.OpError{Op: "write rows of one side", Err: backend.ErrDeviceMemory,
				Detail: "there is not even room for 2,048 rows; raise device_memory"}
		}
		if err := r.part(ctx, sink, w, first, rows, 0, matched); err != nil {
			return err
		}
		if first += rows; first < in.Rows {
			if w, err = sink.Window(ctx, min(total, in.Rows-first)); err != nil {
				return err
			}
		}
	}
	return nil
}

// part writes the wanted rows among rows rows of the input, from row first on, into a window, and puts it unless it is
// empty. The window has room for all of them. kept is their number, 0 if it is not known.
func (r *Rows) part(ctx context.Context, sink Sink, w *Window, first, rows, kept uint64, matched bool) error {
	kept, err := r.fill(ctx, w, first, rows, kept, matched)
	if err != nil || kept == 0 {
		w.Release()
		return err
	}
	return w.put(ctx, sink, kept)
}

// fill fills the columns of a window, and returns the number of its rows, which is known or found out.
func (r *Rows) fill(ctx context.Context, w *Window, first, rows, known uint64, matched bool) (kept uint64, err error) {
	in := r.Input
	lane := in.Lane
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	p, err := primitive.PlanCompact(lane.Tuning(), rows)
	if err != nil {
		return 0, err
	}
	p.Inverted = !matched
	scratch := temporary.New(p.ScratchBytes, "scratch")
	if err := temporary.Err(); err != nil {
		return 0, err
	}
	bits := r.Marks.Part(first/32*4, (rows+31)/32*4)
	list := lane.List("compact " + in.Name)
	if err := lane.CompactOffsets(list, p, bits, scratch.All()); err != nil {
		return 0, err
	}
	if kept = known; known == 0 {
		if kept, err = lane.FetchNumber(ctx, list, scratch.Range(p.CountOffset, 8)); err != nil || kept == 0 {
			return 0, err
		}
		list = lane.List("compact " + in.Name)
	}
	part := func(column backend.Range, bytes int) backend.Range {
		return column.Part(first*uint64(bytes), rows*uint64(bytes))
	}
	compact := func(bytes int, from backend.Range, to *backend.Buffer) error {
		return lane.Compact(list, p, bytes, bits, part(from, bytes), to.All(), scratch.All())
	}
	w.clear()
	w.Of, w.Matched = [2]bool{}, matched
	w.Of[r.Side] = true
	if r.keys {
		w.Keys = w.column(kept, in.Keys.Bytes, "output keys")
		keys, bytes := w.Keys, in.MovedKeyBytes()
		if r.Unmix != nil {
			keys = temporary.New(kept*uint64(bytes), "keys, transformed")
		}
		if err := cmp.Or(w.memory.Err(), temporary.Err()); err != nil {
			return 0, err
		}
		if r.Mixed {
			err = lane.CompactMixed(list, p, bytes, r.Seed, bits, part(in.Ordered, bytes), keys.All(), scratch.All())
		} else {
			err = compact(bytes, in.Ordered, keys)
		}
		if err == nil && r.Unmix != nil {
			err = r.Unmix(list, keys.All(), w.Keys.All(), kept)
		}
		if err != nil {
			return 0, err
		}
	}
	if err := r.payload(list, w, temporary, kept, compact); err != nil {
		return 0, err
	}
	return kept, lane.Submit(ctx, list)
}

// payload records what fills the payload columns of a window with kept rows. compact takes the wanted rows of a column.
func (r *Rows) payload(list *backend.List, w *Window, temporary *exec.Scope, kept uint64,
	compact func(bytes int, from backend.Range, to *backend.Buffer) error) (err error) {
	in := r.Input
	out := make([]*backend.Buffer, len(in.Payload))
	w.Payload[r.Side] = out
	var ids *backend.Buffer
	for c, column := range in.Payload {
		out[c] = w.column(kept, column.Bytes, "output "+in.Name)
		if r.Untransformed && in.IDs.Buffer != nil && ids == nil {
			ids = temporary.New(kept*4, "output row numbers, "+in.Name)
			if err := cmp.Or(w.memory.Err(), temporary.Err()); err != nil {
				return err
			}
			if err := compact(4, in.IDs, ids); err != nil {
				return err
			}
		}
		if err := w.memory.Err(); err != nil {
			return err
		}
		switch {
		case ids != nil:
			err = in.Lane.Gather(list, column.Bytes, column.Data, ids.All(), out[c].All(), uint32(kept))
		case r.Untransformed:
			err = compact(column.Bytes, column.Data, out[c])
		default:
			err = compact(column.Bytes, in.Moved[c], out[c])
		}
		if err != nil {
			return err
		}
	}
	return nil
}
