package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/source"
	"github.com/spirjoin/spirjoin/task"
)

// severalEngine is an engine on all of the devices, which take part in every join that several can run.
func severalEngine(t *testing.T, devices []*backend.Device, allocator memory.Allocator, limitBytes uint64) *engine.Engine {
	var members []query.Member
	for _, device := range devices {
		ops, err := primitive.New(device, small.With(jointest.Tuning(t, device.Info())))
		require.NoError(t, err)
		members = append(members, query.Member{Ops: ops, Allocator: allocator})
	}
	engine := engine.NewEngine(members[0].Ops, allocator, limitBytes, members[1:]...)
	engine.Together = true
	return engine
}

// TestSeveralDevices: every kind by every algorithm on two to eight devices, in granules and windows, of sources of
// unknown length, with build sides that each device loads or that move.
func TestSeveralDevices(t *testing.T) {
	few := severalTables(t, 40, 90)
	everyKindOnSeveral(t, few, func(e *engine.Engine, spec *join.Spec, at int) (other bool) {
		e.Spread = at == 1
		return spec.How == join.Cross
	})
}

// TestScattered: the same where rows of both sides meet by their keys, of which there may be only one.
func TestScattered(t *testing.T) {
	devicetest.ShortOnHost(t)
	one := [2]arrow.Table{rich(t, 3, 40, 1, arrow.PrimitiveTypes.Int32), rich(t, 4, 90, 1, arrow.PrimitiveTypes.Int64)}
	everyKindOnSeveral(t, one, func(e *engine.Engine, spec *join.Spec, at int) (other bool) {
		e.Scatter = true
		return at == 1 || spec.How == join.Cross
	})
}

// TestSeveralBackends: the same on three devices of different backends, whose chunks move through memory of the host.
func TestSeveralBackends(t *testing.T) {
	devices := devicetest.OneOfEach(t)
	few := severalTables(t, 40, 90)
	cases := devicetest.Combinations(t, len(kinds), len(algorithms), 3, 3, len(parts), 3, 3, 3)
	_, together := joinOnSeveral(t, devices, cases, few, func(e *engine.Engine, spec *join.Spec, at int) (other bool) {
		e.Spread, e.Scatter = at == 1, at == 2
		return spec.How == join.Cross
	})
	require.Greater(t, together, 5)
}

// severalTables have some rows with keys of two types.
func severalTables(t *testing.T, leftRows, rightRows int) [2]arrow.Table {
	return [2]arrow.Table{rich(t, 3, leftRows, 20, arrow.PrimitiveTypes.Int32),
		rich(t, 4, rightRows, 20, arrow.PrimitiveTypes.Int64)}
}

// everyKindOnSeveral joins two tables, or others, as prepare says, with 0, 1 or 2 in turn, and compares with the
// oracle.
func everyKindOnSeveral(t *testing.T, others [2]arrow.Table, prepare func(*engine.Engine, *join.Spec, int) (other bool)) {
	sizes := devicetest.Short([]int{3, 2, 5}, []int{3, 2, 4, 5, 6, 7, 8})
	if devicetest.RaceDetector {
		sizes = sizes[:1]
	}
	bySize := make([][][]int, len(sizes))
	for _, c := range devicetest.Combinations(t, len(kinds), len(algorithms), 3, 3, len(parts), 3, 3, 3, len(sizes)) {
		bySize[c[8]] = append(bySize[c[8]], c)
	}
	shared := 0
	for i, n := range sizes {
		devicetest.ForEachGroup(t, n, func(t *testing.T, devices []*backend.Device) {
			n, _ := joinOnSeveral(t, devices, bySize[i], others, prepare)
			shared += n
		})
	}
	require.Greater(t, shared, 5)
}

// joinOnSeveral does so for some cases on the devices. It returns in how many joins several of them took part, and in
// how many all did.
func joinOnSeveral(t *testing.T, devices []*backend.Device, cases [][]int, others [2]arrow.Table,
	prepare func(*engine.Engine, *join.Spec, int) (other bool)) (shared, together int) {
	tables := [2]arrow.Table{rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32),
		rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)}
	allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
	engine := severalEngine(t, devices, allocator, 0) // one for all, as links take time to be made
	for _, c := range cases {
		spec := withKeys(join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 100,
			Materialize: []join.Materialize{join.MaterializeAuto, join.MaterializeHost, join.MaterializeDevice}[c[3]],
			BuildSide:   join.BuildSide(c[5]), Output: []join.Output{join.Rows, join.Count, join.Rows}[c[6]]})
		of := tables
		if prepare(engine, &spec, c[7]) {
			of = others
		}
		for _, e := range engine.Engines() {
			e.GranuleRows, e.WindowRows = max(16, parts[c[4]][0]), parts[c[4]][1]
		}
		rows := []int64{1, 7, 30}[c[2]]
		stats := checkStream(t, engine, of, [2]source.Source{sourceOf(of[0], rows), sourceOf(of[1], rows)}, spec)
		if len(stats.Devices) > 1 {
			shared++
		}
		if len(stats.Devices) == len(devices) {
			together++
		}
		allocator.AssertSize(t, 0)
	}
	engine.Close()
	for _, device := range devices {
		noMemoryInUse(t, device)
	}
	return shared, together
}

