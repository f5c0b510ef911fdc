package task

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/source"
)

// someTasks is a policy with these tasks.
type someTasks struct{ left []*Task }

func (*someTasks) Prepare(context.Context) error { return nil }
func (s *someTasks) Next(context.Context) (next *Task, err error) {
	if len(s.left) > 0 {
		next, s.left = s.left[0], s.left[1:]
	}
	return next, nil
}
func (*someTasks) Close()                   {}
func (*someTasks) Err() error               { return nil }
func (*someTasks) Failed(*Task, error) bool { return false }
func (*someTasks) String() string           { return "" }

// some returns a number of tasks of an empty join.
func some(t *testing.T, number int) (whole *Task, of *someTasks) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}}, nil)
	layout, err := join.NewLayout(schema, schema, join.Spec{On: []string{"k"}})
	require.NoError(t, err)
	whole, of = Whole(layout, source.Empty(schema), source.Empty(schema), nil), new(someTasks)
	for i := range number {
		of.left = append(of.left, whole.part(fmt.Sprint(i), 1, whole.Sources[0], whole.Sources[1]))
	}
	return whole, of
}

// nothing is the output of a task without rows.
type nothing struct {
	Output
	tasks *Scheduler
}

func (nothing) Stats() query.Stats  { return query.Stats{} }
func (n nothing) Tasks() *Scheduler { return n.tasks }
func (nothing) Close()              {}

// means are those of the host backend with a limit of memory, valid until the test ends.
func means(t *testing.T, limitBytes uint64) *Means {
	devicetest.HostTest(t)
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	ops, err := primitive.New(device, nil)
	require.NoError(t, err)
	return &Means{Engine: query.NewEngine(ops, memory.DefaultAllocator, limitBytes)}
}

// inOrder returns the scheduler that runs tasks in order with all devices.
func inOrder(t *testing.T, whole *Task, of Policy, run Run) *Scheduler {
	s := newScheduler(exec.NewFlow(t.Context()), whole, whole, of)
	s.inOrder, s.workers = true, []*worker{{run: run}}
	t.Cleanup(s.Close)
	return s
}

// TestTaskWaits: a task does not begin while the task before, which was divided again, has tasks of its own. Nor does
// it if the device is short of memory and host memory is limited: it would hold memory that others wait for.
func TestTaskWaits(t *testing.T) {
	for name, c := range map[string]struct {
		limited bool
		of      *Scheduler
		short   error
		waits   bool
	}{
		"divided":       {of: new(Scheduler), waits: true},
		"memory short":  {limited: true, short: backend.ErrDeviceMemory, waits: true},
		"device free":   {limited: true},
		"nothing short": {},
	} {
		whole, of := some(t, 2)
		begun := make(chan struct{}, 2)
		s := inOrder(t, whole, of, func(context.Context, *Task, Turn) (Output, error) {
			begun <- struct{}{}
			return batches{number: 1, nothing: nothing{tasks: c.of}}, nil
		})
		s.short, s.limited = c.short, c.limited
		require.NoError(t, s.begin())
		<-begun
		select {
		case <-begun:
			require.False(t, c.waits, name)
		case <-time.After(50 * time.Millisecond):
			require.True(t, c.waits, name)
		}
		rows, err := drawAll(t, s)
		require.NoError(t, err)
		require.Equal(t, 2, rows)
	}
}

// TestTaskIsReadBeforeItsTurn: where only the device is short of memory, the next task is read while the one before has
// the device, and joined after that has ended. The one after the next is read, and joined when it is the next.
func TestTaskIsReadBeforeItsTurn(t *testing.T) {
	for _, short := range []error{nil, backend.ErrDeviceMemory} {
		testTurns(t, short)
	}
}

