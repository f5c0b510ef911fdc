package join

import (
	"context"
	"iter"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// piece is a part of the output on its way: its pairs, and the columns that were gathered on the device.
type piece struct {
	rows    uint32
	pairs   PairBatch
	columns []arrow.Array // by output column; nil where the host gathers
}

// Release releases the columns.
func (p *piece) Release() {
	for _, c := range p.columns {
		if c != nil {
			c.Release()
		}
	}
}

// pieces yields the output piece by piece. A producer expands pairs on the device and downloads them while the receiver
// is at work on the piece before. When the receiver stops, the producer is stopped and waited for. A piece is the
// receiver's, who releases it. After an error nothing follows.
func (r *Result) pieces(ctx context.Context) iter.Seq2[*piece, error] {
	return func(yield func(*piece, error) bool) {
		flow := exec.NewFlow(ctx)
		defer flow.Stop()
		out := exec.NewPipe[*piece](flow, 0)
		flow.Go("output", func(ctx context.Context) error {
			defer out.End()
			return r.produce(ctx, out)
		})
		progress := r.Plan.progress
		for started := false; ; started = true {
			p, ok, _ := out.Take(flow.Context())
			if !ok {
				break
			}
			rows := uint64(p.rows)
			if !yield(p, nil) {
				return
			}
			if !started {
				progress.Start("output", r.Rows)
			}
			progress.Add(rows)
		}
		if err := flow.Wait(); err != nil {
			yield(nil, err)
		}
	}
}

// produce sends all pieces. Between its sends it owns one set of buffers for row numbers and one for each device
// column.
func (r *Result) produce(ctx context.Context, out *exec.Pipe[*piece]) error {
	batch := min(uint64(r.taken.batch), r.Rows)
	columns, err := r.uploadColumns(ctx, batch)
	defer releaseAll(columns)
	if err != nil {
		return err
	}
	memory := r.lane.Scope(ctx)
	defer memory.ReleaseAll()
	var ids [2]*backend.Buffer
	for side := range ids {
		if !r.taken.batchwise() && len(r.taken.facts.Numbered[side]) == 0 {
			continue // the host reads row numbers where they are
		}
		ids[side] = memory.New(batch*4, "output row numbers")
	}
	if err := memory.Err(); err != nil {
		return err
	}
	for first := uint64(0); first < r.Rows; first += batch {
		rows := min(batch, r.Rows-first)
		next, err := r.makePiece(ctx, first, uint32(rows), ids, columns)
		if err != nil {
			return err
		}
		if err := out.Put(ctx, next); err != nil {
			return err
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
		if columns[i], err = relation.UploadColumn(ctx, r.lane.Device(), c.Source, p.column(c), batch); err != nil {
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

// makePiece makes the rows first to first+rows-1 of the output: it finds their row numbers, fetches by these what the
// device has whole, and downloads what the host needs.
func (r *Result) makePiece(
	ctx context.Context, first uint64, rows uint32, ids [2]*backend.Buffer, columns []*relation.DeviceColumn,
) (_ *piece, err error) {
	layout, device := r.Plan.Layout, r.lane.Device()
	list := &backend.List{Profile: r.lane.Profile}
	numbers, err := r.recordNumbers(list, first, rows, ids)
	if err != nil {
		return nil, err
	}
	list.Stage("gather")
	hostNeeds := [2]bool{r.Plan.Spec.Output == Pairs, r.Plan.Spec.Output == Pairs}
	payload := r.payload()
	for i, column := range columns {
		side := layout.Columns[i].Side
		switch {
		case column != nil:
			if err := column.RecordGather(list, r.lane.Ops, numbers[side], rows); err != nil {
				return nil, err
			}
		case payload[i] == nil:
			hostNeeds[side] = true
		}
	}
	point, err := device.Submit(ctx, backend.Compute, list)
	if err == nil {
		err = point.Wait(ctx)
	}
	if err != nil {
		return nil, err
	}
	start := time.Now()
	defer func() { r.deliver.Add(int64(time.Since(start))) }()
	p := &piece{rows: rows, columns: make([]arrow.Array, len(columns))}
	defer func() {
		if err != nil {
			p.Release()
		}
	}()
	for side, to := range []*[]uint32{&p.pairs.Left, &p.pairs.Right} {
		if hostNeeds[side] {
			*to = make([]uint32, rows)
			if err := device.Download(ctx, backend.AsBytes(*to), numbers[side]); err != nil {
				return nil, err
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
			p.columns[i], err = relation.FetchValues(ctx, device, t, payload[i].Range(first*width, uint64(rows)*width),
				r.Plan.engine.Allocator)
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// recordNumbers records how the row numbers of a piece come about, and returns where they are: in ids, expanded from
// matches or copied, or where the join left them.
func (r *Result) recordNumbers(
	list *backend.List, first uint64, rows uint32, ids [2]*backend.Buffer,
) (numbers [2]backend.Range, err error) {
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