// TestStrategyOfAnEngine: the strategy hmg gives the rows that the oracle has, and shares the memory of the engine.
func TestStrategyOfAnEngine(t *testing.T) {
	tables := [2]arrow.Table{rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32),
		rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)}
	devicetest.ForEachGroup(t, 3, func(t *testing.T, devices []*backend.Device) {
		allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
		engine := severalEngine(t, devices, allocator, 1<<30)
		for _, what := range []join.Output{join.Rows, join.Count, join.Pairs} {
			spec := join.Spec{On: onK, Strategy: join.StrategyHMG, Output: what, BatchRows: 100}
			plan, err := engine.Plan(t.Context(), tables[0], tables[1], spec)
			require.NoError(t, err)
			require.Contains(t, plan.String(), "strategy     hmg")
			result, err := plan.Run(t.Context())
			require.NoError(t, err)
			var batches []arrow.RecordBatch
			if what == join.Rows {
				batches = drawAll(t, result, what)
			}
			for _, err := range result.Pairs(t.Context()) {
				require.Equal(t, what != join.Pairs, err != nil)
			}
			require.EqualValues(t, len(oracle.Join(tables[0], tables[1], plan.Layout.Spec)), result.Rows())
			require.True(t, result.Counted())
			require.Len(t, result.Stats().Devices, 3)
			require.NotContains(t, result.Explain(), "0 chunksets")
			if what == join.Rows {
				oracle.Require(t, tables[0], tables[1], plan.Layout, batches)
			}
			for _, batch := range batches {
				batch.Release()
			}
			result.Close()
			require.Equal(t, engine.HostCapBytes(), engine.Budget().Free().Host)
		}
		_, err := engine.Stream(t.Context(), sourceOf(tables[0], 30), sourceOf(tables[1], 30),
			join.Spec{On: onK, Strategy: join.StrategyHMG})
		require.ErrorIs(t, err, backend.ErrUnsupported)
		engine.Close()
		allocator.AssertSize(t, 0)
	})
}

// TestMergesChunksets: tables beyond the memory of a device are divided, or merged if a knob says so.
func TestMergesChunksets(t *testing.T) {
	devicetest.HostTest(t)
	const rows = 100_000
	table := keyed(t, "k", rows, func(i int) int64 { return int64(i) * 7919 % rows })
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: 1 << 20})
	defer func() { require.NoError(t, done()) }()
	ops, err := primitive.New(device, nil)
	require.NoError(t, err)
	engine := engine.NewEngine(ops, &offheap.Shared, 0)
	defer engine.Close()
	for _, engine.ByRange.Way = range []task.RangeWay{task.RangesAuto, task.RangesMerge} {
		merges := engine.ByRange.Way == task.RangesMerge
		plan, err := engine.Plan(t.Context(), table, table,
			join.Spec{On: onK, Strategy: join.StrategyHMG, Output: join.Count})
		require.NoError(t, err)
		result, err := plan.Run(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, rows, result.Rows())
		require.Equal(t, merges, strings.Contains(result.Explain(), "merged by the host"), result.Explain())
		require.Equal(t, !merges, strings.Contains(result.Explain(), "divided by the host"), result.Explain())
		result.Close()
	}
}

// TestSeveralDevicesOfTexts: the same where keys are compared pair by pair, on the device or on the host.
func TestSeveralDevicesOfTexts(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ShortOnHost(t)
	tables := [2]arrow.Table{named(t, 1, 150, 60, arrow.BinaryTypes.LargeString),
		named(t, 2, 190, 70, arrow.BinaryTypes.String)}
	devicetest.ForEachGroup(t, 3, func(t *testing.T, devices []*backend.Device) {
		for _, c := range devicetest.Combinations(t, len(kinds)-1, len(algorithms), 3, len(parts), 3, 2) {
			spec := join.Spec{On: []string{"k0"}, How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 50,
				Materialize: join.Materialize(c[0] % 3), BuildSide: join.BuildSide(c[4]),
				Output: []join.Output{join.Rows, join.Count}[c[5]]}
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			engine := (&keyKind{hashBits: []int{0, 4, noHashBits}[c[2]]}).engine(severalEngine(t, devices, allocator, 0))
			for _, e := range engine.Engines() {
				e.GranuleRows, e.WindowRows = max(16, parts[c[3]][0]), parts[c[3]][1]
			}
			checkStream(t, engine, tables, [2]source.Source{sourceOf(tables[0], 30), sourceOf(tables[1], 30)}, spec)
			allocator.AssertSize(t, 0)
		}
		for _, device := range devices {
			noMemoryInUse(t, device)
		}
	})
}

