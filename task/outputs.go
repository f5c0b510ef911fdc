package task

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
)

// Output is the output of a join that is under way. [query.Result] describes the methods.
type Output interface {
	Schema() *arrow.Schema
	Rows() uint64
	Counted() bool
	Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error]
	Pairs(ctx context.Context) iter.Seq2[query.Pairs, error]
	Stats() query.Stats
	Explain() string
	Plan() string // Explain without what was measured
	Close()
	// Tasks returns the scheduler whose tasks make the output; nil if it is the output of one task.
	Tasks() *Scheduler
}

// outputs is what the tasks of a join make together.
type outputs struct {
	policy Policy
	whole  *Task      // the join that was divided
	flow   *exec.Flow // that runs the tasks
	merge  *merge     // of their outputs; nil if there is no order
	began  time.Time
	before query.Stats // of the tasks that have ended
	closed bool

	// unordered yields the batches of all tasks, pairs of row numbers as columns unless numbers yields them.
	unordered func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error]
	numbers   func(ctx context.Context) iter.Seq2[query.Pairs, error] // if there is no order; may be nil
	describe  func() (title string, of Output)                        // how the join was divided; the task to explain
	release   func()                                                  // what the tasks hold, after the end of the flow
}

// Schema returns the schema of the record batches.
func (o *outputs) Schema() *arrow.Schema { return o.whole.Layout.Schema }

// Batches yields the output of all tasks, if it is rows.
func (o *outputs) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	if o.whole.Output != join.Rows {
		return notRows
	}
	return o.rowBatches(ctx)
}

// notRows is the output of a join whose output is something else.
func notRows(yield func(arrow.RecordBatch, error) bool) {
	yield(nil, fmt.Errorf("%w: the join was not asked for rows", backend.ErrInvalidInput))
}

// Pairs yields the pairs of row numbers of all tasks.
func (o *outputs) Pairs(ctx context.Context) iter.Seq2[query.Pairs, error] {
	switch {
	case o.whole.Output != join.Pairs:
		return notPairs
	case o.numbers != nil && o.merge == nil:
		return o.numbers(ctx)
	}
	return PairsOf(o.rowBatches(ctx))
}

// Explain says how the join was divided, and what the last task that began to be drawn does.
func (o *outputs) Explain() string {
	title, of := o.describe()
	return title + of.Explain()
}

// Plan returns Explain without what was measured.
func (o *outputs) Plan() string {
	title, of := o.describe()
	return title + of.Plan()
}

// Close ends the tasks under way and frees what they need.
func (o *outputs) Close() {
	if o.closed {
		return
	}
	o.closed = true
	o.flow.Stop()
	o.release()
	if o.merge != nil {
		o.merge.close()
	}
	o.policy.Close()
}

// rowBatches yields the output of all tasks in its order, pairs of row numbers as columns.
func (o *outputs) rowBatches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	if o.merge != nil {
		return o.merge.batches(ctx, o.unordered(ctx))
	}
	return o.unordered(ctx)
}

// skip counts rows that no task has.
func (o *outputs) skip(leftRows, rightRows int64) {
	o.before.LeftRows += uint64(leftRows)
	o.before.RightRows += uint64(rightRows)
}

// counted are the measurements of an output of the task, without rows of sides that earlier tasks have counted.
func (t *Task) counted(of Output) query.Stats {
	s := of.Stats()
	for side, rows := range []*uint64{&s.LeftRows, &s.RightRows} {
		if t.again[side] {
			*rows = 0
		}
	}
	return s
}

// add adds the measurements of other tasks of the join.
func add(sum, of *query.Stats) {
	sum.LeftRows, sum.RightRows = sum.LeftRows+of.LeftRows, sum.RightRows+of.RightRows
	sum.OutputRows, sum.Granules = sum.OutputRows+of.OutputRows, sum.Granules+of.Granules
	sum.Failures = append(slices.Clone(of.Failures), sum.Failures...)
	sum.MatchSeconds += of.MatchSeconds
	sum.EncodeSeconds += of.EncodeSeconds
	sum.GatherSeconds += of.GatherSeconds
	sum.TotalSeconds += of.TotalSeconds
	sum.DevicePeakBytes = max(sum.DevicePeakBytes, of.DevicePeakBytes)
	sum.HostPeakBytes = max(sum.HostPeakBytes, of.HostPeakBytes)
	for stage, seconds := range of.StageSeconds {
		sum.StageSeconds[stage] += seconds
	}
}

// ofWhole turns the progress of this task into the progress of the whole join, which has run for elapsed. Phase and its
// rows stay the task's; output rows, share and time become the join's.
func (r *running) ofWhole(s exec.Status, elapsed time.Duration) exec.Status {
	s.Phase += ", " + r.name
	s.Share, s.Elapsed, s.Left = r.from+s.Share*(r.to-r.from), elapsed, -1
	if s.Output > 0 && r.to > 0 {
		s.Output = max(s.Output, uint64(float64(r.before+s.Output)/r.to))
	}
	s.Drawn += r.before
	if s.Share > 0 {
		s.Left = time.Duration(float64(elapsed) * (1 - s.Share) / s.Share)
	} else {
		s.Total = 0 // otherwise the share of the phase would be taken for the join's
	}
	return s
}
