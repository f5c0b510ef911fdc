package files

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

// Table is an open file that is grouped, or a side of a join. It is used by one goroutine at a time.
type Table struct {
	*tableio.Reader
	options *Options
	side    relation.Side
	path    string
	needed  []string     // columns
	read    atomic.Int64 // rows, by the last Read
}

// OpenTable opens a file that is grouped; "-" is standard input. Read says how it is read; Allocator, AheadBytes,
// Opening and Progress are set here. The caller closes the table.
//
// Errors: as for [tableio.Open].
func OpenTable(ctx context.Context, path string, read tableio.ReadOptions, options Options) (*Table, error) {
	return options.open(ctx, relation.Left, path, read)
}

func (o *Options) open(ctx context.Context, side relation.Side, path string, read tableio.ReadOptions) (*Table, error) {
	if o.Opening != nil {
		o.Opening(side, path, 0, 0)
	}
	t := &Table{options: o, side: side, path: path}
	reader, err := tableio.Open(ctx, path, o.reading(t, read))
	if err != nil {
		return nil, err
	}
	t.Reader = reader
	return t, nil
}

// reading completes the options of a reader. Tables are not pinned: for one join, pinning takes longer than copies
// through staging memory.
func (o *Options) reading(t *Table, read tableio.ReadOptions) tableio.ReadOptions {
	read.Allocator, read.AheadBytes = o.Limit.of(&offheap.Shared), o.Limit.aheadBytes()
	if o.Opening != nil {
		read.Opening = func(done, total int64) { o.Opening(t.side, t.path, done, total) }
	}
	read.Progress = func(rows int64) {
		t.read.Store(rows)
		if o.Reading != nil {
			o.Reading(t.side, rows, t.Rows())
		}
	}
	return read
}

// load reads the table. A refusal for lack of memory estimates what all rows take from those that were read, and names
// the limit that this needs with what was read and reserved before.
func (t *Table) load(ctx context.Context) (arrow.Table, error) {
	if t.options.Reading != nil {
		t.options.Reading(t.side, 0, 0)
	}
	limit := t.options.Limit
	before := limit.used()
	t.read.Store(0)
	defer exec.Begin(ctx, "read "+t.side.String()).End()
	table, err := t.Read(ctx, t.needed)
	rows, total := t.read.Load(), t.Rows()
	if limit == nil || !errors.Is(err, backend.ErrHostMemory) || rows == 0 || total < rows {
		return table, err
	}
	aheadBytes, _ := t.AheadBytes(t.needed)
	took := float64(max(limit.TableBytes-before-aheadBytes, 0)) / float64(rows)
	all := uint64(took * float64(total))
	need := limit.ReservedBytes + uint64(before+aheadBytes) + all
	if need <= limit.ReservedBytes+uint64(limit.TableBytes) { // the rows that are left are longer than those before
		return nil, err
	}
	return nil, fmt.Errorf("%w; the %s table takes about %s, so the limit must be above %s", err, t.side, text.Limit(all),
		text.Limit(need))
}

// source returns the needed columns of the table, read batch by batch.
func (t *Table) source() spirjoin.Source {
	return spirjoin.Source{Schema: t.Schema(), Rows: t.Rows(), Again: t.Rows() >= 0,
		Batches: func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] { return t.Batches(ctx, t.needed) }}
}

// reserve sets memory of the engine aside for reading the table batch by batch, beside the batches that the engine has.
func (t *Table) reserve(engine *spirjoin.Engine) error {
	aheadBytes, err := t.AheadBytes(t.needed)
	if err == nil {
		err = engine.Reserve(uint64(aheadBytes))
	}
	if err != nil {
		return fmt.Errorf("reading %s takes %s beside its batches: %w", t.path, text.Limit(uint64(aheadBytes)), err)
	}
	return nil
}
