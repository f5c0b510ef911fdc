package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
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
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// tables returns a primary-key and a foreign-key side.
func tables(t testing.TB, leftRows, rightRows int) (left, right arrow.Table) {
	kind := &keyKinds[0]
	random := rand.New(rand.NewPCG(uint64(leftRows), uint64(rightRows)))
	left = randomTable(random, leftRows, kind.left, kind, matchings[0].left, "k")
	right = randomTable(random, rightRows, kind.right, kind,
		func(r *rand.Rand, _, _ int) int64 { return int64(r.IntN(leftRows)) }, "r")
	t.Cleanup(left.Release)
	t.Cleanup(right.Release)
	return left, right
}

var onKeys = join.Spec{LeftOn: []string{"k0"}, RightOn: []string{"r0"}}

// drain joins, and reads the whole output or the count of it.
func drain(ctx context.Context, engine *engine.Engine, left, right arrow.Table, spec join.Spec) (rows int64, err error) {
	plan, err := engine.Plan(ctx, left, right, spec)
	if err != nil {
		return 0, err
	}
	if spec.Output != join.Count {
		return drawn(ctx, plan)
	}
	result, err := plan.Run(ctx)
	if err != nil {
		return 0, err
	}
	defer result.Close()
	return int64(result.Rows()), nil
}

// drawn runs a plan and reads the whole output.
func drawn(ctx context.Context, plan *engine.Plan) (rows int64, err error) {
	result, err := plan.Run(ctx)
	if err != nil {
		return 0, err
	}
	defer result.Close()
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			return rows, err
		}
		rows += batch.NumRows()
		batch.Release()
	}
	return rows, nil
}

// hostDevice opens the host backend; the returned function must find that everything was given back.
func hostDevice(t *testing.T, options host.Options, limits backend.DeviceOptions) (*backend.Device, func() error) {
	b := host.New(options)
	driver, err := b.Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, limits)
	return device, func() error { return errors.Join(device.Close(), b.Close()) }
}

// smallEngine joins in small tiles.
func smallEngine(t *testing.T, device *backend.Device) *engine.Engine {
	return limitedEngine(t, device, 0)
}

// limitedEngine is smallEngine with a cap of host memory. It refuses tables that the device is too small for.
func limitedEngine(t *testing.T, device *backend.Device, limitBytes uint64) *engine.Engine {
	engine := engine.NewEngine(jointest.Lane(t, device, small).Ops, memory.DefaultAllocator, limitBytes)
	engine.Undivided = true
	return engine
}

// needed is the memory that an error says is enough.
func needed(t *testing.T, err error) (sizeBytes uint64) {
	require.ErrorIs(t, err, backend.ErrDeviceMemory)
	_, text, found := strings.Cut(err.Error(), "raise device_memory to at least ")
	require.True(t, found, err)
	var unit rune
	_, err = fmt.Sscanf(text, "%d%c", &sizeBytes, &unit)
	require.NoError(t, err)
	return sizeBytes << map[rune]int{'K': 10, 'M': 20}[unit]
}

// TestLeastDeviceMemory: the memory that an error names is enough for a small join too, and a kibibyte less is not.
func TestLeastDeviceMemory(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	left, right := tables(t, 300, 1_000)
	for _, name := range algorithms {
		for _, output := range []join.Output{join.Rows, join.Count} {
			spec := onKeys
			spec.Algorithm, spec.Output = name, output
			run := func(capBytes uint64) (int64, error) {
				device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
				rows, err := drain(context.Background(), smallEngine(t, device), left, right, spec)
				require.NoError(t, done())
				return rows, err
			}
			_, err := run(1 << 10)
			least := needed(t, err)
			require.Less(t, least, uint64(1<<20))
			rows, err := run(least)
			require.NoError(t, err, "%s, %s", name, output)
			require.Equal(t, int64(1_000), rows)
			_, err = run(least - 1<<10)
			require.Equal(t, least, needed(t, err), "%s, %s", name, output)
		}
	}
}

