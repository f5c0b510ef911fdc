// Package shuffle moves one side of a distributed join: from the shares that the ranks of a job have of it to the rows
// that each rank joins, those whose keys it owns, or all.
//
//	rank 0: batches ─► blocks ─► Divider ─► rows of rank 0 ─────────────┐
//	                                 └────► rows of rank 1 ─► stream ─┐ ├─► batches of rank 0
//	rank 1: batches ─► blocks ─► Divider ─► rows of rank 0 ─► stream ─┼─┘
//	                                 └────► rows of rank 1 ───────────┴───► batches of rank 1
//
// Column buffers are sent from where they lie and received into the memory in which they stay (docs/ranks.md). Bytes of
// other ranks are checked.
package shuffle

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// Options say how a side moves. All ranks have the same, except for the job, the number of the first row and memory.
type Options struct {
	Job    cluster.Job
	Stream cluster.Stream // of this side alone
	Side   relation.Side
	Schema *arrow.Schema // of the columns that move
	// Number is the number of the first row of this rank's share if rows get their numbers as a last column of Schema;
	// negative: they do not.
	Number int64
	// Divider divides rows among the ranks; nil: every row goes to all ranks. If its Divider.Nulls is set, rows with a
	// NULL key stay on their rank.
	Divider *exchange.Divider
	// Witness has each rank send to all ranks one of its rows and, with Divider.Nulls, a row with a NULL key instead of
	// keeping all of these: of the right side of a not-in join, of which each rank must only know whether there are
	// any.
	Witness bool
	// Copies are the ranks to which the rows of each further part go that Divider.HotParts counts.
	Copies [][]int
	// Seen, unless nil, is called with all rows that this rank gets, before they are drawn. It must be safe for
	// concurrent use.
	Seen func(ctx context.Context, rows arrow.RecordBatch) error
	// Await, unless nil, is called before the first block is divided, and returns when the Divider is complete.
	Await      func(ctx context.Context) error
	BlockBytes uint64 // rows that are divided at a time
	Alloc      memory.Allocator
	Coding
}

// BlocksHeld is the number of blocks that a side on its way has in memory, at most: one each is gathered, divided,
// copied to its parts, handed over, waits, and is sent; one is received, one waits, and one is checked.
const BlocksHeld = 9

// CodedBlocksHeld is BlocksHeld of a side whose columns may be encoded. Messages have room for columns that do not
// become smaller: of three blocks that are handed over, wait and are sent, of one that waits to be decoded, and of one
// that is decoded. One payload is copied to its message.
const CodedBlocksHeld = BlocksHeld + 6

// Stats count what a rank sent of a side and got of it. Its own rows are not sent.
type Stats struct {
	SentRows     uint64 `json:"sent_rows"`
	SentBytes    uint64 `json:"sent_bytes"`
	SentMessages uint64 `json:"sent_messages"`
	RawBytes     uint64 `json:"raw_bytes"`              // SentBytes if no column had been encoded
	Rows         uint64 `json:"rows"`                   // of this rank after the exchange
	DroppedRows  uint64 `json:"dropped_rows,omitempty"` // of this rank's share, by the filter of the Divider

	// Bytes of columns, as they are when they are not encoded. What is encoded once for several ranks counts once.
	HostEncodedBytes   uint64 `json:"host_encoded_bytes"`
	DeviceEncodedBytes uint64 `json:"device_encoded_bytes"`
	HostDecodedBytes   uint64 `json:"host_decoded_bytes"`
	DeviceDecodedBytes uint64 `json:"device_decoded_bytes"`
}

// Side is a side on its way. Its goroutines belong to a flow that outlives whoever draws its rows, so that a join that
// needs no more of them does not withhold this rank's share from others.
type Side struct {
	Options
	flow   *exec.Flow
	format *format
	out    *exec.Pipe[arrow.RecordBatch]
	drain  sync.Once
	seen   chan struct{} // closed when Seen was called with all rows

	link link

	producers                               atomic.Int32 // that have not ended the output
	sentRows, sentBytes, sentMessages, rows atomic.Uint64
	rawBytes, droppedRows                   atomic.Uint64
	encoded, decoded                        [2]atomic.Uint64 // bytes on the host and on a device
}

// Start begins to send the share of this rank and to receive from the others. The share is read once. A failure of the
// flow does not end calls of the stream, because the rank at their other end would seem to fail: the owner of the flow
// aborts the job when it fails, which does.
func Start(flow *exec.Flow, share source.Source, o Options) *Side {
	s := &Side{Options: o, flow: flow, format: newFormat(o.Schema), out: exec.NewPipe[arrow.RecordBatch](flow, 1),
		seen: make(chan struct{})}
	s.producers.Store(2)
	s.send(share)
	s.receive()
	return s
}

// end is called by each producer of the output, the receiver and this rank's share.
func (s *Side) end() {
	if s.producers.Add(-1) == 0 {
		close(s.seen)
		s.out.End()
	}
}

// AllSeen is closed when Options.Seen has returned for all rows of this rank.
func (s *Side) AllSeen() <-chan struct{} { return s.seen }

// arrived passes rows of this rank, which it owns, to whoever draws them.
func (s *Side) arrived(ctx context.Context, rows arrow.RecordBatch) error {
	if s.Seen != nil {
		if err := s.Seen(ctx, rows); err != nil {
			rows.Release()
			return err
		}
	}
	return s.out.Put(ctx, rows)
}

// Source returns the rows of this rank, which can be read once. rows is their number as far as it is known; negative if
// it is not.
func (s *Side) Source(rows int64) source.Source {
	return source.Source{Schema: s.Schema, Rows: rows, Batches: s.batches}
}

// batches yields the rows of this rank. If the receiver stops, the other rows are discarded as they come.
func (s *Side) batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		defer s.Discard()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(s.flow.Context(), func() { cancel(context.Cause(s.flow.Context())) })()
		for {
			batch, some, err := s.out.Take(ctx)
			if err != nil && s.flow.Context().Err() != nil {
				err = context.Cause(s.flow.Context())
			}
			switch {
			case err != nil:
				yield(nil, err)
				return
			case !some:
				return
			}
			s.rows.Add(uint64(batch.NumRows()))
			if !yield(batch, nil) {
				return
			}
		}
	}
}

// Discard has the rows that were not drawn released as they come. Nothing may be drawn afterwards.
func (s *Side) Discard() {
	s.drain.Do(func() {
		s.flow.Go("discard "+s.Side.String(), func(ctx context.Context) error {
			return s.out.Each(ctx, func(batch arrow.RecordBatch) error {
				batch.Release()
				return nil
			})
		})
	})
}

// Stats returns what was counted so far.
func (s *Side) Stats() Stats {
	return Stats{SentRows: s.sentRows.Load(), SentBytes: s.sentBytes.Load(), SentMessages: s.sentMessages.Load(),
		RawBytes: s.rawBytes.Load(), Rows: s.rows.Load(), DroppedRows: s.droppedRows.Load(),
		HostEncodedBytes: s.encoded[0].Load(), DeviceEncodedBytes: s.encoded[1].Load(),
		HostDecodedBytes: s.decoded[0].Load(), DeviceDecodedBytes: s.decoded[1].Load()}
}
