package task

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/take"
)

// Merge puts rows in the order of the row numbers that they have as their last columns (an external merge sort): the
// output of tasks, or of a join over ranks. Rows are gathered to runs, which are sorted and put in places, in memory or
// on disk; when all are there, the runs are merged block by block.
type Merge struct {
	*Means
	File *exchange.File // of runs beyond two; nil: all are in memory. It may be set until rows come
	Fail func(error)    // ends the join

	keys     []int         // columns of row numbers, first the one that orders first; a missing number comes last
	visible  int           // columns of the output
	schema   *arrow.Schema // of these
	batch    int           // rows of a batch, at most; 0: as memory allows
	memory   *exec.Grant
	unlend   func()
	runBytes atomic.Uint64 // less where others wait for memory
	runs     []*exchange.Place
}

const (
	runShare          = 8   // inverse of the share of memory of a run; there are two, one as it came and one sorted
	runBlocks         = 256 // blocks of a run; one block of each of 256 runs takes as much memory as a run
	mostRunBytes      = 1 << 30
	leastRunBytes     = 256 << 10 // there is room for it beside what is planned
	leastRunBlockRows = 1 << 8
)

// newMerge returns the merge of the outputs of tasks that join parts of both sides; nil if the join needs no order.
func newMerge(of *sides) *Merge {
	if !of.whole.Ordered() {
		return nil
	}
	m := NewMerge(of.Means, of.whole.Layout, of.part.Layout, of.whole.Form)
	m.File, m.Fail = of.file, of.fail
	return m
}

// NewMerge returns the merge of an ordered join whose parts have the layout numbered ([join.Layout.Numbered]). It
// borrows free memory for two runs; runs become shorter when others wait for that memory. The caller closes it.
func NewMerge(means *Means, whole, numbered *join.Layout, form join.Form) *Merge {
	m := &Merge{Means: means, visible: len(whole.Columns), schema: whole.Schema, batch: whole.Spec.BatchRows,
		memory: means.Budget().Empty()}
	if form.Output == join.Pairs { // whatever columns are named
		m.visible, m.schema = 2, arrow.NewSchema(numbered.Schema.Fields()[:2], nil)
	}
	for i, c := range numbered.Columns {
		if c.Role == join.ValueColumn && c.Source == join.NumberColumn {
			m.keys = append(m.keys, i)
		}
	}
	if form.Order == join.RightOrder {
		slices.Reverse(m.keys)
	}
	wishBytes := cmp.Or(m.DivideBytes, min(mostRunBytes, m.HostCapBytes()/runShare))
	m.runBytes.Store(max(m.memory.Borrow(2*wishBytes)/2, leastRunBytes))
	m.unlend = m.Budget().Lend(func(sizeBytes uint64) {
		has := m.memory.Has()
		has.Host -= min(has.Host, sizeBytes)
		m.memory.Shrink(has)
		m.runBytes.Store(max(has.Host/2, leastRunBytes))
	})
	return m
}

// Close frees the runs.
func (m *Merge) Close() {
	for _, run := range m.runs {
		run.Close()
	}
	m.unlend()
	m.memory.Release()
}

// Batches yields all rows in order, without their numbers. Batches of all are released.
func (m *Merge) Batches(ctx context.Context, all iter.Seq2[arrow.RecordBatch, error]) iter.Seq2[
	arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if err := m.collect(ctx, all); err != nil {
			yield(nil, err)
			return
		}
		if err := m.draw(ctx, yield); err != nil {
			yield(nil, err)
		}
	}
}

// collect makes runs of all rows.
func (m *Merge) collect(ctx context.Context, all iter.Seq2[arrow.RecordBatch, error]) error {
	var held []arrow.RecordBatch
	heldBytes := uint64(0)
	release := func() {
		relation.ReleaseAll(held)
		held, heldBytes = nil, 0
	}
	defer release()
	for batch, err := range all {
		if err != nil {
			return err
		}
		held, heldBytes = append(held, batch), heldBytes+exchange.BatchBytes(batch)
		if heldBytes >= m.runBytes.Load() {
			if err := m.run(ctx, held); err != nil {
				return err
			}
			release()
		}
	}
	return m.run(ctx, held)
}

