package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/query"
)

// Run begins a task and runs it up to its first rows or, for a count, to the end. It takes device memory only in the
// turn of the task. The caller closes the output.
type Run func(ctx context.Context, t *Task, turn Turn) (Output, error)

// Scheduler runs the tasks of a join, whose outputs, one after the other, are the output of the join. While one task is
// drawn, the next one begins and runs up to its first rows, if there is memory for both. A task waits only for the
// memory of tasks before it, and these never wait. More tasks may be read and planned ahead.
//
//	task 1   read build side, plan ─ join ─ output
//	task 2                           read build side, plan ─ join ─ output
//	task 3                                                   read build side, ...
type Scheduler struct {
	outputs
	run     Run
	limited bool // there is a limit of host memory

	// short is the error of the undivided join, if it is divided because the device lacks memory. Then a task takes
	// device memory only when the task before has ended: columns of one task would leave gaps among the columns of the
	// other.
	short error

	// mostAhead is how many tasks are begun while one is drawn: 2 if host memory has no limit and tasks can be read ahead,
	// otherwise 1. All but the first of them are only read and planned. A block that fails is replaced before another
	// begins.
	mostAhead int

	under *running   // the task that is drawn
	ahead []*running // tasks that were begun, in their order; none after the last one
	done  bool       // the task that was drawn has ended, and before includes it
	kept  uint64     // rows that the consumer had when the last task began
}

// running is a task that was begun.
type running struct {
	*Task
	shown  atomic.Bool   // its progress is reported as the join's
	before uint64        // output rows of the tasks before, once it is shown
	turn   Turn          // closed when only the drawn task is before it or, if it waits for that one, when it has ended
	given  bool          // the turn has come
	begun  chan struct{} // closed when there is an output or an error
	output Output
	err    error
}

// Close frees what the task needs.
func (r *running) Close() {
	if r.output != nil {
		r.output.Close()
	}
	if r.ended != nil {
		r.ended()
	}
}

func newScheduler(ctx context.Context, m *Means, whole *Task, policy Policy, run Run) *Scheduler {
	s := &Scheduler{run: run, limited: m.HostCapBytes() != exec.Unlimited, mostAhead: 1,
		outputs: outputs{policy: policy, whole: whole, flow: exec.NewFlow(exec.WithTrace(ctx, m.Trace)), began: time.Now()}}
	s.unordered, s.describe, s.release = s.batches, s.texts, s.free
	return s
}

// begin begins the first task; all of them if no row comes to the host. If it fails, the join may begin again, unless a
// consumer has kept rows: rows of the tasks that ended are given back.
func (s *Scheduler) begin() (err error) {
	defer func() {
		if err != nil {
			s.whole.Quota.Return(s.before.OutputRows)
		}
	}()
	s.kept = deliver.Kept(s.whole.Consumer)
	if err := s.beginAhead(); err != nil {
		return err
	}
	for more := true; more && (s.under == nil || s.whole.Undelivered()); {
		if more, err = s.advance(s.flow.Context()); err != nil {
			return err
		}
	}
	return nil
}

// beginAhead begins the next tasks, as many as may be ahead.
func (s *Scheduler) beginAhead() error {
	for len(s.ahead) < s.mostAhead {
		next, err := s.policy.Next(s.flow.Context())
		if err != nil {
			return s.explain(err)
		}
		if next == nil {
			break
		}
		r := &running{Task: next, begun: make(chan struct{}), turn: make(Turn)}
		s.ahead = append(s.ahead, r)
		s.beginTask(r)
	}
	s.giveTurn()
	return nil
}

// beginTask begins a task on a goroutine.
func (s *Scheduler) beginTask(next *running) {
	of := *next.Task
	of.Progress = s.whole.Progress.Part(next.shown.Load, func(part exec.Status) exec.Status {
		return next.ofWhole(part, time.Since(s.began))
	})
	waits, _ := s.waits()
	s.flow.Go("begin "+next.name, func(ctx context.Context) error {
		defer close(next.begun)
		if waits {
			if next.err = next.turn.Wait(ctx); next.err != nil {
				return nil
			}
		}
		next.err = exec.Protect("begin "+next.name, func() (err error) {
			next.output, err = s.run(ctx, &of, next.turn)
			return err
		})
		return nil
	})
}

