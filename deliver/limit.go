// Package deliver has the sinks of queries. They take windows of output from a device, filter them, put them in order,
// and turn them into Arrow arrays.
package deliver

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
)

// Quota is the number of rows that the output of a join may have, and how many it has so far. The tasks of a join, and
// the devices that run one, share it. Safe for concurrent use.
type Quota struct {
	Most uint64 // 0: no limit

	rows atomic.Uint64
}

// Return takes back rows of a task that failed and is run again.
func (q *Quota) Return(rows uint64) { q.rows.Add(-rows) }

// Limit is a sink that rejects output with more rows than its quota allows, before memory is taken for it.
type Limit struct {
	operator.Sink
	Quota *Quota
	Rows  *atomic.Uint64 // output rows of the query so far
	// Advice is what the error for more rows says after the advice to raise the limit.
	Advice string
	// Partial says that more rows may come than a Count knows of, so that the error does not name their number.
	Partial bool
	// Delivery counts the rows of a part too; it may be nil.
	Delivery *Delivery
}

// Count adds rows. The error is backend.ErrLimit if there are more than the quota allows.
func (l *Limit) Count(ctx context.Context, rows uint64) error {
	if l.Delivery != nil {
		l.Delivery.Counted.Add(rows)
	}
	l.Rows.Add(rows)
	all, most := l.Quota.rows.Add(rows), l.Quota.Most
	if l.Partial && most > 0 && all > most {
		return TooManyRows(most, l.Advice)
	}
	if err := CheckRows(all, most, l.Advice); err != nil {
		return err
	}
	return l.Sink.Count(ctx, rows)
}

// Advice for joins that exceed their limit of rows.
const (
	OfRows  = ", or ask for the count alone, without rows and groups"
	OfCount = " or leave it out: a count makes no rows"
)

// TooManyRows returns backend.ErrLimit for a join of which only a part of the output was counted.
func TooManyRows(most uint64, advice string) error {
	return &backend.OpError{Op: "join", Err: backend.ErrLimit, Detail: fmt.Sprintf(
		"more than %d rows, which is what max_output_rows allows; raise max_output_rows%s", most, advice)}
}

// CheckRows returns backend.ErrLimit for more than most rows of output; 0 is no limit.
func CheckRows(rows, most uint64, advice string) error {
	if most == 0 || rows <= most {
		return nil
	}
	return &backend.OpError{Op: "join", Err: backend.ErrLimit, Detail: fmt.Sprintf(
		"%d rows, max_output_rows allows %d; raise max_output_rows%s", rows, most, advice)}
}