// TestDeviceMemoryCap runs the same joins under falling caps: the result is the same under each until an error names the
// memory that is needed, and that much is enough.
func TestDeviceMemoryCap(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	left, right := tables(t, 60_000, 200_000)
	for _, c := range devicetest.Combinations(t, len(algorithms), 2) {
		spec := onKeys
		spec.BatchRows, spec.Algorithm, spec.Output = 1<<14, algorithms[c[0]], []join.Output{join.Rows, join.Count}[c[1]]
		run := func(capBytes uint64) (int64, uint64, error) {
			device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
			rows, err := drain(context.Background(), smallEngine(t, device), left, right, spec)
			peak := device.MemoryUse(backend.DeviceLocal).Peak
			require.NoError(t, done())
			return rows, peak, err
		}
		_, _, err := run(1 << 10)
		least := needed(t, err)
		for _, capBytes := range []uint64{least, least * 2, 0} {
			rows, peak, err := run(capBytes)
			require.NoError(t, err, "%s, %v, %d bytes", spec.Algorithm, spec.Output, capBytes)
			require.Equal(t, int64(200_000), rows)
			if capBytes > 0 {
				require.LessOrEqual(t, peak, capBytes)
			}
		}
	}
}

// TestBlockLimit: columns beyond one allocation need a device whose blocks may have several; otherwise the plan says
// so.
func TestBlockLimit(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	left, right := tables(t, 60_000, 200_000)
	run := func(options host.Options) (int64, uint64, error) {
		device, done := hostDevice(t, options, backend.DeviceOptions{})
		rows, err := drain(context.Background(), smallEngine(t, device), left, right, onKeys)
		peak := device.MemoryUse(backend.DeviceLocal).Peak
		require.NoError(t, done())
		return rows, peak, err
	}
	_, peak, err := run(host.Options{MaxAllocationBytes: 50_000, MaxBlockBytes: 100_000})
	require.ErrorIs(t, err, backend.ErrDeviceMemory)
	require.ErrorContains(t, err, "in one buffer, the device allows 100000")
	require.Zero(t, peak, "nothing was allocated for a plan that cannot run")
	rows, _, err := run(host.Options{MaxAllocationBytes: 100_000, MaxBlockBytes: 64 << 20})
	require.NoError(t, err)
	require.Equal(t, int64(200_000), rows)
}

// TestMemoryLimit holds joins against the cap of host memory. The need that an error names is enough.
func TestMemoryLimit(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	left, right := tables(t, 60_000, 200_000)
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	for _, output := range []join.Output{join.Rows, join.Pairs, join.Count} {
		spec := onKeys
		spec.Output = output
		_, err := limitedEngine(t, device, 1).Plan(context.Background(), left, right, spec)
		require.ErrorIs(t, err, backend.ErrHostMemory)
		require.ErrorContains(t, err, "raise memory_limit")
		var need uint64
		_, scanErr := fmt.Sscanf(err.Error()[strings.Index(err.Error(), "need "):], "need %d bytes", &need)
		require.NoError(t, scanErr)
		require.Greater(t, need, uint64(200_000*20), "both tables count")
		_, err = limitedEngine(t, device, need-1).Plan(context.Background(), left, right, spec)
		require.ErrorIs(t, err, backend.ErrHostMemory, output)
		plan, err := limitedEngine(t, device, need).Plan(context.Background(), left, right, spec)
		require.NoError(t, err, output)
		result, err := plan.Run(context.Background())
		require.NoError(t, err)
		if output == join.Rows {
			rows := int64(0)
			for batch, err := range result.Batches(context.Background()) {
				require.NoError(t, err)
				require.LessOrEqual(t, batch.NumRows(), int64(1<<10), "the smallest batches")
				rows += batch.NumRows()
				batch.Release()
			}
			require.EqualValues(t, 200_000, rows)
		}
		result.Close()
	}
	require.NoError(t, done())
}

