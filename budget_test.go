package spirjoin

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/relation"
)

// budgetTables are orders with unique keys, and lines of which some have an order.
func budgetTables(t *testing.T, orders, lines int) (left, right arrow.Table) {
	table := func(rows int, key func(i int) int) arrow.Table {
		schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
			{Name: "v", Type: arrow.PrimitiveTypes.Int64}, {Name: "name", Type: arrow.BinaryTypes.String}}, nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		for i := range rows {
			b.Field(0).(*array.Int64Builder).Append(int64(key(i)))
			b.Field(1).(*array.Int64Builder).Append(int64(i))
			b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("number %d", key(i)))
		}
		batch := b.NewRecordBatch()
		defer batch.Release()
		all := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
		t.Cleanup(all.Release)
		return all
	}
	return table(orders, func(i int) int { return i * 7919 % orders }),
		table(lines, func(i int) int { return i * 31 % (orders + orders/8) })
}

// draw returns a number that depends on all values of a result, but on no order of rows.
func draw(ctx context.Context, result *JoinResult, err error) (sum uint64, _ error) {
	if err != nil {
		return 0, err
	}
	defer result.Close()
	if result.Schema() == nil || result.Schema().NumFields() == 0 {
		return result.Rows(), nil
	}
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			return 0, err
		}
		rows := make([]uint64, batch.NumRows())
		for c, column := range batch.Columns() {
			for i := range rows {
				rows[i] = rows[i]*0x9e3779b97f4a7c15 + uint64(c)
				switch column := column.(type) {
				case *array.Int64:
					if column.IsValid(i) {
						rows[i] += uint64(column.Value(i)) + 1
					}
				case *array.String:
					for _, b := range []byte(column.Value(i)) {
						rows[i] = rows[i]*31 + uint64(b)
					}
				}
			}
		}
		for _, row := range rows {
			sum += row * (row>>32 | 1)
		}
		batch.Release()
	}
	return sum, nil
}

// kinds are joins of different kinds and sizes, each of which returns a number that tells its output.
func kinds(left, right arrow.Table) map[string]func(context.Context, *Engine) (uint64, error) {
	on, batchRows := []string{"k"}, 1<<12
	whole := func(spec JoinSpec) func(context.Context, *Engine) (uint64, error) {
		spec.BatchRows = cmp.Or(spec.BatchRows, batchRows)
		return func(ctx context.Context, e *Engine) (uint64, error) {
			result, err := e.Join(ctx, left, right, spec)
			return draw(ctx, result, err)
		}
	}
	all := map[string]func(context.Context, *Engine) (uint64, error){
		"inner":     whole(JoinSpec{On: on, BatchRows: 1 << 15}), // which is pinned where it can be
		"full":      whole(JoinSpec{On: on, How: Full, Algorithm: "smj-om"}),
		"ordered":   whole(JoinSpec{On: on, How: Left, Order: LeftOrder}),
		"texts":     whole(JoinSpec{On: []string{"name"}, How: Right, Columns: []string{"v"}}),
		"semi":      whole(JoinSpec{On: on, How: RightSemi, Algorithm: "hj"}),
		"validated": whole(JoinSpec{On: on, How: Anti, Validate: OneToMany, Algorithm: "phj-um"}),
	}
	all["stream"] = func(ctx context.Context, e *Engine) (uint64, error) {
		reader, build := array.NewTableReader(right, 5000), array.NewTableReader(left, 1000)
		defer reader.Release()
		defer build.Release()
		result, err := e.JoinStream(ctx, FromReader(build), FromReader(reader),
			JoinSpec{On: on, How: Left, BuildSide: BuildLeft, BatchRows: batchRows})
		return draw(ctx, result, err)
	}
	all["build side"] = func(ctx context.Context, e *Engine) (sum uint64, err error) {
		built, err := e.BuildSide(ctx, left, right.Schema(), 1<<14, JoinSpec{On: on, BatchRows: batchRows})
		if err != nil {
			return 0, err
		}
		defer built.Close()
		result, err := built.Join(ctx, right)
		if sum, err = draw(ctx, result, err); err != nil {
			return 0, err
		}
		reader := array.NewTableReader(right, 5000)
		defer reader.Release()
		result, err = built.JoinStream(ctx, FromReader(reader))
		streamed, err := draw(ctx, result, err)
		return sum*3 + streamed, err
	}
	return all
}

