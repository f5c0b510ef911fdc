package task

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
)

// Turn is closed when a task may take memory of the device; nil: it may at once.
type Turn chan struct{}

// Wait waits for the turn. The end of ctx is an error.
func (t Turn) Wait(ctx context.Context) error {
	if t == nil {
		return nil
	}
	select {
	case <-t:
		return nil
	case <-ctx.Done():
		return backend.ContextError(ctx)
	}
}
