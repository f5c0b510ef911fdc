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

// Rows is the sink that downloads windows to the host, piece by piece, into a pipe. The sides of Columns and First are
// those of the tables. The owner closes it.
type Rows struct {
	Room
	Allocator memory.Allocator
	Sides     [2]relation.Side // of the build side and of the probe side
	Columns   []Column
	// Words describe the payload columns, of the build side and of the probe side, with which the payload of windows
	// begins.
	Words [2]*relation.Words
	// Numbers are the indexes of the payload columns, of the build side and of the probe side, that hold row numbers;
	// -1: there is none.
	Numbers [2]int
	// Part is the table of the probe side in Columns if the probe side comes part by part. First is the row of each
	// table that has number 0. Part, First, Columns and Words may change between windows.
	Part  arrow.Table
	First [2]uint64
	// Wanted says that the row numbers themselves are the output.
	Wanted    bool
	PieceRows uint64
	// Last delays the delivery of the last window until End, when the operator has released its memory.
	Last bool
	Out  *exec.Pipe[*Piece]
	Time *atomic.Int64 // nanoseconds spent on downloads

	repacked *backend.Buffer // a piece in Arrow's format
	kept     *operator.Window
}

// Count does nothing.
func (r *Rows) Count(context.Context, uint64) error { return nil }

// Window delivers the window that was kept, if there is one, and returns an empty window.
func (r *Rows) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	if err := r.End(ctx); err != nil {
		return nil, err
	}
	return r.window(ctx, rows), nil
}

// Put delivers a window, or keeps it until [Rows.End] if Last is set. It releases the window once it is delivered.
// Errors are those of the device and of Out.
func (r *Rows) Put(ctx context.Context, w *operator.Window) error {
	if r.Last {
		r.kept = w
		return nil
	}
	return r.deliver(ctx, w)
}

// End delivers the last window, if it was kept.
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

// Close releases the device memory of the sink.
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

// piece returns rows rows of a window, from row first on. It downloads columns, and row numbers if the host needs them.
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
	var sides [2]int // side of the operator, by table
	for side, table := range r.Sides {
		p.of[table], sides[table] = w.Of[side], side
	}
	down := downloads{allocator: r.Allocator}
	defer down.release()
	fields, err := r.unpack(ctx, &from, &down)
	if err != nil {
		return nil, err
	}
	needs, single := [2]bool{r.Wanted, r.Wanted}, make([]*memory.Buffer, len(r.Columns))
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Role == Values {
			if table := c.side(p.of); table < 0 {
				continue
			} else if words := c.Of[table].Words; words == nil {
				needs[table] = true
			} else if words.Count == 1 {
				single[i] = down.add(from.word(sides[table], words.First, words.ValueBytes(1)))
			}
		}
	}
	for table, needed := range needs {
		if side := sides[table]; needed && p.of[table] {
			p.Numbers[table] = make([]uint32, rows)
			down.transfers = append(down.transfers, backend.Transfer{Device: from.word(side, r.Numbers[side], 4),
				Host: backend.AsBytes(p.Numbers[table])})
		}
	}
	if err := r.Lane.Device().DownloadAll(ctx, down.transfers); err != nil {
		return nil, err
	}
	for i := range r.Columns {
		c := &r.Columns[i]
		table := c.side(p.of)
		if c.Role != Values || table < 0 || c.Of[table].Words == nil {
			continue
		}
		values, err := r.column(ctx, &from, fields, sides[table], c.Of[table].Words, single[i])
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

// downloads are copies from the device that go together, so that the link waits once for all of them.
type downloads struct {
	allocator memory.Allocator
	transfers []backend.Transfer
	buffers   []*memory.Buffer // owned
}

// add returns a buffer that will have the bytes of a range.
func (d *downloads) add(from backend.Range) *memory.Buffer {
	buffer := memory.NewResizableBuffer(d.allocator)
	buffer.Resize(int(from.SizeBytes))
	d.buffers = append(d.buffers, buffer)
	d.transfers = append(d.transfers, backend.Transfer{Device: from, Host: buffer.Bytes()})
	return buffer
}

func (d *downloads) release() {
	for _, buffer := range d.buffers {
		buffer.Release()
	}
}

// windowRows is a range of rows of a window.
type windowRows struct {
	*operator.Window
	first uint64
	rows  uint32
}

// word returns these rows of a payload column with this many bytes per value.
func (w *windowRows) word(side, word int, bytes uint64) backend.Range {
	return w.Payload[side][word].Range(w.first*bytes, uint64(w.rows)*bytes)
}
