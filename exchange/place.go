package exchange

import (
	"context"
	"iter"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// Place keeps the parts of both sides as blocks: record batches in memory as long as there is room, and in a file
// otherwise. The last parts are the first to go to the file, so that the first ones, which are joined first, may never
// be written (a hybrid hash join). Safe for concurrent use, but that blocks of a side are put by one goroutine.
type Place struct {
	PlaceOptions
	memory  *exec.Grant // of what is in memory
	retired func()      // ends the loan of that

	evicting sync.Mutex // held while blocks are written

	mu            sync.Mutex // guards what follows
	parts         [2][]part
	residentBytes uint64
	grantedBytes  uint64
	err           error // of a write for which somebody else waited
}

// PlaceOptions say what a place holds, and where.
type PlaceOptions struct {
	Schemas [2]*arrow.Schema
	Parts   int
	Alloc   memory.Allocator // of batches that are read from the file
	Budget  *exec.Budget     // of the memory
	// File takes what memory has no room for, and stays the caller's; nil: all is in memory.
	File *File
	// MemoryBytes is how much of the budget the place may have; it gives back what others wait for. Without a file
	// there is no limit.
	MemoryBytes uint64
	// Fail is called if what others wait for cannot be written, with the error that put and read return from then on.
	Fail func(error)
}

// part describes a part of a side.
type part struct {
	blocks        []*block
	rows          int64
	residentBytes uint64
	evicted       bool // some of it was written
}

// NewPlace returns an empty place, which the caller closes.
func NewPlace(options PlaceOptions) *Place {
	p := &Place{PlaceOptions: options, memory: options.Budget.Empty(), retired: func() {}}
	p.parts = [2][]part{make([]part, p.Parts), make([]part, p.Parts)}
	if p.File != nil {
		p.retired = p.Budget.Lend(p.giveBack)
	}
	return p
}

// Close releases what is in memory. The place must not be used afterwards.
func (p *Place) Close() {
	p.retired()
	for number := range p.Parts {
		p.Forget(number)
	}
	p.memory.Release()
}

// PutAll appends rows to the parts of a side, one batch for each part, and takes ownership of the batches. On all cores
// it writes rows beyond the memory limit to the file. Errors: backend.ErrDiskSpace, file system errors,
// backend.ErrCancelled.
func (p *Place) PutAll(ctx context.Context, side relation.Side, batches []arrow.RecordBatch) error {
	p.mu.Lock()
	for number, batch := range batches {
		if batch.NumRows() == 0 {
			batch.Release()
			continue
		}
		b, to := &block{rows: batch.NumRows(), sizeBytes: BatchBytes(batch), batch: batch}, &p.parts[side][number]
		to.blocks, to.rows, to.residentBytes = append(to.blocks, b), to.rows+b.rows, to.residentBytes+b.sizeBytes
		p.residentBytes += b.sizeBytes
	}
	err := p.err
	p.mu.Unlock()
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return backend.ContextError(ctx)
	}
	return p.fit(ctx)
}

// Rows returns the number of rows of a part.
func (p *Place) Rows(side relation.Side, number int) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.parts[side][number].rows
}

// SizeBytes returns the memory of the rows of a part that were not taken yet, wherever they are.
func (p *Place) SizeBytes(side relation.Side, number int) (sizeBytes uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.parts[side][number].blocks {
		sizeBytes += b.sizeBytes
	}
	return sizeBytes
}

// Take yields the blocks of a part in their order, which the receiver releases: the place has them no more. Nothing
// follows an error.
func (p *Place) Take(ctx context.Context, side relation.Side, number int) iter.Seq2[arrow.RecordBatch, error] {
	return p.batches(ctx, side, number, true)
}

// Read is Take of blocks that stay in the place.
func (p *Place) Read(ctx context.Context, side relation.Side, number int) iter.Seq2[arrow.RecordBatch, error] {
	return p.batches(ctx, side, number, false)
}

func (p *Place) batches(ctx context.Context, side relation.Side, number int, take bool) iter.Seq2[
	arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for i := 0; ; {
			batch, at, err := p.next(ctx, &p.parts[side][number], i, take)
			switch {
			case batch == nil && at == nil && err == nil:
				return
			case at != nil:
				batch, err = p.File.decode(at, p.Alloc)
				if take {
					p.File.free(at)
				}
			}
			if !take {
				i++
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

// Block returns block i of a part, which stays in the place, and which the caller releases; nil if there are no more.
func (p *Place) Block(ctx context.Context, side relation.Side, number, i int) (arrow.RecordBatch, error) {
	batch, at, err := p.next(ctx, &p.parts[side][number], i, false)
	if at != nil {
		return p.File.decode(at, p.Alloc)
	}
	return batch, err
}

// next is where block i of a part is, in memory or on disk; nowhere if there are no more. One that is taken leaves the
// part, and what it has is the caller's.
func (p *Place) next(ctx context.Context, of *part, i int, take bool) (batch arrow.RecordBatch, at []span, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.err != nil:
		return nil, nil, p.err
	case ctx.Err() != nil:
		return nil, nil, backend.ContextError(ctx)
	case i >= len(of.blocks):
		return nil, nil, nil
	}
	b := of.blocks[i]
	if !take {
		if b.batch != nil {
			b.batch.Retain()
		}
		return b.batch, b.at, nil
	}
	of.blocks = of.blocks[1:]
	batch, at = p.leave(of, b)
	return batch, at, nil
}

// leave ends the stay of a block in a part. The caller holds the lock.
func (p *Place) leave(of *part, b *block) (arrow.RecordBatch, []span) {
	batch := b.batch
	if b.batch, b.gone = nil, true; batch != nil {
		of.residentBytes -= b.sizeBytes
		p.residentBytes -= b.sizeBytes
		p.shrink()
	}
	return batch, b.at
}

// Forget gives up a part, whose space in the file is used again.
func (p *Place) Forget(number int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for side := range p.parts {
		of := &p.parts[side][number]
		for _, b := range of.blocks {
			if batch, at := p.leave(of, b); batch != nil {
				batch.Release()
			} else {
				p.File.free(at)
			}
		}
		*of = part{}
	}
}

// Err is the error of a write for which somebody else waited; nil if there was none.
func (p *Place) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
