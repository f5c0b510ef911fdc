package deliver

import (
	"context"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// Rows is the sink that brings windows to the host, piece by piece, into a pipe. A piece is converted to Arrow's format
// on the device and copied to host memory; meanwhile the piece before is handed over. With Ahead set, a window is
// delivered while the operator fills the next one. The owner closes the sink.
type Rows struct {
	Room
	Format
	Flow      *exec.Flow // of the goroutines that deliver
	Allocator memory.Allocator
	// Wanted says that the row numbers themselves are the output.
	Wanted    bool
	PieceRows uint64
	// Last delays the delivery of the last window until End, when the operator has released its memory.
	Last bool
	// Ahead says that there is memory for a window that is delivered and another one that is filled.
	Ahead bool
	Out   *exec.Pipe[*Piece]
	Time  *atomic.Int64 // nanoseconds spent on downloads

	room      *backend.Buffer // for pieces that are converted to Arrow's format
	kept      *operator.Window
	delivered chan struct{} // closed when the last window that was put has been delivered; nil before the first one
}

// Format says what the columns of windows are and which output they become. Columns and First refer to sides of the
// tables, the other fields to sides of the operator. A format may change between windows.
type Format struct {
	Sides   [2]relation.Side // of the build side and of the probe side
	Columns []Column
	// Words describe the payload columns, of the build side and of the probe side, with which the payload of windows
	// begins.
	Words [2]*relation.Words
	// Numbers are the indexes of the payload columns, of the build side and of the probe side, that hold row numbers;
	// -1: there is none.
	Numbers [2]int
	// Part is the table of the probe side in Columns if the probe side comes part by part. First is the row of each
	// table that has number 0.
	Part  arrow.Table
	First [2]uint64
	// Carried are the columns of each table that Words describe, if a [Consumer] takes the windows.
	Carried [2]Carried
	// Delivery records what becomes of windows; it may be nil.
	Delivery *Delivery
}

// Count does nothing.
func (r *Rows) Count(context.Context, uint64) error { return nil }

// Window begins to deliver the window that was kept, if there is one, and returns an empty window.
func (r *Rows) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	if err := r.flush(ctx); err != nil {
		return nil, err
	}
	return r.Room.Window(ctx, rows), nil
}

// Put begins to deliver a window, or keeps it until [Rows.End] if Last is set. It releases the window once it is
// delivered. Errors: device errors, and as for Out.Put. An error of a delivery in progress ends the flow.
func (r *Rows) Put(ctx context.Context, w *operator.Window) error {
	r.kept = w
	if r.Last {
		return nil
	}
	return r.flush(ctx)
}

// End returns when all windows are delivered.
func (r *Rows) End(ctx context.Context) error {
	if err := r.flush(ctx); err != nil {
		return err
	}
	return r.wait(ctx)
}

// flush begins to deliver the window that was kept, if there is one, after the one before. Without Ahead, it waits for
// the end of that.
func (r *Rows) flush(ctx context.Context) error {
	if r.kept == nil {
		return nil
	}
	if err := r.wait(ctx); err != nil {
		return err // Close releases the window
	}
	w, format, delivered := r.kept, r.Format, make(chan struct{})
	r.kept, r.delivered = nil, delivered
	format.Delivery.add()
	if format.Part != nil {
		format.Part.Retain()
	}
	r.Flow.Go("deliver", func(ctx context.Context) error {
		defer close(delivered)
		defer w.Release()
		if format.Part != nil {
			defer format.Part.Release()
		}
		err := r.deliver(ctx, &format, w)
		if err == nil {
			format.Delivery.End()
		}
		return err
	})
	if r.Ahead {
		return nil
	}
	return r.wait(ctx)
}

func (r *Rows) wait(ctx context.Context) error {
	if r.delivered != nil {
		<-r.delivered // soon after ctx, the flow's, has ended
	}
	if ctx.Err() != nil {
		return backend.ContextError(ctx)
	}
	return nil
}

// Close waits for the delivery in progress, which ends soon if the flow has ended, and releases the device memory of
// the sink.
func (r *Rows) Close() {
	if r.delivered != nil {
		<-r.delivered
	}
	r.kept.Release()
	r.kept = nil
	r.Lane.Memory.Release(r.room)
	r.room = nil
}

// deliver delivers a window. A piece is requested before the one before is awaited, if there is room for both.
func (r *Rows) deliver(ctx context.Context, format *Format, w *operator.Window) error {
	if r.room == nil {
		info := r.Lane.Device().Info()
		r.room = r.Lane.Memory.New(RepackBytes(info, format.Words, r.PieceRows), "output in Arrow's form")
		if err := r.Lane.Memory.Err(); err != nil {
			return err
		}
	}
	places, pieceBytes := 2, layRepacked(format.Words, [2]bool{true, true}, uint32(r.PieceRows)).sizeBytes
	if pieceBytes > 0 {
		places = int(r.room.SizeBytes() / pieceBytes)
	}
	var requested []*download
	defer func() {
		for _, d := range requested {
			d.release()
		}
	}()
	pass := func() error {
		d := requested[0]
		requested = requested[1:]
		p, err := d.finish(ctx)
		if err != nil {
			return err
		}
		if err = r.Out.Put(ctx, p); err == nil {
			format.Delivery.put()
		}
		return err
	}
	for i := uint64(0); i*r.PieceRows < w.Rows; i++ {
		if len(requested) == places {
			if err := pass(); err != nil {
				return err
			}
		}
		rows := windowRows{w, i * r.PieceRows, uint32(min(r.PieceRows, w.Rows-i*r.PieceRows))}
		d, err := r.download(ctx, format, rows, r.room.Range(i%uint64(places)*pieceBytes, pieceBytes))
		if err != nil {
			return err
		}
		requested = append(requested, d)
	}
	for len(requested) > 0 {
		if err := pass(); err != nil {
			return err
		}
	}
	return nil
}

func newPiece(format *Format, rows uint32) *Piece {
	p := &Piece{Rows: rows, Columns: format.Columns, First: format.First, arrays: make([]arrow.Array, len(format.Columns))}
	p.hold(format.Part)
	return p
}
