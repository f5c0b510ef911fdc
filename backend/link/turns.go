package link

import (
	"context"
	"slices"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// turns is a lock that is handed over in the order of the requests, which can be given up.
type turns struct {
	mu    sync.Mutex
	taken bool
	queue []chan struct{}
}

// enter requests a turn. The ticket is closed when it has come.
func (t *turns) enter() (ticket chan struct{}) {
	ticket = make(chan struct{})
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken {
		t.queue = append(t.queue, ticket)
	} else {
		t.taken = true
		close(ticket)
	}
	return ticket
}

// await waits for a turn, which the caller ends with leave. If ctx ends first, the turn is given up.
func (t *turns) await(ctx context.Context, ticket chan struct{}) error {
	select {
	case <-ticket:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	i := slices.Index(t.queue, ticket)
	if i >= 0 {
		t.queue = slices.Delete(t.queue, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 { // it came meanwhile
		t.leave()
	}
	return backend.ContextError(ctx)
}

// leave hands the lock to the next in the queue.
func (t *turns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		t.taken = false
		return
	}
	close(t.queue[0])
	t.queue = t.queue[1:]
}
