package jointest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

var errPlanted = errors.New("planted")

// failing is a sink of which one call fails. It keeps the window of a Put that fails, so that the test notices if the
// operator releases a window that it has put.
type failing struct {
	operator.Sink
	calls, at int
	fail      func() error
	kept      *operator.Window
}

func (f *failing) call() (err error) {
	if f.calls == f.at {
		err = f.fail()
	}
	f.calls++
	return err
}

func (f *failing) Count(ctx context.Context, rows uint64) error {
	if err := f.call(); err != nil {
		return err
	}
	return f.Sink.Count(ctx, rows)
}

func (f *failing) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	if err := f.call(); err != nil {
		return nil, err
	}
	return f.Sink.Window(ctx, rows)
}

func (f *failing) Put(ctx context.Context, w *operator.Window) error {
	if err := f.call(); err != nil {
		f.kept = w
		return err
	}
	return f.Sink.Put(ctx, w)
}

// CheckFailures lets everything fail that an operator depends on: each call of its sink, a context that ends at each of
// these calls or before, and memory that runs out at any point. The operator must return the error, leave no memory
// behind, and not release a window that it has put. Output rows must have at least one column. In a short run every
// fifth call fails on drivers, which are no part of what is tested.
func CheckFailures(t testing.TB, lane *exec.Lane, algorithm operator.Algorithm, build, probe *Relation,
	want operator.Want, o Options, describe string) {
	t.Helper()
	before, step, growth := InUse(t, lane), 1, uint64(8)
	if testing.Short() && (devicetest.RaceDetector || lane.Device().Info().Backend != "host") {
		step, growth = 5, 1
	}
	for at, ended := 0, false; !ended; at += step {
		sink := &failing{at: at, fail: func() error { return errPlanted }}
		o := o
		o.Sink = func(s operator.Sink) operator.Sink { sink.Sink = s; return sink }
		_, err := Run(t, lane, algorithm, build, probe, want, o)
		if ended = sink.calls <= at; ended {
			require.NoError(t, err, describe)
			require.Positive(t, at, describe)
		} else {
			require.ErrorIs(t, err, errPlanted, "%s, call %d", describe, at)
		}
		if sink.kept != nil {
			require.Greater(t, InUse(t, lane), before, "%s: a window that was put is released, call %d", describe, at)
			sink.kept.Release()
		}
		require.Equal(t, before, InUse(t, lane), "%s, call %d", describe, at)
	}
	for at, ended := -1, false; !ended; at += step {
		ctx, cancel := context.WithCancel(context.Background())
		sink := &failing{at: at, fail: func() error { cancel(); return nil }}
		o := o
		o.Ctx, o.Sink = ctx, func(s operator.Sink) operator.Sink { sink.Sink = s; return sink }
		if at < 0 {
			cancel()
		}
		_, err := Run(t, lane, algorithm, build, probe, want, o)
		ended = sink.calls <= at
		if err != nil || at < 0 {
			require.ErrorIs(t, err, backend.ErrCancelled, "%s, cancelled at call %d", describe, at)
		}
		cancel()
		require.Equal(t, before, InUse(t, lane), "%s, cancelled at call %d", describe, at)
	}
	for bytes, failures := uint64(1<<10), 0; ; bytes += bytes / growth {
		err := CheckMemory(t, lane, algorithm, build, probe, want, o, bytes)
		require.Equal(t, before, InUse(t, lane), "%s, %d bytes", describe, bytes)
		if err == nil {
			require.Positive(t, failures, describe)
			break
		}
		require.ErrorIs(t, err, backend.ErrDeviceMemory, "%s, %d bytes", describe, bytes)
		failures++
	}
}

// CheckMemory runs an operator with this amount of device memory, and returns its error. Windows are released as soon
// as they are put.
func CheckMemory(t testing.TB, lane *exec.Lane, algorithm operator.Algorithm, build, probe *Relation,
	want operator.Want, o Options, bytes uint64) error {
	need := exec.Need{Device: map[*backend.Device]uint64{lane.Device(): bytes}}
	budget := exec.NewBudget(exec.Need{Device: need.Device, Host: exec.Unlimited})
	grant, err := budget.Acquire(context.Background(), need)
	require.NoError(t, err)
	o.Grant, o.Sink = grant, func(s operator.Sink) operator.Sink { return dropping{s} }
	_, err = Run(t, lane, algorithm, build, probe, want, o)
	grant.Release()
	require.Equal(t, bytes, budget.Free().Device[lane.Device()], "the grant is not credited with all")
	return err
}

