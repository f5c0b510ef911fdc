package operator

import (
	"context"
	"encoding/binary"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// reserve runs the kernel with output written as it is found. The first attempt also marks rows. The result is complete
// if all rows found room in the window; rows is their number in any case.
func (u *Units) reserve(ctx context.Context, w *Window, first bool) (rows uint64, complete bool, err error) {
	temporary := u.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	to := u.target(kernel.Reserving, backend.Range{}, 0, w.Rows)
	if first && u.Marks != nil {
		to.Columns.Places, to.Sides = u.Marks.places, u.Marks.Sides
	} else {
		placesBytes := uint64(12)
		if u.PageRows > 0 {
			placesBytes = kernel.BitmapWord*4 + (w.Rows+31)/32*4
		}
		to.Columns.Places = temporary.New(placesBytes, "output cursor").All()
	}
	if err := temporary.Err(); err != nil {
		return 0, false, err
	}
	places := to.Columns.Places
	if err := u.allocate(w, w.Rows); err != nil {
		return 0, false, err
	}
	list, cursor := u.Lane.List("match"), places.Part(0, 12)
	list.Fill(cursor, 0)
	if u.PageRows > 0 {
		list.Fill(places.Part(kernel.BitmapWord*4, places.SizeBytes-kernel.BitmapWord*4), ^uint32(0))
	}
	if err := u.record(list, w, 0, u.Number, to); err != nil {
		return 0, false, err
	}
	var state [12]byte
	if err := u.Lane.Fetch(ctx, list, backend.Transfer{Device: cursor, Host: state[:]}); err != nil {
		return 0, false, err
	}
	taken, counted := uint64(binary.LittleEndian.Uint32(state[:])), binary.LittleEndian.Uint64(state[4:])
	if u.PageRows == 0 {
		return counted, counted <= w.Rows && counted == taken, nil
	}
	if taken > w.Rows || counted > taken { // counted > taken: the 32-bit cursor has wrapped around
		return counted, false, nil
	}
	if taken > counted && counted > 0 {
		err = u.compact(ctx, w, taken, counted, places.Part(kernel.BitmapWord*4, (taken+31)/32*4))
	}
	return counted, true, err
}

// compact removes the rows of a window whose bits are not set: of all rows, kept stay.
func (u *Units) compact(ctx context.Context, w *Window, all, kept uint64, bits backend.Range) error {
	temporary := u.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	p, err := primitive.PlanCompact(u.Lane.Tuning(), all)
	if err != nil {
		return err
	}
	scratch := temporary.New(p.ScratchBytes, "scratch")
	if err := temporary.Err(); err != nil {
		return err
	}
	list := u.Lane.List("compact")
	if err := u.Lane.CompactOffsets(list, p, bits, scratch.All()); err != nil {
		return err
	}
	if err := u.Lane.Submit(ctx, list); err != nil {
		return err
	}
	columns := []**backend.Buffer{&w.Keys}
	for side := range w.Payload {
		for c := range w.Payload[side] {
			columns = append(columns, &w.Payload[side][c])
		}
		columns = append(columns, &w.numbers[side])
	}
	for _, column := range columns {
		if *column == nil {
			continue
		}
		if err := u.compactColumn(ctx, w, column, p, kept, bits, scratch.All()); err != nil {
			return err
		}
	}
	return nil
}

// compactColumn replaces a column by its compacted copy, so that only one column at a time takes memory twice.
func (u *Units) compactColumn(ctx context.Context, w *Window, column **backend.Buffer, p primitive.CompactPlan,
	kept uint64, bits, scratch backend.Range) error {
	from := *column
	bytes := from.SizeBytes() / w.Rows
	to := w.column(kept, int(bytes), from.Label())
	if err := w.memory.Err(); err != nil {
		return err
	}
	list := u.Lane.List("compact")
	if err := u.Lane.Compact(list, p, int(bytes), bits, from.Range(0, p.Rows*bytes), to.All(), scratch); err != nil {
		return err
	}
	if err := u.Lane.Submit(ctx, list); err != nil {
		return err
	}
	w.memory.Release(from)
	*column = to
	return nil
}
