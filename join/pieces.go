package join

import (
	"context"
	"iter"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// piece is a part of the output on its way: its pairs, the columns that were gathered on the device, and an error that ends
// the stream.
type piece struct {
	rows    uint32
	pairs   PairBatch
	columns []arrow.Array // by output column; nil where the host gathers
	err     error
}

func (p *piece) release() {
	for _, c := range p.columns {
		if c != nil {
			c.Release()
		}
	}
}

// pieces yields the output piece by piece. A producer expands pairs on the device and downloads them while the receiver is
// at work on the piece before. When the receiver stops, the producer is stopped and waited for. A piece is the receiver's,
// who releases it.
func (r *Result) pieces(ctx context.Context) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		ctx, stop := context.WithCancel(ctx)
		out := make(chan piece)
		defer func() {
			stop()
			for p := range out { // the producer closes it
				p.release()
			}
		}()
		go func() {
			defer close(out)
			if err := r.produce(ctx, out); err != nil {
				out <- piece{err: err}
			}
		}()
		done := uint64(0)
		for p := range out {
			if !yield(p) || p.err != nil {
				return
			}
			done += uint64(p.rows)
			r.Plan.Spec.Progress("output", done, r.Rows)
		}
	}
}

// produce sends all pieces. Between its sends it owns one set of buffers for row numbers and one for each device column.
func (r *Result) produce(ctx context.Context, out chan<- piece) error {
	p := r.Plan
	device, batch := p.engine.Ops.Device(), min(uint64(r.taken.batch), r.Rows)
	columns, err := r.uploadColumns(ctx, batch)
	defer releaseAll(columns)
	if err != nil {
		return err
	}
	var ids [2]*backend.Buffer
	for side := range ids {
		if !r.taken.batchwise() && len(r.taken.facts.Numbered[side]) == 0 {
			continue // the host reads row numbers where they are
		}
		if ids[side], err = device.Allocate(ctx, backend.DeviceLocal, batch*4, "output row numbers"); err != nil {
			return err
		}
		defer ids[side].Release()
	}
	for first := uint64(0); first < r.Rows; first += batch {
		rows := min(batch, r.Rows-first)
		next, err := r.makePiece(ctx, first, uint32(rows), ids, columns)
		if err != nil {
			return err
		}
		select {
		case out <- next:
		case <-ctx.Done():
			next.release()
			return backend.ContextError(ctx)
		}
	}
	return nil
}

// uploadColumns moves the columns that the device fetches by row number to it; entries of the others are nil.
func (r *Result) uploadColumns(ctx context.Context, batch uint64) ([]*relation.DeviceColumn, error) {
	p := r.Plan
	columns := make([]*relation.DeviceColumn, len(p.Layout.Columns))
	for i, onDevice := range p.gatheredOnDevice(r.taken) {
		if !onDevice {
			continue
		}
		c := p.Layout.Columns[i]
		var err error
		if columns[i], err = relation.UploadColumn(ctx, p.engine.Ops.Device(), c.Source, p.column(c), batch); err != nil {
			return columns, err
		}
	}
	return columns, nil
}

func releaseAll(columns []*relation.DeviceColumn) {
	for _, c := range columns {
		c.Release()
	}
}

// makePiece makes the rows first to first+rows-1 of the output: it finds their row numbers, fetches by these what the device has whole, and
// downloads what the host needs.
func (r *Result) makePiece(ctx context.Context, first uint64, rows uint32, ids [2]*backend.Buffer, columns []*relation.DeviceColumn) (_ piece, err error) {
	ops, layout := r.Plan.engine.Ops, r.Plan.Layout
	device := ops.Device()
	list := backend.List{Profile: &r.profile}
	numbers, err := r.recordNumbers(&list, first, rows, ids)
	if err != nil {
		return piece{}, err
	}
	list.Stage("gather")
	hostNeeds := [2]bool{r.Plan.Spec.Output == Pairs, r.Plan.Spec.Output == Pairs}
	payload := r.payload()
	for i, column := range columns {
		side := layout.Columns[i].Side
		switch {
		case column != nil:
			if err := column.RecordGather(&list, ops, numbers[side], rows); err != nil {
				return piece{}, err
			}
		case payload[i] == nil:
			hostNeeds[side] = true
		}
	}
	point, err := device.Submit(ctx, backend.Compute, &list)
	if err == nil {
		err = point.Wait(ctx)
	}
	if err != nil {
		return piece{}, err
	}
	start := time.Now()
	defer func() { r.deliver.Add(int64(time.Since(start))) }()
	p := piece{rows: rows, columns: make([]arrow.Array, len(columns))}
	defer func() {
		if err != nil {
			p.release()
		}
	}()
	for side, to := range []*[]uint32{&p.pairs.Left, &p.pairs.Right} {
		if hostNeeds[side] {
			*to = make([]uint32, rows)
			if err := device.Download(ctx, backend.AsBytes(*to), numbers[side]); err != nil {
				return p, err
			}
		}
	}
	for i, column := range columns {
		switch {
		case column != nil:
			p.columns[i], err = column.Fetch(ctx, device, rows, r.Plan.engine.Allocator)
		case payload[i] != nil:
			t := r.Plan.column(layout.Columns[i]).DataType()
			width := uint64(relation.DeviceValueBytes(t))
			p.columns[i], err = relation.FetchValues(ctx, device, t, payload[i].Range(first*width, uint64(rows)*width), r.Plan.engine.Allocator)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// recordNumbers records how the row numbers of a piece come about, and returns where they are: in ids, expanded from matches or
// copied, or where the join left them.
func (r *Result) recordNumbers(list *backend.List, first uint64, rows uint32, ids [2]*backend.Buffer) (numbers [2]backend.Range, err error) {
	sizeBytes := uint64(rows) * 4
	if r.taken.batchwise() {
		list.Stage("expand")
		numbers = [2]backend.Range{ids[0].Range(0, sizeBytes), ids[1].Range(0, sizeBytes)}
		return numbers, r.matches.RecordPairs(list, first, rows, numbers[0], numbers[1])
	}
	for side, has := range r.taken.facts.Numbers {
		if !has {
			continue
		}
		payload := r.joined.Payload[side]
		numbers[side] = payload[len(payload)-1].Range(first*4, sizeBytes)
		if ids[side] != nil { // a kernel reads from where it may
			list.Stage("gather")
			to := ids[side].Range(0, sizeBytes)
			list.Copy(to, numbers[side])
			numbers[side] = to
		}
	}
	return numbers, nil
}

// payload returns the output columns that are on the device as a whole; nil for the others.
func (r *Result) payload() []*backend.Buffer {
	columns := make([]*backend.Buffer, len(r.Plan.Layout.Columns))
	if r.taken.batchwise() {
		return columns
	}
	var next [2]int
	for i, c := range r.Plan.Layout.Columns {
		if r.Plan.method(i, r.taken.Place) == asPayload {
			columns[i] = r.joined.Payload[c.Side][next[c.Side]]
			next[c.Side]++
		}
	}
	return columns
}
