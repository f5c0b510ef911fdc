package ranks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/exchange/shuffle"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/task"
)

// Result is this rank's part of the output of a join. One goroutine may draw it, once, and then calls Finish. The owner
// closes it. Methods that are not documented here are about the local join; see [engine.Result].
type Result struct {
	*engine.Result
	Way     Way // in which rows meet
	HotKeys int // whose rows stay, and whose partners go to them

	layout     *join.Layout
	job        cluster.Job
	flow       *exec.Flow // of the exchange
	grant      *exec.Grant
	sorted     *sorted          // nil if the output stays where it is made
	rows       uint64           // of this rank's part so far, if it is sorted
	sides      [2]*shuffle.Side // nil for a side that stays
	tablesHeld []arrow.Table    // that were collected
	stop       func()           // ends the watch over the job
	drawn      bool
	ended      bool // on all ranks
	closed     bool

	limit   uint64         // of output rows of all ranks; 0: none
	told    uint64         // output rows that rank 0 knows of
	mine    atomic.Uint64  // output rows of rank 0
	reports cluster.Stream // of output rows to rank 0; nil without a limit
}

func newResult(ctx context.Context, job cluster.Job) *Result {
	// If ctx ends, the flow fails with that as its cause. The cause of its own end is another one, also if ctx ends
	// right after it.
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	cancelled := context.AfterFunc(ctx, func() { cancel(backend.ContextError(ctx)) })
	r := &Result{job: job, flow: exec.NewFlow(inner)}
	lost := context.AfterFunc(job.Context(), func() { r.flow.Fail(context.Cause(job.Context())) })
	failed := context.AfterFunc(r.flow.Context(), func() {
		if err := r.cause(); err != nil { // the others must not wait until somebody draws from this rank
			r.job.Abort(err)
		}
	})
	r.stop = func() {
		cancelled()
		lost()
		failed()
	}
	return r
}

// fail ends the job with an error of this rank, and returns the error that counts: that of the rank that failed first.
func (r *Result) fail(err error) error {
	if cause := r.cause(); cause != nil {
		err = cause
	}
	r.job.Abort(err)
	var lost *cluster.Lost
	if errors.As(context.Cause(r.job.Context()), &lost) && lost.Rank != r.job.Rank() {
		return lost
	}
	return err
}

// cause is why the flow has failed; nil if it has not.
func (r *Result) cause() error {
	if err := context.Cause(r.flow.Context()); err != context.Canceled {
		return err
	}
	return nil // its goroutines have ended
}

// Schema returns the schema of the record batches.
func (r *Result) Schema() *arrow.Schema { return r.layout.Schema }

// Batches yields this rank's part of the output; see [engine.Result.Batches]. An error ends the job.
func (r *Result) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		all := r.Result.Batches(ctx)
		if r.sorted != nil {
			all = r.sorted.batches(ctx)
		}
		for batch, err := range all {
			if err == nil {
				r.rows += uint64(batch.NumRows())
				if err = r.report(ctx); err != nil {
					batch.Release()
				}
			}
			if err != nil {
				yield(nil, r.fail(err))
				return
			}
			if !yield(batch, nil) {
				return
			}
		}
		r.end()
	}
}

// Rows returns the number of output rows of this rank so far.
func (r *Result) Rows() uint64 {
	if r.sorted != nil {
		return r.rows
	}
	return r.Result.Rows()
}

// end is called when this rank has drawn its output.
func (r *Result) end() {
	r.drawn = true
	r.discard()
}

// discard is called when the local join needs no more rows.
func (r *Result) discard() {
	for _, s := range r.sides {
		if s != nil {
			s.Discard()
		}
	}
}

// Pairs yields this rank's pairs of row numbers, which count over all shares, rank by rank.
func (r *Result) Pairs(ctx context.Context) iter.Seq2[query.Pairs, error] {
	if r.Way == Stay {
		return func(yield func(query.Pairs, error) bool) {
			for p, err := range r.Result.Pairs(ctx) {
				if err != nil {
					err = r.fail(err)
				}
				if !yield(p, err) || err != nil {
					return
				}
			}
			r.end()
		}
	}
	return task.PairsOf(r.Batches(ctx))
}

