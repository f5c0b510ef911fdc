// Package core has the contract of table formats ([Source], [Encoder]) and what they share: inputs, work in order, busy
// times, scopes of memory, faults in one line, and conversions of types that a format does not have.
package core

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Source is one open file of one format. It is used by one goroutine at a time.
type Source interface {
	// Schema returns the schema of all columns.
	Schema() *arrow.Schema
	// Rows returns the number of rows, or -1 if it is unknown before the file is read.
	Rows() int64
	// Batches reads columns, indices into the schema, in the order of the file, a bounded number of blocks at once on
	// all cores. The caller releases the batches, which are allocated from mem. An error ends the sequence. When the
	// sequence is over, also because the caller left it, no work runs any more.
	Batches(ctx context.Context, columns []int, mem memory.Allocator) iter.Seq2[arrow.RecordBatch, error]
}

// Encoder writes batches of one format to a sink that it does not close.
type Encoder interface {
	// Write encodes a batch, which it may retain. An error is final.
	Write(ctx context.Context, batch arrow.RecordBatch) error
	// Close completes the content and frees everything. Where ctx has ended, it only frees.
	Close(ctx context.Context) error
}
