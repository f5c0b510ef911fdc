package engine_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"

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
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/source"
)

// TestBuilt: a build side that is made once is joined with several tables, of any size, by every kind and algorithm; a
// result that is not drawn to its end leaves it as it was.
func TestBuilt(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops := jointest.Lane(t, device, small).Ops
		ctx := context.Background()
		for _, c := range devicetest.Combinations(t, len(kinds)-1, len(algorithms), 2, len(keyKinds), 2, 2) {
			kind, spec := &keyKinds[c[3]], join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]], BuildSide: join.BuildLeft,
				BatchRows: 1 << 10}
			for k := range kind.left {
				spec.LeftOn, spec.RightOn = append(spec.LeftOn, "k"+string(rune('0'+k))), append(spec.RightOn, "r"+string(rune('0'+k)))
			}
			if c[5] == 1 {
				spec.NullsEqual = spec.LeftOn
			}
			if spec.Check() != nil {
				continue // a not-in join of several keys, or with NULL for a value
			}
			side := c[2]
			if side == 1 {
				spec.BuildSide = join.BuildRight
			}
			random := rand.New(rand.NewPCG(uint64(c[0]), uint64(c[1])))
			prefix, types := [2]string{"k", "r"}, [2][]arrow.DataType{kind.left, kind.right}
			table := func(side, rows int) arrow.Table {
				return randomTable(random, rows, types[side], kind, matchings[1].left, prefix[side])
			}
			build := table(side, 500)
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			e := kind.engine(engine.NewEngine(ops, allocator, 0))
			var built *engine.Built
			var err error
			for i, rows := range []int{300, 0, 2500, 70} {
				probe := table(1-side, rows)
				if built == nil {
					built, err = e.Build(ctx, build, probe.Schema(), []uint64{0, 100}[c[4]], spec)
					require.NoError(t, err)
				}
				tables := [2]arrow.Table{build, probe}
				if side == 1 {
					tables = [2]arrow.Table{probe, build}
				}
				layout, err := join.NewLayout(tables[0].Schema(), tables[1].Schema(), spec)
				require.NoError(t, err)
				result, err := built.Join(ctx, probe)
				require.NoError(t, err)
				var batches []arrow.RecordBatch
				for batch, err := range result.Batches(ctx) {
					require.NoError(t, err)
					batches = append(batches, batch)
					if i == 2 {
						break
					}
				}
				if i == 0 {
					_, err = built.Join(ctx, probe)
					require.ErrorContains(t, err, "close the result before")
				}
				result.Close()
				if i != 2 {
					oracle.Require(t, tables[0], tables[1], layout, batches)
				}
				for _, b := range batches {
					b.Release()
				}
				probe.Release()
			}
			built.Close()
			build.Release()
			allocator.AssertSize(t, 0)
		}
		noMemoryInUse(t, device)
	})
}

// TestBuiltOutlivesItsContext: the context of Build bounds that call alone. A join that is cancelled, too, leaves the
// build side as it was.
func TestBuiltOutlivesItsContext(t *testing.T) {
	left, right := rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		for _, c := range devicetest.Combinations(t, len(kinds)-1, len(algorithms)) {
			spec := join.Spec{On: onK, How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 100}
			ctx, cancel := context.WithCancel(context.Background())
			built, err := engine.Build(ctx, left, right.Schema(), 200, spec)
			require.NoError(t, err)
			cancel()
			_, err = built.Join(ctx, right)
			require.ErrorIs(t, err, backend.ErrCancelled)
			layout, err := join.NewLayout(left.Schema(), right.Schema(), spec)
			require.NoError(t, err)
			result, err := built.Join(context.Background(), right)
			require.NoError(t, err, "%s by %s", spec.How, spec.Algorithm)
			var batches []arrow.RecordBatch
			for batch, err := range result.Batches(context.Background()) {
				require.NoError(t, err, "%s by %s", spec.How, spec.Algorithm)
				batches = append(batches, batch)
			}
			oracle.Require(t, left, right, layout, batches)
			for _, batch := range batches {
				batch.Release()
			}
			result.Close()
			built.Close()
		}
		noMemoryInUse(t, device)
	})
}