// TestSeveralDevicesFail: whichever device fails, at whatever point, the join ends with its error or, where nothing of
// what the device was joining was output yet, the other device completes it. Nothing stays.
func TestSeveralDevicesFail(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 300, 700)
	want := make(map[join.How]uint64)
	for _, how := range []join.How{join.Inner, join.Full} {
		spec := onKeys
		spec.How = how
		layout, err := join.NewLayout(left.Schema(), right.Schema(), spec)
		require.NoError(t, err)
		want[how] = uint64(len(oracle.Join(left, right, layout.Spec)))
	}
	joinBy := func(faults host.Faults, how join.How, scatter bool) (struck, survived bool, err error) {
		b := host.New(host.Options{Faults: faults, CloseLimit: 200 * time.Millisecond, Discrete: true})
		var devices []*backend.Device
		for range 2 {
			driver, err := b.Open("host:cpu")
			require.NoError(t, err)
			devices = append(devices, backend.NewDevice(driver, deviceLimits(faults)))
		}
		allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
		engine := severalEngine(t, devices, allocator, 0)
		engine.GranuleRows, engine.Scatter = 100, scatter
		spec := onKeys
		spec.How, spec.BuildSide = how, join.BuildLeft
		rows, joined := int64(0), uint64(0)
		spec.Progress = func(at join.Progress) {
			if at.Phase == "join" {
				joined = max(joined, at.Rows)
			}
		}
		result, err := engine.Stream(t.Context(), source.FromTable(left), sourceOf(right, 50), spec)
		if err == nil {
			for batch, drawErr := range result.Batches(t.Context()) {
				if err = drawErr; err == nil {
					rows += batch.NumRows()
					batch.Release()
				}
			}
			stats := result.Stats()
			require.Len(t, stats.Devices, 2)
			if err == nil {
				survived = len(stats.Failures) > 0
				require.EqualValues(t, want[how], rows)
				require.Equal(t, want[how], stats.OutputRows)
				require.EqualValues(t, right.NumRows(), stats.RightRows)
				if !scatter {
					require.EqualValues(t, right.NumRows(), joined)
				}
				require.Equal(t, survived, strings.Contains(result.Explain(), "other devices joined its parts"))
			}
			if err == nil && !scatter {
				require.EqualValues(t, right.NumRows(), stats.Devices[0].ProbeRows+stats.Devices[1].ProbeRows)
			}
			result.Close()
		}
		engine.Close()
		allocator.AssertSize(t, 0)
		for _, device := range devices {
			if closeErr := device.Close(); closeErr != nil {
				require.NotEqual(t, host.Faults{}, faults, closeErr)
				require.NotContains(t, closeErr.Error(), "not released")
			}
		}
		return b.Struck(), survived, err
	}
	for name, fault := range faults {
		for _, how := range []join.How{join.Inner, join.Full} {
			for _, scatter := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%t", name, how, scatter), func(t *testing.T) {
					failed, completed, step := 0, 0, 1
					if scatter { // links are made anew, which takes time
						step = 11
					}
					step = stepOf(t, name, step)
					for n := 1; ; n += step {
						struck, survived, err := joinBy(fault.at(n), how, scatter)
						if !struck {
							break // there is no n-th call
						}
						if err == nil && !survived { // the other device completed the join before anybody waited for the batch
							require.Equal(t, "hang", name, "call %d", n)
							continue
						}
						if survived {
							completed++
							continue
						}
						require.ErrorIs(t, err, fault.want, "call %d", n)
						require.NotErrorIs(t, err, backend.ErrCancelled, "call %d", n)
						failed++
					}
					require.Positive(t, failed+completed)
					ofDevice := errors.Is(fault.want, backend.ErrDeviceLost) || errors.Is(fault.want, backend.ErrDeviceMemory)
					require.Equal(t, ofDevice && !scatter, completed > 0)
				})
			}
		}
	}
}

