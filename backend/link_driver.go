package backend

import (
	"context"
	"time"
)

// PeerExchange is implemented by drivers whose devices another driver of the same vendor can copy between, as the CUDA
// driver does between NVIDIA GPUs.
type PeerExchange interface {
	// OpenExchange makes pairs of device-local blocks of sizeBytes, each on its own device, from this driver to
	// another. ErrUnsupported if the two devices are not connected in this way.
	OpenExchange(to Driver, pairs int, sizeBytes uint64) (Exchange, error)
}

// Exchange is pairs of blocks, near and far, and a driver that copies from one to the other. It is used by one
// goroutine at a time.
type Exchange interface {
	// Pair returns the blocks of a pair. They are freed by the caller, after Close.
	Pair(pair int) (near, far Block)
	// Copy starts to copy the first sizeBytes of a pair, a multiple of 4. If the exchange has semaphores, the copy
	// waits for Ready to reach value, and Arrived is then set to value, which is larger than in the call before.
	Copy(pair int, sizeBytes, value uint64) error
	// Wait returns when the last copy of a pair is complete; ErrTimedOut after the limit, ErrCancelled if ctx ends.
	Wait(ctx context.Context, pair int, limit time.Duration) error
	// Semaphores orders copies with the queues of the devices; ok is false if the host has to. Ready is raised by
	// batches of the near device, Arrived is awaited by batches of the far one.
	Semaphores() (ready, arrived Semaphore, ok bool)
	// Abandon is called after a failure of a device: if copies do not end, it sets Arrived to value, the last one, so
	// that no queue waits for them. Queues may still use the semaphores after Close.
	Abandon(value uint64) error
	// Close waits for copies in progress and releases what is not a block. ErrTimedOut if they do not end; the blocks
	// must then not be freed.
	Close() error
}

// Semaphore is a semaphore of a driver with a value that only grows.
type Semaphore interface{}

// SemaphoreValue is a value of a semaphore that a batch waits for or sets.
type SemaphoreValue struct {
	Semaphore Semaphore
	Value     uint64
}

func (l *PeerLink) openExchange() error {
	driver, ok := l.From.driver.(PeerExchange)
	if !ok {
		return l.unsupported("no other driver copies between its devices")
	}
	exchange, err := driver.OpenExchange(l.To.driver, len(l.slots), l.ChunkBytes)
	if l.From.noteRefusal(err) != nil {
		return err
	}
	for i := range l.slots {
		near, far := exchange.Pair(i)
		l.slots[i].near = l.From.adopt(near, l.label(i))[0]
		l.slots[i].far = l.To.adopt(far, l.label(i))[0]
	}
	c := &driverCarrier{exchange: exchange, limit: min(l.From.options.WaitLimit, l.To.options.WaitLimit)}
	c.ready, c.arrived, c.withSemaphores = exchange.Semaphores()
	l.carrier = c
	return nil
}

// driverCarrier leaves the copy to another driver.
type driverCarrier struct {
	exchange       Exchange
	limit          time.Duration
	value          uint64 // of the last copy
	ready, arrived Semaphore
	withSemaphores bool
}

func (c *driverCarrier) carry(_ context.Context, slot int, n uint64) error {
	c.value++
	return c.exchange.Copy(slot, n, c.value)
}

func (c *driverCarrier) wait(ctx context.Context, slot int) error {
	return c.exchange.Wait(ctx, slot, c.limit)
}

func (c *driverCarrier) close() (done bool, err error) {
	err = c.exchange.Close()
	return err == nil, err
}

// orderedCarrier can be ordered with the queues of the devices without the host.
type orderedCarrier interface {
	carrier
	ordered() bool
	signals() (ready, arrived SemaphoreValue) // of the next copy
	abandon()
}

func (c *driverCarrier) ordered() bool { return c.withSemaphores }

func (c *driverCarrier) signals() (ready, arrived SemaphoreValue) {
	return SemaphoreValue{c.ready, c.value + 1}, SemaphoreValue{c.arrived, c.value + 1}
}

func (c *driverCarrier) abandon() {
	if c.withSemaphores {
		_ = c.exchange.Abandon(c.value) // the failure that led here is reported
	}
}

// chain submits all stages of a chunk at once, ordered by semaphores. The upload queue of To then waits for From; so
// that it does not wait long, and with it other uploads, the first chunk of a source that is still in use is waited for
// by the host.
func (l *PeerLink) chain(o orderedCarrier, sourceReady bool) func(ctx context.Context, c chunk) error {
	return func(ctx context.Context, c chunk) error {
		if err := l.reuse(ctx, c.slot); err != nil {
			return err
		}
		ready, arrived := o.signals()
		if err := l.submitRead(ctx, c, &List{raises: []SemaphoreValue{ready}}); err != nil {
			return err
		}
		if !sourceReady {
			if err := l.awaitRead(ctx, c); err != nil {
				return err
			}
			sourceReady = true
		}
		if err := o.carry(ctx, c.slot, c.src.SizeBytes); err != nil {
			return err
		}
		return l.submitWrite(ctx, c, &List{awaits: []SemaphoreValue{arrived}})
	}
}

// idle reports whether all work that was submitted with a buffer is done.
func (d *Device) idle(b *Buffer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	for r := range Roles {
		if b.lease.uses[r] > d.completed[r] {
			return false
		}
	}
	return true
}
