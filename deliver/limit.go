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
	// Advice is what the error for more rows says after the advice to raise the limit.
	Advice string
}

// Count adds rows. backend.ErrLimit where there are more than Most.
func (l *Limit) Count(ctx context.Context, rows uint64) error {
	if err := CheckRows(l.Rows.Add(rows), l.Most, l.Advice); err != nil {
		return err
	}
	return l.Sink.Count(ctx, rows)
}

// Advice for joins that exceed their limit of rows.
const (
	OfRows  = ", or ask for the count, which makes no rows"
	OfCount = " or leave it out: a count makes no rows"
)

// CheckRows is backend.ErrLimit for more rows of output than most; 0 is no limit.
func CheckRows(rows, most uint64, advice string) error {
	if most == 0 || rows <= most {
		return nil
	}
	return &backend.OpError{Op: "join", Err: backend.ErrLimit, Detail: fmt.Sprintf(
		"%d rows, max_output_rows allows %d; raise max_output_rows%s", rows, most, advice)}
}
