package engine_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/exchange/topology"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/machines"
	"github.com/spirjoin/spirjoin/join"
)

// losing returns an engine on three devices, of which each of the first ones is lost at one of these submissions of
// its own. The returned function closes it.
func losing(t *testing.T, lose ...int) (engine *engine.Engine, devices []*backend.Device, end func()) {
	of := make([]*host.Backend, 3)
	for i := range of {
		faults := host.Faults{}
		if i < len(lose) {
			faults.LoseAtSubmit = lose[i]
		}
		of[i] = host.New(host.Options{Discrete: true, CloseLimit: 200 * time.Millisecond, Faults: faults})
	}
	devices = faultyDevices(t, of)
	allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
	engine = severalEngine(t, devices, allocator, 1<<30)
	for _, e := range engine.Engines() {
		e.GranuleRows = 50
	}
	return engine, devices, func() { closeFaulty(t, engine, devices, allocator) }
}

// TestClosedBetweenAttempts: an engine that is closed while a join begins again cancels it.
func TestClosedBetweenAttempts(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 300, 700)
	engine, devices, end := losing(t, 3)
	defer end()
	closed := false
	f := &faulty{spec: join.Spec{LeftOn: onKeys.LeftOn, RightOn: onKeys.RightOn, Order: join.LeftOrder,
		Progress: func(s exec.Status) {
			if s.Phase == "plan" && devices[0].Lost() != nil && !closed {
				closed = true
				engine.Close() // nothing is under way that it would wait for
			}
		}}}
	_, err := f.begin(t, engine, left, right)
	require.True(t, closed)
	require.ErrorIs(t, err, backend.ErrCancelled)
	require.NotErrorIs(t, err, backend.ErrInvalidInput)
	require.NotErrorIs(t, err, backend.ErrDeviceLost)
}

// TestAllLost: an engine without a device says so, whatever it is asked for.
func TestAllLost(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 300, 700)
	engine, _, end := losing(t, 1, 1, 1)
	defer end()
	for name, f := range faultyJoins() {
		_, err := f.begin(t, engine, left, right)
		require.ErrorIs(t, err, backend.ErrDeviceLost, name)
	}
	for name, f := range faultyJoins() { // some device may have had no submission so far
		_, err := f.begin(t, engine, left, right)
		require.ErrorContains(t, err, "no device that was not lost", name)
	}
	_, err := engine.Build(t.Context(), left, right.Schema(), 0, onKeys)
	require.ErrorContains(t, err, "no device that was not lost")
}

// TestBuildAfterLoss: a build side is made on a device that is left.
func TestBuildAfterLoss(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 300, 700)
	engine, devices, end := losing(t, 3)
	defer end()
	f := faultyJoins()["alone"]
	result, err := f.begin(t, engine, left, right)
	require.NoError(t, err)
	result.Close()
	require.Error(t, devices[0].Lost())
	built, err := engine.Build(t.Context(), left, right.Schema(), 0, onKeys)
	require.NoError(t, err)
	defer built.Close()
	result, err = built.Join(t.Context(), right)
	require.NoError(t, err)
	f = &faulty{spec: onKeys}
	stats, _, err := f.draw(t, result, left, right)
	require.NoError(t, err)
	require.Empty(t, stats.Failures)
	require.Len(t, stats.Without, 1)
}

// TestWiresAfterLoss: the wires of the devices that are left stay, with what they share.
func TestWiresAfterLoss(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 300, 700)
	engine, devices, end := losing(t, 3)
	defer end()
	wires := topology.Measured([]topology.Rates{{Up: 1e9, Down: 2e9}, {Up: 3e9, Down: 4e9}, {Up: 5e9, Down: 6e9}},
		topology.Rates{Up: 7e9, Down: 8e9})
	engine.Wires = &wires
	result, err := faultyJoins()["alone"].begin(t, engine, left, right)
	require.NoError(t, err)
	result.Close()
	require.Error(t, devices[0].Lost())
	able, err := engine.Able()
	require.NoError(t, err)
	require.Len(t, able.Engines(), 2)
	require.NoError(t, machines.Validate(able.Wires))
	require.Equal(t, wires.Up[1:], able.Wires.Up)
	require.Equal(t, wires.Down[1:], able.Wires.Down)
}

// TestGranulesAfterLoss: granules that another device joins again count once.
func TestGranulesAfterLoss(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 300, 700)
	f := &faulty{spec: join.Spec{LeftOn: onKeys.LeftOn, RightOn: onKeys.RightOn, BuildSide: join.BuildLeft,
		Output: join.Rows}}
	lost, want, step := 0, uint64(0), 1
	if devicetest.RaceDetector {
		step = 5
	}
	for n := 0; n < 60; n += step {
		engine, _, end := losing(t, 0, n)
		result, err := f.begin(t, engine, left, right)
		require.NoError(t, err)
		stats, _, err := f.draw(t, result, left, right)
		end()
		if err != nil {
			require.ErrorIs(t, err, backend.ErrDeviceLost)
			continue
		}
		lost += len(stats.Failures)
		if n == 0 {
			want = stats.Granules
			continue
		}
		require.Equal(t, want, stats.Granules, "lost at %d: %v", n, stats.Failures)
		sum := uint64(0)
		for _, d := range stats.Devices {
			sum += d.Granules
		}
		require.Equal(t, stats.Granules, sum)
	}
	require.Positive(t, lost)
}

// TestTracedAgain: the trace of a join that begins again has both attempts, and the kernels of the devices that are
// left.
func TestTracedAgain(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	left, right := tables(t, 300, 700)
	twice := 0 // joins that began again, and planned both times
	for name, f := range faultyJoins() {
		engine, devices, end := losing(t, 5)
		f.prepare(engine)
		engine.Trace = exec.NewTrace()
		var ends []func()
		for _, device := range devices {
			ends = append(ends, engine.Trace.Device(device))
		}
		result, err := f.begin(t, engine, left, right)
		require.NoError(t, err, name)
		_, again, err := f.draw(t, result, left, right)
		require.NoError(t, err, name)
		for _, end := range ends {
			end()
		}
		end()
		var text bytes.Buffer
		require.NoError(t, engine.Trace.Write(&text))
		var written struct {
			TraceEvents []struct {
				Name, Phase string
				Process     int     `json:"pid"`
				Duration    float64 `json:"dur"`
			}
		}
		require.NoError(t, json.Unmarshal(text.Bytes(), &written))
		plans, kernels := 0, make(map[int]bool)
		for _, e := range written.TraceEvents {
			if e.Name == "measure keys" {
				plans++
			}
			if e.Process > 1 && e.Duration > 0 {
				kernels[e.Process] = true
			}
			require.GreaterOrEqual(t, e.Duration, 0.0)
		}
		if f.spec.Strategy != join.StrategyHMG && again {
			require.GreaterOrEqual(t, plans, 2, name)
			twice++
		}
		require.NotEmpty(t, kernels, name)
	}
	require.Positive(t, twice)
}
