package operator

import (
	"context"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
)

// KeepBytes is the device memory that [Keep] takes in addition to the filtered window, for rows rows of rowBytes bytes
// at a time.
func KeepBytes(t primitive.Tuning, rows, rowBytes uint64) (sizeBytes uint64, err error) {
	p, err := primitive.PlanCompact(t, rows)
	return rows*rowBytes + rows/8 + p.ScratchBytes, err
}

// Keep copies the rows of a window whose bits are set, in their order, into windows of the sink. Bit i%64 of word i/64
// of keep stands for row i. payload lists the bytes per value of the columns. At most most rows of the window are read
// at a time, or fewer if the sink has no room. The window, which has no key column, remains the caller's.
//
// Errors: backend.ErrDeviceMemory if the sink has no room for 2,048 rows; errors of the sink; device errors.
func Keep(ctx context.Context, lane *exec.Lane, sink Sink, from *Window, payload [2][]int, keep []uint64,
	most uint64) error {
	for first := uint64(0); first < from.Rows; {
		rows := min(most, from.Rows-first)
		w, err := sink.Window(ctx, rows)
		if err != nil {
			return err
		}
		if w.Rows < rows {
			rows = w.Rows / blockRows * blockRows
		}
		if rows == 0 {
			w.Release()
			return &backend.OpError{Op: "filter rows", Err: backend.ErrDeviceMemory,
				Detail: "there is not even room for 2,048 rows; raise device_memory"}
		}
		words, kept := keep[first/64:][:(rows+63)/64], uint64(0)
		for _, word := range words {
			kept += uint64(bits.OnesCount64(word))
		}
		if kept == 0 {
			w.Release()
		} else if err := w.keep(ctx, lane, sink, from, payload, words, first, rows, kept); err != nil {
			return err
		}
		first += rows
	}
	return nil
}

// keep fills the window with the kept rows among rows rows of another one, from row first on, and puts it.
func (w *Window) keep(ctx context.Context, lane *exec.Lane, sink Sink, from *Window, payload [2][]int, words []uint64,
	first, rows, kept uint64) error {
	err := w.compact(ctx, lane, from, payload, words, first, rows, kept)
	if err != nil {
		w.Release()
		return err
	}
	return w.put(ctx, sink, kept)
}

func (w *Window) compact(ctx context.Context, lane *exec.Lane, from *Window, payload [2][]int, words []uint64,
	first, rows, kept uint64) error {
	w.clear()
	w.Of, w.Matched = from.Of, from.Matched
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	p, err := primitive.PlanCompact(lane.Tuning(), rows)
	if err != nil {
		return err
	}
	marks, scratch := temporary.New(uint64(len(words))*8, "rows that stay"), temporary.New(p.ScratchBytes, "scratch")
	if err := temporary.Err(); err != nil {
		return err
	}
	if _, err := lane.Device().Upload(ctx, marks.All(), backend.AsBytes(words)); err != nil {
		return err
	}
	list := lane.List("compact output")
	if err := lane.CompactOffsets(list, p, marks.All(), scratch.All()); err != nil {
		return err
	}
	for side := range payload {
		for i, bytes := range payload[side] {
			column := w.column(kept, bytes, "output")
			if err := w.memory.Err(); err != nil {
				return err
			}
			w.Payload[side] = append(w.Payload[side], column)
			values := from.Payload[side][i].Range(first*uint64(bytes), rows*uint64(bytes))
			if err := lane.Compact(list, p, bytes, marks.All(), values, column.All(), scratch.All()); err != nil {
				return err
			}
		}
	}
	return lane.Submit(ctx, list)
}
