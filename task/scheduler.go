package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/query"
)

// Run begins a task and runs it up to its first rows or, for a count, to the end. It takes device memory only in the
// turn of the task. The caller closes the output.
type Run func(ctx context.Context, t *Task, turn Turn) (Output, error)

// Scheduler runs the tasks of a join, whose outputs are the output of the join. Workers run the tasks: one with all
// devices, or one for each device. A worker has some lines. A line is a goroutine that takes a task from the policy,
// begins it, passes its output to the receiver through a pipe, and takes the next one.
//
//	policy ──► line 0: read build side, plan ─ join ─ output ──┐
//	       └─► line 1:          read build side, plan ─ join ──┴─► pipe ──► receiver
//
// In order, outputs follow one another. While one is drawn, the next task begins and runs up to its first rows, if
// there is memory for both. A task waits only for the memory of tasks before it, and these never wait. Otherwise
// outputs come in any order: while the task of one line is joined, the other line's is uploaded or delivered (the three
// streams of HMG 3.3.2).
//
// If the device of a worker is lost, its tasks of which nothing was delivered go to other workers.
type Scheduler struct {
	policy      Policy
	whole, part *Task // the join that was divided; the task of which tasks are parts
	flow        *exec.Flow
	out         *exec.Output[*drawn]
	merge       *Merge // of the outputs of tasks; nil if there is no order
	workers     []*worker
	lines       int           // of each worker
	inOrder     bool          // outputs follow one another; there is one worker
	began       time.Time     // when the join began to be divided
	until       time.Duration // from then until the first output or, for a count, the end

	limited bool // there is a limit of host memory
	// short is the error of the undivided join, if it is divided because the device lacks memory. Then a task takes
	// device memory only when the task before has ended: columns of one task would leave gaps among the columns of the
	// other.
	short error

	mu      sync.Mutex // guards what follows; not held while the policy waits
	changed *sync.Cond
	asking  bool        // a line waits for the next task
	ended   bool        // the policy has no more tasks
	how     string      // the join was divided, as the policy said with the last one
	again   []*Task     // tasks of lost devices, which are run again
	under   []*running  // tasks under way, in the order in which they began
	last    *running    // whose output began to be passed on last
	before  query.Stats // of the tasks that have ended
	share   float64     // of the join in these tasks
	kept    uint64      // rows that the consumer had when that output began
}

// worker is what runs tasks.
type worker struct {
	run       Run
	stats     query.DeviceStats // of its device, if there is one worker for each
	peakBytes uint64            // of memory of the device
	lost      error             // nil while the device works
}

// running is a task under way.
type running struct {
	*Task
	turn   Turn // nil unless tasks are in order
	given  bool // the turn has come
	waits  bool // the task begins in its turn
	output Output
	passes bool // the output is being passed on
}

// linesPerWorker is how many tasks a worker has at a time, unless a policy or a knob says otherwise.
const linesPerWorker = 2

// newScheduler returns the scheduler of parts of a task, in a flow that ends with it. The caller adds workers.
func newScheduler(flow *exec.Flow, whole, part *Task, policy Policy) *Scheduler {
	s := &Scheduler{policy: policy, whole: whole, part: part, flow: flow, out: exec.NewOutput[*drawn](flow),
		lines: linesPerWorker, began: time.Now(), before: query.Stats{StageSeconds: make(map[string]float64)}}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// begin starts the lines and waits for the first output or, if no row comes to the host, for the end. If it fails, the
// join may begin again, unless a consumer has kept rows: rows that were counted are given back.
func (s *Scheduler) begin() error {
	s.kept = deliver.Kept(s.whole.Consumer)
	stop := context.AfterFunc(s.flow.Context(), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
	s.flow.AtEnd(func() { stop() })
	var all sync.WaitGroup
	for i := range s.lines * len(s.workers) {
		all.Add(1)
		s.flow.Go(fmt.Sprintf("line %d", i), func(ctx context.Context) error {
			defer all.Done()
			return s.line(ctx, s.workers[i/s.lines])
		})
	}
	s.flow.Go("lines", func(context.Context) error {
		all.Wait()
		s.out.End()
		return nil
	})
	some := s.out.Begin()
	if s.until = time.Since(s.began); some {
		return nil
	}
	err := s.flow.Wait()
	if err != nil {
		s.whole.Quota.Return(s.Rows())
	}
	return err
}

// line runs task after task.
func (s *Scheduler) line(ctx context.Context, w *worker) error {
	for {
		r, err := s.next(ctx, w)
		if err != nil || r == nil {
			return err
		}
		final := false
		err = exec.Protect(r.name, func() (err error) {
			final, err = s.runTask(ctx, w, r)
			return err
		})
		if err := s.end(w, r, final, err); err != nil {
			return err
		}
		s.showNext()
	}
}

// showNext reports, unless in order, the progress of the task that is shown from now on.
func (s *Scheduler) showNext() {
	s.mu.Lock()
	var next *exec.Progress
	if !s.inOrder && len(s.under) > 0 {
		next = s.under[0].Progress
	}
	s.mu.Unlock()
	if next != nil {
		next.Report()
	}
}

// next waits for a task that a worker should run; nil if there are none, or if its device is lost. In order, all lines
// but one may have tasks that are not being passed on: with two lines, a task that fails to begin is replaced before
// another one begins.
func (s *Scheduler) next(ctx context.Context, w *worker) (*running, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case ctx.Err() != nil:
			return nil, backend.ContextError(ctx)
		case w.lost != nil || s.ended && len(s.again)+len(s.under) == 0:
			return nil, nil
		case len(s.again) > 0:
			t := s.again[0]
			s.again = s.again[1:]
			return s.add(t), nil
		case s.ended || s.asking || s.inOrder && s.passing() == nil && len(s.under) == s.lines-1:
			s.changed.Wait()
		default:
			t, err := s.ask(ctx)
			if err != nil {
				return nil, s.explain(err)
			}
			s.how = s.policy.String()
			if s.ended = t == nil; !s.ended {
				return s.add(t), nil
			}
		}
	}
}