func testTurns(t *testing.T, short error) {
	whole, of := some(t, 4)
	read, joined := make(chan string, 4), make(chan string, 4)
	s := inOrder(t, whole, of, func(ctx context.Context, of *Task, turn Turn) (Output, error) {
		read <- of.name
		err := turn.Wait(ctx)
		joined <- of.name
		return batches{number: 1}, err
	})
	s.short, s.lines = short, 3
	after := func(of chan string) (names []string) {
		for {
			select {
			case name := <-of:
				names = append(names, name)
			case <-time.After(50 * time.Millisecond):
				slices.Sort(names)
				return names
			}
		}
	}
	require.NoError(t, s.begin())
	require.Equal(t, []string{"0", "1", "2"}, after(read))
	expected := [][]string{{"0", "1"}, {"2"}, {"3"}, nil}
	if short != nil {
		expected = [][]string{{"0"}, {"1"}, {"2"}, {"3"}}
	}
	for batch, err := range s.Batches(t.Context()) {
		require.NoError(t, err)
		batch.Release()
		require.Equal(t, expected[0], after(joined))
		expected = expected[1:]
	}
	require.Empty(t, expected)
	require.Equal(t, []string{"3"}, after(read))
}

// TestInOrder: outputs follow one another, and a task makes its next batch when the receiver asks for it. An error
// comes after the rows of the tasks before, and what the policy makes of a task that failed before the next task.
func TestInOrder(t *testing.T) {
	for deepest, c := range []struct{ begun, drawn []string }{
		{[]string{"0", "1", "2", "3"}, []string{"0", "1", "2", "3"}},
		{[]string{"0", "1", "2", "3", "3.0", "3.1"}, []string{"0", "1", "2", "3.0", "3.1"}},
		{[]string{"0", "1", "2", "3", "3.0"}, []string{"0", "1", "2"}},
	} {
		whole, of := some(t, 4)
		var begun []string
		made := 0
		s := inOrder(t, whole, replaced{of}, func(_ context.Context, of *Task, _ Turn) (Output, error) {
			begun = append(begun, of.name)
			if of.name[0] == '3' && of.Depth <= deepest {
				return nil, backend.ErrDeviceMemory
			}
			return batches{number: 3, made: &made}, nil
		})
		require.NoError(t, s.begin())
		rows, failed := 0, error(nil)
		for batch, err := range s.Batches(t.Context()) {
			if failed = err; err != nil {
				break
			}
			under := rows / 3
			rows++
			require.Equal(t, rows, made)
			require.EqualValues(t, 3*under+3, s.Rows(), "of the tasks so far")
			require.Contains(t, s.Explain(), "; of "+c.drawn[under]+":\nexplained")
			batch.Release()
		}
		require.Equal(t, 3*len(c.drawn), rows)
		if deepest == 2 {
			require.ErrorIs(t, failed, backend.ErrDeviceMemory)
		} else {
			require.NoError(t, failed)
		}
		require.Equal(t, c.begun, begun)
		require.EqualValues(t, rows, s.Stats().OutputRows)
	}
}

// slow is a policy whose last task waits for input.
type slow struct {
	*someTasks
	asked atomic.Bool
	input chan struct{}
}

