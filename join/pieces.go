package join

import (
	"context"
	"iter"

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
	device, batch := p.engine.Ops.Device(), min(uint64(p.batch), r.Rows)
	columns, err := r.uploadColumns(ctx, batch)
	defer releaseAll(columns)
	if err != nil {
		return err
	}
	var ids [2]*backend.Buffer
	for side := range ids {
		if ids[side], err = device.Allocate(backend.DeviceLocal, batch*4, "output row numbers"); err != nil {
			return err
		}
		defer ids[side].Release()
	}
	for first := uint64(0); first < r.Rows; first += batch {
		rows := min(batch, r.Rows-first)
		next, err := r.makePiece(ctx, first, uint32(rows), [2]backend.Range{ids[0].Range(0, rows*4), ids[1].Range(0, rows*4)}, columns)
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

// uploadColumns moves the payload columns that the device gathers to it; entries of the others are nil.
func (r *Result) uploadColumns(ctx context.Context, batch uint64) ([]*relation.DeviceColumn, error) {
	p := r.Plan
	columns := make([]*relation.DeviceColumn, len(p.Layout.Columns))
	for i, onDevice := range p.gatheredOnDevice() {
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

// makePiece expands the pairs first to first+rows-1, gathers, and downloads what the host needs.
func (r *Result) makePiece(ctx context.Context, first uint64, rows uint32, ids [2]backend.Range, columns []*relation.DeviceColumn) (_ piece, err error) {
	ops := r.Plan.engine.Ops
	device := ops.Device()
	list := backend.List{Profile: &r.profile}
	list.Stage("expand")
	if err := r.matches.RecordPairs(&list, first, rows, ids[0], ids[1]); err != nil {
		return piece{}, err
	}
	list.Stage("gather")
	hostNeeds := [2]bool{r.Plan.Spec.Output == Pairs, r.Plan.Spec.Output == Pairs}
	for i, column := range columns {
		side := r.Plan.Layout.Columns[i].Side
		if column == nil {
			hostNeeds[side] = true
		} else if err := column.RecordGather(&list, ops, ids[side], rows); err != nil {
			return piece{}, err
		}
	}
	if _, err := device.Submit(ctx, backend.Compute, &list); err != nil {
		return piece{}, err
	}
	p := piece{rows: rows, columns: make([]arrow.Array, len(columns))}
	defer func() {
		if err != nil {
			p.release()
		}
	}()
	for side, to := range []*[]uint32{&p.pairs.Left, &p.pairs.Right} {
		if hostNeeds[side] {
			*to = make([]uint32, rows)
			if err := device.Download(ctx, backend.AsBytes(*to), ids[side]); err != nil {
				return p, err
			}
		}
	}
	for i, column := range columns {
		if column != nil {
			if p.columns[i], err = column.Fetch(ctx, device, rows, r.Plan.engine.Allocator); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}
