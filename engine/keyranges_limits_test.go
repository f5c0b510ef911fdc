package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/task"
)

// TestKeyRangesLimits: a limit of rows, keys that must be unique, also such that the other side cannot have, and what
// the strategy does not do.
func TestKeyRangesLimits(t *testing.T) {
	table := keyed(t, "k", 900, func(int) int64 { return 3 })
	unique := keyed(t, "k", 900, func(i int) int64 { return int64(i*7) % 900 })
	wide := keyed(t, "k", 900, func(i int) int64 { return int64(i%899) << 40 })
	onRanges(t, func(t *testing.T, joins *engine.Engine, _ int) {
		joins.ByRange.TaskRows = 100
		run := func(left, right arrow.Table, spec join.Spec) error {
			if spec.Strategy = join.StrategyHMG; spec.LeftOn == nil {
				spec.On = onK
			}
			_, err := drain(t.Context(), joins, left, right, spec)
			return err
		}
		for _, output := range []join.Output{join.Count, join.Rows} {
			require.ErrorIs(t, run(table, table, join.Spec{Output: output, MaxOutputRows: 900*900 - 1}), backend.ErrLimit)
			require.NoError(t, run(unique, table, join.Spec{Output: output, Validate: join.OneToMany}))
			err := run(table, unique, join.Spec{Output: output, Validate: join.OneToMany})
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			require.ErrorContains(t, err, "keys of the left table must be unique")
			err = run(table, wide, join.Spec{LeftOn: []string{"a"}, RightOn: onK, Output: output, Validate: join.OneToOne})
			require.ErrorContains(t, err, "keys of the right table must be unique")
		}
		require.ErrorIs(t, run(table, table, join.Spec{Algorithm: "hj"}), backend.ErrUnsupported)
	})
}

// rangeWays are the ways of a join of a few hundred rows.
var rangeWays = map[string]task.KeyRanges{
	"round trip": {Way: task.RangesRoundTrip, TaskRows: 50},
	"segments":   {Way: task.RangesSegments, TaskRows: 50},
	"merge":      {Way: task.RangesMerge, TaskRows: 50, ChunkRows: 100},
}

// TestKeyRangesEnd: whoever stops drawing, cancels, or closes the engine while a join is drawn, leaves nothing behind.
func TestKeyRangesEnd(t *testing.T) {
	devicetest.ShortOnHost(t)
	for name, cut := range rangeWays {
		t.Run(name, func(t *testing.T) { testKeyRangesEnd(t, cut) })
	}
}

func testKeyRangesEnd(t *testing.T, cut task.KeyRanges) {
	table := keyed(t, "k", 900, func(i int) int64 { return int64(i*5) % 9 * 2 })
	spec := join.Spec{On: onK, BatchRows: 1000, Strategy: join.StrategyHMG}
	onRanges(t, func(t *testing.T, joins *engine.Engine, _ int) {
		joins.ByRange = cut
		for _, end := range []func(r *engine.Result, cancel context.CancelFunc){
			func(*engine.Result, context.CancelFunc) {},
			func(r *engine.Result, _ context.CancelFunc) { r.Close() },
			func(_ *engine.Result, cancel context.CancelFunc) { cancel() },
			func(*engine.Result, context.CancelFunc) { joins.Close() },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			plan, err := joins.Plan(ctx, table, table, spec)
			require.NoError(t, err)
			r, err := plan.Run(ctx)
			require.NoError(t, err)
			rows := int64(0)
			for batch, err := range r.Batches(ctx) {
				if err != nil {
					require.ErrorIs(t, err, backend.ErrCancelled)
					break
				}
				rows += batch.NumRows()
				batch.Release()
				end(r, cancel)
				if ctx.Err() == nil && rows > 20_000 {
					break
				}
			}
			require.Less(t, rows, int64(90_000))
			r.Close()
			cancel()
		}
		plan, err := joins.Plan(t.Context(), table, table, spec)
		if err == nil {
			_, err = plan.Run(t.Context())
		}
		require.ErrorIs(t, err, backend.ErrInvalidInput, "the engine was closed")
	})
}

