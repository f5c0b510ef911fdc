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
	// Words are those of the build side and of the probe side, with which the payload of windows begins.
	Words [2]*relation.Words
	// Numbers are the payload columns of the build side and of the probe side that hold row numbers; -1: there are none.
	Numbers [2]int
	// Part is the part of a table that the probe side of Columns is of, where there are several, and First the row of
	// each table that has number 0. They, Columns and Words may change between windows.
	Part  arrow.Table
	First [2]uint64
	// Wanted says which row numbers are an output of their own.
	Wanted    bool
	PieceRows uint64
	// Last delivers the last window at the end, when the operator has given its memory back.
	Last bool
	Out  *exec.Pipe[*Piece]
	Time *atomic.Int64 // nanoseconds that downloads have taken

	repacked *backend.Buffer // a piece in Arrow's form
	kept     *operator.Window
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

// Close releases what is on the device.
func (r *Rows) Close() {
	r.kept.Release()
	r.kept = nil
	r.Lane.Memory.Release(r.repacked)
	r.repacked = nil
}

func (r *Rows) newPiece(rows uint32) *Piece {
	p := &Piece{Rows: rows, Columns: r.Columns, First: r.First, arrays: make([]arrow.Array, len(r.Columns))}
	p.hold(r.Part)
	return p
}

// piece makes the rows from first on of a window: it downloads columns, and row numbers where the host needs them.
func (r *Rows) piece(ctx context.Context, w *operator.Window, first uint64, rows uint32) (_ *Piece, err error) {
	p := r.newPiece(rows)
	p.matched = w.Matched
	defer func() {
		if err != nil {
			p.Release()
		}
	}()
	start := time.Now()
	defer func() { r.Time.Add(int64(time.Since(start))) }()
	from := windowRows{w, first, rows}
	var sides [2]int // of the operator, by table
	for side, table := range r.Sides {
		p.of[table], sides[table] = w.Of[side], side
	}
	fields, err := r.unpack(ctx, &from)
	if err != nil {
		return nil, err
	}
	defer fields.release()
	needs := [2]bool{r.Wanted, r.Wanted}
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Role == Values {
			if table := c.side(p.of); table >= 0 && c.Of[table].Words == nil {
				needs[table] = true
			}
		}
	}
	for table, needed := range needs {
		if side := sides[table]; needed && p.of[table] {
			p.Numbers[table] = make([]uint32, rows)
			numbers := from.word(side, r.Numbers[side], 4)
			if err := r.Lane.Download(ctx, backend.AsBytes(p.Numbers[table]), numbers); err != nil {
				return nil, err
			}
		}
	}
	for i := range r.Columns {
		c := &r.Columns[i]
		table := c.side(p.of)
		if c.Role != Values || table < 0 || c.Of[table].Words == nil {
			continue
		}
		values, err := r.fetch(ctx, &from, fields, sides[table], c.Of[table].Words)
		if err != nil {
			return nil, err
		}
		p.arrays[i], err = p.convert(ctx, values, c, table, p.Numbers[table], r.Allocator)
		values.Release()
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// windowRows are some rows of a window.
type windowRows struct {
	*operator.Window
	first uint64
	rows  uint32
}

// word is a word of these rows.
func (w *windowRows) word(side, word int, bytes uint64) backend.Range {
	return w.Payload[side][word].Range(w.first*bytes, uint64(w.rows)*bytes)
}
