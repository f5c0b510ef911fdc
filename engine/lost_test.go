package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/source"
	"github.com/spirjoin/spirjoin/task"
)

// faulty are joins of two tables on three devices of which some fail.
type faulty struct {
	prepare func(*engine.Engine)
	spec    join.Spec
	step    int  // from one submission at which a device is lost to the next one that is tried
	stream  bool // of sources
	trip    bool // by ranges of keys
}

// faultyJoins are those that move the build side between devices or scatter it, merge marks, run on one device alone,
// and sort keys across devices or, after their round trip, match them.
func faultyJoins() map[string]*faulty {
	all := map[string]*faulty{
		"mirror":  {func(e *engine.Engine) { e.Spread = true }, join.Spec{BuildSide: join.BuildLeft}, 11, false, false},
		"scatter": {func(e *engine.Engine) { e.Scatter = true }, join.Spec{BuildSide: join.BuildLeft}, 11, false, false},
		"merge":   {func(*engine.Engine) {}, join.Spec{How: join.Semi, BuildSide: join.BuildLeft}, 3, false, false},
		"sources": {func(*engine.Engine) {}, join.Spec{How: join.Anti, BuildSide: join.BuildLeft}, 3, true, false},
		"alone":   {func(*engine.Engine) {}, join.Spec{Order: join.LeftOrder}, 3, false, false},
		"hmg":     {func(*engine.Engine) {}, join.Spec{Strategy: join.StrategyHMG, Output: join.Count}, 11, false, false},
		"trip":    {roundTrip, join.Spec{Strategy: join.StrategyHMG}, 7, false, true},
		"ranges":  {segments, join.Spec{Strategy: join.StrategyHMG, How: join.Full}, 11, false, true},
	}
	for _, f := range all {
		switch {
		case devicetest.RaceDetector:
			f.step *= 15
		case testing.Short():
			f.step = 5*f.step + 1
		case !devicetest.Full():
			f.step = 2*f.step + 1
		}
		f.spec.LeftOn, f.spec.RightOn = onKeys.LeftOn, onKeys.RightOn
	}
	return all
}

func roundTrip(e *engine.Engine) { e.ByRange.Way = task.RangesRoundTrip }

// segments divides tables by ranges of keys, in tasks of which each line has several.
func segments(e *engine.Engine) { e.ByRange = task.KeyRanges{Way: task.RangesSegments, TaskRows: 50} }

// begin begins the join of two tables.
func (f *faulty) begin(t *testing.T, engine *engine.Engine, left, right arrow.Table) (*engine.Result, error) {
	layout, err := join.NewLayout(left.Schema(), right.Schema(), f.spec)
	require.NoError(t, err)
	if f.stream {
		sources := [2]source.Source{sourceOf(left, 50), sourceOf(right, 50)}
		sources[0].Again, sources[1].Again = true, true
		return engine.StreamLayout(t.Context(), layout, sources[0], sources[1])
	}
	plan, err := engine.PlanLayout(t.Context(), layout, left, right, nil)
	if err != nil {
		return nil, err
	}
	return plan.Run(t.Context())
}

// draw draws and closes a result. Where there is no error, the output is checked.
func (f *faulty) draw(t *testing.T, result *engine.Result, left, right arrow.Table) (stats query.Stats, again bool,
	err error) {
	defer result.Close()
	layout, err := join.NewLayout(left.Schema(), right.Schema(), f.spec)
	require.NoError(t, err)
	again = strings.Contains(result.Explain(), "began again without it")
	if f.spec.Output == join.Rows {
		var batches []arrow.RecordBatch
		for batch, drawErr := range result.Batches(t.Context()) {
			if err = drawErr; err == nil {
				batches = append(batches, batch)
			}
		}
		if err == nil {
			oracle.Require(t, left, right, layout, batches)
		}
		for _, batch := range batches {
			batch.Release()
		}
	}
	if err == nil {
		require.EqualValues(t, len(oracle.Join(left, right, layout.Spec)), result.Rows())
	}
	return result.Stats(), again, err
}

// faultyDevices opens three devices of backends: the first ones of the first backend.
func faultyDevices(t *testing.T, of []*host.Backend) (devices []*backend.Device) {
	for i := range 3 {
		driver, err := of[i*len(of)/3].Open("host:cpu")
		require.NoError(t, err)
		devices = append(devices, backend.NewDevice(driver, deviceLimits(host.Faults{})))
	}
	return devices
}

// closeFaulty closes an engine and its devices, and checks that nothing is left.
func closeFaulty(t *testing.T, engine *engine.Engine, devices []*backend.Device, allocator *memory.CheckedAllocator) {
	require.Equal(t, engine.HostCapBytes(), engine.Budget().Free().Host)
	engine.Close()
	allocator.AssertSize(t, 0)
	for _, device := range devices {
		if err := device.Close(); err != nil {
			require.NotContains(t, err.Error(), "not released")
		}
	}
}

