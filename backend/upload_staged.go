package backend

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// stagedUpload has workers fill slots of staging memory with pieces. The pieces that are ready when the queue has room
// go to the device together, so that small pieces keep a link busy. Several uploads at a time share the slots.
//
//	free -> worker: wait for its last copy, fill -> filled -> send -> free
type stagedUpload struct {
	*Device
	pieces  int
	fill    func(i int, staged []byte) (Range, error)
	working context.Context // ends with the first error
	filled  chan *slot
	next    atomic.Int64 // piece
	waiting sync.Mutex   // the first that waits has the oldest copy; the others then find theirs done, mostly
	last    Point
}

// uploadStaged is [Device.UploadStaged] without its event.
func (d *Device) uploadStaged(ctx context.Context, pieces int, fill func(i int, staged []byte) (Range, error)) (
	wait func() (Point, error)) {
	ended := func(last Point, err error) func() (Point, error) {
		return func() (Point, error) { return last, err }
	}
	if err := d.uploads.grow(ctx, d, min(max(2, pieces), stagedPieces)); err != nil {
		return ended(Point{}, err)
	}
	working, fail := context.WithCancelCause(ctx)
	u := &stagedUpload{Device: d, pieces: pieces, fill: fill, working: working, filled: make(chan *slot, stagedPieces)}
	if pieces == 1 {
		defer fail(nil)
		own, err := u.fillNext()
		if err != nil {
			return ended(Point{}, err)
		}
		defer func() { d.uploads.free <- own }()
		return ended(d.send(ctx, own))
	}
	var group sync.WaitGroup
	start := func(do func() error) {
		group.Go(func() {
			if err := do(); err != nil {
				fail(err)
			}
		})
	}
	for range min(pieces, runtime.GOMAXPROCS(0), copyWorkers) {
		start(u.fillAll)
	}
	start(u.sendAll)
	var err error
	ends := make(chan struct{})
	go func() {
		defer close(ends)
		group.Wait()
		for len(u.filled) > 0 { // after an error; others may be waiting for these slots
			d.uploads.free <- <-u.filled
		}
		if err = context.Cause(working); ctx.Err() != nil && err != nil {
			err = ContextError(ctx)
		}
		fail(nil)
	}()
	return func() (Point, error) {
		<-ends
		return u.last, err
	}
}

// receive takes a slot from a channel.
func (u *stagedUpload) receive(from chan *slot) (*slot, error) {
	select {
	case s := <-from:
		return s, nil
	case <-u.working.Done():
		return nil, ContextError(u.working)
	}
}

// fillNext fills a free slot with the next piece; nil if there are no more.
func (u *stagedUpload) fillNext() (own *slot, err error) {
	i := int(u.next.Add(1)) - 1
	if i >= u.pieces {
		return nil, nil
	}
	s, err := u.receive(u.uploads.free)
	if err != nil {
		return nil, err
	}
	defer func() {
		if own == nil { // after a panic too
			u.uploads.free <- s
		}
	}()
	u.waiting.Lock()
	err = u.wait(u.working, s.point.at)
	u.waiting.Unlock()
	if err == nil {
		s.to, err = u.fill(i, s.Bytes())
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// fillAll fills slots until no piece is left.
func (u *stagedUpload) fillAll() error {
	for {
		own, err := u.fillNext()
		if own == nil {
			return err
		}
		u.filled <- own
	}
}

// sendAll sends the slots that are filled.
func (u *stagedUpload) sendAll() error {
	for sent := 0; sent < u.pieces; {
		first, err := u.receive(u.filled)
		if err != nil {
			return err
		}
		ready := []*slot{first}
		for len(u.filled) > 0 { // no other goroutine receives
			ready = append(ready, <-u.filled)
		}
		u.last, err = u.send(u.working, ready...)
		for _, own := range ready {
			u.uploads.free <- own
		}
		if err != nil {
			return err
		}
		sent += len(ready)
	}
	return nil
}
