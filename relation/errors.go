package relation

import (
	"context"
	"errors"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
)

// ErrBatchTooLarge is returned by [Take] when the gathered values do not fit the 32-bit offsets of the column's type.
// The caller should gather fewer rows at a time, half as many for example. It wraps backend.ErrLimit.
var ErrBatchTooLarge = fmt.Errorf("batch too large: %w", backend.ErrLimit)

// stopped returns the error of a context that has ended, which wraps the sentinels of package backend and the cause.
func stopped(ctx context.Context) error {
	reason := backend.ErrCancelled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		reason = backend.ErrTimedOut
	}
	return fmt.Errorf("%w: %w", reason, context.Cause(ctx))
}