// TestMemoryLimitOfManyPairs: under a cap of host memory, windows and granules of a device whose memory is host memory are
// as small as they would be under a cap of device memory.
func TestMemoryLimitOfManyPairs(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	left := keyed(t, "k", 2_000, func(i int) int64 { return int64(i % 10) })
	right := keyed(t, "k", 5_000, func(i int) int64 { return int64(i % 10) })
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	for _, algorithm := range algorithms {
		engine := limitedEngine(t, device, 16<<20) // the output takes 28 MB
		plan, err := engine.Plan(context.Background(), left, right, join.Spec{On: onK, Algorithm: algorithm})
		require.NoError(t, err, algorithm)
		rows, err := drawn(context.Background(), plan)
		require.NoError(t, err, algorithm)
		require.EqualValues(t, 10*200*500, rows)
		require.LessOrEqual(t, engine.Budget().Most().Host, uint64(16<<20))
	}
	require.NoError(t, done())
}

// TestConcurrentJoins runs eight joins at once on one engine under a cap that holds two of them: some wait, and all
// succeed.
func TestConcurrentJoins(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 20_000, 60_000)
	spec := onKeys
	spec.BatchRows, spec.Algorithm = 1<<12, "phj-om"
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	plan, err := smallEngine(t, device).Plan(context.Background(), left, right, spec)
	require.NoError(t, err)
	one := plan.Alternatives[0].PeakBytes
	require.NoError(t, done())

	device, done = hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: 2*one + one/2})
	engine := smallEngine(t, device)
	var joins sync.WaitGroup
	rows, errs := make([]int64, 8), make([]error, 8)
	for i := range rows {
		joins.Go(func() {
			rows[i], errs[i] = drain(context.Background(), engine, left, right, spec)
		})
	}
	joins.Wait()
	for i := range rows {
		require.NoError(t, errs[i])
		require.EqualValues(t, 60_000, rows[i])
	}
	require.LessOrEqual(t, device.MemoryUse(backend.DeviceLocal).Peak, 2*one+one/2)
	noMemoryInUse(t, device)
	require.NoError(t, done())
}

// TestUndrawnResultHoldsMemory: a join waits for the memory of a result that nobody draws, and goes on when that is
// closed, or ends with its own context.
func TestUndrawnResultHoldsMemory(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	left, right := tables(t, 20_000, 60_000)
	spec := onKeys
	spec.BatchRows, spec.Algorithm = 1<<12, "smj-um"
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: 1})
	_, err := smallEngine(t, device).Plan(context.Background(), left, right, spec)
	least := needed(t, err)
	require.NoError(t, done())

	device, done = hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: least})
	engine := smallEngine(t, device)
	plan, err := engine.Plan(context.Background(), left, right, spec)
	require.NoError(t, err)
	undrawn, err := plan.Run(context.Background())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = drain(ctx, engine, left, right, spec)
	require.ErrorIs(t, err, backend.ErrTimedOut)
	waiting := make(chan struct{})
	spec.Progress = func(at join.Progress) {
		if at.Phase == "wait" {
			close(waiting)
		}
	}
	var rows int64
	var second sync.WaitGroup
	second.Go(func() { rows, err = drain(context.Background(), engine, left, right, spec) })
	<-waiting
	undrawn.Close()
	second.Wait()
	require.NoError(t, err)
	require.EqualValues(t, 60_000, rows)
	noMemoryInUse(t, device)
	require.NoError(t, done())
}

