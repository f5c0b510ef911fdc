//go:build linux

package mpi

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
)

// A message is a head piece and the pieces of its body, sent one after the other with the tag of the stream, which MPI
// keeps in order. The head piece is
//
//	hash of the stream, 8 bytes | number of the message, 8 | kind, 4 | size of the head, 4 | buffers, 4 | 0, 4
//	size of each buffer, 8 bytes | head | small buffers
//
// Small buffers, such as bitmaps of short columns, travel in the head piece: as many as have room there, the first
// ones.
//
// One receive of a head piece is posted for each other rank. When it has come, Receive asks for memory and posts the
// receives of all pieces of the body, and behind them that of the next head piece.
const (
	fixedBytes = 32
	smallBytes = 4 << 10  // size of the largest buffer that is small
	roomBytes  = 64 << 10 // for small buffers
	slotBytes  = (fixedBytes + 8*cluster.MaxBuffers + cluster.HeadBytes + roomBytes + 4095) / 4096 * 4096
)

const (
	bodyFollows uint32 = iota + 1
	streamEnds
)

// stream is a stream as this rank sees it.
type stream struct {
	*Job
	name string
	hash uint64
	tag  int
	err  error // of its opening
	// memory holds two slots of head pieces for each rank: one to receive, one to send.
	memory []byte
	peers  []*peer
	ready  chan *peer // those whose head piece has come; closed when all have ended
	live   int        // receivers and senders that have not ended; of the driver

	mu    sync.Mutex // guards what follows, and the receiving side of peers
	open  int        // ranks that have not ended
	ended bool       // End was called
}

// peer is another rank in a stream.
type peer struct {
	rank int

	in    []byte // head piece that is received
	come  bool   // it has come, and waits for the end of the message before it
	busy  bool   // a message is received
	over  bool   // the rank has ended
	count uint64 // messages received

	turn    chan struct{} // holds a value while a message is sent
	out     []byte        // head piece that is sent
	sent    uint64        // messages
	sendErr error         // of a message that was not sent whole: none can follow
}

func newStream(j *Job, name string, hash uint64, tag int) *stream {
	return &stream{Job: j, name: name, hash: hash, tag: tag, ready: make(chan *peer, j.size), open: j.size - 1,
		live: 2 * (j.size - 1)}
}

// begin begins to receive.
func (s *stream) begin() (err error) {
	if s.size == 1 {
		close(s.ready)
		return nil
	}
	if s.memory, err = pages(2 * slotBytes * s.size); err != nil {
		return err
	}
	for rank := range s.size {
		slots := s.memory[2*slotBytes*rank:]
		s.peers = append(s.peers, &peer{rank: rank, in: slots[:slotBytes], out: slots[slotBytes:][:slotBytes],
			turn: make(chan struct{}, 1)})
	}
	s.do(func() {
		for _, p := range s.peers {
			if p.rank != s.rank {
				s.listenTo(p)
			}
		}
	})
	return nil
}

