package engine_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"os"
	"slices"
	"testing"

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
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// TestDivided: both sides are divided into parts, in memory or on disk, once or, if parts are too large too, again. The
// output equals one join's, for every kind, algorithm and sort of payload.
func TestDivided(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ShortOnHost(t)
	rows := [2]arrow.Table{rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32),
		rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)}
	few := [2]arrow.Table{rich(t, 3, 120, 60, arrow.PrimitiveTypes.Int32), rich(t, 4, 130, 60, arrow.PrimitiveTypes.Int64)}
	texts := [2]arrow.Table{named(t, 1, 300, 120, arrow.BinaryTypes.String),
		named(t, 2, 500, 150, arrow.BinaryTypes.String)}
	dir := t.TempDir()
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		algorithms := []string{join.Auto, "phj-om", "smj-um"} // a part is joined like any tables
		for _, c := range devicetest.Combinations(t, len(kinds), len(algorithms), 2, 3, 2, 2, 3) {
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, allocator, 0)
			engine.Spill(dir, math.MaxUint64)
			engine.DivideBytes = []uint64{1 << 9, 1 << 12}[c[2]] // of some ten thousand
			engine.PartsBytes = []uint64{0, 1, 1 << 14}[c[6]]    // all are in memory, on disk, or some here and some there
			tables, spec := rows, join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 100,
				BuildSide: join.BuildSide(c[3]), Output: []join.Output{join.Rows, join.Count}[c[4]]}
			if spec.On = onK; spec.How == join.Cross {
				tables, spec.On = few, nil
			} else if c[5] == 1 {
				tables, spec.On = texts, []string{"k0"}
			}
			sources := [2]source.Source{sourceOf(tables[0], 33), sourceOf(tables[1], 70)}
			if c[4] == 1 {
				sources[1].Rows = tables[1].NumRows()
			}
			checkStream(t, engine, tables, sources, spec)
			allocator.AssertSize(t, 0)
			require.Zero(t, engine.Budget().Free().Disk-math.MaxUint64, "the disk is free again")
		}
		noMemoryInUse(t, device)
	})
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestDividedNotIn: a not-in join knows of the NULLs and the rows of the right side before it has joined a part.
func TestDividedNotIn(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.SkipRace(t)
	key := func(nulls int, of func(i int) int64) func(int) int64 {
		return func(i int) int64 {
			if nulls > 0 && i%nulls == 1 {
				return -1 // NULL
			}
			return of(i)
		}
	}
	left := keyed(t, "k", 300, key(7, func(i int) int64 { return int64(i) }))
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for name, right := range map[string]arrow.Table{
			"no NULL":  keyed(t, "k", 200, key(0, func(i int) int64 { return int64(i * 2) })),
			"a NULL":   keyed(t, "k", 200, key(150, func(i int) int64 { return int64(i * 2) })),
			"no rows":  keyed(t, "k", 0, primary),
			"no match": keyed(t, "k", 200, key(0, func(i int) int64 { return int64(i + 1000) })),
		} {
			for _, output := range []join.Output{join.Rows, join.Count} {
				t.Run(fmt.Sprint(name, " ", output), func(t *testing.T) {
					engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, memory.DefaultAllocator, 0)
					engine.DivideBytes = 1
					checkStream(t, engine, [2]arrow.Table{left, right},
						[2]source.Source{sourceOf(left, 33), sourceOf(right, 33)},
						join.Spec{How: join.NotIn, On: onK, BuildSide: join.BuildRight, Output: output})
				})
			}
		}
	})
}

// TestDividedPairs: the pairs of a divided join are of the rows of the sources.
func TestDividedPairs(t *testing.T) {
	devicetest.SkipRace(t)
	left, right := keyed(t, "k", 300, func(i int) int64 { return int64(i * 3 % 97) }),
		keyed(t, "k", 500, func(i int) int64 { return int64(i * 5 % 150) })
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, divideBytes := range []uint64{1 << 6, 1 << 10} { // again and again, or once
			engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, memory.DefaultAllocator, 0)
			engine.DivideBytes = divideBytes
			spec := join.Spec{On: onK, Output: join.Pairs}
			result, err := engine.Stream(t.Context(), sourceOf(left, 33), sourceOf(right, 70), spec)
			require.NoError(t, err)
			require.Contains(t, result.Explain(), "divided ")
			got := [][2]uint32{}
			for p, err := range result.Pairs(t.Context()) {
				require.NoError(t, err)
				require.Zero(t, p.LeftFirst+p.RightFirst)
				for i := range p.Left {
					got = append(got, [2]uint32{p.Left[i], p.Right[i]})
				}
			}
			slices.SortFunc(got, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
			require.Equal(t, oracle.Pairs(left, right, spec), got)
			require.EqualValues(t, len(got), result.Rows())
			result.Close()

			result, err = engine.Stream(t.Context(), sourceOf(left, 33), sourceOf(right, 70), spec)
			require.NoError(t, err)
			for _, err := range result.Batches(t.Context()) {
				require.ErrorIs(t, err, backend.ErrInvalidInput)
			}
			result.Close()
			spec.Output = join.Rows
			result, err = engine.Stream(t.Context(), sourceOf(left, 33), sourceOf(right, 70), spec)
			require.NoError(t, err)
			for _, err := range result.Pairs(t.Context()) {
				require.ErrorIs(t, err, backend.ErrInvalidInput)
			}
			result.Close()
		}
	})
}

