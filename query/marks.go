package query

import (
	"context"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/operator"
)

// If several devices have the build side, each knows only the partners that it has met. A row of the build side has
// none if it has none on any device. Rows are known by their numbers, which are payload: transformed orders differ.
//
//	device 1    rows without a partner ─► bitmap ─┐
//	device 2    rows without a partner ─► bitmap ─┴ and ─► lonely
//	device 0    rows without a partner ─► lonely? yes: they have none; no: they have one

// MergeMarks adds what other lanes know to the lane, and returns how it finishes then: which rows of the build side have
// a partner. If keys are compared, and lanes share a probe side that does not come part by part, that is known of its
// rows, too.
func (l *Lane) MergeMarks(ctx context.Context, others []*Lane) (finish func(context.Context) error, err error) {
	if l.out.filter != nil {
		for _, other := range others {
			err := l.out.filter.Merge(ctx, operator.Build, other.out.filter)
			if err == nil && !l.Query.Parts {
				err = l.out.filter.Merge(ctx, operator.Probe, other.out.filter)
			}
			if err != nil {
				return nil, err
			}
		}
		return l.Finish, nil
	}
	lonely, err := lonely(others, l.taken.Scans[operator.Build].Table.NumRows())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		return l.finish(ctx, &decided{restOf{Lane: l, room: l.room()}, l.out.sink, lonely})
	}, nil
}

// Filtered reports whether a filter of the lane, not its operator, knows the partners of rows.
func (l *Lane) Filtered() bool { return l.out.filter != nil }

// lonely returns a bitmap of the rows of the build side without a partner on any of the lanes.
func lonely(lanes []*Lane, rows int64) (lonely []uint64, err error) {
	lonely = make([]uint64, (rows+63)/64)
	for i := range lonely {
		lonely[i] = ^uint64(0)
	}
	of := make([][]uint64, len(lanes))
	err = Each(lanes, "mark", nil, func(ctx context.Context, i int, l *Lane) error {
		of[i] = make([]uint64, len(lonely))
		return l.built.op.Finish(ctx, &restOf{Lane: l, room: l.room(), rows: of[i]})
	})
	for _, rows := range of {
		for i, word := range rows {
			lonely[i] &= word
		}
	}
	return lonely, err
}

// restOf is a sink that notes the rows of the build side without a partner in a bitmap.
type restOf struct {
	*Lane
	room    deliver.Room
	rows    []uint64
	numbers []uint32
}

// Count does nothing.
func (*restOf) Count(context.Context, uint64) error { return nil }

// Window returns an empty window.
func (r *restOf) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	return r.room.Window(ctx, rows), nil
}

// Put notes the rows of a window.
func (r *restOf) Put(ctx context.Context, w *operator.Window) error {
	defer w.Release()
	if w.Matched {
		return nil
	}
	return r.numbered(ctx, w, func(_ uint64, numbers []uint32) error {
		for _, row := range numbers {
			r.rows[row>>6] |= 1 << (row & 63)
		}
		return nil
	})
}

// numbersAtOnce is how many row numbers come from the device at a time.
const numbersAtOnce = 1 << 20

// numbered calls do with the row numbers of a window of the build side, some at a time, and with the position of the
// first of them in the window.
func (r *restOf) numbered(ctx context.Context, w *operator.Window,
	do func(first uint64, numbers []uint32) error) error {
	if r.numbers == nil {
		r.numbers = make([]uint32, numbersAtOnce)
	}
	column := w.Payload[operator.Build][len(r.taken.Scans[operator.Build].Words.Bytes)]
	for first := uint64(0); first < w.Rows; first += numbersAtOnce {
		numbers := r.numbers[:min(numbersAtOnce, w.Rows-first)]
		from := column.Range(first*4, uint64(len(numbers))*4)
		if err := r.joining.Download(ctx, backend.AsBytes(numbers), from); err != nil {
			return err
		}
		if err := do(first, numbers); err != nil {
			return err
		}
	}
	return nil
}

// decided is the sink of the lane that outputs the rows of the build side. A row without a partner on this device has
// none at all if it is lonely; otherwise it has one on another device.
type decided struct {
	restOf
	sink   operator.Sink
	lonely []uint64
}

// Put passes the rows on that are in the output.
func (d *decided) Put(ctx context.Context, w *operator.Window) error {
	want := &d.taken.Output
	if w.Matched {
		if err := d.sink.Count(ctx, w.Rows); err != nil {
			w.Release()
			return err
		}
		return d.sink.Put(ctx, w)
	}
	defer w.Release()
	lonely := make([]uint64, (w.Rows+63)/64)
	if err := d.numbered(ctx, w, func(first uint64, numbers []uint32) error {
		for i, row := range numbers {
			at := first + uint64(i)
			lonely[at>>6] |= d.lonely[row>>6] >> (row & 63) & 1 << (at & 63)
		}
		return nil
	}); err != nil {
		return err
	}
	if want.Rest[operator.Build] {
		if err := d.pass(ctx, w, lonely); err != nil {
			return err
		}
	}
	if !want.Matched[operator.Build] {
		return nil
	}
	for i := range lonely {
		lonely[i] = ^lonely[i]
	}
	lonely[len(lonely)-1] &= ^uint64(0) >> (-w.Rows & 63)
	w.Matched = true
	return d.pass(ctx, w, lonely)
}

// pass passes the rows of a window on whose bits are set.
func (d *decided) pass(ctx context.Context, w *operator.Window, keep []uint64) error {
	kept := uint64(0)
	for _, word := range keep {
		kept += uint64(bits.OnesCount64(word))
	}
	if kept == 0 {
		return nil
	}
	if err := d.sink.Count(ctx, kept); err != nil {
		return err
	}
	payload := [2][]int{operator.Build: d.taken.Scans[operator.Build].Payload()}
	return d.room.Keep(ctx, d.sink, w, payload, keep)
}
