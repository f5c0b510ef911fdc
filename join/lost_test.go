package join_test

import (
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
)

// TestLostBeforeFirstRows: a join of tables has first rows, or its count, whichever of three devices are lost, as long
// as one is left: while the build side moves between them or is scattered, while they merge marks, while one joins
// alone, and while keys are sorted across them or, after their round trip, matched. The failures are reported, and rows
// that follow are complete or end with the error.
func TestLostBeforeFirstRows(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 300, 700)
	cases := map[string]struct {
		engine func(*join.Engine)
		spec   join.Spec
		step   int
		stream bool // of sources
		trip   bool // of sorted keys
	}{
		"mirror":  {func(e *join.Engine) { e.Spread = true }, join.Spec{BuildSide: join.BuildLeft}, 11, false, false},
		"scatter": {func(e *join.Engine) { e.Scatter = true }, join.Spec{BuildSide: join.BuildLeft}, 11, false, false},
		"merge":   {func(*join.Engine) {}, join.Spec{How: join.Semi, BuildSide: join.BuildLeft}, 3, false, false},
		"sources": {func(*join.Engine) {}, join.Spec{How: join.Anti, BuildSide: join.BuildLeft}, 3, true, false},
		"alone":   {func(*join.Engine) {}, join.Spec{Order: join.LeftOrder}, 3, false, false},
		"hmg":     {func(*join.Engine) {}, join.Spec{Strategy: join.StrategyHMG, Output: join.Count}, 11, false, false},
		"trip":    {func(*join.Engine) {}, join.Spec{Strategy: join.StrategyHMG}, 7, false, true},
	}
	for name, c := range cases {
		if devicetest.RaceDetector {
			c.step *= 15
		}
		c.spec.LeftOn, c.spec.RightOn = onKeys.LeftOn, onKeys.RightOn
		layout, err := join.NewLayout(left.Schema(), right.Schema(), c.spec)
		require.NoError(t, err)
		// joinBy loses one of all devices, or of those that are not the last one, at these submissions.
		joinBy := func(lose ...int) (failures int, again bool, err error) {
			var devices []*backend.Device
			of := make([]*host.Backend, len(lose))
			for i, n := range lose {
				of[i] = host.New(host.Options{Discrete: true, CloseLimit: 200 * time.Millisecond,
					Faults: host.Faults{LoseAtSubmit: n}})
			}
			for i := range 3 {
				driver, err := of[i*len(of)/3].Open("host:cpu")
				require.NoError(t, err)
				devices = append(devices, backend.NewDevice(driver, backend.DeviceOptions{}))
			}
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			engine := severalEngine(t, devices, allocator, 1<<30)
			engine.GranuleRows = 100
			c.engine(engine)
			var result *join.Result
			if c.stream {
				sources := [2]join.Source{sourceOf(left, 50), sourceOf(right, 50)}
				sources[0].Again, sources[1].Again = true, true
				result, err = engine.StreamLayout(t.Context(), layout, sources[0], sources[1])
			} else {
				plan, planErr := engine.PlanLayout(t.Context(), layout, left, right)
				require.NoError(t, planErr)
				plan.RoundTrip = c.trip
				result, err = plan.Run(t.Context())
			}
			require.NoError(t, err, "%v", lose)
			if c.trip {
				require.Positive(t, result.Rows(), "it ran up to its first rows")
			}
			again = strings.Contains(result.Explain(), "began again without it")
			if c.spec.Output == join.Rows {
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
			failures = len(result.Stats().Failures)
			result.Close()
			require.Equal(t, engine.HostCapBytes(), engine.Budget().Free().Host)
			engine.Close()
			allocator.AssertSize(t, 0)
			for _, device := range devices {
				if closeErr := device.Close(); closeErr != nil {
					require.NotContains(t, closeErr.Error(), "not released")
				}
			}
			return failures, again, err
		}
		t.Run(name, func(t *testing.T) {
			begun := 0
			for lost := 1; lost <= 2; lost++ {
				for n := 1; ; n += c.step {
					failures, again, err := joinBy([]int{n, n/2 + 1}[:lost]...)
					if again {
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
			require.Positive(t, begun)
		})
	}
}
