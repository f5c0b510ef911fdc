package endtoend

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
	"github.com/spirjoin/spirjoin/tableio/csv"
)

// bed is an engine, and the workload that it joins in several ways.
type bed struct {
	*Sweep
	engine    *engine.Engine
	allocator memory.Allocator
	spec      join.Spec
	folder    string
	answer    *joins.Answer // nil until the first tables are there
	schema    *arrow.Schema // of the output
}

func (b *bed) close() {
	b.engine.Close()
	if pinned, ok := b.allocator.(*relation.PinnedAllocator); ok {
		pinned.Close()
	}
}

// inputs are R and S, as tables or as files.
type inputs struct {
	tables    [2]arrow.Table
	paths     [2]string // empty: tables
	output    string    // path of the file of the output
	sizes     [2]tableSize
	fileBytes uint64
}

func (in *inputs) release() {
	for side, table := range in.tables {
		if table != nil {
			table.Release()
		}
		if in.paths[side] != "" {
			_ = os.Remove(in.paths[side])
		}
	}
	if in.output != "" {
		_ = os.Remove(in.output)
	}
}

// make makes the tables of a way, and the answer where there is none yet.
func (b *bed) make(ctx context.Context, way Way) (_ *inputs, err error) {
	spec := b.Spec
	if way.pinned {
		spec.Allocator = b.allocator
	}
	in := &inputs{}
	defer func() {
		if err != nil {
			in.release()
		}
	}()
	if in.tables[0], in.tables[1], err = workload.PKFK(ctx, spec); err != nil {
		return nil, err
	}
	layout, err := join.NewLayout(in.tables[0].Schema(), in.tables[1].Schema(), b.spec)
	if err != nil {
		return nil, err
	}
	for side, keys := range [2][]string{b.spec.LeftOn, b.spec.RightOn} {
		in.sizes[side] = sizeOfTable(in.tables[side], keys, layout.Needed[side])
	}
	if b.answer == nil {
		b.schema = layout.Schema
		if b.answer, err = joins.NewAnswer(ctx, in.tables[0], in.tables[1], b.How); err != nil {
			return nil, err
		}
	}
	if !way.inFiles() {
		return in, nil
	}
	extension := map[tableio.Format]string{tableio.Parquet: ".parquet", tableio.ArrowFile: ".arrow",
		tableio.CSV: ".csv"}[way.format]
	if b.spec.Output == join.Rows {
		in.output = filepath.Join(b.folder, "joined"+extension)
	}
	for side, table := range in.tables {
		in.paths[side] = filepath.Join(b.folder, [2]string{"r", "s"}[side]+extension)
		if err := writeTable(ctx, in.paths[side], table); err != nil {
			return nil, err
		}
		table.Release()
		in.tables[side] = nil
		in.fileBytes += sizeOf(in.paths[side])
	}
	return in, nil
}

// batchRows of tables that are written to files.
const batchRows = 1 << 20

func writeTable(ctx context.Context, path string, table arrow.Table) error {
	w, err := tableio.Create(path, table.Schema(), tableio.WriteOptions{})
	if err != nil {
		return err
	}
	defer w.Abort()
	reader := array.NewTableReader(table, batchRows)
	defer reader.Release()
	for reader.Next() {
		if err := w.Write(ctx, reader.RecordBatch()); err != nil {
			return err
		}
	}
	return w.Commit(ctx)
}

// tableSize is the size of the columns of a table that a join needs.
type tableSize struct {
	rows                 uint64
	keyBytes, otherBytes uint64 // in Arrow's buffers
}

func sizeOfTable(table arrow.Table, keys, needed []string) tableSize {
	size := tableSize{rows: uint64(table.NumRows())}
	for i := range int(table.NumCols()) {
		bytes := relation.ColumnBytes(table.Column(i).Data())
		switch name := table.Column(i).Name(); {
		case slices.Contains(keys, name):
			size.keyBytes += bytes
		case slices.Contains(needed, name):
			size.otherBytes += bytes
		}
	}
	return size
}

// readBytes is what any join reads of the columns: the keys, and of the others as many rows as are output, or all.
func (t *tableSize) readBytes(outputRows uint64) uint64 {
	if t.rows == 0 {
		return 0
	}
	return t.keyBytes + t.otherBytes/t.rows*min(outputRows, t.rows)
}

func sizeOf(path string) uint64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return uint64(info.Size())
}

// measure verifies a way and then times it; begin is called before each step.
func (b *bed) measure(ctx context.Context, way Way, begin func(what string)) (*Result, error) {
	begin("make " + way.Name)
	in, err := b.make(ctx, way)
	if err != nil {
		return nil, err
	}
	defer in.release()
	begin("verify " + way.Name)
	if err := b.verify(ctx, in); err != nil {
		return nil, err
	}
	begin("time " + way.Name)
	runs, err := measure.Repeat(b.Repeat, b.Warm, func() (Run, error) {
		return b.run(ctx, in, func(arrow.RecordBatch) error { return nil })
	})
	if err != nil {
		return nil, err
	}
	return resultOf(runs), nil
}

// verify joins once and looks at the answer, which it reads back from a file.
func (b *bed) verify(ctx context.Context, in *inputs) error {
	check := b.answer.Begin()
	add := func(batch arrow.RecordBatch) error { return check.Add(ctx, batch) }
	if in.output != "" {
		add = func(arrow.RecordBatch) error { return nil }
	}
	run, err := b.run(ctx, in, add)
	if err != nil {
		return err
	}
	if b.spec.Output == join.Count {
		if run.Stats.OutputRows != b.answer.Rows() {
			return measure.Wrongf("%d rows are counted, not %d", run.Stats.OutputRows, b.answer.Rows())
		}
		return nil
	}
	if in.output != "" {
		if err := b.readBack(ctx, in.output, check); err != nil {
			return err
		}
	}
	return check.End()
}

func (b *bed) readBack(ctx context.Context, path string, check *joins.Check) error {
	r, err := tableio.Open(ctx, path, tableio.ReadOptions{CSV: csv.Options{Schema: b.schema}})
	if err != nil {
		return err
	}
	defer r.Close()
	for batch, err := range r.Batches(ctx, nil) {
		if err == nil {
			err = check.Add(ctx, batch)
			batch.Release()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
