package task

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/query"
)

// batches is the output of a task: some batches of one row and, if it fails after them, an error instead of one more.
type batches struct {
	nothing
	number int
	made   *int // how many, of all tasks; may be nil
	err    error
}

func (b batches) Rows() (rows uint64) {
	if rows = uint64(b.number); b.err != nil {
		rows++
	}
	return rows
}

func (b batches) Stats() query.Stats { return query.Stats{OutputRows: b.Rows(), LeftRows: 1} }
func (b batches) Counted() bool      { return true }
func (b batches) Explain() string    { return "explained" }

func (b batches) Batches(context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		schema := arrow.NewSchema(nil, nil)
		for range b.number {
			if b.made != nil {
				*b.made++
			}
			if !yield(array.NewRecordBatch(schema, nil, 1), nil) {
				return
			}
		}
		if b.err != nil {
			yield(nil, b.err)
		}
	}
}

// begun records which tasks were begun on a device.
type begun struct {
	mu sync.Mutex
	on [2][]string
}

// twoDevices returns the scheduler that runs tasks in any order, with a worker for each of two devices. run runs a task
// on a device.
func twoDevices(t *testing.T, whole *Task, of Policy, run func(device int, of *Task) (Output, error)) (
	*Scheduler, *begun) {
	s, record := newScheduler(exec.NewFlow(t.Context()), whole, whole, of), new(begun)
	t.Cleanup(s.Close)
	for device := range record.on {
		s.workers = append(s.workers, &worker{stats: query.DeviceStats{Device: fmt.Sprint("device ", device)},
			run: func(_ context.Context, of *Task, _ Turn) (Output, error) {
				record.mu.Lock()
				record.on[device] = append(record.on[device], of.name)
				record.mu.Unlock()
				return run(device, of)
			}})
	}
	return s, record
}

// drawAll draws all batches.
func drawAll(t *testing.T, s *Scheduler) (rows int, err error) {
	for batch, err := range s.Batches(t.Context()) {
		if err != nil {
			return rows, err
		}
		rows++
		batch.Release()
	}
	return rows, nil
}

// TestWorkers: each task runs once, and its output and its measurements arrive once.
func TestWorkers(t *testing.T) {
	for _, output := range []join.Output{join.Rows, join.Count} {
		whole, of := some(t, 10)
		whole.Output = output
		s, record := twoDevices(t, whole, of, func(int, *Task) (Output, error) { return batches{number: 3}, nil })
		require.NoError(t, s.begin())
		require.Equal(t, output == join.Count, s.Counted())
		rows, err := drawAll(t, s)
		require.Equal(t, output == join.Count, err != nil, "a count has no rows to draw")
		require.True(t, output == join.Count || rows == 30)
		require.EqualValues(t, 30, s.Rows())
		require.True(t, s.Counted())
		stats := s.Stats()
		require.EqualValues(t, [2]uint64{30, 10}, [2]uint64{stats.OutputRows, stats.LeftRows})
		require.Empty(t, stats.Failures)
		all := slices.Concat(record.on[:]...)
		slices.Sort(all)
		require.Equal(t, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, all)
	}
}

// TestWorkersLoseDevice: the tasks of a lost device, of which nothing was delivered, run on the other one. If there is no
// other one, or something was delivered, the join fails.
func TestWorkersLoseDevice(t *testing.T) {
	lost := func(lostDevices int, delivered int) func(device int, of *Task) (Output, error) {
		return func(device int, of *Task) (Output, error) {
			switch {
			case device >= lostDevices:
				return batches{number: 2}, nil
			case delivered > 0:
				return batches{number: delivered, err: backend.ErrDeviceLost}, nil
			}
			return nil, backend.ErrDeviceLost
		}
	}
	whole, of := some(t, 10)
	s, record := twoDevices(t, whole, of, lost(1, 0))
	require.NoError(t, s.begin())
	rows, err := drawAll(t, s)
	require.NoError(t, err)
	require.Equal(t, 20, rows)
	require.LessOrEqual(t, len(record.on[0]), 2, "each line of the lost device has begun at most one task")
	if len(record.on[0]) > 0 {
		require.Equal(t, []query.DeviceFailure{{Device: "device 0", Error: backend.ErrDeviceLost.Error()}},
			s.Stats().Failures)
		require.Contains(t, s.Explain(), "failed       device 0: ")
	}

	whole, of = some(t, 10)
	s, _ = twoDevices(t, whole, of, lost(2, 0))
	require.ErrorIs(t, s.begin(), backend.ErrDeviceLost)

	whole, of = some(t, 10)
	s, _ = twoDevices(t, whole, of, lost(2, 1))
	require.NoError(t, s.begin())
	_, err = drawAll(t, s)
	require.ErrorIs(t, err, backend.ErrDeviceLost)
}

