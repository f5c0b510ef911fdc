package engine

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/task"
)

// Result is a join in progress. One goroutine may draw its output, once, while the join makes the next rows. The owner
// closes it.
type Result struct {
	Device backend.DeviceInfo // the device that does the work, the first of several

	of      task.Output
	failed  []query.DeviceFailure // before the join began again on other devices
	without []query.DeviceFailure // before the join began
}

// one is the output of a join that is one query.
type one struct{ *query.Result }

// Plan returns the text of the plan.
func (o one) Plan() string { return o.Query.String() }

// Tasks returns nil.
func (one) Tasks() *task.Scheduler { return nil }

// resultOf is the result of a join that is one query.
func resultOf(q *query.Result, err error) (*Result, error) {
	if err != nil {
		return nil, err
	}
	return &Result{Device: q.Device, of: one{q}}, nil
}

// Schema returns the schema of the record batches.
func (r *Result) Schema() *arrow.Schema { return r.of.Schema() }

// Rows returns the number of output rows known so far; see [query.Result.Rows].
func (r *Result) Rows() uint64 { return r.of.Rows() }

// Counted reports whether Rows is the number of all output rows: for a count, when the output was drawn, and often
// before.
func (r *Result) Counted() bool { return r.of.Counted() }

// Batches yields the output as record batches of at most BatchRows rows. The receiver releases each batch. Nothing
// follows an error. A join without output rows yields nothing.
func (r *Result) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return r.of.Batches(ctx)
}

// Pairs yields the pairs of row numbers; see [query.Result.Pairs].
func (r *Result) Pairs(ctx context.Context) iter.Seq2[query.Pairs, error] { return r.of.Pairs(ctx) }

// Stats returns the measurements so far. If both sides were divided, they cover all parts together, except that
// Algorithm, Prediction and Alternatives describe the part under way.
func (r *Result) Stats() query.Stats {
	s := r.of.Stats()
	s.Failures = append(slices.Clone(r.failed), s.Failures...)
	s.Without = r.without
	return s
}

// Tasks returns the scheduler of the tasks that a divided join consists of; nil if the join is not divided.
func (r *Result) Tasks() *task.Scheduler { return r.of.Tasks() }

// Parts returns the number of parts that both sides were divided into, and the size of their file; 0 if they were not.
func (r *Result) Parts() (number int, diskBytes uint64) {
	if tasks := r.Tasks(); tasks != nil {
		return tasks.Parts()
	}
	return 0, 0
}

// Explain returns the text of the plan, with predicted and measured times. If both sides were divided, it describes the
// part under way.
func (r *Result) Explain() string {
	explained := r.of.Explain()
	for _, f := range r.without {
		explained += fmt.Sprintf("without      %s: %s\n", f.Device, f.Error)
	}
	for _, f := range r.failed {
		explained += fmt.Sprintf("failed       %s: %s; the join began again without it\n", f.Device, f.Error)
	}
	return explained
}

// Plan returns Explain without what was measured.
func (r *Result) Plan() string { return r.of.Plan() }

// Close ends the join and releases its memory. Nothing can be drawn afterwards; a second Close does nothing.
func (r *Result) Close() { r.of.Close() }
