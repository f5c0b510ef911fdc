package link

import (
	"context"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

func (l *Link) openExchange() error {
	driver, ok := l.From.Driver().(backend.PeerExchange)
	if !ok {
		return l.unsupported("no other driver copies between its devices")
	}
	exchange, err := driver.OpenExchange(l.To.Driver(), len(l.slots), l.ChunkBytes)
	if l.From.NoteRefusal(err) != nil {
		return err
	}
	for i := range l.slots {
		near, far := exchange.Pair(i)
		l.slots[i].near = l.From.Adopt(near, l.label(i))[0]
		l.slots[i].far = l.To.Adopt(far, l.label(i))[0]
	}
	c := &driverCarrier{exchange: exchange, limit: min(l.From.Options().WaitLimit, l.To.Options().WaitLimit)}
	c.ready, c.arrived, c.withSemaphores = exchange.Semaphores()
	l.carrier = c
	return nil
}

// driverCarrier leaves the copy to another driver.
type driverCarrier struct {
	exchange       backend.Exchange
	limit          time.Duration
	value          uint64 // of the last copy
	ready, arrived backend.Semaphore
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
	signals() (ready, arrived backend.SemaphoreValue) // of the next copy
	abandon()
}

func (c *driverCarrier) ordered() bool { return c.withSemaphores }

func (c *driverCarrier) signals() (ready, arrived backend.SemaphoreValue) {
	value := c.value + 1
	return backend.SemaphoreValue{Semaphore: c.ready, Value: value},
		backend.SemaphoreValue{Semaphore: c.arrived, Value: value}
}

func (c *driverCarrier) abandon() {
	if c.withSemaphores {
		_ = c.exchange.Abandon(c.value) // the failure that led here is reported
	}
}

// chain submits all stages of a chunk at once, ordered by semaphores. The upload queue of To then waits for From; so
// that it does not wait long, and with it other uploads, the first chunk of a source that is still in use is waited for
// by the host.
func (l *Link) chain(o orderedCarrier, sourceReady bool) func(ctx context.Context, c chunk) error {
	return func(ctx context.Context, c chunk) error {
		if err := l.reuse(ctx, c.slot); err != nil {
			return err
		}
		ready, arrived := o.signals()
		if err := l.submitRead(ctx, c, &backend.List{Raises: []backend.SemaphoreValue{ready}}); err != nil {
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
		return l.submitWrite(ctx, c, &backend.List{Awaits: []backend.SemaphoreValue{arrived}})
	}
}
