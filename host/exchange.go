package host

import (
	"context"
	"sync"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

// ExchangeMode says whether the devices of a backend claim that another driver copies between them, and how its copies
// are ordered with their queues. For tests: all of them have the same memory.
type ExchangeMode uint8

const (
	NoExchange    ExchangeMode = iota
	HostOrdered                // by the host
	DeviceOrdered              // by semaphores; by the host where Options.Shuffle is set
)

// semaphore is a value that batches of a driver wait for or set. Guarded by driver.mu.
type semaphore struct {
	driver *Driver
	value  uint64
}

// exchange implements backend.Exchange with a goroutine that copies.
type exchange struct {
	from, to       *Driver
	pairs          [][2]*block
	ordered        bool
	ready, arrived semaphore
	copying        sync.WaitGroup

	mu      sync.Mutex // guards what follows
	changed sync.Cond
	queue   []exchangeCopy
	last    []uint64 // number of the last copy of each pair
	started uint64   // copies
	done    uint64
	closed  bool
}

type exchangeCopy struct {
	dst, src []byte
	value    uint64
}

// OpenExchange implements backend.PeerExchange, as Options.Exchange says.
func (d *Driver) OpenExchange(to backend.Driver, pairs int, sizeBytes uint64) (backend.Exchange, error) {
	far, ok := to.(*Driver)
	if !ok || d.backend.options.Exchange == NoExchange {
		return nil, d.fail("connect", backend.ErrUnsupported, "no other driver copies between these devices")
	}
	e := &exchange{from: d, to: far, last: make([]uint64, pairs),
		ordered: d.backend.options.Exchange == DeviceOrdered && d.shuffler == nil}
	e.changed.L = &e.mu
	e.ready.driver, e.arrived.driver = d, far
	for range pairs {
		var pair [2]*block
		for i, driver := range []*Driver{d, far} {
			b, err := driver.AllocateBlock(sizeBytes, backend.DeviceLocal)
			if err != nil {
				e.free(pair)
				for _, p := range e.pairs {
					e.free(p)
				}
				return nil, err
			}
			pair[i] = b.(*block)
		}
		e.pairs = append(e.pairs, pair)
	}
	e.copying.Go(e.serve)
	return e, nil
}

func (e *exchange) free(pair [2]*block) {
	for _, b := range pair {
		if b != nil {
			_ = b.Free()
		}
	}
}

func (e *exchange) Pair(pair int) (near, far backend.Block) {
	return e.pairs[pair][0], e.pairs[pair][1]
}

func (e *exchange) Semaphores() (ready, arrived backend.Semaphore, ok bool) {
	return &e.ready, &e.arrived, e.ordered
}

func (e *exchange) Copy(pair int, sizeBytes, value uint64) error {
	near, far := e.pairs[pair][0], e.pairs[pair][1]
	e.start(pair, exchangeCopy{far.region.bytes[:sizeBytes], near.region.bytes[:sizeBytes], value})
	return nil
}

func (e *exchange) start(pair int, c exchangeCopy) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.started++
	e.last[pair] = e.started
	e.queue = append(e.queue, c)
	e.changed.Broadcast()
}

// JoinPeers implements backend.PeerMemory, as Options.Exchange says.
func (d *Driver) JoinPeers([]backend.Driver) error {
	if d.backend.options.Exchange == NoExchange {
		return d.fail("join", backend.ErrUnsupported, "no other driver copies between these devices")
	}
	d.joined.Store(true)
	return nil
}

// Reaches implements backend.DirectExchange.
func (e *exchange) Reaches(dst, src backend.Block) bool {
	far, okFar := dst.(*block)
	near, okNear := src.(*block)
	return okFar && okNear && far.driver == e.to && near.driver == e.from && far.joined && near.joined
}

// CopyDirect implements backend.DirectExchange.
func (e *exchange) CopyDirect(pair int, dst backend.Block, dstOffset uint64, src backend.Block,
	srcOffset, sizeBytes uint64) error {
	far, near := dst.(*block).region.bytes, src.(*block).region.bytes
	e.start(pair, exchangeCopy{dst: far[dstOffset:][:sizeBytes], src: near[srcOffset:][:sizeBytes]})
	return nil
}

// serve copies in order until Close.
func (e *exchange) serve() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		for len(e.queue) == 0 && !e.closed {
			e.changed.Wait()
		}
		if e.closed {
			return
		}
		c := e.queue[0]
		e.queue = e.queue[1:]
		e.mu.Unlock()
		if !e.ordered || e.ready.await(c.value, e.isClosed) {
			copy(c.dst, c.src)
			e.arrived.raise(c.value)
		}
		e.mu.Lock()
		e.done++
		e.changed.Broadcast()
	}
}

func (e *exchange) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

func (e *exchange) Wait(ctx context.Context, pair int, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	wake := func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.changed.Broadcast()
	}
	defer context.AfterFunc(ctx, wake)()
	defer time.AfterFunc(limit, wake).Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.done < e.last[pair] {
		switch {
		case ctx.Err() != nil:
			return backend.ContextError(ctx)
		case !time.Now().Before(deadline):
			return e.from.fail("peer copy", backend.ErrTimedOut, "after %v", limit)
		}
		e.changed.Wait()
	}
	return nil
}

func (e *exchange) Abandon(value uint64) error {
	e.arrived.raise(value)
	return nil
}

func (e *exchange) Close() error {
	e.mu.Lock()
	e.closed = true
	e.changed.Broadcast()
	e.mu.Unlock()
	e.from.wake()
	e.copying.Wait()
	return nil
}

func (s *semaphore) raise(value uint64) {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	s.raiseLocked(value)
}

func (s *semaphore) raiseLocked(value uint64) {
	s.value = max(s.value, value)
	s.driver.changed.Broadcast()
}

// await reports whether the value was reached before closed.
func (s *semaphore) await(value uint64, closed func() bool) bool {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	for s.value < value {
		if closed() {
			return false
		}
		s.driver.changed.Wait()
	}
	return true
}

// reached reports whether semaphores have their values. d.mu is held.
func (d *Driver) reached(values []backend.SemaphoreValue) bool {
	for _, v := range values {
		if v.Semaphore.(*semaphore).value < v.Value {
			return false
		}
	}
	return true
}

// checkSemaphores refuses semaphores of another driver.
func (d *Driver) checkSemaphores(b *backend.Batch) error {
	for _, list := range [][]backend.SemaphoreValue{b.Awaits, b.Raises} {
		for _, v := range list {
			if s, ok := v.Semaphore.(*semaphore); !ok || s.driver != d || d.shuffler != nil {
				return d.fail("submit", backend.ErrInvalidInput, "a semaphore belongs to another device")
			}
		}
	}
	return nil
}