// CheckErrors checks that an algorithm rejects invalid facts, wants and chunks.
func CheckErrors(t testing.TB, lane *exec.Lane, algorithm operator.Algorithm) {
	ctx, pairs := context.Background(), operator.Want{Pairs: true}
	facts := operator.Facts{KeyBytes: 4, Rows: [2]uint64{4, 4}, Tuning: lane.Tuning()}
	facts.On(lane.Device())
	_, err := algorithm.Plan(&operator.Facts{KeyBytes: 5}, pairs)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	for _, want := range []operator.Want{{Keys: true}, {Pairs: true, Matched: [2]bool{true, false}}} {
		_, err := algorithm.Plan(&facts, want)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
	}
	p, err := algorithm.Plan(&facts, pairs)
	require.NoError(t, err)
	chunk, release := (&Relation{KeyBytes: 4, Keys: []uint64{1, 2, 3, 4}}).Chunk(t, lane)
	defer release()
	wide := relation.Chunk{Rows: 2, Keys: relation.Values{Data: chunk.Keys.Data, Bytes: 8}}
	short := relation.Chunk{Rows: 3, Keys: chunk.Keys}
	o := algorithm.Open(ctx, lane, p)
	defer o.Close()
	require.ErrorIs(t, o.Build(ctx, &short), backend.ErrInvalidInput)
	require.NoError(t, o.Build(ctx, chunk))
	require.ErrorIs(t, o.Probe(ctx, lane, &short, new(operator.Counter)), backend.ErrInvalidInput)
	require.ErrorIs(t, o.Probe(ctx, lane, &wide, new(operator.Counter)), backend.ErrInvalidInput)
}

// ErrEnough is the error of [Strict].
var ErrEnough = errors.New("enough")

// Strict is a sink that fails with [ErrEnough] for more than Allowed rows.
type Strict struct {
	operator.Collector
	Allowed uint64
	Asked   int // number of windows requested
}

// Count implements [operator.Sink].
func (s *Strict) Count(ctx context.Context, rows uint64) error {
	if s.Rows+rows > s.Allowed {
		return ErrEnough
	}
	return s.Collector.Count(ctx, rows)
}

// Window implements [operator.Sink].
func (s *Strict) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	s.Asked++
	return s.Collector.Window(ctx, rows)
}

// dropping is a sink that keeps no window.
type dropping struct{ operator.Sink }

func (d dropping) Put(_ context.Context, w *operator.Window) error {
	w.Release()
	return nil
}

// InUse returns the device memory in use once all previous work is done.
func InUse(t testing.TB, lane *exec.Lane) uint64 {
	ctx := context.Background()
	for _, role := range []backend.Role{backend.Compute, backend.Graphics} {
		if runs, _ := lane.Device().Info().Runs(role); runs {
			point, err := lane.Device().Submit(ctx, role, new(backend.List))
			require.NoError(t, err)
			require.NoError(t, point.Wait(ctx))
		}
	}
	return lane.Device().MemoryUse(backend.DeviceLocal).InUse
}

// faulty is an algorithm with a planted fault.
type faulty struct {
	operator.Algorithm
	operator.Operator
	fault    string
	granules int
}

func (f *faulty) Open(ctx context.Context, lane *exec.Lane, p *operator.Plan) operator.Operator {
	f.Operator, f.granules = f.Algorithm.Open(ctx, lane, p), 0
	return f
}

func (f *faulty) Probe(ctx context.Context, lane *exec.Lane, c *relation.Chunk, sink operator.Sink) error {
	f.granules++
	if f.fault == "a granule is left out" && f.granules == 2 {
		return nil
	}
	if f.fault == "a granule is probed twice" && f.granules == 2 {
		if err := f.Operator.Probe(ctx, lane, c, sink); err != nil {
			return err
		}
	}
	return f.Operator.Probe(ctx, lane, c, wrong{sink, f.fault})
}

func (f *faulty) Finish(ctx context.Context, sink operator.Sink) error {
	if f.fault == "the build side does not finish" {
		return nil
	}
	return f.Operator.Finish(ctx, sink)
}

// wrong is a sink with a planted fault.
type wrong struct {
	operator.Sink
	fault string
}

func (w wrong) Put(ctx context.Context, window *operator.Window) error {
	switch w.fault {
	case "rows without a partner are said to have one":
		window.Matched = true
	case "a row is missing":
		window.Rows--
	case "columns are exchanged":
		p := window.Payload[operator.Probe]
		p[0], p[1] = p[1], p[0]
	}
	return w.Sink.Put(ctx, window)
}

// CheckFaults plants faults in a full join with two granules. The comparison with the oracle must find each fault, and
// no difference without one.
func CheckFaults(t testing.TB, lane *exec.Lane, algorithm operator.Algorithm) {
	want := Wants["full"]
	build, probe := Workloads["half match"].Relations(rand.New(rand.NewPCG(1, 1)), [2]int{100, 180}, 4,
		[2][]int{{4}, {4, 4}})
	for _, fault := range []string{"none", "a granule is left out", "a granule is probed twice",
		"the build side does not finish", "rows without a partner are said to have one", "a row is missing",
		"columns are exchanged"} {
		describe := fmt.Sprintf("%s: %s", algorithm.Name(), fault)
		got, err := Run(t, lane, &faulty{Algorithm: algorithm, fault: fault}, build, probe, want,
			Options{Granule: 100})
		require.NoError(t, err, describe)
		difference := Difference(Oracle(build, probe, want), got)
		require.Equal(t, fault == "none", difference == "", "%s: %s", describe, difference)
	}
}