// onEachDevice runs test with what opens engines on a device, one after the other, with a cap of host memory.
func onEachDevice(t *testing.T, deviceBytes uint64, test func(t *testing.T, open func(hostBytes uint64) *Engine)) {
	devicetest.ForEachDriver(t, func(t *testing.T, driver backend.Driver) {
		device := backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: deviceBytes})
		if device.Info().Backend == "vulkan" && os.Getenv("SPIRJOIN_TEST_VALIDATION") == "gpu" {
			t.Skip("instrumented shaders loop over the blocks of all joins: beyond lavapipe's limit of 65,535 trips")
		}
		defer func() { require.NoError(t, device.Close()) }()
		var e *Engine
		end := func() {
			if e != nil {
				free := e.join.Budget().Free()
				require.EqualValues(t, deviceBytes, free.Device[device], "all was given back")
				require.Equal(t, e.join.HostCapBytes(), free.Host)
				if pinned := pinnedOf(e); pinned != nil {
					pinned.Close()
				}
			}
		}
		defer func() { end() }()
		test(t, func(hostBytes uint64) *Engine {
			end()
			var err error
			e, err = newEngine([]*backend.Device{device}, Options{MemoryLimitBytes: hostBytes})
			require.NoError(t, err)
			return e
		})
	})
}

// heap is what of Go's heap was live at the last two collections. Garbage, of which there is more where cores are busy,
// is nobody's: one collection keeps what was allocated while it ran, the next does not.
type heap struct{ collections, last, before uint64 }

func (h *heap) bytes() uint64 {
	samples := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	if n := samples[0].Value.Uint64(); n != h.collections {
		h.collections, h.last, h.before = n, samples[1].Value.Uint64(), h.last
	}
	return min(h.last, h.before)
}

// pinnedOf is the allocator of pinned memory of an engine; nil if it has none.
func pinnedOf(e *Engine) *relation.PinnedAllocator {
	pinned, _ := e.devices[0].Allocator.(*relation.PinnedAllocator)
	return pinned
}

// takenBytes is what an engine takes of the host outside the heap: blocks of tables and batches, pinned memory, and
// memory of a device that lives in host memory. Buffers through which a device copies are the device's.
func takenBytes(e *Engine) uint64 {
	blocks, _ := offheap.Shared.Use()
	sizeBytes := uint64(blocks)
	if pinned := pinnedOf(e); pinned != nil {
		imported, _ := pinned.Pinned()
		sizeBytes += imported
	}
	if e.devices[0].Device.Info().InHostMemory() {
		sizeBytes += e.devices[0].Device.MemoryUse(backend.DeviceLocal).Blocks
	}
	return sizeBytes
}

// watch measures the most memory that is taken while do runs, without what is in the heap before.
func watch(e *Engine, do func()) (mostBytes uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	var live heap
	runtime.GC() // twice, because what pools hold outlives the first
	live.bytes()
	runtime.GC()
	before := live.bytes()
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			mostBytes = max(mostBytes, max(live.bytes(), before)-before+takenBytes(e))
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	do()
	close(done)
	watching.Wait()
	return mostBytes
}

// TestJoinsShareMemory runs joins of all kinds at once on one engine, under caps of host and device memory that are
// enough for two of the largest, and for hardly more than one. All end, and right. What is granted stays within the
// caps at every moment, and what is taken in fact, by the heap, tables, batches, pinned memory and memory of devices
// that live in host memory, within toleranceBytes more.
func TestJoinsShareMemory(t *testing.T) {
	devicetest.ShortOnHost(t)
	const deviceBytes, toleranceBytes = 32 << 20, 4 << 20
	rows := 60_000
	if testing.Short() {
		rows /= 3
	}
	left, right := budgetTables(t, rows, 3*rows)
	tableBytes := relation.TableBytes(left, right)
	all := kinds(left, right)
	onEachDevice(t, deviceBytes, func(t *testing.T, open func(hostBytes uint64) *Engine) {
		alone, want := open(1<<40), make(map[string]uint64)
		for name, run := range all {
			sum, err := run(t.Context(), alone)
			require.NoError(t, err, name)
			want[name] = sum
		}
		largest := alone.join.Budget().Most().Host
		for _, hostBytes := range []uint64{2*largest - tableBytes, largest + largest/64} {
			e := open(hostBytes)
			taken := watch(e, func() {
				var running sync.WaitGroup
				for name, run := range all {
					running.Go(func() {
						sum, err := run(t.Context(), e)
						if err != nil || sum != want[name] {
							t.Errorf("%s under %d bytes: %v, %d instead of %d", name, hostBytes, err, sum, want[name])
						}
					})
				}
				running.Wait()
			})
			most := e.join.Budget().Most()
			t.Logf("host: %d of %d granted, %d taken; device: %d of %d", most.Host, hostBytes, tableBytes+taken,
				most.Device[e.devices[0].Device], deviceBytes)
			require.LessOrEqual(t, most.Host, hostBytes)
			require.Greater(t, most.Host, hostBytes/2)
			require.LessOrEqual(t, most.Device[e.devices[0].Device], uint64(deviceBytes))
			require.LessOrEqual(t, e.devices[0].Device.MemoryUse(backend.DeviceLocal).Blocks, uint64(deviceBytes))
			require.LessOrEqual(t, tableBytes+taken, hostBytes+toleranceBytes)
		}
	})
}