// TestLostBeforeFirstRows: a join of tables has first rows, or its count, whichever of three devices are lost, as long
// as one is left. The failures are reported, and rows that follow are complete or end with the error. The next join
// does without the lost devices from the start.
func TestLostBeforeFirstRows(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 300, 700)
	for name, f := range faultyJoins() {
		if devicetest.RaceDetector && (f.stream || f.trip || name == "alone") {
			continue // what is concurrent in it is so in others
		}
		// joinBy loses one of all devices, or of those that are not the last one, at these submissions.
		joinBy := func(lose ...int) (failures int, again bool, err error) {
			of := make([]*host.Backend, len(lose))
			for i, n := range lose {
				of[i] = host.New(host.Options{Discrete: true, CloseLimit: 200 * time.Millisecond,
					Faults: host.Faults{LoseAtSubmit: n}})
			}
			devices := faultyDevices(t, of)
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			engine := severalEngine(t, devices, allocator, 1<<30)
			defer closeFaulty(t, engine, devices, allocator)
			engine.GranuleRows = 100
			f.prepare(engine)
			result, err := f.begin(t, engine, left, right)
			require.NoError(t, err, "%v", lose)
			if f.trip {
				require.Positive(t, result.Rows(), "it ran up to its first rows")
			}
			stats, again, err := f.draw(t, result, left, right)
			lost := 0
			for _, device := range devices {
				if device.Lost() != nil {
					lost++
				}
			}
			if lost == len(lose) { // none can be lost any more
				result, nextErr := f.begin(t, engine, left, right)
				require.NoError(t, nextErr)
				next, _, nextErr := f.draw(t, result, left, right)
				require.NoError(t, nextErr)
				require.Empty(t, next.Failures)
				require.Len(t, next.Without, lost)
			}
			return len(stats.Failures), again, err
		}
		t.Run(name, func(t *testing.T) {
			begun := 0
			for lost := 1; lost <= 2; lost++ {
				for n := 1; ; n += f.step {
					failures, again, err := joinBy([]int{n, n/2 + 1}[:lost]...)
					if again || name == "ranges" && err == nil && failures > 0 { // other lines take the tasks
						begun++
						require.Positive(t, failures)
					}
					if err == nil && failures == 0 {
						break // there is no n-th submission
					}
					if err != nil {
						require.ErrorIs(t, err, backend.ErrDeviceLost)
					}
					require.LessOrEqual(t, failures, lost)
				}
			}
			require.True(t, begun > 0 || devicetest.RaceDetector, "so few are lost there that none may begin again")
		})
	}
}

// TestShortBeforeFirstRows: the same where the driver of a device, or of two, has no more memory from one of its
// allocations on.
func TestShortBeforeFirstRows(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 300, 700)
	starts := []int{1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30}
	if testing.Short() {
		starts = []int{1, 3, 6, 13}
	}
	for name, f := range faultyJoins() {
		if devicetest.RaceDetector && (f.stream || f.trip || name == "alone") {
			continue // what is concurrent in it is so in others
		}
		t.Run(name, func(t *testing.T) {
			begun, reported := 0, 0
			for short := 1; short <= 2; short++ {
				for _, from := range starts {
					ample := host.New(host.Options{Discrete: true})
					of := []*host.Backend{ample, ample, ample}
					for i := range short {
						of[i] = host.New(host.Options{Discrete: true, Faults: host.Faults{ShortOfDevice: from}})
					}
					devices := faultyDevices(t, of)
					allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
					engine := severalEngine(t, devices, allocator, 1<<30)
					engine.GranuleRows = 100
					f.prepare(engine)
					result, err := f.begin(t, engine, left, right)
					require.NoError(t, err, "%d short from allocation %d on", short, from)
					divided := strings.Contains(result.Explain(), "of keys, segments") // which need not use the device
					stats, again, err := f.draw(t, result, left, right)
					if err != nil {
						require.ErrorIs(t, err, backend.ErrDeviceMemory)
					}
					if again {
						begun++
						require.NotEmpty(t, stats.Failures)
					}
					if len(stats.Failures) > 0 || divided {
						reported++
					}
					closeFaulty(t, engine, devices, allocator)
				}
			}
			require.Positive(t, reported)
			// In the others, each device fails by itself, or ranges of keys are joined on the devices that have memory.
			if f.spec.How == join.Inner && !f.stream && name != "hmg" {
				require.Positive(t, begun)
			}
		})
	}
}
