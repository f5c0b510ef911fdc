package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
)

// Lines is a scheduler for tasks that need one device each. Every device has two lines: while the task of one is
// joined, the other line's is uploaded or delivered (the three streams of HMG 3.3.2). A line takes the next task when
// it is free. Outputs come in any order, through one pipe, whose receiver draws them.
//
//	policy ──► line 0 of device 0: upload ─ join ─ deliver ──┐
//	       └─► line 1 of device 0:          upload ─ join ─ ─┼─► pipe ──► receiver
//	       └─► line 0 of device 1: ...                     ──┘
//
// If a device is lost, its tasks of which nothing was delivered go to lines of other devices.
type Lines struct {
	outputs         // mu guards before
	part      *Task // of which tasks are parts
	runs      []Run // by device
	perDevice int   // lines
	out       *exec.Output[*drawn]
	until     time.Duration

	mu      sync.Mutex
	changed *sync.Cond // a task has ended
	again   []*Task    // that failed and are run again
	ended   bool       // the policy has no more tasks
	busy    int        // lines that have a task
	lost    []error    // by device; nil while it works
	under   []*running // by line; nil while it has none
	shown   *running   // whose progress is reported as the join's
	last    Output     // of the task that began last, for texts
	share   float64    // of the join in tasks that have ended
	devices []query.DeviceStats
	peaks   []uint64 // device memory, by device
}

// newLines returns the scheduler of parts of a task, in a flow that ends with it, with lines for each device.
func newLines(flow *exec.Flow, whole, part *Task, policy Policy, perDevice int) *Lines {
	s := &Lines{part: part, perDevice: perDevice, out: exec.NewOutput[*drawn](flow)}
	s.outputs = outputs{policy: policy, whole: whole, flow: flow, began: time.Now(),
		before: query.Stats{StageSeconds: make(map[string]float64)}}
	s.unordered, s.numbers, s.describe, s.release = s.batches, s.pairs, s.texts, func() { s.out.Close() }
	return s
}

// linesPerDevice is how many tasks a device has at a time, unless a knob says otherwise.
const linesPerDevice = 2