// TestWaitForHostMemory: joins of all kinds wait for memory of the host that others hold, end with their context, and
// run once it is free. What the cap cannot hold is refused at once.
func TestWaitForHostMemory(t *testing.T) {
	devicetest.ShortOnHost(t)
	left, right := budgetTables(t, 5000, 20_000)
	onEachDevice(t, 1<<30, func(t *testing.T, open func(hostBytes uint64) *Engine) {
		e, want := open(1<<40), make(map[string]uint64)
		for name, run := range kinds(left, right) {
			sum, err := run(t.Context(), e)
			require.NoError(t, err, name)
			want[name] = sum
		}
		hostBytes := e.join.Budget().Most().Host
		e = open(hostBytes)
		others, err := e.join.Budget().Acquire(t.Context(), exec.Need{Host: hostBytes - 1000})
		require.NoError(t, err)
		for name, run := range kinds(left, right) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			_, err = run(ctx, e)
			require.ErrorIs(t, err, ErrTimedOut, name)
			cancel()
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err = e.Join(ctx, left, right, JoinSpec{On: []string{"k"}, Progress: func(at JoinProgress) {
			if at.Phase == "wait" {
				time.AfterFunc(20*time.Millisecond, cancel)
			}
		}})
		require.ErrorIs(t, err, ErrCancelled)
		require.ErrorContains(t, err, fmt.Sprintf("bytes of host memory are needed, 1000 of %d are free; raise memory_limit",
			hostBytes))
		require.Zero(t, e.join.Budget().Most().Device[e.devices[0].Device], "all memory is acquired at once, or none")
		var waiting sync.WaitGroup
		for name, run := range kinds(left, right) {
			waiting.Go(func() {
				if sum, err := run(t.Context(), e); err != nil || sum != want[name] {
					t.Errorf("%s: %v, %d instead of %d", name, err, sum, want[name])
				}
			})
		}
		others.Release()
		waiting.Wait()
		e = open(relation.TableBytes(left, right))
		for name, run := range kinds(left, right) {
			_, err := run(t.Context(), e)
			require.ErrorIs(t, err, ErrHostMemory, name)
			require.ErrorContains(t, err, "memory_limit", name)
		}
	})
}

// TestKeptMemoryIsGivenBack: memory that was kept for reuse goes when a query needs all there is.
func TestKeptMemoryIsGivenBack(t *testing.T) {
	left, right := budgetTables(t, 10_000, 100_000)
	onEachDevice(t, 1<<30, func(t *testing.T, open func(hostBytes uint64) *Engine) {
		const hostBytes = 1 << 30
		e := open(hostBytes)
		_, err := kinds(left, right)["inner"](t.Context(), e)
		require.NoError(t, err)
		if pinned := pinnedOf(e); pinned != nil {
			imported, _ := pinned.Pinned()
			require.Positive(t, imported, "kept")
		}
		all, err := e.join.Budget().Acquire(t.Context(), exec.Need{Host: hostBytes})
		require.NoError(t, err)
		require.Zero(t, takenBytes(e))
		_, system := offheap.Shared.Use()
		if pinnedOf(e) == nil {
			require.Zero(t, system)
		}
		all.Release()
	})
}

// TestUndrawnResultHoldsHostMemory: a result that nobody draws holds its memory, host memory included. A join that has
// no room beside it runs once it is closed.
func TestUndrawnResultHoldsHostMemory(t *testing.T) {
	left, right := budgetTables(t, 5000, 20_000)
	spec := JoinSpec{On: []string{"k"}, BatchRows: 1 << 10}
	onEachDevice(t, 1<<30, func(t *testing.T, open func(hostBytes uint64) *Engine) {
		e := open(1 << 40)
		result, err := e.Join(t.Context(), left, right, spec)
		want, err := draw(t.Context(), result, err)
		require.NoError(t, err)
		need := e.join.Budget().Most().Host

		e = open(need + need/16)
		undrawn, err := e.Join(t.Context(), left, right, spec)
		require.NoError(t, err)
		defer undrawn.Close()
		waits, loads := make(chan struct{}), make(chan struct{})
		later := spec
		later.Progress = func(at JoinProgress) {
			switch at.Phase {
			case "wait":
				close(waits)
			case "load left":
				close(loads)
			}
		}
		var got uint64
		var second sync.WaitGroup
		second.Go(func() {
			result, err := e.Join(t.Context(), left, right, later)
			if got, err = draw(t.Context(), result, err); err != nil {
				t.Error(err)
			}
		})
		<-waits
		select {
		case <-loads:
			t.Error("two joins have memory for one")
		case <-time.After(100 * time.Millisecond):
		}
		undrawn.Close()
		second.Wait()
		require.Equal(t, want, got)
	})
}