// TestDividedOrders: the output of parts and of blocks comes in the order that was asked for, for every kind, from runs
// in memory or on disk.
func TestDividedOrders(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ShortOnHost(t)
	left := keyed(t, "k", 900, func(i int) int64 { return int64(i*7%410 - 1) })
	right := keyed(t, "k", 1500, func(i int) int64 { return int64(i*11%520 - 1) })
	hot := [2]arrow.Table{keyed(t, "k", 40, func(int) int64 { return 5 }), keyed(t, "k", 30, func(int) int64 { return 5 })}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, c := range devicetest.Combinations(t, len(kinds), 2, 3, 2) {
			order, tables := []join.Order{join.LeftOrder, join.RightOrder}[c[1]], [2]arrow.Table{left, right}
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, allocator, 0)
			engine.Spill(t.TempDir(), math.MaxUint64)
			engine.DivideBytes, engine.PartsBytes = 1<<13, []uint64{0, 1, 1 << 15}[c[2]]
			spec := join.Spec{How: kinds[c[0]], On: onK, Order: order, BatchRows: 100}
			if c[3] == 1 || spec.How == join.Cross {
				tables, engine.DivideBytes = hot, 1<<8
			}
			if spec.How == join.Cross {
				spec.On = nil
			}
			if order == join.LeftOrder && !spec.How.Has(relation.Left) || order == join.RightOrder && !spec.How.Has(1) {
				continue
			}
			checkStream(t, engine, tables, [2]source.Source{sourceOf(tables[0], 33), sourceOf(tables[1], 70)}, spec)
			allocator.AssertSize(t, 0)
		}
		engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, memory.DefaultAllocator, 0)
		engine.DivideBytes = 1 << 13
		spec := join.Spec{On: onK, Order: join.RightOrder, Output: join.Pairs, Columns: []string{"k"}}
		result, err := engine.Stream(t.Context(), sourceOf(left, 33), sourceOf(right, 70), spec)
		require.NoError(t, err)
		defer result.Close()
		want, got := oracle.Pairs(left, right, spec), [][2]uint32{}
		slices.SortStableFunc(want, func(a, b [2]uint32) int { return int(a[1]) - int(b[1]) })
		for p, err := range result.Pairs(t.Context()) {
			require.NoError(t, err)
			for i := range p.Left {
				got = append(got, [2]uint32{p.Left[i], p.Right[i]})
			}
		}
		require.Equal(t, want, got)
	})
}

// TestHotKeys: where all rows, or most, have one key, or there are no keys, both sides are joined block by block, for
// every kind, from either side, with the output of one join.
func TestHotKeys(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.SkipRace(t)
	zipf := func(i int) int64 { return int64(math.Sqrt(400 / float64(i+1))) } // the k-th key has a share of about 1/k^2
	one := func(int) int64 { return 7 }
	few := func(i int) int64 { return int64(i % 3) }
	tables := [][2]arrow.Table{{keyed(t, "k", 60, one), keyed(t, "k", 90, one)},
		{keyed(t, "k", 400, zipf), keyed(t, "k", 60, zipf)}, {keyed(t, "k", 50, one), keyed(t, "k", 80, zipf)},
		{keyed(t, "k", 90, few), keyed(t, "k", 40, one)}}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, c := range devicetest.Combinations(t, len(kinds), len(tables), 3, 2, 2) {
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, allocator, 0)
			engine.Spill(t.TempDir(), math.MaxUint64)
			engine.DivideBytes, engine.PartsBytes = 1<<7, []uint64{0, 1}[c[4]]
			of, spec := tables[c[1]], join.Spec{How: kinds[c[0]], On: onK, BatchRows: 100, BuildSide: join.BuildSide(c[2]),
				Output: []join.Output{join.Rows, join.Count}[c[3]]}
			if spec.How == join.Cross {
				spec.On = nil
			}
			checkStream(t, engine, of, [2]source.Source{sourceOf(of[0], 7), sourceOf(of[1], 20)}, spec)
			allocator.AssertSize(t, 0)
		}
		noMemoryInUse(t, device)
	})
}