// Totals are what all ranks have together when a join has ended.
type Totals struct {
	Rows      []uint64           `json:"rows"`      // of the output, by rank
	Exchanged [][2]shuffle.Stats `json:"exchanged"` // by rank, of the left and the right side
}

// AllRows is the number of output rows of all ranks.
func (t *Totals) AllRows() (rows uint64) {
	for _, n := range t.Rows {
		rows += n
	}
	return rows
}

// ending is what a rank says at the end.
type ending struct {
	Rows  uint64
	Stats [2]shuffle.Stats
}

// Finish waits until all ranks have drawn their output, and returns the numbers of all. It is collective. The output
// must be drawn; a count has none.
//
// Errors: backend.ErrLimit, on all ranks, if all together have more than MaxOutputRows; backend.ErrInvalidInput if the
// output was not drawn; *cluster.Lost after an error of another rank.
func (r *Result) Finish(ctx context.Context) (*Totals, error) {
	if !r.drawn {
		return nil, r.fail(&backend.OpError{Op: "finish join", Err: backend.ErrInvalidInput,
			Detail: "the output of this rank was not drawn to its end"})
	}
	defer context.AfterFunc(ctx, func() { r.flow.Fail(backend.ContextError(ctx)) })()
	if r.reports != nil && r.job.Rank() > 0 {
		if err := r.reports.End(ctx); err != nil {
			return nil, r.fail(err)
		}
	}
	if err := r.flow.Wait(); err != nil {
		return nil, r.fail(err)
	}
	t, err := r.sum(ctx)
	if err != nil {
		return nil, r.fail(err)
	}
	r.ended = true
	return t, deliver.CheckRows(t.AllRows(), r.limit, deliver.OfRows)
}

// sum adds up what all ranks say at the end.
func (r *Result) sum(ctx context.Context) (*Totals, error) {
	text, err := json.Marshal(ending{r.Rows(), r.Exchanged()})
	if err != nil {
		return nil, err
	}
	said, err := r.job.Gather(ctx, "joined", text)
	if err != nil {
		return nil, err
	}
	t := new(Totals)
	for rank, text := range said {
		var theirs ending
		if err := json.Unmarshal(text, &theirs); err != nil {
			return nil, fmt.Errorf("%w: rank %d sent no totals of a join: %w", backend.ErrInvalidInput, rank, err)
		}
		t.Rows, t.Exchanged = append(t.Rows, theirs.Rows), append(t.Exchanged, theirs.Stats)
	}
	return t, nil
}

// Exchanged returns what this rank has sent and got of each side so far.
func (r *Result) Exchanged() (stats [2]shuffle.Stats) {
	for side, s := range r.sides {
		if s != nil {
			stats[side] = s.Stats()
		}
	}
	return stats
}

// Explain returns the text of the plan of the local join, after a line on the ranks.
func (r *Result) Explain() string { return r.line() + r.Result.Explain() }

// Plan returns Explain without what was measured.
func (r *Result) Plan() string { return r.line() + r.Result.Plan() }

func (r *Result) line() string {
	hot := ""
	if r.HotKeys > 0 {
		hot = ", but those of " + text.Plural(r.HotKeys, "hot key") + " stay"
	}
	order := ""
	if r.sorted != nil {
		order = "; the output moves to its order"
	}
	return fmt.Sprintf("rank %d of %d; %s%s%s\n", r.job.Rank(), r.job.Size(), r.Way, hot, order)
}

// Close ends the part of this rank. Before Finish has returned, that ends the job.
func (r *Result) Close() {
	if r.closed {
		return
	}
	r.closed = true
	if !r.ended {
		r.job.Abort(fmt.Errorf("%w: %w", backend.ErrCancelled, errUndrawn))
	}
	r.stop()
	if r.Result != nil && r.sorted == nil {
		r.Result.Close()
	}
	r.flow.Stop()
	if r.sorted != nil { // the flow has drawn the local join
		r.Result.Close()
		r.sorted.close()
	}
	r.grant.Release()
	relation.ReleaseAll(r.tablesHeld)
}
