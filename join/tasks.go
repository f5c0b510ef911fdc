package join

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/source"
)

// tasks are joins whose outputs, one after the other, are the output of one join. While one task is drawn, the next
// begins and runs up to its first rows, if there is memory for both. A task waits only for the memory of tasks before
// it, and these never wait. More tasks may be read and planned ahead (tasks.mostAhead).
//
//	task 1   read build side, plan ─ join ─ output
//	task 2                           read build side, plan ─ join ─ output
//	task 3                                                   read build side, ...
type tasks struct {
	divided
	engine *Engine
	flow   *exec.Flow // that begins the next task
	of     *task      // the join that was divided

	merge *merge // of their output; nil if there is no order
	began time.Time

	// oneByOne says that a task takes device memory only when the task before has ended. Device memory is short then,
	// and columns of one task would leave gaps among the columns of the other.
	oneByOne bool

	// short is what the device lacks for a join that is not divided, if that is why this one is; nil for the tasks of a
	// part.
	short error

	// mostAhead is how many tasks are begun while one is drawn: 2 parts if memory of the host has no limit, otherwise
	// 1. All but the first of them are only read and planned. A block that fails is replaced (again) before another
	// begins.
	mostAhead int

	under  *run   // is drawn
	ahead  []*run // are begun, in their order; none if there are no more
	done   bool   // the task under way has ended, and is among those before
	before query.Stats
	closed bool
}

// divided is what tasks come from.
type divided interface {
	next() *run // nil if there are no more. There is at least one
	end()       // frees what all tasks need
	err() error // why no task can go on; nil if they can
	// again reports whether the last task, which failed, is replaced by others.
	again(err error) bool
	String() string
}

// run is the run of a task: a join of a part of both sides.
type run struct {
	*task
	sources [2]source.Source
	name    string
	again   [2]bool // sides whose rows were in earlier tasks
	ended   func()  // frees what this task needs
	// from and to are the shares of the whole join that are done before and after this task; 0 if unknown.
	from, to float64

	shown  atomic.Bool // its progress is reported as the join's
	before uint64      // output rows of the tasks before, once it is shown
	turn   turn        // comes when no task is before it but that which is drawn, or when that has ended (tasks.waits)
	given  bool        // the turn has come
	begun  chan struct{}
	result *Result // once it is begun
	err    error
}

func newTasks(ctx context.Context, e *Engine, of *task, by divided) *tasks {
	flow := exec.NewFlow(exec.WithTrace(ctx, e.Trace))
	return &tasks{divided: by, engine: e, of: of, flow: flow, mostAhead: 1, began: time.Now()}
}

// begin begins the first task; all of them if they are only counted.
func (t *tasks) begin() (*Result, error) {
	t.beginAhead()
	for more := true; more && (t.under == nil || t.of.output == Count); {
		var err error
		if more, err = t.advance(t.flow.Context()); err != nil {
			return nil, err
		}
	}
	return &Result{Device: t.under.result.Device, of: t}, nil
}

// beginAhead begins the next tasks, as many as may be ahead.
func (t *tasks) beginAhead() {
	for len(t.ahead) < t.mostAhead {
		next := t.next()
		if next == nil {
			break
		}
		next.begun, next.turn = make(chan struct{}), make(turn)
		t.ahead = append(t.ahead, next)
		t.beginTask(next)
	}
	t.giveTurn()
}

// beginTask begins a task on a goroutine.
func (t *tasks) beginTask(next *run) {
	of := *next.task
	of.progress = t.of.progress.Part(func(s exec.Status) (whole exec.Status, shown bool) {
		return next.ofWhole(s, time.Since(t.began)), next.shown.Load()
	})
	waits, _ := t.waits()
	t.flow.Go("begin "+next.name, func(ctx context.Context) error {
		defer close(next.begun)
		if waits {
			if next.err = next.turn.wait(ctx); next.err != nil {
				return nil
			}
		}
		next.err = exec.Protect("begin "+next.name, func() (err error) {
			next.result, err = t.engine.stream(ctx, &of, next.sources, opening{turn: next.turn})
			return err
		})
		return nil
	})
}

// ofWhole turns the progress of this task into the progress of the whole join, which has run for elapsed. Phase and its
// rows stay the task's; output rows, share and time become the join's.
func (t *run) ofWhole(s exec.Status, elapsed time.Duration) exec.Status {
	s.Phase += ", " + t.name
	s.Share, s.Elapsed, s.Left = t.from+s.Share*(t.to-t.from), elapsed, -1
	if s.Output > 0 && t.to > 0 {
		s.Output = max(s.Output, uint64(float64(t.before+s.Output)/t.to))
	}
	s.Drawn += t.before
	if s.Share > 0 {
		s.Left = time.Duration(float64(elapsed) * (1 - s.Share) / s.Share)
	} else {
		s.Total = 0 // lest the share of the phase is taken for the join's
	}
	return s
}

// giveTurn gives the first task ahead its turn, unless it waits for the end of the one under way.
func (t *tasks) giveTurn() {
	if len(t.ahead) == 0 || t.ahead[0].given {
		return
	}
	if _, waits := t.waits(); !waits {
		t.ahead[0].given = true
		close(t.ahead[0].turn)
	}
}

// turn is closed when a task may take memory of the device; nil: it may at once.
type turn chan struct{}

