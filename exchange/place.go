package exchange

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"runtime"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// Place keeps the parts of both sides as blocks: record batches in a file, each an Arrow IPC stream compressed by LZ4.
// One goroutine may put blocks of a side while others read parts.
type Place struct {
	file    *File
	schemas [2]*arrow.Schema
	alloc   memory.Allocator

	mu    sync.Mutex // guards the lists
	parts [2][]part
}

// part is what is known of a part of a side.
type part struct {
	blocks []span
	rows   int64
}

// NewPlace returns a place for as many parts of each side, in a file that stays the caller's. Batches that are read
// again are in memory of alloc.
func NewPlace(file *File, schemas [2]*arrow.Schema, parts int, alloc memory.Allocator) *Place {
	return &Place{file: file, schemas: schemas, alloc: alloc, parts: [2][]part{make([]part, parts), make([]part, parts)}}
}

// Schema returns the schema of the rows of a side.
func (p *Place) Schema(side relation.Side) *arrow.Schema { return p.schemas[side] }

// PutAll appends the rows of each part to it, on all cores. The rows stay the caller's. Errors: backend.ErrDiskSpace,
// those of the system, backend.ErrCancelled.
func (p *Place) PutAll(ctx context.Context, side relation.Side, rows *Divided) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for number := range p.parts[side] {
		group.Go(func() error {
			if ctx.Err() != nil {
				return backend.ContextError(ctx)
			}
			block := rows.Part(number)
			defer block.Release()
			return p.put(side, number, block)
		})
	}
	return group.Wait()
}

// put appends a block to a part.
func (p *Place) put(side relation.Side, number int, block arrow.RecordBatch) error {
	if block.NumRows() == 0 {
		return nil
	}
	var content bytes.Buffer
	w := ipc.NewWriter(&content, ipc.WithSchema(p.schemas[side]), ipc.WithLZ4(), ipc.WithCompressConcurrency(1))
	if err := w.Write(block); err != nil {
		return fmt.Errorf("encode rows of the %s side: %w", side, err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("encode rows of the %s side: %w", side, err)
	}
	at, err := p.file.append(content.Bytes())
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	to := &p.parts[side][number]
	to.blocks, to.rows = append(to.blocks, at), to.rows+block.NumRows()
	return nil
}

// Rows returns the number of rows of a part.
func (p *Place) Rows(side relation.Side, number int) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.parts[side][number].rows
}

// Batches yields the blocks of a part in their order, which the receiver releases. It can be called again. Nothing
// follows an error.
func (p *Place) Batches(ctx context.Context, side relation.Side, number int) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		p.mu.Lock()
		blocks := p.parts[side][number].blocks
		p.mu.Unlock()
		for _, at := range blocks {
			batch, err := p.read(at)
			if err == nil {
				err = ctx.Err()
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

func (p *Place) read(at span) (arrow.RecordBatch, error) {
	r, err := ipc.NewReader(io.NewSectionReader(p.file.file, at.from, at.sizeBytes), ipc.WithAllocator(p.alloc))
	if err != nil {
		return nil, p.file.failed("read", err)
	}
	defer r.Release()
	if !r.Next() {
		return nil, p.file.failed("read", cmp.Or(r.Err(), io.ErrUnexpectedEOF))
	}
	batch := r.RecordBatch()
	batch.Retain()
	return batch, nil
}

// Forget gives up a part, whose space in the file is used again.
func (p *Place) Forget(number int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for side := range p.parts {
		p.file.free(p.parts[side][number].blocks)
		p.parts[side][number] = part{}
	}
}
