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

// Bounded is a source whose statistics tell where the values of columns lie.
type Bounded interface {
	// Bounds returns bounds of a column; ok is false if there are none. They may be wider than the values.
	Bounds(column int) (b Bounds, ok bool)
	// Nulls reports whether a column may have NULLs.
	Nulls(column int) bool
	// SkipOutside makes later reads skip parts in which no value of the column lies within the bounds. NULL lies within
	// bounds with Nulls. Nothing is skipped if the bounds do not compare with the column.
	SkipOutside(column int, b Bounds)
}

// Ahead is a source that can bound the memory beside batches that were drawn.
type Ahead interface {
	// SetAhead sets that bound for later reads, in bytes. The source was opened with one.
	SetAhead(aheadBytes int64)
	// NeedBytes returns the memory that reading the columns takes beside batches that were drawn, which may exceed the
	// bound. Alone tells that no batch of another source is in use meanwhile.
	NeedBytes(columns []int, alone bool) int64
}

// Divisible is a source of pieces that can be read apart: row groups, record batches, blocks of text.
type Divisible interface {
	// Pieces returns all pieces, in the order of rows.
	Pieces() []Piece
	// Take leaves pieces from to to-1; rows and bounds are then theirs. It must come before the first read, and once.
	Take(from, to int)
}

// Piece is the size of a piece.
type Piece struct {
	Bytes int64
	Rows  int64 // -1: unknown before it is read
}

// RowsOf returns the rows of pieces, or -1.
func RowsOf(pieces []Piece) (rows int64) {
	for _, piece := range pieces {
		if piece.Rows < 0 {
			return -1
		}
		rows += piece.Rows
	}
	return rows
}

// Encoder writes batches of one format to a sink that it does not close.
type Encoder interface {
	// Write encodes a batch, which it may retain. An error is final.
	Write(ctx context.Context, batch arrow.RecordBatch) error
	// Close completes the content and frees everything. Where ctx has ended, it only frees.
	Close(ctx context.Context) error
}