// ask asks the policy for the next task. The caller holds the lock, which is released meanwhile.
func (s *Scheduler) ask(ctx context.Context) (*Task, error) {
	s.asking = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.asking = false
		s.changed.Broadcast()
	}()
	return s.policy.Next(ctx)
}

// add adds a task to those under way.
func (s *Scheduler) add(t *Task) *running {
	r := &running{Task: t}
	t.Progress = s.whole.Progress.Part(func() bool { return s.shows(r) }, func(part exec.Status) exec.Status {
		return s.ofWhole(r, part)
	})
	if s.inOrder {
		r.turn = make(Turn)
		r.waits, _ = s.waits()
	}
	s.under = append(s.under, r)
	s.change()
	return r
}

// runTask runs a task and passes its output on. final says that no other task can take its place: the receiver may have
// some of it or, in order, later tasks were begun.
func (s *Scheduler) runTask(ctx context.Context, w *worker, r *running) (final bool, err error) {
	defer exec.Begin(ctx, r.name).End()
	if r.waits {
		if err := r.turn.Wait(ctx); err != nil {
			return false, err
		}
	}
	r.output, err = w.run(ctx, r.Task, r.turn)
	if err == nil {
		defer r.output.Close()
	}
	ready := s.ready(ctx, r, err == nil)
	if err != nil {
		return false, err
	}
	delivered := false
	if err = ready; err == nil {
		delivered, err = s.pass(ctx, r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.passes = false
	if err != nil && !delivered {
		s.whole.Quota.Return(r.output.Rows())
		return s.inOrder, err
	}
	s.count(w, r)
	return delivered || s.inOrder, err
}

// ready waits, in order, until a task is the first one. If it has begun, its output is passed on from then.
func (s *Scheduler) ready(ctx context.Context, r *running, begun bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.inOrder && s.under[0] != r && ctx.Err() == nil {
		s.changed.Wait()
	}
	if ctx.Err() != nil {
		return backend.ContextError(ctx)
	}
	if begun {
		s.last, r.passes, s.kept = r, true, deliver.Kept(s.whole.Consumer)
		s.change()
	}
	return nil
}

// end ends a task. Unless that is final, a task that failed is run again if its device is lost and another one works,
// or other tasks of the policy take its place. Otherwise the join fails.
func (s *Scheduler) end(w *worker, r *running, final bool, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for err != nil && s.asking {
		s.changed.Wait()
	}
	again := false
	if err != nil {
		works := func(other *worker) bool { return other != w && other.lost == nil }
		switch replaceable := !final && s.kept == deliver.Kept(s.whole.Consumer) &&
			!errors.Is(err, backend.ErrCancelled); {
		case replaceable && errors.Is(err, backend.ErrDeviceLost) && slices.ContainsFunc(s.workers, works):
			w.lost, again, s.again, err = cmp.Or(w.lost, err), true, append(s.again, r.Task), nil
		case replaceable && s.policy.Failed(r.Task, err):
			s.ended, err = false, nil
		default:
			err = s.explain(err)
			s.flow.Fail(err) // before other lines go on
		}
	}
	s.under = slices.DeleteFunc(s.under, func(other *running) bool { return other == r })
	if r.ended != nil && !again {
		r.ended()
	}
	s.change()
	return err
}

// explain returns the error of a task. If the device lacks memory for a part, it adds what the undivided join needs,
// which is certain to be enough; another part may need more than this one. An error of the policy takes precedence.
func (s *Scheduler) explain(err error) error {
	if s.short != nil && s.whole.Depth == 0 && errors.Is(err, backend.ErrDeviceMemory) {
		err = fmt.Errorf("%w, for a part of both sides; undivided: %v", err, s.short)
	}
	return cmp.Or(s.policy.Err(), err)
}

// change wakes lines that wait, and gives turns. In order, the first task has its turn, and the next one while the
// first is passed on, unless it waits for its end.
func (s *Scheduler) change() {
	_, waits := s.waits()
	for i, r := range s.under {
		if s.inOrder && !r.given && (i == 0 || i == 1 && s.passing() != nil && !waits) {
			r.given = true
			close(r.turn)
		}
	}
	s.changed.Broadcast()
}

// passing returns the first task if it is being passed on; otherwise nil.
func (s *Scheduler) passing() *running {
	if len(s.under) > 0 && s.under[0].passes {
		return s.under[0]
	}
	return nil
}

// waits reports whether, in order, the next task waits for the end of the one that is passed on before it begins, or
// before it takes memory of the device. A task that was divided itself has tasks that come before the next one, and
// must not wait for memory that the next one has; nor must other queries wait for memory of the host that the next one
// is still taking.
func (s *Scheduler) waits() (begin, device bool) {
	first := s.passing()
	if first == nil {
		return false, false
	}
	begin = first.output.Tasks() != nil || s.short != nil && s.limited
	return begin, begin || s.short != nil
}
