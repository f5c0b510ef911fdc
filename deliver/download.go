package deliver

import (
	"cmp"
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// download is a piece on its way to the host. One list converts columns to Arrow's format and, where the allocator's
// memory is imported, copies them there. Kernels make these copies: those that read and those that write host memory
// share a link better than copy commands do.
type download struct {
	*Rows
	piece    *Piece
	sides    [2]int // side of the operator, by table
	repacked *repacked
	unpacked *memory.Buffer     // the shared words
	values   []*memory.Buffer   // by output column; nil if it is not downloaded, or is in unpacked
	buffers  []*memory.Buffer   // all of these, owned
	copied   backend.Point      // of the list
	later    []backend.Transfer // to memory that is not imported
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

// download begins to download rows of a window: columns, and row numbers if the host needs them. Pieces use the room in
// turn.
func (r *Rows) download(ctx context.Context, format *Format, w windowRows, room backend.Range) (_ *download, err error) {
	start := time.Now()
	defer func() { r.Time.Add(int64(time.Since(start))) }()
	defer exec.Begin(ctx, "request piece").Rows(uint64(w.rows)).End()
	d := &download{Rows: r, piece: newPiece(format, w.rows), repacked: layRepacked(format.Words, w.Of, w.rows),
		values: make([]*memory.Buffer, len(format.Columns))}
	d.piece.matched = w.Matched
	for side, table := range format.Sides {
		d.piece.of[table], d.sides[table] = w.Of[side], side
	}
	list := r.Lane.List("unpack")
	empty := len(list.Commands)
	var held []*backend.Buffer
	defer func() {
		relation.ReleaseAll(held)
		if err != nil {
			d.release()
		}
	}()
	if err := d.repacked.record(r.Lane, list, &w, room); err != nil {
		return nil, err
	}
	var failed error
	bring := func(from backend.Range) *memory.Buffer {
		buffer := memory.NewResizableBuffer(r.Allocator)
		buffer.Resize(int(from.SizeBytes))
		d.buffers = append(d.buffers, buffer)
		if to, ok := r.Lane.Device().Imported(buffer.Bytes(), 4); ok && from.SizeBytes%4 == 0 {
			held = append(held, to.Buffer)
			failed = cmp.Or(failed, r.Lane.Copy(list, to, from))
		} else {
			d.later = append(d.later, backend.Transfer{Device: from, Host: buffer.Bytes()})
		}
		return buffer
	}
	if n := d.repacked.unpacked; n > 0 {
		d.unpacked = bring(room.Part(0, n))
	}
	needs := [2]bool{r.Wanted, r.Wanted}
	for i := range format.Columns {
		table, words := d.source(i)
		switch {
		case table < 0:
		case words == nil:
			needs[table] = true
		case words.Count == 1:
			d.values[i] = bring(w.word(d.sides[table], words.First, words.ValueBytes(1)))
		case words.Count > 1:
			d.values[i] = bring(d.repacked.wideValues(d.sides[table], words, room))
		}
	}
	for table, needed := range needs {
		if side := d.sides[table]; needed && d.piece.of[table] {
			numbers := make([]uint32, w.rows)
			d.piece.Numbers[table] = numbers
			d.later = append(d.later,
				backend.Transfer{Device: w.word(side, format.Numbers[side], 4), Host: backend.AsBytes(numbers)})
		}
	}
	if failed != nil {
		return nil, failed
	}
	if len(list.Commands) > empty {
		d.copied, err = r.Lane.Device().Submit(ctx, r.Lane.Role, list)
	}
	return d, err
}

// source returns the table that gives the values of an output column, and its words, which are nil if the host fetches
// them. The table is -1 if the column does not come from a table.
func (d *download) source(column int) (table int, words *relation.WordColumn) {
	c := &d.piece.Columns[column]
	if table = c.side(d.piece.of); c.Role != Values || table < 0 {
		return -1, nil
	}
	return table, c.Of[table].Words
}

// finish waits for the download and returns the piece, which the caller owns.
func (d *download) finish(ctx context.Context) (p *Piece, err error) {
	defer d.release()
	start := time.Now()
	defer func() { d.Time.Add(int64(time.Since(start))) }()
	defer exec.Begin(ctx, "receive piece").Rows(uint64(d.piece.Rows)).End()
	if err := d.Lane.Device().DownloadAll(ctx, d.later); err != nil {
		return nil, err
	}
	if err := d.copied.Wait(ctx); err != nil {
		return nil, err
	}
	p = d.piece
	for i := range p.Columns {
		table, words := d.source(i)
		if table < 0 || words == nil {
			continue
		}
		values := d.repacked.column(d.unpacked, d.sides[table], words, d.values[i])
		p.arrays[i], err = p.convert(ctx, values, &p.Columns[i], table, p.Numbers[table], d.Allocator)
		values.Release()
		if err != nil {
			return nil, err
		}
	}
	d.piece = nil
	return p, nil
}

// release releases what finish does not return. Safe on nil, and again.
func (d *download) release() {
	if d == nil {
		return
	}
	relation.ReleaseAll(d.buffers)
	d.buffers = nil
	if d.piece != nil {
		d.piece.Release()
		d.piece = nil
	}
}