// TestKeyRangesTogether: joins that run at once under a limit of host memory wait for one another, and none for ever,
// although each holds codes while its tasks wait for memory. Under too low a limit they are refused.
func TestKeyRangesTogether(t *testing.T) {
	devicetest.HostTest(t)
	const rows, joins = 100_000, 4
	table := keyed(t, "k", rows, func(i int) int64 { return int64(i*7919) % rows })
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: 1 << 20})
	defer func() { require.NoError(t, device.Close()) }()
	ops := jointest.Lane(t, device, small).Ops
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	refused := 0
	for _, limitBytes := range []uint64{3 << 20, 5 << 20, 6 << 20, 8 << 20, 16 << 20} {
		joined := engine.NewEngine(ops, memory.DefaultAllocator, limitBytes)
		joined.ByRange = task.KeyRanges{Way: task.RangesSegments, TaskRows: 10_000}
		var all sync.WaitGroup
		var errs [joins]error
		for i := range errs {
			all.Go(func() {
				spec := join.Spec{On: onK, Strategy: join.StrategyHMG, BatchRows: 1000}
				_, errs[i] = drain(ctx, joined, table, table, spec)
			})
		}
		all.Wait()
		for _, err := range errs {
			if err != nil && limitBytes < 8<<20 {
				require.ErrorIs(t, err, backend.ErrHostMemory)
				require.ErrorContains(t, err, "raise memory_limit")
				refused++
				continue
			}
			require.NoError(t, err, limitBytes)
		}
		require.Equal(t, limitBytes, joined.Budget().Free().Host)
		joined.Close()
	}
	require.Positive(t, refused)
}

// TestKeyRangesFail: whichever of two devices fails, at whatever point, the join ends with its error, or another line
// has run what failed, and nothing stays.
func TestKeyRangesFail(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 300, 700)
	layout, err := join.NewLayout(left.Schema(), right.Schema(), onKeys)
	require.NoError(t, err)
	want := len(oracle.Pairs(left, right, layout.Spec))
	joinBy := func(faults host.Faults, cut task.KeyRanges) (failures int, _ error) {
		b := host.New(host.Options{Faults: faults, CloseLimit: 200 * time.Millisecond, Discrete: true})
		var devices []*backend.Device
		var ops []*primitive.Ops
		for range 2 {
			driver, err := b.Open("host:cpu")
			require.NoError(t, err)
			device := backend.NewDevice(driver, deviceLimits(faults))
			devices, ops = append(devices, device), append(ops, jointest.Lane(t, device, small).Ops)
		}
		allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
		joins := rangesOn(ops, allocator)
		joins.ByRange = cut
		spec := onKeys
		spec.Strategy = join.StrategyHMG
		plan, err := joins.Plan(t.Context(), left, right, spec)
		require.NoError(t, err)
		r, err := plan.Run(t.Context())
		if err == nil {
			for batch, drawErr := range r.Batches(t.Context()) {
				if err = drawErr; err == nil {
					batch.Release()
				}
			}
			failures = len(r.Stats().Failures)
			require.True(t, err != nil || r.Rows() == uint64(want), "%d rows", r.Rows())
			r.Close()
		}
		joins.Close()
		allocator.AssertSize(t, 0)
		for _, device := range devices {
			if closeErr := device.Close(); closeErr != nil {
				require.NotEqual(t, host.Faults{}, faults, closeErr)
				require.NotContains(t, closeErr.Error(), "not released")
			}
		}
		return failures, err
	}
	for name, fault := range faults {
		for way, cut := range rangeWays {
			t.Run(name+"/"+way, func(t *testing.T) {
				step := stepOf(t, name, 3)
				for n, failed := 1, 0; ; n, failed = n+step, failed+1 {
					failures, err := joinBy(fault.at(n), cut)
					if err == nil && failures == 0 { // there is no n-th call
						require.Positive(t, failed)
						break
					}
					if err != nil {
						require.ErrorIs(t, err, fault.want, "call %d", n)
						require.NotErrorIs(t, err, backend.ErrCancelled, "call %d", n)
					}
				}
			})
		}
	}
}