// begin starts the lines and waits for the first output or, for a count, for the end. If it fails, rows that were
// counted are given back.
func (s *Lines) begin() error {
	s.changed = sync.NewCond(&s.mu)
	lines := s.perDevice * len(s.runs)
	s.under, s.lost, s.peaks = make([]*running, lines), make([]error, len(s.runs)), make([]uint64, len(s.runs))
	stop := context.AfterFunc(s.flow.Context(), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
	s.flow.AtEnd(func() { stop() })
	var all sync.WaitGroup
	for i := range lines {
		all.Add(1)
		s.flow.Go(fmt.Sprintf("line %d", i), func(ctx context.Context) error {
			defer all.Done()
			return s.line(ctx, i)
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

// line runs task after task on the device of a line.
func (s *Lines) line(ctx context.Context, line int) error {
	device := line / s.perDevice
	for {
		t, err := s.next(ctx, device)
		if err != nil || t == nil {
			return err
		}
		delivered, err := s.runTask(ctx, line, t)
		again, err := s.end(device, t, delivered, err)
		if err != nil || !again {
			return err
		}
	}
}

// next waits for a task that a device should run; nil if there are none, or if the device is lost.
func (s *Lines) next(ctx context.Context, device int) (*Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case ctx.Err() != nil:
			return nil, backend.ContextError(ctx)
		case s.lost[device] != nil:
			return nil, nil
		case len(s.again) > 0:
			t := s.again[0]
			s.again = s.again[1:]
			s.busy++
			return t, nil
		case !s.ended:
			t, err := s.policy.Next(ctx)
			if err != nil {
				return nil, err
			}
			if s.ended = t == nil; t != nil {
				s.busy++
				return t, nil
			}
		case s.busy == 0:
			return nil, nil
		default:
			s.changed.Wait()
		}
	}
}

// end ends a task, and reports whether its line goes on. A task of which nothing was delivered is run again if its
// device is lost and another one works, or if the policy says so.
func (s *Lines) end(device int, t *Task, delivered bool, err error) (goesOn bool, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changed.Broadcast()
	s.busy--
	again := false
	defer func() {
		if t.ended != nil && !again {
			t.ended()
		}
	}()
	if err == nil || delivered {
		return true, err
	}
	if errors.Is(err, backend.ErrDeviceLost) && !errors.Is(err, backend.ErrCancelled) {
		if s.lost[device] == nil {
			info := s.devices[device]
			s.before.Failures = append(s.before.Failures, query.DeviceFailure{Device: info.Device, Error: err.Error()})
		}
		s.lost[device] = err
		if again = slices.Contains(s.lost, nil); again {
			s.again = append(s.again, t)
			return false, nil
		}
	}
	if !s.policy.Failed(t, err) {
		return false, cmp.Or(s.policy.Err(), err)
	}
	s.ended = false
	return true, nil
}

// runTask runs a task and passes its output on. delivered says that the receiver may have some of it.
func (s *Lines) runTask(ctx context.Context, line int, t *Task) (delivered bool, err error) {
	of := *t
	device, r := line/s.perDevice, &running{Task: &of}
	of.Progress = s.whole.Progress.Part(r.shown.Load, func(part exec.Status) exec.Status {
		s.mu.Lock()
		of.from, of.to, r.before = s.share, s.share+t.to-t.from, s.before.OutputRows
		s.mu.Unlock()
		return r.ofWhole(part, time.Since(s.began))
	})
	s.mu.Lock()
	s.under[line] = r
	s.show(r)
	s.mu.Unlock()
	var output Output
	err = exec.Protect("begin "+t.name, func() (err error) {
		output, err = s.runs[device](ctx, &of, nil)
		return err
	})
	if err == nil {
		s.mu.Lock()
		r.output, s.last = output, output
		s.mu.Unlock()
		delivered, err = s.pass(ctx, output)
	}
	s.mu.Lock()
	if s.under[line] = nil; s.shown == r {
		s.shown = nil
		for _, other := range s.under {
			s.show(other)
		}
	}
	switch {
	case r.output == nil:
	case err != nil && !delivered:
		s.whole.Quota.Return(r.output.Rows())
	default:
		s.share += t.to - t.from
		s.count(device, r.counted(r.output))
	}
	s.mu.Unlock()
	if r.output != nil {
		r.output.Close()
	}
	return delivered, err
}

// show reports the progress of a task as the join's, if it reports that of no other. r may be nil.
func (s *Lines) show(r *running) {
	if s.shown == nil && r != nil {
		s.shown = r
		r.shown.Store(true)
	}
}

// pass passes the output of a task on.
func (s *Lines) pass(ctx context.Context, output Output) (delivered bool, err error) {
	switch s.part.Output {
	case join.Count:
		return false, nil
	case join.Pairs:
		return passAll(ctx, s.out.Pipe, output.Pairs(ctx), func(p query.Pairs) *drawn { return &drawn{pairs: p} })
	}
	return passAll(ctx, s.out.Pipe, output.Batches(ctx), func(b arrow.RecordBatch) *drawn { return &drawn{batch: b} })
}

// count adds the measurements of a task that has ended.
func (s *Lines) count(device int, of query.Stats) {
	s.devices[device].Algorithm = of.Algorithm
	s.devices[device].Granules += of.Granules
	s.devices[device].ProbeRows += of.ProbeRows
	s.peaks[device] = max(s.peaks[device], of.DevicePeakBytes)
	add(&s.before, &of)
}

// Rows returns the number of output rows so far.
func (s *Lines) Rows() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := s.before.OutputRows
	for _, r := range s.under {
		if r != nil && r.output != nil {
			rows += r.output.Rows()
		}
	}
	return rows
}

// Counted reports whether Rows is the number of all output rows.
func (s *Lines) Counted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended && s.busy == 0
}

// Stats returns the measurements of all tasks so far, summed, and of the preparation.
func (s *Lines) Stats() query.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum, last := s.before, s.last.Stats()
	sum.StageSeconds, sum.Failures = maps.Clone(sum.StageSeconds), slices.Clone(sum.Failures)
	for _, r := range s.under {
		if r != nil && r.output != nil {
			of := r.counted(r.output)
			add(&sum, &of)
		}
	}
	sum.Device, sum.Backend, sum.Driver = s.devices[0].Device, s.devices[0].Backend, last.Driver
	sum.Algorithm, sum.Strategy, sum.Ways = last.Algorithm, last.Strategy, last.Ways
	sum.Prediction, sum.Alternatives = last.Prediction, last.Alternatives
	sum.MatchSeconds, sum.TotalSeconds = s.until.Seconds(), time.Since(s.began).Seconds()
	if len(s.devices) > 1 {
		sum.Devices, sum.DevicePeakBytes = slices.Clone(s.devices), 0
		for _, peak := range s.peaks {
			sum.DevicePeakBytes += peak
		}
	}
	return sum
}

// texts are how the join was divided and which devices have failed, and the task that began last.
func (s *Lines) texts() (title string, of Output) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.before.Failures {
		title += fmt.Sprintf("failed       %s: %s; other devices ran its tasks\n", f.Device, f.Error)
	}
	return fmt.Sprintf("%s%s; of one:\n", title, s.policy), s.last
}

// Tasks returns nil.
func (*Lines) Tasks() *Scheduler { return nil }
