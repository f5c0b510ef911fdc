//go:build linux

package mpi

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
)

// While a piece ends, the next ones are under way: at most this many pieces of a message, and this many bytes.
const (
	mostAhead  = 64
	bytesAhead = 4 * cluster.PieceBytes
)

// transfer sends or receives buffers, piece by piece.
//
// Buffers are handed to MPI where they lie, in Go's heap or outside. Go does not move what is in its heap, and buffers
// are pinned until the last piece has ended, also if nobody waits for that any more.
type transfer struct {
	job     *Job
	buffers [][]byte // that are left
	at      int      // bytes of the first of them that have begun
	begin   func(piece []byte, done func(error)) *request
	begun   func()       // called when the last piece has begun; may be nil
	moved   atomic.Int64 // pieces that have ended
	ended   chan error

	// Of the driver alone.
	requests []*request // under way
	under    int        // number of them
	bytes    int        // their size
	stopped  bool       // no piece begins any more
	over     bool
	err      error
	pin      runtime.Pinner
}

// run transfers all buffers. On an error some pieces may still be under way.
func (t *transfer) run(ctx context.Context, stalled func() string) error {
	t.ended = make(chan error, 1)
	t.job.do(func() {
		for _, b := range t.buffers {
			if len(b) > 0 {
				t.pin.Pin(unsafe.SliceData(b))
			}
		}
		t.fill()
	})
	for {
		moved := t.moved.Load()
		failed, err := cluster.Await(ctx, t.job.ctx, t.job.Stall, t.ended, stalled)
		switch {
		case err == nil && failed != nil:
			return t.job.lose(failed)
		case err == nil:
			return nil
		case errors.Is(err, backend.ErrTimedOut) && ctx.Err() == nil && t.moved.Load() != moved:
			continue // slow, but no stall
		}
		t.giveUp()
		return err
	}
}

// giveUp stops a transfer, and gives pieces under way a moment to end: their memory is the caller's.
func (t *transfer) giveUp() {
	t.job.do(func() {
		t.stopped = true
		if t.begun != nil { // it receives
			t.job.withdraw(t.requests)
		}
		t.fill()
	})
	select {
	case <-t.ended:
	case <-time.After(settle):
	}
}

// fill begins pieces until the window is full. On the driver.
func (t *transfer) fill() {
	for !t.stopped && t.under < mostAhead && t.bytes < bytesAhead {
		piece := t.next()
		if piece == nil {
			t.stopped = true
			if t.begun != nil {
				t.begun()
			}
			break
		}
		t.under, t.bytes = t.under+1, t.bytes+len(piece)
		r := t.begin(piece, func(err error) {
			t.bytes -= len(piece)
			t.pieceEnded(err)
		})
		t.requests = append(slices.DeleteFunc(t.requests, func(r *request) bool { return r.at < 0 }), r)
	}
	if t.stopped && t.under == 0 && !t.over {
		t.over = true
		t.pin.Unpin()
		t.ended <- t.err
	}
}

func (t *transfer) pieceEnded(err error) {
	t.under--
	t.moved.Add(1)
	if err != nil {
		t.err, t.stopped = err, true
	}
	t.fill()
}

// next returns the next piece; nil: there is none.
func (t *transfer) next() []byte {
	for len(t.buffers) > 0 {
		b := t.buffers[0][t.at:]
		if len(b) == 0 {
			t.buffers, t.at = t.buffers[1:], 0
			continue
		}
		n := min(len(b), cluster.PieceBytes)
		t.at += n
		return b[:n]
	}
	return nil
}

// sendMessage sends a head piece and a body.
func (s *stream) sendMessage(ctx context.Context, p *peer, head []byte, body [][]byte) error {
	t := &transfer{job: s.Job, buffers: append([][]byte{head}, body...),
		begin: func(piece []byte, done func(error)) *request { return s.send(piece, p.rank, s.tag, done) }}
	return t.run(ctx, func() string {
		return fmt.Sprintf("rank %d did not receive message %d of stream %q", p.rank, p.sent-1, s.name)
	})
}

// receiveBody receives the body of a message, and begins to receive the next head piece behind it.
func (s *stream) receiveBody(ctx context.Context, p *peer, memory [][]byte) error {
	t := &transfer{job: s.Job, buffers: slices.Clone(memory),
		begin: func(piece []byte, done func(error)) *request { return s.receive(piece, p.rank, s.tag, done) },
		begun: func() { s.listenTo(p) }}
	err := t.run(ctx, func() string {
		return fmt.Sprintf("rank %d did not send all of message %d of stream %q", p.rank, p.count-1, s.name)
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.busy = false
	s.offer(p)
	return nil
}