// TestAbandonedStream stops reading after the first batch.
func TestAbandonedStream(t *testing.T) {
	left, right := tables(t, 1000, 9000)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops := jointest.Lane(t, device, small).Ops
		allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer allocator.AssertSize(t, 0)
		engine := engine.NewEngine(ops, allocator, 0)
		spec := onKeys
		spec.BatchRows, spec.Materialize = 1<<10, join.MaterializeDevice
		for range 2 {
			plan, err := engine.Plan(context.Background(), left, right, spec)
			require.NoError(t, err)
			result, err := plan.Run(context.Background())
			require.NoError(t, err)
			for batch, err := range result.Batches(context.Background()) {
				require.NoError(t, err)
				batch.Release()
				break
			}
			noMemoryInUse(t, device) // before Close
			result.Close()
			spec.Order = join.LeftOrder
		}
	})
}

// TestHugeBatches asks for more rows a batch than row numbers can count.
func TestHugeBatches(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 100, 900)
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: 1 << 40})
	spec := onKeys
	spec.BatchRows = math.MaxInt
	plan, err := smallEngine(t, device).Plan(context.Background(), left, right, spec)
	require.NoError(t, err)
	require.Contains(t, plan.String(), "batches of at most 4,294,967,294 rows")
	require.NoError(t, done())
}

// TestMemoryLimitOfSlices joins a table whose many chunks are slices of one array: its memory counts once.
func TestMemoryLimitOfSlices(t *testing.T) {
	devicetest.HostTest(t)
	const rows, sliceRows = 1 << 18, 1 << 10
	left, _ := tables(t, 100, 0)
	builder := array.NewInt32Builder(memory.DefaultAllocator)
	defer builder.Release()
	builder.AppendValues(make([]int32, rows), nil)
	values := builder.NewArray()
	defer values.Release()
	var slices []arrow.Array
	for from := int64(0); from < rows; from += sliceRows {
		slice := array.NewSlice(values, from, from+sliceRows)
		defer slice.Release()
		slices = append(slices, slice)
	}
	field := arrow.Field{Name: "r0", Type: arrow.PrimitiveTypes.Int32}
	chunked := arrow.NewChunked(field.Type, slices)
	defer chunked.Release()
	sliced := array.NewTable(arrow.NewSchema([]arrow.Field{field}, nil),
		[]arrow.Column{*arrow.NewColumn(field, chunked)}, rows)
	defer sliced.Release()
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	joined, err := drain(context.Background(), limitedEngine(t, device, 64<<20), left, sliced, onKeys)
	require.NoError(t, err)
	require.Equal(t, int64(rows), joined)
	require.NoError(t, done())
}

// TestRowLimit: tables, chunks and outputs have one limit and say it in the same words.
func TestRowLimit(t *testing.T) {
	require.EqualValues(t, math.MaxUint32-1, primitive.MaxRows)
	table := func(rows int) arrow.Table { // of nulls, which take no memory
		nulls := array.NewNull(rows)
		defer nulls.Release()
		column := arrow.NewColumnFromArr(arrow.Field{Name: "k", Type: arrow.Null, Nullable: true}, nulls)
		defer column.Release()
		return array.NewTable(arrow.NewSchema([]arrow.Field{column.Field()}, nil), []arrow.Column{column}, int64(rows))
	}
	limits := map[string]func(rows uint64) error{
		"primitive": func(rows uint64) error { return primitive.CheckRows("scan", rows) },
		"chunk": func(rows uint64) error {
			c := relation.Chunk{Rows: rows, Keys: relation.Values{Data: backend.Range{SizeBytes: rows * 4}, Bytes: 4}}
			return c.Check("join")
		},
		"table": func(rows uint64) error {
			large, small := table(int(rows)), table(1)
			defer large.Release()
			defer small.Release()
			_, err := keys.PlanJoin(t.Context(), large, small, []string{"no such"}, []string{"k"})
			if errors.Is(err, backend.ErrInvalidInput) { // which is found out later
				return nil
			}
			return err
		},
	}
	for name, check := range limits {
		require.NoError(t, check(primitive.MaxRows), name)
		err := check(primitive.MaxRows + 1)
		require.ErrorIs(t, err, backend.ErrLimit, name)
		require.ErrorContains(t, err, "4294967295 rows, the limit is 4294967294", name)
	}
}