// TestDividedUnderCaps: a build side that no cap of host or device memory has room for is divided, and so is the rest
// of the source; within the caps.
func TestDividedUnderCaps(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	left := keyed(t, "k", 400_000, func(i int) int64 { return int64(i) })
	right := keyed(t, "k", 1_000_000, func(i int) int64 { return int64(i*7) % 500_000 })
	for name, c := range map[string]struct {
		hostBytes, deviceBytes uint64
	}{"host": {14 << 20, 0}, "device": {0, 5 << 20}, "both": {40 << 20, 4 << 20}} {
		t.Run(name, func(t *testing.T) {
			device, done := hostDevice(t, host.Options{Discrete: name == "device"},
				backend.DeviceOptions{DeviceMemoryBytes: c.deviceBytes})
			engine := limitedEngine(t, device, c.hostBytes)
			spec := join.Spec{On: onK, How: join.Left, BatchRows: 1 << 12, BuildSide: join.BuildLeft}
			if c.hostBytes > 0 { // otherwise the parts are in memory
				_, err := engine.Stream(t.Context(), sourceOf(left, 10_000), sourceOf(right, 10_000), spec)
				require.True(t, isMemory(err), "without a place for parts: %v", err)
				engine.Spill(t.TempDir(), 1<<30)
			}
			result, err := engine.Stream(t.Context(), sourceOf(left, 10_000), sourceOf(right, 10_000), spec)
			require.NoError(t, err)
			require.Contains(t, result.Explain(), "divided ")
			rows := int64(0)
			for batch, err := range result.Batches(t.Context()) {
				require.NoError(t, err)
				rows += batch.NumRows()
				batch.Release()
			}
			require.EqualValues(t, 800_000, rows) // each of the keys 0 to 399,999 twice
			require.EqualValues(t, rows, result.Rows())
			require.EqualValues(t, left.NumRows(), result.Stats().LeftRows)
			require.EqualValues(t, right.NumRows(), result.Stats().RightRows)
			parts, diskBytes := result.Parts()
			require.GreaterOrEqual(t, parts, 8)
			require.Equal(t, c.hostBytes > 0, diskBytes > 0)
			result.Close()
			if c.hostBytes > 0 {
				require.LessOrEqual(t, engine.Budget().Most().Host, c.hostBytes)
			}
			require.NoError(t, done())
		})
	}
}

func isMemory(err error) bool {
	return err != nil && (backend.OutOfMemory(err))
}