// TestKeyRangesHotKey: a key with more rows on both sides than a device has room for is joined half by half, unless it
// is a full join. Beside it are rows with other keys, or with none.
func TestKeyRangesHotKey(t *testing.T) {
	devicetest.HostTest(t)
	const hot, others = 200_000, 5_000
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: 2 << 20})
	defer func() { require.NoError(t, device.Close()) }()
	joins := rangesOn([]*primitive.Ops{jointest.Lane(t, device, small).Ops}, memory.DefaultAllocator)
	defer joins.Close()
	for _, nulls := range []bool{false, true} {
		table := func(step int) arrow.Table {
			return keyed(t, "k", hot+others, func(i int) int64 {
				switch {
				case i < hot:
					return 7
				case nulls:
					return -1
				}
				return int64(1000 + (i-hot)*step)
			})
		}
		left, right, met := table(1), table(2), others/2 // other rows of either side that have a partner
		if nulls {
			met = 0
		}
		for how, want := range map[join.How]int{join.Semi: hot + met, join.Anti: others - met, join.RightSemi: hot + met,
			join.RightAnti: others - met, join.Mark: hot + others, join.Inner: hot*hot + met, join.Left: hot*hot + others} {
			spec := join.Spec{How: how, On: onK, Strategy: join.StrategyHMG, Output: join.Count}
			if !how.Pairs() {
				spec.Output = join.Rows
			}
			plan, err := joins.Plan(t.Context(), left, right, spec)
			require.NoError(t, err)
			r, err := plan.Run(t.Context())
			require.NoError(t, err, how)
			if spec.Output == join.Rows {
				for _, batch := range drawAll(t, r, spec.Output) {
					batch.Release()
				}
			}
			stats := r.Stats()
			require.EqualValues(t, want, r.Rows(), how)
			require.EqualValues(t, [2]uint64{hot + others, hot + others}, [2]uint64{stats.LeftRows, stats.RightRows}, how)
			r.Close()
		}
		_, err := drain(t.Context(), joins, left, right, join.Spec{How: join.Full, On: onK, Strategy: join.StrategyHMG,
			Output: join.Count})
		require.ErrorIs(t, err, backend.ErrDeviceMemory)
		require.ErrorContains(t, err, "for a range of keys")
	}
}

// TestKeyRangesProgress: the share of the join that is done grows, while one of the tasks under way tells
// its phase.
func TestKeyRangesProgress(t *testing.T) {
	left, right := tables(t, 4000, 40_000)
	onRanges(t, func(t *testing.T, joins *engine.Engine, _ int) {
		joins.ByRange.TaskRows = 3000
		for _, output := range []join.Output{join.Rows, join.Count} {
			var states []join.Progress
			spec := onKeys
			spec.BatchRows, spec.Output, spec.Strategy = 1<<10, output, join.StrategyHMG
			spec.Progress = func(at join.Progress) { states = append(states, at) }
			_, err := drain(t.Context(), joins, left, right, spec)
			require.NoError(t, err)
			share, ranges := 0.0, make(map[string]bool)
			for _, s := range states {
				require.LessOrEqual(t, s.Share, 1+1e-9)
				share = max(share, s.Share)
				if _, name, ok := strings.Cut(s.Phase, ", "); ok {
					ranges[name] = true
				}
			}
			require.Equal(t, "divide both", states[1].Phase)
			require.NotEmpty(t, ranges)
			require.Greater(t, share, 0.6) // the last tasks, one a line, may report nothing more
		}
	})
}