// TestBuiltClosedEarly: a result of a build side that is closed says so, and uses nothing of it anymore.
func TestBuiltClosedEarly(t *testing.T) {
	left, right := rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 700, 150, arrow.PrimitiveTypes.Int64)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := limitedEngine(t, device, 64<<20)
		e.GranuleRows, e.WindowRows = 50, 50
		free := e.Budget().Free()
		spec := join.Spec{On: onK, BatchRows: 10}
		for _, stream := range []bool{false, true} {
			built, err := e.Build(t.Context(), left, right.Schema(), 50, spec)
			require.NoError(t, err)
			var result *engine.Result
			if stream {
				result, err = built.JoinStream(t.Context(), sourceOf(right, 20))
			} else {
				result, err = built.Join(t.Context(), right)
			}
			require.NoError(t, err)
			built.Close()
			for batch, drawErr := range result.Batches(t.Context()) {
				if err = drawErr; err == nil {
					batch.Release()
				}
			}
			require.ErrorIs(t, err, backend.ErrCancelled)
			require.EqualError(t, err, "cancelled: the build side was closed")
			result.Close()
			_, err = built.Join(t.Context(), right)
			require.ErrorContains(t, err, "the build side was closed")
			_, err = built.JoinStream(t.Context(), sourceOf(right, 20))
			require.ErrorContains(t, err, "the build side was closed")
			require.Equal(t, free, e.Budget().Free())
		}
		noMemoryInUse(t, device)
	})
}

// TestBuiltRefuses: another schema than the build side was made for, and a build side that was closed, are errors before
// anything runs, of tables and of sources.
func TestBuiltRefuses(t *testing.T) {
	devicetest.HostTest(t)
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	left, right := rich(t, 1, 30, 12, arrow.PrimitiveTypes.Int32), rich(t, 2, 50, 15, arrow.PrimitiveTypes.Int32)
	built, err := smallEngine(t, device).Build(t.Context(), left, right.Schema(), 0, join.Spec{On: onK})
	require.NoError(t, err)
	refused := func(probe arrow.Table, why string) {
		t.Helper()
		_, err := built.Join(t.Context(), probe)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, why)
		_, err = built.JoinStream(t.Context(), source.FromTable(probe))
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, why)
	}
	changed := func(name string, change func(*arrow.Field)) arrow.Table {
		fields := right.Schema().Fields()
		change(&fields[right.Schema().FieldIndices(name)[0]])
		return array.NewTableFromRecords(arrow.NewSchema(fields, nil), nil)
	}
	refused(changed("f", func(f *arrow.Field) { f.Name = "g" }), `no column "f"`)
	refused(changed("f", func(f *arrow.Field) { f.Type = arrow.PrimitiveTypes.Float32 }), `right column "f" has type float32, `+
		"planned was float64; make the build side for this schema")
	refused(changed("k", func(f *arrow.Field) { f.Type = arrow.PrimitiveTypes.Int64 }), "has type int64, planned was int32")
	refused(changed("n", func(f *arrow.Field) { f.Nullable = true }), `right column "n" may be NULL`)
	built.Close()
	refused(right, "the build side was closed")
	require.NoError(t, done())
}

// TestBuiltCancelled cancels the first join at each call that it makes of the device: the next joins the whole build
// side, also the rows for which a hash table has no slot. Where a call may see its context end or not, it is tried
// several times.
func TestBuiltCancelled(t *testing.T) {
	devicetest.HostTest(t)
	const rows = 3000
	attempts, step := devicetest.Short(2, 6), int64(1) // at each call, as what runs at the same time differs
	if devicetest.RaceDetector {
		attempts, step = 1, 4
	}
	left := keyed(t, "k", rows, func(int) int64 { return 7 })
	right := keyed(t, "k", 3, func(row int) int64 { return int64(6 + row) })
	device, done := hostDevice(t, host.Options{Discrete: true}, backend.DeviceOptions{})
	e := smallEngine(t, device)
	count := func(ctx context.Context, built *engine.Built) (rows int64, err error) {
		result, err := built.Join(ctx, right)
		if err != nil {
			return 0, err
		}
		defer result.Close()
		for batch, err := range result.Batches(ctx) {
			if err != nil {
				return 0, err
			}
			rows += batch.NumRows()
			batch.Release()
		}
		return rows, nil
	}
	// cancelled returns whether a join has at least call calls.
	cancelled := func(spec join.Spec, want, call int64) bool {
		built, err := e.Build(t.Context(), left, right.Schema(), 64, spec)
		require.NoError(t, err)
		defer built.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var calls atomic.Int64
		device.Observe(func(backend.Event) {
			if calls.Add(1) == call {
				cancel()
			}
		})
		if _, err := count(ctx, built); err != nil {
			require.ErrorIs(t, err, backend.ErrCancelled)
		}
		device.Observe(nil)
		rows, err := count(t.Context(), built)
		require.NoError(t, err)
		require.Equal(t, want, rows, "%s by %s after call %d was cancelled", spec.How, spec.Algorithm, call)
		return calls.Load() >= call
	}
	for how, want := range map[join.How]int64{join.Inner: rows, join.Full: rows + 2} {
		for _, algorithm := range algorithms {
			spec, call := join.Spec{On: onK, How: how, Algorithm: algorithm}, int64(1)
			for attempt := 0; cancelled(spec, want, call); attempt++ {
				if attempt == attempts {
					attempt, call = 0, call+step
				}
			}
			require.Greater(t, call, int64(5))
		}
	}
	require.NoError(t, done())
}
