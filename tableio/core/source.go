package core

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// source is one open file of one format. Columns are indices into schema; tables and batches are the caller's and are
// allocated from mem.
type Source interface {
	Schema() *arrow.Schema
	Rows() int64
	// batches reads in the order of the file, a bounded number of blocks at once on all cores. It ends behind an error;
	// whoever leaves it early gets no work left running.
	Batches(ctx context.Context, columns []int, mem memory.Allocator) iter.Seq2[arrow.RecordBatch, error]
}

// encoder writes batches of one format to a sink that it does not close.
type Encoder interface {
	// write encodes a batch, which it may retain. An error is final.
	Write(ctx context.Context, batch arrow.RecordBatch) error
	// close completes the content and frees everything. Where ctx has ended, it only frees.
	Close(ctx context.Context) error
}
