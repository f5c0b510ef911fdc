package endtoend

import (
	"context"
	"iter"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/source"
	"github.com/spirjoin/spirjoin/tableio"
)

// Run is one join, from its inputs to the end of its output.
type Run struct {
	Wall, First time.Duration // to the end, and to the first record batch or the count
	CPU         time.Duration // of all cores of the process; 0 if the system does not say
	Plan        time.Duration // of tables in memory
	Read, Write time.Duration // in which any core works on the files
	Upload      time.Duration // of copies, on the device or by the host; kernels that read host memory are not included
	Download    time.Duration
	Stats       query.Stats
	// Bytes that cross the link, or that are copied where device memory is host memory.
	UpBytes, DownBytes uint64
	InputBytes         uint64 // of the columns of both tables that the join needs, in Arrow's buffers
	ReadBytes          uint64 // of these, what any join reads: see [tableSize.readBytes]
	OutputBytes        uint64 // of the record batches, without bitmaps
	FilesIn, FilesOut  uint64 // bytes of the files
}

// run joins once. each is called with the record batches that do not go to a file.
func (b *bed) run(ctx context.Context, in *inputs, each func(arrow.RecordBatch) error) (r Run, err error) {
	m := NewMeter(b.engine.Device())
	defer m.Stop()
	start := time.Now()
	readers, err := in.open(ctx, b, m)
	defer closeAll(readers)
	if err != nil {
		return r, err
	}
	layout, err := join.NewLayout(in.schema(readers, 0), in.schema(readers, 1), b.spec)
	if err != nil {
		return r, err
	}
	commit := func() error { return nil }
	if in.output != "" {
		w, err := tableio.Create(in.output, layout.Schema, tableio.WriteOptions{Busy: &m.writes})
		if err != nil {
			return r, err
		}
		defer w.Abort() // does nothing after Commit
		each = func(batch arrow.RecordBatch) error { return w.Write(ctx, batch) }
		commit = func() error { return w.Commit(ctx) }
	}
	tables := in.tables
	if readers[0] != nil {
		tables = [2]arrow.Table{}
		defer func() { releaseAll(tables) }()
	}
	result, err := b.begin(ctx, layout, &tables, readers, &r)
	if err != nil {
		return r, err
	}
	defer result.Close()
	r.First = time.Since(start)
	if b.spec.Output == join.Rows {
		if err := draw(ctx, result, func() { r.First = time.Since(start) }, each); err != nil {
			return r, err
		}
	}
	if err := commit(); err != nil {
		return r, err
	}
	r.Wall, r.CPU = time.Since(start), m.CPU()
	if err := b.engine.Device().Run(ctx, new(backend.List)); err != nil { // so that the times of all work are known
		return r, err
	}
	r.Stats = result.Stats()
	r.FilesIn, r.FilesOut = in.fileBytes, sizeOf(in.output)
	for _, size := range in.sizes {
		r.InputBytes += size.keyBytes + size.otherBytes
		r.ReadBytes += size.readBytes(r.Stats.OutputRows)
	}
	if b.spec.Output == join.Rows {
		r.OutputBytes = r.Stats.OutputRows * rowBytes(b.schema)
	}
	m.Report(&r)
	return r, nil
}

// draw gives each batch to each and releases it. first is called when the first one is there.
func draw(ctx context.Context, result *engine.Result, first func(), each func(arrow.RecordBatch) error) error {
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			return err
		}
		if first != nil {
			first()
			first = nil
		}
		err = each(batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// open opens the files; there are no readers for tables in memory.
func (in *inputs) open(ctx context.Context, b *bed, m *Meter) (readers [2]*tableio.Reader, err error) {
	for side, path := range in.paths {
		if path == "" {
			continue
		}
		options := tableio.ReadOptions{Allocator: &offheap.Shared, Busy: &m.reads} // as spirjoin join does
		if readers[side], err = tableio.Open(ctx, path, options); err != nil {
			return readers, err
		}
	}
	return readers, nil
}

func (in *inputs) schema(readers [2]*tableio.Reader, side int) *arrow.Schema {
	if readers[side] != nil {
		return readers[side].Schema()
	}
	return in.tables[side].Schema()
}

// begin starts the join. Tables in files are read first, into tables, but for the one with more rows, which is joined
// as it is read unless rows are only counted: as the command join does with large tables.
func (b *bed) begin(ctx context.Context, layout *join.Layout, tables *[2]arrow.Table, readers [2]*tableio.Reader,
	r *Run) (result *engine.Result, err error) {
	streamed := -1
	if readers[0] != nil && b.spec.Output == join.Rows {
		if streamed = 1; readers[0].Rows() > readers[1].Rows() {
			streamed = 0
		}
	}
	var sources [2]source.Source
	for side, reader := range readers {
		switch {
		case reader == nil:
		case side == streamed:
			sources[side] = source.Source{Schema: reader.Schema(), Rows: reader.Rows(),
				Batches: func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
					return reader.Batches(ctx, layout.Needed[side])
				}}
		default:
			if tables[side], err = reader.Read(ctx, layout.Needed[side]); err != nil {
				return nil, err
			}
			sources[side] = source.FromTable(tables[side])
		}
	}
	if streamed >= 0 {
		fixed := *layout
		fixed.Spec.BuildSide = [2]join.BuildSide{join.BuildRight, join.BuildLeft}[streamed]
		return b.engine.StreamLayout(ctx, &fixed, sources[0], sources[1])
	}
	start := time.Now()
	plan, err := b.engine.PlanLayout(ctx, layout, tables[0], tables[1], nil)
	if r.Plan = time.Since(start); err != nil {
		return nil, err
	}
	return plan.Run(ctx)
}

func closeAll(readers [2]*tableio.Reader) {
	for _, r := range readers {
		if r != nil {
			_ = r.Close()
		}
	}
}

func releaseAll(tables [2]arrow.Table) {
	for _, t := range tables {
		if t != nil {
			t.Release()
		}
	}
}

// rowBytes is the size of a row of columns of fixed width.
func rowBytes(schema *arrow.Schema) (sizeBytes uint64) {
	for _, field := range schema.Fields() {
		sizeBytes += uint64(field.Type.(arrow.FixedWidthDataType).BitWidth()) / 8
	}
	return sizeBytes
}