// giveTurn gives the first task ahead its turn, unless it waits for the end of the one under way.
func (s *Scheduler) giveTurn() {
	if len(s.ahead) == 0 || s.ahead[0].given {
		return
	}
	if _, waits := s.waits(); !waits {
		s.ahead[0].given = true
		close(s.ahead[0].turn)
	}
}

// waits reports whether the next task waits for the end of the one under way before it begins, or before it takes
// memory of the device. A task that was divided itself has tasks that come before the next one, and must not wait for
// memory that the next one has; nor must other queries wait for memory of the host that the next one is still taking.
func (s *Scheduler) waits() (begin, device bool) {
	if s.under == nil || s.done {
		return false, false
	}
	begin = s.under.output.Tasks() != nil || s.short != nil && s.limited
	return begin, begin || s.short != nil
}

// advance ends the task that is drawn and goes on with the next one; more is false if there is none.
func (s *Scheduler) advance(ctx context.Context) (more bool, err error) {
	if s.under != nil {
		s.before, s.done = s.Stats(), true
		s.under.Close()
		s.giveTurn()
	}
	for len(s.ahead) > 0 {
		next := s.ahead[0]
		next.before = s.before.OutputRows
		next.shown.Store(true)
		select {
		case <-next.begun:
		case <-ctx.Done():
			return false, backend.ContextError(ctx)
		}
		s.ahead = s.ahead[1:]
		if next.err == nil {
			s.under, s.done, s.kept = next, false, deliver.Kept(s.whole.Consumer)
			return true, s.beginAhead()
		}
		again := deliver.Kept(s.whole.Consumer) == s.kept && s.policy.Failed(next.Task, next.err)
		if next.Close(); !again {
			return false, s.explain(next.err)
		}
		if err := s.beginAhead(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// Rows returns the number of output rows so far.
func (s *Scheduler) Rows() uint64 {
	if s.done {
		return s.before.OutputRows
	}
	return s.before.OutputRows + s.under.output.Rows()
}

// Counted reports whether Rows is the number of all output rows.
func (s *Scheduler) Counted() bool { return len(s.ahead) == 0 && s.under.output.Counted() }

// explain returns the error of a task. If the device lacks memory for a part, it adds what the undivided join needs,
// which is certain to be enough; another part may need more than this one. An error of the policy takes precedence.
func (s *Scheduler) explain(err error) error {
	if s.short != nil && s.whole.Depth == 0 && errors.Is(err, backend.ErrDeviceMemory) {
		err = fmt.Errorf("%w, for a part of both sides; undivided: %v", err, s.short)
	}
	return cmp.Or(s.policy.Err(), err)
}

// batches yields the output of all tasks, one after the other.
func (s *Scheduler) batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for more := true; more; {
			for batch, err := range s.under.output.Batches(ctx) {
				if err != nil {
					err = s.explain(err)
				}
				if !yield(batch, err) || err != nil {
					return
				}
			}
			var err error
			if more, err = s.advance(ctx); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// Stats returns the measurements of all tasks so far, summed.
func (s *Scheduler) Stats() query.Stats {
	if s.done {
		return s.before
	}
	sum := s.under.counted(s.under.output)
	add(&sum, &s.before)
	return sum
}

// texts are the first line of the explain text, and the task under way.
func (s *Scheduler) texts() (title string, of Output) {
	return fmt.Sprintf("%s; of %s:\n", s.policy, s.under.name), s.under.output
}

// Tasks returns the scheduler.
func (s *Scheduler) Tasks() *Scheduler { return s }

// Parts returns the number of parts by hashes of keys, and the size of their file; 0 if there are none.
func (s *Scheduler) Parts() (number int, diskBytes uint64) {
	p, ok := s.policy.(*parts)
	switch {
	case !ok:
		return 0, 0
	case p.file == nil: // they are in memory
		return p.divider.Parts, 0
	}
	return p.divider.Parts, p.file.SizeBytes()
}

// free frees what the tasks under way need.
func (s *Scheduler) free() {
	if s.under != nil && !s.done {
		s.under.Close()
	}
	for _, r := range s.ahead {
		r.Close()
	}
}