// replaced is a policy that replaces a task that failed by two others.
type replaced struct{ *someTasks }

func (r replaced) Failed(t *Task, err error) bool {
	if t.Depth > 1 {
		return false
	}
	for i := range 2 {
		r.left = append(r.left, t.part(fmt.Sprint(t.name, ".", i), 2, t.Sources[0], t.Sources[1]))
	}
	return true
}

// TestWorkersReplace: a policy may replace a task that failed, also the last one. What fails again fails the join, whose
// rows are given back.
func TestWorkersReplace(t *testing.T) {
	for _, deepest := range []int{1, 2} {
		whole, of := some(t, 4)
		whole.Output, whole.Quota = join.Count, &deliver.Quota{Most: 100}
		var s *Scheduler
		s, _ = twoDevices(t, whole, replaced{of}, func(_ int, of *Task) (Output, error) {
			if of.Depth <= deepest && of.name[0] == '3' {
				for ended := false; !ended; { // the other lines wait
					s.mu.Lock()
					ended = s.ended
					s.mu.Unlock()
				}
				return nil, backend.ErrDeviceMemory
			}
			return batches{number: 1}, nil
		})
		err := s.begin()
		if deepest == 2 {
			require.ErrorIs(t, err, backend.ErrDeviceMemory)
			continue
		}
		require.NoError(t, err)
		require.EqualValues(t, 3+2, s.Rows())
	}
}

// failing is a policy that fails.
type failing struct{ *someTasks }

var errPlanted = errors.New("planted")

func (failing) Next(context.Context) (*Task, error) { return nil, errPlanted }

// TestWorkersFail: an error of the policy, and of a task, is the join's.
func TestWorkersFail(t *testing.T) {
	run := func(int, *Task) (Output, error) { return nil, errPlanted }
	whole, of := some(t, 4)
	s, _ := twoDevices(t, whole, failing{of}, run)
	require.ErrorIs(t, s.begin(), errPlanted)
	s, _ = twoDevices(t, whole, of, run)
	require.ErrorIs(t, s.begin(), errPlanted)
}

// TestFinal: a task that fails after it has begun is replaced, and its rows are given back, only if none of them was
// delivered and no later task may have begun.
func TestFinal(t *testing.T) {
	for _, c := range []struct {
		inOrder   bool
		delivered int
	}{{false, 0}, {false, 1}, {true, 0}} {
		whole, of := some(t, 1)
		whole.Quota.Most = 10
		counter := func() *deliver.Limit {
			return &deliver.Limit{Sink: new(operator.Counter), Quota: whole.Quota, Rows: new(atomic.Uint64)}
		}
		s := inOrder(t, whole, replaced{of}, func(ctx context.Context, of *Task, _ Turn) (Output, error) {
			output := batches{number: 2}
			if of.Depth == 1 {
				output = batches{number: c.delivered, err: backend.ErrDeviceMemory}
			}
			return output, counter().Count(ctx, output.Rows())
		})
		s.inOrder = c.inOrder
		err, rows := s.begin(), 0
		if err == nil {
			rows, err = drawAll(t, s)
		}
		if require.Equal(t, c.delivered, rows%4); c.inOrder || c.delivered > 0 {
			require.ErrorIs(t, err, backend.ErrDeviceMemory)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, 4, rows)
		require.NoError(t, counter().Count(t.Context(), 10-4))
		require.ErrorIs(t, counter().Count(t.Context(), 1), backend.ErrLimit)
	}
}

// keeper is a consumer that has kept rows of some tasks.
type keeper struct {
	deliver.Consumer
	kept uint64
}

func (k *keeper) Kept() uint64 { return k.kept }

// TestKeptIsFinal: a task that fails before it has begun is replaced unless the consumer has kept rows of it.
func TestKeptIsFinal(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		whole, of := some(t, 3)
		consumer := new(keeper)
		whole.Output, whole.Consumer = join.Consumed, consumer
		s := inOrder(t, whole, replaced{of}, func(_ context.Context, of *Task, _ Turn) (Output, error) {
			fails := of.name == "2"
			if !fails || keeps {
				consumer.kept++
			}
			if fails {
				return nil, backend.ErrDeviceMemory
			}
			return batches{number: 1}, nil
		})
		err := s.begin()
		if keeps {
			require.ErrorIs(t, err, backend.ErrDeviceMemory)
			continue
		}
		require.NoError(t, err)
		require.EqualValues(t, 4, s.Rows())
	}
}
