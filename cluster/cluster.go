// Package cluster is the contract between the ranks of a job: the processes that a launcher such as mpirun has started
// together. Ranks meet in rounds of agreement and send one another messages in streams.
//
// [Local] makes a job of goroutines; package cluster/mpi makes one of the processes of an MPI launcher. A runtime that
// hosts the library passes its own Job.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

// Limits of a message, equal in every transport.
const (
	HeadBytes  = 64 << 10 // maximum size of a head
	MaxBuffers = 8 << 10  // maximum number of buffers of a body
	PieceBytes = 4 << 20  // bodies travel in pieces of at most this size
)

// Job is this rank and its connection with the other ranks. Safe for concurrent use, but for Close.
//
// An error that is not about the arguments leaves the ranks in different states. The rank that has it calls Abort; then
// no call of the job, of any rank, waits any longer.
type Job interface {
	Rank() int // from 0 to Size-1
	Size() int
	// Nodes returns the number of the node of each rank, by rank. Nodes are numbered from 0 in the order of their
	// lowest ranks. Ranks of one node share a machine: its memory and its devices. Nobody may change the slice.
	Nodes() []int
	// Gather waits until all ranks have come to the round, and returns what they say, by rank. Nobody may change it.
	// Rounds are collective: every rank calls them with the same names in the same order, one at a time. Errors:
	// ErrInvalidInput on all ranks, naming two of them, if their names differ.
	Gather(ctx context.Context, round string, mine []byte) ([][]byte, error)
	// Open opens a stream from each rank to each other. It is collective, but does not wait: the nth opening of a name
	// belongs to the nth opening of it by every other rank. Several streams may be open at once.
	Open(name string) Stream
	// Abort ends the calls of all ranks, this one included, with *Lost. The first Abort of a job counts.
	Abort(err error)
	// Context ends when a rank has aborted; its cause is *Lost.
	Context() context.Context
	// Stats returns what this rank has sent in all streams.
	Stats() Stats
	// Close ends the part of this rank in the job, once, when all ranks close it. No call may be under way, none may
	// follow, and all streams must have been sent and received to their ends. After an Abort a transport may end the
	// process with the exit code of the failure instead of returning.
	Close() error
}

// NodeRanks lists the ranks of the node of a rank, itself among them.
func NodeRanks(job Job, rank int) (ranks []int) {
	nodes := job.Nodes()
	for other, node := range nodes {
		if node == nodes[rank] {
			ranks = append(ranks, other)
		}
	}
	return ranks
}

// Stream carries messages between all ranks of a job. A message is a head, which says what the body is, and a body: any
// number of buffers, which are sent from where they lie. Messages from one rank to another keep their order.
//
// A stream holds no large bodies: a rank that does not receive holds up those who send to it. Send and receive in
// different goroutines, or ranks that send to one another wait for ever.
type Stream interface {
	// Send sends a message to another rank, and returns when head and body may be changed. That is when the other rank
	// has received it, or has room for it if it is small: a transport may keep one message of HeadBytes for each
	// sender. Safe for concurrent use; messages to one rank go one after the other. Errors: ErrInvalidInput for this
	// rank itself, a head of more than HeadBytes or more than MaxBuffers buffers, or after End. If ctx ends while a
	// message is on its way, the receiver may blame this rank, with *Lost: package shuffle therefore sends without the
	// cancellation of its flow, and a flow that fails aborts the job first.
	Send(ctx context.Context, to int, head []byte, body ...[]byte) error
	// Receive receives the next message of any rank, and returns its rank; some is false when all other ranks have
	// ended. place gets the head, valid until it returns, and returns memory for the buffers of the body. They must be
	// as many and as large as those sent, otherwise the error is ErrInvalidInput. Heads are bytes of another process:
	// place checks them before it believes a size. Safe for concurrent use: as many messages are received at once, of
	// different ranks.
	Receive(ctx context.Context, place func(from int, head []byte) ([][]byte, error)) (from int, some bool, err error)
	// End tells all others that this rank sends no more. Called once, after all calls of Send have returned.
	End(ctx context.Context) error
}

// Options are options of every transport.
type Options struct {
	// Stall is the longest wait of a call for other ranks; after it the call returns ErrTimedOut and names them. 0: no
	// limit.
	Stall time.Duration
	// ExitCode returns the exit code of an error that Abort is called with, for Lost.Code. nil: the code is 1.
	ExitCode func(error) int
}

// Lost is the error of a job that a rank has ended, by Abort or by a fault of its connection.
type Lost struct {
	Rank int    // of the rank that failed
	Text string // its error
	Code int    // exit code with which all processes of the job end
}

func (e *Lost) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Text) }

// Unwrap returns ErrCancelled, whatever the rank's own error was: that is no reason for other ranks to retry with less
// memory or without a device.
func (e *Lost) Unwrap() error { return backend.ErrCancelled }

// NewLost returns the error of all ranks after a rank has called Abort with err: itself if it is a *Lost. For
// transports.
func (o Options) NewLost(rank int, err error) *Lost {
	if lost := (*Lost)(nil); errors.As(err, &lost) {
		return lost
	}
	lost := &Lost{Rank: rank, Text: err.Error(), Code: 1}
	if o.ExitCode != nil {
		lost.Code = o.ExitCode(err)
	}
	return lost
}