// run sorts rows, and puts them in a place.
func (m *Merge) run(ctx context.Context, held []arrow.RecordBatch) error {
	if len(held) == 0 {
		return nil
	}
	table := array.NewTableFromRecords(held[0].Schema(), held)
	defer table.Release()
	var keys [][]int64
	for _, i := range m.keys {
		var numbers []int64
		for _, chunk := range table.Column(i).Data().Chunks() {
			numbers = append(numbers, numbersOrLast(chunk.(*array.Int64))...)
		}
		keys = append(keys, numbers)
	}
	order := make([]uint32, table.NumRows())
	for row := range order {
		order[row] = uint32(row)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		for _, numbers := range keys {
			if c := cmp.Compare(numbers[a], numbers[b]); c != 0 {
				return c
			}
		}
		return 0
	})
	memoryBytes := uint64(math.MaxUint64)
	if m.File != nil { // two runs may stay in memory
		if memoryBytes = 0; len(m.runs) < 2 {
			memoryBytes = m.runBytes.Load()
		}
	}
	run := exchange.NewPlace(exchange.PlaceOptions{Schemas: [2]*arrow.Schema{table.Schema(), table.Schema()}, Parts: 1,
		Alloc: m.Allocator, Budget: m.Budget(), File: m.File, MemoryBytes: memoryBytes, Fail: m.Fail})
	m.runs = append(m.runs, run)
	for ids := range slices.Chunk(order, max(len(order)/runBlocks, leastRunBlockRows)) {
		block, err := m.take(ctx, table, ids, int(table.NumCols()), table.Schema())
		if err != nil {
			return err
		}
		if err := run.PutAll(ctx, relation.Left, []arrow.RecordBatch{block}); err != nil {
			return err
		}
	}
	return nil
}

// numbersOrLast returns row numbers, with the greatest integer for each that is missing.
func numbersOrLast(numbers *array.Int64) []int64 {
	values := slices.Clone(numbers.Int64Values())
	for i := range values {
		if numbers.IsNull(i) {
			values[i] = math.MaxInt64
		}
	}
	return values
}

// take gathers rows of the first columns of a table.
func (m *Merge) take(ctx context.Context, table arrow.Table, ids []uint32, columns int, schema *arrow.Schema) (
	arrow.RecordBatch, error) {
	var taken []arrow.Array
	defer func() {
		relation.ReleaseAll(taken)
	}()
	for i := range columns {
		c, err := take.Rows(ctx, table.Column(i).Data(), ids, m.Allocator)
		if err != nil {
			return nil, err
		}
		taken = append(taken, c)
	}
	return array.NewRecordBatch(schema, taken, int64(len(ids))), nil
}

// head is the block of a run that is being merged.
type head struct {
	run   *exchange.Place
	next  func() (arrow.RecordBatch, error, bool)
	batch arrow.RecordBatch // nil if there are no more
	keys  [][]int64
	at    int
	first uint32 // number of its first row among the rows of all heads
}

// advance loads the next block.
func (h *head) advance(columns []int) error {
	if h.batch != nil {
		h.batch.Release()
		h.batch = nil
	}
	batch, err, some := h.next()
	if err != nil || !some {
		return err
	}
	h.batch, h.at, h.keys = batch, 0, nil
	for _, i := range columns {
		h.keys = append(h.keys, numbersOrLast(batch.Column(i).(*array.Int64)))
	}
	return nil
}

func (h *head) compare(other *head) int {
	for k := range h.keys {
		if c := cmp.Compare(h.keys[k][h.at], other.keys[k][other.at]); c != 0 {
			return c
		}
	}
	return 0
}

// draw merges the runs.
func (m *Merge) draw(ctx context.Context, yield func(arrow.RecordBatch, error) bool) error {
	var heads []*head
	defer func() {
		for _, h := range heads {
			if h.batch != nil {
				h.batch.Release()
			}
		}
	}()
	for _, run := range m.runs {
		next, stop := iter.Pull2(run.Take(ctx, relation.Left, 0))
		defer stop()
		h := &head{run: run, next: next}
		heads = append(heads, h)
		if err := h.advance(m.keys); err != nil {
			return err
		}
	}
	for {
		if ctx.Err() != nil {
			return backend.ContextError(ctx)
		}
		open := slices.DeleteFunc(slices.Clone(heads), func(h *head) bool { return h.batch == nil })
		if len(open) == 0 {
			return nil
		}
		batch, err := m.step(ctx, open)
		if err != nil {
			return err
		}
		if !yield(batch, nil) {
			return nil
		}
	}
}

// step merges the blocks of the heads until one is used up or a batch is full.
func (m *Merge) step(ctx context.Context, heads []*head) (arrow.RecordBatch, error) {
	var blocks []arrow.RecordBatch
	rows := uint32(0)
	for _, h := range heads {
		h.first, rows = rows, rows+uint32(h.batch.NumRows())
		blocks = append(blocks, h.batch)
	}
	sorted := slices.Clone(heads)
	slices.SortFunc(sorted, (*head).compare)
	var ids []uint32
	for most := m.BatchRows(m.batch, m.schema); uint64(len(ids)) < most; {
		h := sorted[0]
		ids = append(ids, h.first+uint32(h.at))
		if h.at++; h.at == int(h.batch.NumRows()) {
			break
		}
		i := 1 // where it belongs now
		for ; i < len(sorted) && h.compare(sorted[i]) > 0; i++ {
			sorted[i-1] = sorted[i]
		}
		sorted[i-1] = h
	}
	table := array.NewTableFromRecords(blocks[0].Schema(), blocks)
	defer table.Release()
	batch, err := m.take(ctx, table, ids, m.visible, m.schema)
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		if h.at == int(h.batch.NumRows()) {
			if err := h.advance(m.keys); err != nil {
				batch.Release()
				return nil, err
			}
		}
	}
	return batch, nil
}