// TestSeveralDevicesUnderLimit: devices share the limit of host memory, and take smaller parts, or are fewer, where it
// is short.
func TestSeveralDevicesUnderLimit(t *testing.T) {
	devicetest.HostTest(t)
	left := keyed(t, "k", 3000, func(i int) int64 { return int64(i) })
	right := keyed(t, "k", 500_000, func(i int) int64 { return int64(i % 3000) })
	spec := join.Spec{On: onK, BuildSide: join.BuildLeft, BatchRows: 1 << 12}
	var devices []*backend.Device
	for range 3 {
		device, done := hostDevice(t, host.Options{Discrete: true}, backend.DeviceOptions{})
		defer func() { require.NoError(t, done()) }()
		devices = append(devices, device)
	}
	for _, limitBytes := range []uint64{0, 256 << 20, 64 << 20, 24 << 20} {
		engine := severalEngine(t, devices, memory.DefaultAllocator, limitBytes)
		result, err := engine.Stream(t.Context(), source.FromTable(left), sourceOf(right, 5000), spec)
		require.NoError(t, err, limitBytes)
		rows := int64(0)
		for batch, err := range result.Batches(t.Context()) {
			require.NoError(t, err)
			rows += batch.NumRows()
			batch.Release()
		}
		require.EqualValues(t, right.NumRows(), rows)
		if limitBytes == 0 || limitBytes > 200<<20 {
			require.Len(t, result.Stats().Devices, 3)
		}
		result.Close()
		require.Equal(t, engine.Budget().Free().Host, engine.HostCapBytes())
	}
	spec.MaxOutputRows = 400_000
	engine := severalEngine(t, devices, memory.DefaultAllocator, 0)
	_, err := drainStream(t, engine, source.FromTable(left), sourceOf(right, 5000), spec)
	require.ErrorIs(t, err, backend.ErrLimit)
	require.ErrorContains(t, err, "more than 400000 rows")
}

// TestScatteredWhereTooLarge: a build side that is too large for each device alone, but not for all together, meets by
// its keys, also where one key has half of the rows of the other side.
func TestScatteredWhereTooLarge(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	left := keyed(t, "k", 1_600_000, func(i int) int64 { return int64(i * 7919 % 1_600_000) })
	right := keyed(t, "k", 2_500_000, func(i int) int64 { return int64(i%2) * int64(i%2_000_000) })
	spec := join.Spec{On: onK, BuildSide: join.BuildLeft, BatchRows: 1 << 14, Materialize: join.MaterializeHost}
	joined := func() (*engine.Result, int64, error) {
		var devices []*backend.Device
		for range 3 {
			device, done := hostDevice(t, host.Options{Discrete: true}, backend.DeviceOptions{DeviceMemoryBytes: 32 << 20})
			defer func() { require.NoError(t, done()) }()
			devices = append(devices, device)
		}
		engine := severalEngine(t, devices, memory.DefaultAllocator, 0)
		defer engine.Close()
		result, err := engine.Stream(t.Context(), source.FromTable(left), sourceOf(right, 20_000), spec)
		if err != nil {
			return nil, 0, err
		}
		defer result.Close()
		rows := int64(0)
		for batch, err := range result.Batches(t.Context()) {
			require.NoError(t, err)
			rows += batch.NumRows()
			batch.Release()
		}
		return result, rows, nil
	}
	result, rows, err := joined()
	require.NoError(t, err)
	want := 0
	for i := range 2_500_000 {
		if i%2*(i%2_000_000) < 1_600_000 {
			want++
		}
	}
	require.EqualValues(t, want, rows)
	require.True(t, result.Query().Scattered)
	require.Len(t, result.Stats().Devices, 3)
}

// drainStream draws all rows and returns their number.
func drainStream(t *testing.T, engine *engine.Engine, left, right source.Source, spec join.Spec) (rows int64, err error) {
	result, err := engine.Stream(t.Context(), left, right, spec)
	if err != nil {
		return 0, err
	}
	defer result.Close()
	for batch, err := range result.Batches(t.Context()) {
		if err != nil {
			return rows, err
		}
		rows += batch.NumRows()
		batch.Release()
	}
	return rows, nil
}

// TestSeveralDevicesWithoutPartners: a build side whose rows the probe side never meets, because no row of it has a key
// that could match, has no partner on any device.
func TestSeveralDevicesWithoutPartners(t *testing.T) {
	devicetest.HostTest(t)
	left := keyed(t, "k", 300, func(i int) int64 { return int64(i) })
	right := withoutKeys(t, 5000)
	devicetest.ForEachGroup(t, 2, func(t *testing.T, devices []*backend.Device) {
		engine := severalEngine(t, devices, memory.DefaultAllocator, 0)
		for how, want := range map[join.How]int64{join.Semi: 0, join.Anti: 300, join.Left: 300, join.Full: 5300} {
			spec := join.Spec{On: onK, How: how, BuildSide: join.BuildLeft}
			rows, err := drainStream(t, engine, source.FromTable(left), sourceOf(right, 500), spec)
			require.NoError(t, err)
			require.Equal(t, want, rows, how)
		}
		engine.Close()
	})
}

// withoutKeys is a table whose keys are all NULL.
func withoutKeys(t *testing.T, rows int) arrow.Table {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).AppendNulls(rows)
	batch := b.NewRecordBatch()
	defer batch.Release()
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	t.Cleanup(table.Release)
	return table
}
