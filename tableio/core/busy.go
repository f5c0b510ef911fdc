package core

import (
	"context"
	"sync"
	"time"
)

// Busy measures the time in which at least one goroutine is at work on a table: reading and decoding, or encoding and
// writing. Several tables may share one. The zero value is ready to use, nil measures nothing; safe for concurrent use.
type Busy struct {
	// Each is called with the begin and end of each piece of work, in the goroutine that ends it. It may be nil, and
	// is set before the first use.
	Each func(from, to time.Time)

	mu      sync.Mutex
	working int
	since   time.Time // that anyone is at work
	sum     time.Duration
}

// Time returns the time so far.
func (b *Busy) Time() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.working > 0 {
		return b.sum + time.Since(b.since)
	}
	return b.sum
}

// Begin tells that a goroutine begins to work. It is safe on nil.
func (b *Busy) Begin() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.working++; b.working == 1 {
		b.since = time.Now()
	}
}

// End tells that a goroutine ends its work. It is safe on nil.
func (b *Busy) End() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.working--; b.working == 0 {
		now := time.Now()
		b.sum += now.Sub(b.since)
		if b.Each != nil {
			b.Each(b.since, now)
		}
	}
}

type busyKey struct{}

// With lets [InOrder] measure the work that it runs in a context.
func (b *Busy) With(ctx context.Context) context.Context {
	if b == nil {
		return ctx
	}
	return context.WithValue(ctx, busyKey{}, b)
}

// BusyOf returns what [Busy.With] put into a context, or nil.
func BusyOf(ctx context.Context) *Busy {
	b, _ := ctx.Value(busyKey{}).(*Busy)
	return b
}
