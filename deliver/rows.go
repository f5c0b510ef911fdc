package deliver

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// Rows is the sink that brings windows to the host, piece by piece, into a pipe. The sides of its columns are those of
// the tables. The owner closes it.
type Rows struct {
	Room
	Allocator memory.Allocator
	Sides     [2]relation.Side // of the build side and of the probe side
	Columns   []Column
	// Numbers are the payload columns of the build side and of the probe side that hold row numbers; -1: there are none.
	Numbers [2]int
	// Wanted says which row numbers are an output of their own.
	Wanted    bool
	PieceRows uint64
	// Last delivers the last window at the end, when the operator has given its memory back.
	Last bool
	Out  *exec.Pipe[*Piece]
	Time *atomic.Int64 // nanoseconds that downloads have taken

	fetched [][2]*relation.DeviceColumn // of columns that the device fetches by row number, by side of the table
	ids     [2]*backend.Buffer
	kept    *operator.Window
}

// Count does nothing.
func (r *Rows) Count(context.Context, uint64) error { return nil }

// Window returns an empty window.
func (r *Rows) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	if err := r.End(ctx); err != nil {
		return nil, err
	}
	return r.window(ctx, rows), nil
}

// Put delivers a window.
func (r *Rows) Put(ctx context.Context, w *operator.Window) error {
	if r.Last {
		r.kept = w
		return nil
	}
	return r.deliver(ctx, w)
}

// End delivers the window that was put last, if it was kept.
func (r *Rows) End(ctx context.Context) error {
	w := r.kept
	if r.kept = nil; w == nil {
		return nil
	}
	return r.deliver(ctx, w)
}

func (r *Rows) deliver(ctx context.Context, w *operator.Window) error {
	defer w.Release()
	if err := r.open(ctx); err != nil {
		return err
	}
	for first := uint64(0); first < w.Rows; first += r.PieceRows {
		p, err := r.piece(ctx, w, first, uint32(min(r.PieceRows, w.Rows-first)))
		if err != nil {
			return err
		}
		if err := r.Out.Put(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// open brings the columns to the device that it fetches from by row number, once.
func (r *Rows) open(ctx context.Context) error {
	if r.fetched != nil {
		return nil
	}
	r.fetched = make([][2]*relation.DeviceColumn, len(r.Columns))
	needed := [2]bool{}
	for i, c := range r.Columns {
		for side, v := range c.Of {
			if v == nil || !v.OnDevice {
				continue
			}
			var err error
			needed[side] = true
			if r.fetched[i][side], err = relation.UploadColumn(ctx, r.Lane.Device(), "payload", v.Column,
				r.PieceRows); err != nil {
				return err
			}
		}
	}
	for side := range needed {
		if needed[side] {
			r.ids[side] = r.Lane.Memory.New(r.PieceRows*4, "output row numbers")
		}
	}
	return r.Lane.Memory.Err()
}

// Close releases what is on the device.
func (r *Rows) Close() {
	r.kept.Release()
	r.kept = nil
	for _, sides := range r.fetched {
		for _, c := range sides {
			c.Release()
		}
	}
	r.Lane.Memory.Release(r.ids[:]...)
	r.fetched, r.ids = nil, [2]*backend.Buffer{}
}

// piece makes the rows from first on of a window: it fetches by row number what the device fetches, and downloads what
// the host needs.
func (r *Rows) piece(ctx context.Context, w *operator.Window, first uint64, rows uint32) (_ *Piece, err error) {
	p := &Piece{Rows: rows, matched: w.Matched, arrays: make([]arrow.Array, len(r.Columns))}
	var payload [2][]*backend.Buffer
	var numbers [2]backend.Range
	list := r.Lane.List("gather")
	for side, table := range r.Sides {
		p.of[table], payload[table] = w.Of[side], w.Payload[side]
		if n := r.Numbers[side]; n >= 0 && w.Of[side] {
			numbers[table] = w.Payload[side][n].Range(first*4, uint64(rows)*4)
			if to := r.ids[table]; to != nil { // a kernel reads from where it may
				list.Copy(to.Range(0, uint64(rows)*4), numbers[table])
				numbers[table] = to.Range(0, uint64(rows)*4)
			}
		}
	}
	needs := [2]bool{r.Wanted, r.Wanted}
	for i := range r.Columns {
		c := &r.Columns[i]
		side := c.side(p.of)
		switch {
		case c.Role != Values || side < 0:
		case c.Of[side].OnDevice:
			if err := r.fetched[i][side].RecordGather(list, r.Lane.Ops, numbers[side], rows); err != nil {
				return nil, err
			}
		case c.Of[side].Payload < 0:
			needs[side] = true
		}
	}
	if len(list.Commands) > 1 {
		if err := r.Lane.Submit(ctx, list); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			p.Release()
		}
	}()
	start := time.Now()
	defer func() { r.Time.Add(int64(time.Since(start))) }()
	for side, needed := range needs {
		if needed && p.of[side] {
			p.Numbers[side] = make([]uint32, rows)
			if err := r.Lane.Download(ctx, backend.AsBytes(p.Numbers[side]), numbers[side]); err != nil {
				return nil, err
			}
		}
	}
	for i := range r.Columns {
		c := &r.Columns[i]
		side := c.side(p.of)
		if c.Role != Values || side < 0 {
			continue
		}
		if p.arrays[i], err = r.fetch(ctx, i, side, payload[side], first, rows); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// fetch downloads a column of a piece; nil where the host fetches it.
func (r *Rows) fetch(ctx context.Context, i, side int, payload []*backend.Buffer, first uint64,
	rows uint32) (values arrow.Array, err error) {
	v := r.Columns[i].Of[side]
	switch {
	case v.OnDevice:
		values, err = r.fetched[i][side].Fetch(ctx, r.Lane.Device(), rows, r.Allocator)
	case v.Payload >= 0:
		t := v.Column.DataType()
		width := uint64(relation.DeviceValueBytes(t))
		values, err = relation.FetchValues(ctx, r.Lane.Device(), t,
			payload[v.Payload].Range(first*width, uint64(rows)*width), r.Allocator)
	}
	if values == nil || err != nil {
		return nil, err
	}
	defer values.Release()
	return relation.Convert(ctx, values, r.Columns[i].Type, r.Allocator)
}