// listenTo receives the next head piece of a rank. On the driver.
func (s *stream) listenTo(p *peer) {
	s.receive(p.in, p.rank, s.tag, func(err error) {
		if err != nil {
			s.lose(err)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		p.come = true
		s.offer(p)
	})
}

// offer passes a head piece to a receiver, if it has come and the message before it was received. With s.mu held.
func (s *stream) offer(p *peer) {
	if p.come && !p.busy {
		p.come, p.busy = false, true
		s.ready <- p // has room: a busy rank is in it once
	}
}

// release notes that a receiver or sender of the stream has ended. On the driver.
func (s *stream) release() {
	if s.live--; s.live > 0 {
		return
	}
	free(s.memory)
	s.Job.mu.Lock()
	defer s.Job.mu.Unlock()
	delete(s.streams, s.tag)
}

// Receive implements cluster.Stream.
func (s *stream) Receive(ctx context.Context, place func(from int, head []byte) ([][]byte, error)) (
	from int, some bool, err error) {
	if s.err != nil {
		return 0, false, s.err
	}
	for {
		p, err := cluster.Await(ctx, s.ctx, s.Stall, s.ready, func() string {
			return fmt.Sprintf("%s neither sent nor ended in stream %q", cluster.Ranks(s.silent()), s.name)
		})
		if err != nil || p == nil {
			return 0, false, err
		}
		kind, sizes, head, small, err := s.parse(p)
		if err != nil {
			return p.rank, false, err
		}
		if kind == streamEnds {
			s.close(p)
			continue
		}
		memory, err := place(p.rank, head)
		if err == nil {
			err = cluster.CheckPlace(p.rank, memory, sizes)
		}
		if err != nil {
			return p.rank, true, err
		}
		large := split(memory, func(b []byte) { small = small[copy(b, small):] })
		return p.rank, true, s.receiveBody(ctx, p, large)
	}
}

// split calls small for the buffers that travel in the head piece, and returns the others.
func split(buffers [][]byte, small func([]byte)) (large [][]byte) {
	room := roomBytes
	for _, b := range buffers {
		if len(b) > smallBytes || len(b) > room {
			large = append(large, b)
			continue
		}
		room -= len(b)
		small(b)
	}
	return large
}

// parse checks the head piece of a rank.
func (s *stream) parse(p *peer) (kind uint32, sizes []uint64, head, small []byte, err error) {
	number := func(at int) uint32 { return binary.LittleEndian.Uint32(p.in[at:]) }
	kind = number(16)
	headBytes, buffers := number(20), number(24)
	if h := binary.LittleEndian.Uint64(p.in); h != s.hash || headBytes > cluster.HeadBytes ||
		buffers > cluster.MaxBuffers || kind != bodyFollows && kind != streamEnds {
		return 0, nil, nil, nil, &backend.OpError{Op: "receive", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(
			"rank %d sent no message of stream %q: the ranks run different programs, or two names have the same tag",
			p.rank, s.name)}
	}
	if err := cluster.CheckOrder(s.name, p.rank, binary.LittleEndian.Uint64(p.in[8:]), p.count); err != nil {
		return 0, nil, nil, nil, err
	}
	p.count++
	at := fixedBytes
	for range buffers {
		sizes = append(sizes, binary.LittleEndian.Uint64(p.in[at:]))
		at += 8
	}
	return kind, sizes, p.in[at:][:headBytes], p.in[at+int(headBytes):], nil
}

// close notes the end of a rank.
func (s *stream) close(p *peer) {
	s.do(s.release)
	s.mu.Lock()
	defer s.mu.Unlock()
	p.over = true
	if s.open--; s.open == 0 {
		close(s.ready)
	}
}

// silent returns the ranks that have not ended and of which nothing has come.
func (s *stream) silent() (ranks []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.peers {
		if p.rank != s.rank && !p.over && !p.busy {
			ranks = append(ranks, p.rank)
		}
	}
	return ranks
}

// Send implements cluster.Stream.
func (s *stream) Send(ctx context.Context, to int, head []byte, body ...[]byte) error {
	if s.err != nil {
		return s.err
	}
	if err := cluster.CheckMessage(s, to, head, body); err != nil {
		return err
	}
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	if ended {
		return s.afterEnd("sends")
	}
	p := s.peers[to]
	select {
	case p.turn <- struct{}{}:
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-ctx.Done():
		return backend.ContextError(ctx)
	}
	defer func() { <-p.turn }()
	if p.sendErr != nil {
		return p.sendErr
	}
	s.counters.Count(to, head, body)
	piece := s.headPiece(p, bodyFollows, head, body)
	large := split(body, func(b []byte) { piece = append(piece, b...) })
	p.sendErr = s.sendMessage(ctx, p, piece, large)
	return p.sendErr
}

func (s *stream) afterEnd(does string) error {
	return &backend.OpError{Op: "send", Err: backend.ErrInvalidInput,
		Detail: fmt.Sprintf("rank %d %s after the end of stream %q", s.rank, does, s.name)}
}

// headPiece writes the head piece of the next message to a rank.
func (s *stream) headPiece(p *peer, kind uint32, head []byte, body [][]byte) []byte {
	b := binary.LittleEndian.AppendUint64(p.out[:0], s.hash)
	b = binary.LittleEndian.AppendUint64(b, p.sent)
	b = binary.LittleEndian.AppendUint32(b, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(head)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(body)))
	for _, buffer := range body {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(buffer)))
	}
	p.sent++
	return append(b, head...)
}

// End implements cluster.Stream. It does not wait until the others have received that.
func (s *stream) End(context.Context) error {
	s.mu.Lock()
	ended := s.ended
	s.ended = true
	s.mu.Unlock()
	switch {
	case s.err != nil:
		return s.err
	case ended:
		return s.afterEnd("ends")
	case s.Job.ctx.Err() != nil:
		return context.Cause(s.Job.ctx)
	}
	s.do(func() {
		for _, p := range s.peers {
			if p.rank != s.rank && p.sendErr == nil {
				s.send(s.headPiece(p, streamEnds, nil, nil), p.rank, s.tag, func(error) { s.release() })
			}
		}
	})
	return nil
}