func (p *slow) Next(ctx context.Context) (*Task, error) {
	if len(p.left) == 1 {
		p.asked.Store(true)
		select {
		case <-p.input:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		p.asked.Store(false)
	}
	return p.someTasks.Next(ctx)
}

func (p *slow) String() string { return fmt.Sprint("asked: ", p.asked.Load()) }

// TestPolicyWaits: while the policy waits for input, it is not called again, and what is known of the join is told.
func TestPolicyWaits(t *testing.T) {
	whole, of := some(t, 2)
	policy := &slow{someTasks: of, input: make(chan struct{})}
	s := inOrder(t, whole, policy, func(context.Context, *Task, Turn) (Output, error) { return batches{number: 1}, nil })
	require.NoError(t, s.begin())
	require.Eventually(t, policy.asked.Load, 10*time.Second, time.Millisecond)
	require.EqualValues(t, 1, s.Rows())
	require.EqualValues(t, 1, s.Stats().OutputRows)
	require.False(t, s.Counted())
	require.Equal(t, "asked: false; of 0:\nexplained", s.Explain())
	close(policy.input)
	rows, err := drawAll(t, s)
	require.NoError(t, err)
	require.Equal(t, 2, rows)
	require.True(t, s.Counted())
}

// TestMergeLends: the memory for runs of an ordered output goes to tasks that need all there is.
func TestMergeLends(t *testing.T) {
	m := means(t, 64<<20)
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}}, nil)
	layout, err := join.NewLayout(schema, schema, join.Spec{On: []string{"k"}, Order: join.LeftOrder})
	require.NoError(t, err)
	whole := Whole(layout, source.Empty(schema), source.Empty(schema), nil)
	merging := newMerge(&sides{Means: m, whole: whole, part: whole.numbered()})
	require.EqualValues(t, 8<<20, merging.runBytes.Load())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	all, err := m.Budget().Acquire(ctx, exec.Need{Host: m.HostCapBytes()})
	require.NoError(t, err)
	require.EqualValues(t, leastRunBytes, merging.runBytes.Load())
	all.Release()
	merging.Close()
	require.Equal(t, m.HostCapBytes(), m.Budget().Free().Host)
}

// TestShares: the tasks of a join count their rows into one quota. A cross join has a limit unless it only counts.
func TestShares(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}}, nil)
	most := func(spec join.Spec) uint64 {
		layout, err := join.NewLayout(schema, schema, spec)
		require.NoError(t, err)
		whole := Whole(layout, source.Empty(schema), source.Empty(schema), nil)
		require.Same(t, whole.Quota, whole.numbered().part("", 1, whole.Sources[0], whole.Sources[1]).Quota)
		require.NotSame(t, whole.Quota, whole.Renewed().Quota)
		return whole.Quota.Most
	}
	require.Zero(t, most(join.Spec{On: []string{"k"}}))
	require.EqualValues(t, 7, most(join.Spec{On: []string{"k"}, MaxOutputRows: 7}))
	require.EqualValues(t, join.CrossLimit, most(join.Spec{How: join.Cross}))
	require.Zero(t, most(join.Spec{How: join.Cross, Output: join.Count}))
}

// counted is the output of a task that has counted rows.
type counted struct {
	nothing
	rows uint64
}

func (c counted) Stats() query.Stats { return query.Stats{OutputRows: c.rows} }

// TestFailedCountGivesRowsBack: where a later task of a count fails, the rows of the tasks before count no longer: the
// join may begin again elsewhere, under the same limit.
func TestFailedCountGivesRowsBack(t *testing.T) {
	whole, of := some(t, 2)
	whole.Output, whole.Quota.Most = join.Count, 10
	count := deliver.Limit{Sink: new(operator.Counter), Quota: whole.Quota, Rows: new(atomic.Uint64)}
	number := 0
	s := inOrder(t, whole, of, func(ctx context.Context, _ *Task, _ Turn) (Output, error) {
		if number++; number == 2 {
			return nil, backend.ErrDeviceLost
		}
		return counted{rows: 8}, count.Count(ctx, 8)
	})
	require.ErrorIs(t, s.begin(), backend.ErrDeviceLost)
	s.Close()
	require.NoError(t, count.Count(t.Context(), 10))
	require.ErrorIs(t, count.Count(t.Context(), 1), backend.ErrLimit)
}

// TestLateReport: a report of a task that was counted already does not count it again.
func TestLateReport(t *testing.T) {
	s := &Scheduler{share: 1, began: time.Now()}
	last := &running{Task: &Task{name: "last", from: 0.9, to: 1}}
	require.InDelta(t, 1, s.ofWhole(last, exec.Status{Share: 1}).Share, 1e-9)
	s.share = 0.9
	require.InDelta(t, 0.95, s.ofWhole(last, exec.Status{Share: 0.5}).Share, 1e-9)
}
