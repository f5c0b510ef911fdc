// Package deliver has the sinks of queries: what takes windows of output from a device, puts them in order, and makes
// Arrow arrays of them.
package deliver

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
)

// Limit is a sink that refuses more rows than are allowed, before memory is taken for them.
type Limit struct {
	operator.Sink
	Most uint64         // 0: no limit
	Rows *atomic.Uint64 // that it has heard of
}

// Count adds rows. backend.ErrLimit where there are more than Most.
func (l *Limit) Count(ctx context.Context, rows uint64) error {
	if all := l.Rows.Add(rows); l.Most > 0 && all > l.Most {
		return fmt.Errorf("join: %w: %d rows, max_output_rows allows %d", backend.ErrLimit, all, l.Most)
	}
	return l.Sink.Count(ctx, rows)
}