// wait waits for the turn. The end of ctx is an error.
func (t turn) wait(ctx context.Context) error {
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

// waits reports whether the next task waits for the end of the one under way before it begins, or before it takes
// memory of the device. A task that was divided itself has tasks that come before the next one, and must not wait for
// memory that the next one has; nor must other queries wait for memory of the host that the next one is still taking.
func (t *tasks) waits() (begin, device bool) {
	if t.under == nil || t.done {
		return false, false
	}
	_, divided := t.under.result.of.(*tasks)
	begin = divided || t.oneByOne && t.engine.HostCapBytes() != exec.Unlimited
	return begin, begin || t.oneByOne
}

// advance ends the task under way and goes on with the next one; more is false if there is none.
func (t *tasks) advance(ctx context.Context) (more bool, err error) {
	if t.under != nil {
		t.before, t.done = t.Stats(), true
		t.under.result.Close()
		t.under.ended()
		t.giveTurn()
	}
	for len(t.ahead) > 0 {
		next := t.ahead[0]
		next.before = t.before.OutputRows
		next.shown.Store(true)
		select {
		case <-next.begun:
		case <-ctx.Done():
			return false, backend.ContextError(ctx)
		}
		t.ahead = t.ahead[1:]
		if next.err == nil {
			t.under, t.done = next, false
			t.beginAhead()
			return true, nil
		}
		again := t.divided.again(next.err)
		if next.ended(); !again {
			return false, t.explain(next.err)
		}
		t.beginAhead()
	}
	return false, nil
}

// skip counts rows that no task has.
func (t *tasks) skip(leftRows, rightRows int64) {
	t.before.LeftRows += uint64(leftRows)
	t.before.RightRows += uint64(rightRows)
}

// Rows is the number of output rows so far.
func (t *tasks) Rows() uint64 {
	if t.done {
		return t.before.OutputRows
	}
	return t.before.OutputRows + t.under.result.Rows()
}

// Counted reports whether rows is the number of all.
func (t *tasks) Counted() bool { return len(t.ahead) == 0 && t.under.result.Counted() }

// explain is the error of a task. It names the device memory that is certain to be enough: another part may need more
// than this one. An error of the division comes first.
func (t *tasks) explain(err error) error {
	if t.short != nil && errors.Is(err, backend.ErrDeviceMemory) {
		err = fmt.Errorf("%w, for a part of both sides; undivided: %v", err, t.short)
	}
	return cmp.Or(t.divided.err(), err)
}

// Batches yields the output of all tasks, if it is rows.
func (t *tasks) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	if t.of.output == Pairs {
		return func(yield func(arrow.RecordBatch, error) bool) {
			yield(nil, fmt.Errorf("%w: the join was not asked for rows", backend.ErrInvalidInput))
		}
	}
	return t.rowBatches(ctx)
}

// rowBatches yields the output of all tasks in its order, pairs of row numbers as columns.
func (t *tasks) rowBatches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	if t.merge != nil {
		return t.merge.batches(ctx, t.unordered(ctx))
	}
	return t.unordered(ctx)
}

// unordered yields the output of all tasks, one after the other.
func (t *tasks) unordered(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for more := true; more; {
			for batch, err := range t.under.result.Batches(ctx) {
				if err != nil {
					err = t.explain(err)
				}
				if !yield(batch, err) || err != nil {
					return
				}
			}
			var err error
			if more, err = t.advance(ctx); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// Stats sums the measurements of all tasks so far.
func (t *tasks) Stats() query.Stats {
	if t.done {
		return t.before
	}
	s, before := t.under.result.Stats(), &t.before
	for side, rows := range []*uint64{&s.LeftRows, &s.RightRows} {
		if t.under.again[side] {
			*rows = 0
		}
	}
	s.LeftRows, s.RightRows = s.LeftRows+before.LeftRows, s.RightRows+before.RightRows
	s.OutputRows, s.Granules = s.OutputRows+before.OutputRows, s.Granules+before.Granules
	s.Failures = append(slices.Clone(before.Failures), s.Failures...)
	s.MatchSeconds += before.MatchSeconds
	s.EncodeSeconds += before.EncodeSeconds
	s.GatherSeconds += before.GatherSeconds
	s.TotalSeconds += before.TotalSeconds
	s.DevicePeakBytes = max(s.DevicePeakBytes, before.DevicePeakBytes)
	s.HostPeakBytes = max(s.HostPeakBytes, before.HostPeakBytes)
	for stage, seconds := range before.StageSeconds {
		s.StageSeconds[stage] += seconds
	}
	return s
}

// Schema implements output.
func (t *tasks) Schema() *arrow.Schema { return t.of.layout.Schema }

// Explain says how the join was divided, and what the task under way does.
func (t *tasks) Explain() string { return t.title() + t.under.result.Explain() }

// title is the first line of the explain text; the text of the task under way follows.
func (t *tasks) title() string { return fmt.Sprintf("%s; of %s:\n", t.divided, t.under.name) }

// Close ends the tasks under way and frees what they need.
func (t *tasks) Close() {
	if t.closed {
		return
	}
	t.closed = true
	t.flow.Stop()
	for _, task := range append([]*run{t.under}, t.ahead...) {
		if task == nil || task == t.under && t.done {
			continue
		}
		if task.result != nil {
			task.result.Close()
		}
		task.ended()
	}
	if t.merge != nil {
		t.merge.close()
	}
	t.divided.end()
}
