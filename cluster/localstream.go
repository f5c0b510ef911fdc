package cluster

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// localExchange is a stream of all ranks: a mailbox for each.
type localExchange struct {
	boxes  []*mailbox
	opened int // ranks that have opened it
}

// mailbox holds at most one message of each sender, which waits until it is received, and its end.
type mailbox struct {
	came chan *envelope // closed when all others have ended

	mu    sync.Mutex // guards what follows
	ended []bool     // by sender
	open  int        // senders that have not ended
	next  []uint64   // number of the next message, by sender
}

// envelope is a message on its way, or the end of a sender.
type envelope struct {
	from   int
	number uint64 // of the message, from 0; at the end, the number of all
	end    bool
	head   []byte
	body   [][]byte
	taken  atomic.Bool   // by the receiver, to copy it, or back by the sender
	done   chan struct{} // closed when the body is copied
}

func newLocalExchange(size int) *localExchange {
	x := &localExchange{}
	for rank := range size {
		// A sender whose message waits sends no other one, even if it takes that back; but it may end.
		b := &mailbox{came: make(chan *envelope, 2*size), ended: make([]bool, size), open: size - 1,
			next: make([]uint64, size)}
		b.ended[rank] = true
		if b.open == 0 {
			close(b.came)
		}
		x.boxes = append(x.boxes, b)
	}
	return x
}

// localStream is a stream as one rank sees it.
type localStream struct {
	*localJob
	name string
	x    *localExchange
	to   []localSender
	mu   sync.Mutex
	over bool // End was called
}

// localSender is the way to one receiver.
type localSender struct {
	turn   chan struct{} // holds a value while a message is sent
	number uint64        // of the next message
	err    error         // of a message that was taken back: none can follow
}

func newLocalStream(j *localJob, name string, x *localExchange) *localStream {
	s := &localStream{localJob: j, name: name, x: x, to: make([]localSender, j.size)}
	for to := range s.to {
		s.to[to].turn = make(chan struct{}, 1)
	}
	return s
}

// Send implements Stream.
func (s *localStream) Send(ctx context.Context, to int, head []byte, body ...[]byte) error {
	if err := CheckMessage(s, to, head, body); err != nil {
		return err
	}
	if err := s.plant(ctx, to); err != nil {
		return err
	}
	sender := &s.to[to]
	select {
	case sender.turn <- struct{}{}:
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-ctx.Done():
		return backend.ContextError(ctx)
	}
	defer func() { <-sender.turn }()
	s.mu.Lock()
	over := s.over
	s.mu.Unlock()
	if over {
		return invalid("rank %d sends after the end of stream %q", s.rank, s.name)
	}
	if sender.err != nil {
		return sender.err
	}
	if err := s.carry(ctx, to, head, body); err != nil {
		return err
	}
	e := &envelope{from: s.rank, number: sender.number, head: bytes.Clone(head), body: body, done: make(chan struct{})}
	sender.number++
	s.counters.Count(to, head, body)
	if s.Faults.Drop != nil && s.Faults.Drop(s.name, s.rank, to, int(e.number)) {
		return nil
	}
	s.x.boxes[to].came <- e
	_, err := Await(ctx, s.ctx, s.Stall, e.done, func() string {
		return fmt.Sprintf("rank %d did not receive message %d of stream %q", to, e.number, s.name)
	})
	if err != nil {
		if e.taken.Swap(true) {
			<-e.done // it is being copied
		}
		sender.err = err
	}
	return err
}

// End implements Stream. It does not wait.
func (s *localStream) End(ctx context.Context) error {
	if err := s.plant(ctx, -1); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return invalid("rank %d ends stream %q twice", s.rank, s.name)
	}
	s.over = true
	for to, box := range s.x.boxes {
		if to != s.rank {
			box.came <- &envelope{from: s.rank, number: s.to[to].number, end: true}
		}
	}
	return nil
}

// Receive implements Stream.
func (s *localStream) Receive(ctx context.Context, place func(from int, head []byte) ([][]byte, error)) (
	from int, some bool, err error) {
	if err := s.plant(ctx, -1); err != nil {
		return 0, false, err
	}
	box := s.x.boxes[s.rank]
	for {
		e, err := Await(ctx, s.ctx, s.Stall, box.came, func() string {
			return fmt.Sprintf("%s neither sent nor ended in stream %q", Ranks(box.silent()), s.name)
		})
		if err != nil || e == nil {
			return 0, false, err
		}
		if err := box.arrived(s.name, e); err != nil {
			return 0, false, err
		}
		if e.end {
			continue
		}
		return e.from, true, e.receive(place)
	}
}

// arrived checks that no message before this one was lost, and notes the end of its sender.
func (b *mailbox) arrived(stream string, e *envelope) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := CheckOrder(stream, e.from, e.number, b.next[e.from]); err != nil {
		return err
	}
	b.next[e.from]++
	if e.end {
		b.ended[e.from] = true
		if b.open--; b.open == 0 {
			close(b.came)
		}
	}
	return nil
}

// silent returns the ranks that have not ended.
func (b *mailbox) silent() (ranks []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for rank, ended := range b.ended {
		if !ended {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// receive copies the body to the receiver's memory.
func (e *envelope) receive(place func(from int, head []byte) ([][]byte, error)) error {
	memory, err := place(e.from, e.head)
	if err != nil {
		return err
	}
	sizes := make([]uint64, len(e.body))
	for i, b := range e.body {
		sizes[i] = uint64(len(b))
	}
	if err := CheckPlace(e.from, memory, sizes); err != nil {
		return err
	}
	if e.taken.Swap(true) {
		return &Lost{Rank: e.from, Code: 1, Text: "it took a message back while that was received"}
	}
	defer close(e.done)
	for i, b := range e.body {
		copy(memory[i], b)
	}
	return nil
}