// TestDividedFails: what cannot be divided says why; a full disk, a limit of rows, a cancelled context and a source
// that fails end the join with their error, and nothing stays on disk or in memory.
func TestDividedFails(t *testing.T) {
	devicetest.HostTest(t)
	left := keyed(t, "k", 40_000, func(i int) int64 { return int64(i) })
	right := keyed(t, "k", 100_000, func(i int) int64 { return int64(i*7) % 50_000 })
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	dir := t.TempDir()
	draw := func(ctx context.Context, diskBytes uint64, spec join.Spec, sources ...source.Source) error {
		allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer allocator.AssertSize(t, 0)
		engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, allocator, 0)
		engine.Spill(dir, diskBytes)
		engine.DivideBytes, engine.PartsBytes = 1<<16, 1<<17
		result, err := engine.Stream(ctx, sources[0], sources[1], spec)
		if err != nil {
			return err
		}
		defer result.Close()
		for batch, err := range result.Batches(ctx) {
			if err != nil {
				return err
			}
			batch.Release()
		}
		return nil
	}
	sources := func() []source.Source { return []source.Source{sourceOf(left, 1000), sourceOf(right, 1000)} }
	require.NoError(t, draw(t.Context(), math.MaxUint64, join.Spec{On: onK}, sources()...))
	require.ErrorIs(t, draw(t.Context(), 1<<16, join.Spec{On: onK}, sources()...), backend.ErrDiskSpace)
	err := draw(t.Context(), math.MaxUint64, join.Spec{On: onK, MaxOutputRows: 60_000}, sources()...)
	require.ErrorIs(t, err, backend.ErrLimit)
	require.ErrorContains(t, err, "more than 60000 rows")
	require.NoError(t, draw(t.Context(), math.MaxUint64, join.Spec{On: onK, MaxOutputRows: 80_000}, sources()...))
	failing := sourceOf(right, 1000)
	failing.Batches = watched(failing.Batches, func(n int) error {
		if n == 50 {
			return errBroken
		}
		return nil
	})
	require.ErrorIs(t, draw(t.Context(), math.MaxUint64, join.Spec{On: onK}, sourceOf(left, 1000), failing), errBroken)
	for _, after := range devicetest.Short([]int{45}, []int{1, 45, 140}) { // batches, with empty ones
		ctx, cancel := context.WithCancel(t.Context())
		of := sources()
		of[1].Batches = watched(of[1].Batches, func(n int) error {
			if n == after {
				cancel()
			}
			return nil
		})
		require.ErrorIs(t, draw(ctx, math.MaxUint64, join.Spec{On: onK}, of...), backend.ErrCancelled, fmt.Sprint(after))
		cancel()
	}
	for name, spec := range map[string]join.Spec{"parts": {On: onK}, "in order": {On: onK, Order: join.RightOrder},
		"blocks": {How: join.Cross, Columns: []string{"a"}, BuildSide: join.BuildLeft}} {
		for _, batches := range []int{0, 1, 3} { // that are drawn before the join is closed, or cancelled
			if testing.Short() && batches != 1 {
				continue // the joins above end at other points
			}
			for _, cancels := range []bool{false, true} {
				allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
				engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, allocator, 0)
				engine.Spill(dir, math.MaxUint64)
				engine.DivideBytes, engine.PartsBytes = 1<<16, 1<<17
				ctx, cancel := context.WithCancel(t.Context())
				spec.BatchRows, spec.MaxOutputRows = 1000, math.MaxUint64
				of := sources()
				result, err := engine.Stream(ctx, of[0], of[1], spec)
				require.NoError(t, err, name)
				drawn, rows, cancelled := 0, int64(0), false
				for batch, err := range result.Batches(ctx) {
					if cancels && drawn >= batches && err != nil {
						require.ErrorIs(t, err, backend.ErrCancelled, name)
						cancelled = true
						break
					}
					require.NoError(t, err, name)
					rows += batch.NumRows()
					batch.Release()
					if drawn++; drawn >= batches && cancels {
						cancel()
					} else if drawn >= batches {
						break
					}
				}
				require.True(t, !cancels || batches == 0 || cancelled || rows == 80_000, "%s ends after %d rows", name, rows)
				result.Close()
				cancel()
				allocator.AssertSize(t, 0)
			}
		}
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, files)
	noMemoryInUse(t, device)
	require.NoError(t, done())
}

// watched are batches of which each is told to watch, by its number from 0 on. An error of it ends them.
func watched(batches func(context.Context) iter.Seq2[arrow.RecordBatch, error], watch func(n int) error) func(
	context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) {
			n := 0
			for batch, err := range batches(ctx) {
				if failed := watch(n); failed != nil {
					batch.Release()
					yield(nil, failed)
					return
				}
				if n++; !yield(batch, err) {
					return
				}
			}
		}
	}
}

// TestDividedForTheOrder: under a limit of host memory with a place for parts, rows come in the order of the build
// side, too: both sides are divided, of whatever size.
func TestDividedForTheOrder(t *testing.T) {
	left := keyed(t, "k", 900, func(i int) int64 { return int64(i*7%410 - 1) })
	right := keyed(t, "k", 1500, func(i int) int64 { return int64(i*11%520 - 1) })
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := limitedEngine(t, device, 1<<30)
		spec := join.Spec{How: join.Left, On: onK, Order: join.LeftOrder, BuildSide: join.BuildLeft}
		_, err := engine.Stream(t.Context(), sourceOf(left, 33), sourceOf(right, 70), spec)
		require.ErrorIs(t, err, backend.ErrUnsupported, "there is no place for parts")
		engine.Spill(t.TempDir(), math.MaxUint64)
		layout, err := join.NewLayout(left.Schema(), right.Schema(), spec)
		require.NoError(t, err)
		result, err := engine.StreamLayout(t.Context(), layout, sourceOf(left, 33), sourceOf(right, 70))
		require.NoError(t, err)
		defer result.Close()
		batches := drawAll(t, result, join.Rows)
		oracle.Require(t, left, right, layout, batches)
		for _, batch := range batches {
			batch.Release()
		}
	})
}
