package join

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/query"
)

// Result is a join in progress: a query, or several, one after the other, if both sides were divided ([Engine.Spill]).
// One goroutine may draw its output, once, while the join makes the next rows. The owner closes it.
type Result struct {
	Device backend.DeviceInfo // the device that does the work

	query *query.Result // nil if there are tasks
	tasks *tasks
}

// resultOf is the result of a join that is one query.
func resultOf(q *query.Result, err error) (*Result, error) {
	if err != nil {
		return nil, err
	}
	return &Result{Device: q.Device, query: q}, nil
}

// Schema returns the schema of the record batches.
func (r *Result) Schema() *arrow.Schema {
	if r.tasks != nil {
		return r.tasks.layout.Schema
	}
	return r.query.Schema()
}

// Rows returns the number of output rows known so far; see [query.Result.Rows].
func (r *Result) Rows() uint64 {
	if r.tasks == nil {
		return r.query.Rows()
	}
	return r.tasks.rows()
}

// Counted reports whether Rows is the number of all output rows: for a count, when the output was drawn, and often
// before.
func (r *Result) Counted() bool {
	if r.tasks == nil {
		return r.query.Counted()
	}
	return r.tasks.counted()
}

// Batches yields the output as record batches of at most BatchRows rows. The receiver releases each batch. Nothing
// follows an error. A join without output rows yields nothing.
func (r *Result) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	if r.tasks == nil {
		return r.query.Batches(ctx)
	}
	return r.tasks.batches(ctx)
}

// Pairs yields the pairs of row numbers; see [query.Result.Pairs].
func (r *Result) Pairs(ctx context.Context) iter.Seq2[query.Pairs, error] {
	if r.tasks != nil {
		return r.tasks.pairs(ctx)
	}
	return r.query.Pairs(ctx)
}

// Stats returns the measurements so far. If both sides were divided, they are those of all parts together, except for
// Algorithm, Prediction and Alternatives, which are those of the part under way.
func (r *Result) Stats() query.Stats {
	if r.tasks == nil {
		return r.query.Stats()
	}
	return r.tasks.stats()
}

// Parts returns the number of parts that both sides were divided into, and the size of their file; 0 if they were
// not.
func (r *Result) Parts() (number int, diskBytes uint64) {
	if r.tasks == nil {
		return 0, 0
	}
	parts, ok := r.tasks.divided.(*parts)
	switch {
	case !ok:
		return 0, 0
	case parts.file == nil: // they are in memory
		return parts.number, 0
	}
	return parts.number, parts.file.SizeBytes()
}

// Explain returns the text of the plan, with predicted and measured times; of the part under way if both sides were
// divided.
func (r *Result) Explain() string {
	if r.tasks == nil {
		return r.query.Explain()
	}
	return r.tasks.String() + r.tasks.under.result.Explain()
}

// Close ends the join and releases its memory. Nothing can be drawn afterwards; a second Close does nothing.
func (r *Result) Close() {
	if r.tasks == nil {
		r.query.Close()
	} else {
		r.tasks.close()
	}
}

// Query is the query that is under way.
func (r *Result) Query() *query.Query { return r.leaf().Query }

// leaf is the result of the query that is under way.
func (r *Result) leaf() *query.Result {
	for r.tasks != nil {
		r = r.tasks.under.result
	}
	return r.query
}
