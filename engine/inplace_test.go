package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/join"
)

// inPlaceTable has a key k, a column w of 8 bytes and a column n of 4 bytes with NULLs, in one chunk each.
func inPlaceTable(rows, stride int, allocator memory.Allocator) arrow.Table {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "w", Type: arrow.PrimitiveTypes.Int64}, {Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	values := array.NewRecordBuilder(allocator, schema)
	defer values.Release()
	for i := range rows {
		values.Field(0).(*array.Int64Builder).Append(int64(i * stride % rows))
		values.Field(1).(*array.Int64Builder).Append(int64(i) << 33)
		values.Field(2).(*array.Int32Builder).Append(int32(-i))
		if i%7 == 0 {
			values.Field(2).(*array.Int32Builder).SetNull(i)
		}
	}
	batch := values.NewRecordBatch()
	defer batch.Release()
	return array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
}

// part is rows of a table in these many chunks.
func part(table arrow.Table, from, to int64, chunks int64) arrow.Table {
	var records []arrow.RecordBatch
	reader := array.NewTableReader(table, table.NumRows())
	defer reader.Release()
	reader.Next()
	for c := range chunks {
		records = append(records, reader.RecordBatch().NewSlice(from+(to-from)*c/chunks, from+(to-from)*(c+1)/chunks))
		defer records[c].Release()
	}
	return array.NewTableFromRecords(table.Schema(), records)
}

// TestInPlace: on CPU cores, columns of 4 and 8 bytes in one chunk are read where the table has them, if their first
// value is where an argument may begin; other columns are copied. Either way the answer is the same, in one granule and
// in several, and for joins at a time over parts of a table that overlap. When a join has ended, the memory of its tables
// can be freed.
func TestInPlace(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEach(t, testInPlace)
}

func testInPlace(t *testing.T, device *backend.Device) {
	allocator := memory.NewCheckedAllocator(&offheap.Shared) // whole pages, as lavapipe imports them
	defer allocator.AssertSize(t, 0)
	info := device.Info()
	never := !info.CPULike() || !info.Unified || info.Limits.ImportAlignment == 0
	engine := smallEngine(t, device)
	var mu sync.Mutex
	uploaded, awaited := make(map[string]bool), make(map[string]bool)
	defer device.Observe(nil)
	device.Observe(func(e backend.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Range.Buffer == nil || e.Kind != backend.Uploaded && e.Kind != backend.Waited {
			return
		}
		if _, column, ok := strings.Cut(e.Range.Buffer.Label(), " column "); ok {
			map[bool]map[string]bool{true: uploaded, false: awaited}[e.Kind == backend.Uploaded][column] = true
		}
	})
	left, right := inPlaceTable(3_000, 7, allocator), inPlaceTable(20_000, 3, allocator)
	defer left.Release()
	defer right.Release()
	for _, c := range []struct {
		from, chunks int64
		granule      uint64
		copied       bool
	}{{0, 1, 0, false}, {0, 1, 1 << 13, false}, {0, 1, 5000, true}, {64, 1, 0, false}, {3, 1, 0, true}, {0, 2, 0, true}} {
		for _, algorithm := range []string{"phj-om", "phj-um", "smj-om", "hj"} {
			if devicetest.RaceDetector && algorithm != "phj-um" {
				continue // joins at a time follow below
			}
			t.Run(fmt.Sprintf("%+v/%s", c, algorithm), func(t *testing.T) {
				c.copied = c.copied || never
				clear(uploaded)
				clear(awaited)
				probe := part(right, c.from, 20_000, c.chunks)
				defer probe.Release()
				spec := join.Spec{On: onK, Algorithm: algorithm, Columns: []string{"k", "w_right", "n_right"},
					Materialize: join.MaterializeDevice, How: join.Full}
				checkOn(t, engine, left, probe, spec, [2]uint64{c.granule, 0})
				require.Equal(t, c.copied, uploaded["w"], "%v", uploaded)
				require.Equal(t, c.copied, uploaded["n"], "%v", uploaded)
				require.True(t, c.copied || awaited["w"], "it is released when the device no longer reads it")
			})
		}
	}
	engine.GranuleRows = 0
	spec := join.Spec{On: onK, Algorithm: "phj-um", Materialize: join.MaterializeDevice}
	var joins sync.WaitGroup
	var checks [6]func()
	for from := range checks {
		probe := part(right, 64*int64(from), 20_000-int64(from), 1)
		defer probe.Release()
		joins.Go(func() { checks[from] = joined(t, engine, left, probe, spec) })
	}
	joins.Wait()
	for _, check := range checks {
		check()
	}
}

// joined joins in a goroutine of its own, and returns the comparison with the oracle.
func joined(t *testing.T, engine *engine.Engine, left, right arrow.Table, spec join.Spec) (check func()) {
	var batches []arrow.RecordBatch
	plan, err := engine.Plan(context.Background(), left, right, spec)
	if err == nil {
		batches, err = collect(plan)
	}
	return func() {
		require.NoError(t, err)
		oracle.Require(t, left, right, plan.Layout, batches)
		for _, batch := range batches {
			batch.Release()
		}
	}
}

func collect(plan *engine.Plan) (batches []arrow.RecordBatch, err error) {
	result, err := plan.Run(context.Background())
	if err != nil {
		return nil, err
	}
	defer result.Close()
	for batch, err := range result.Batches(context.Background()) {
		if err != nil {
			return batches, err
		}
		batches = append(batches, batch)
	}
	return batches, nil
}

// TestInPlaceOverlapping: columns whose buffers overlap memory that is imported already, and go beyond it, are copied.
// A join has memory for the copies before it begins: under a cap that holds two joins without copies, all of several
// succeed, one by one.
func TestInPlaceOverlapping(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	rows := 300_000
	if devicetest.RaceDetector {
		rows = 50_000
	}
	left, right := inPlaceTable(rows/10, 7, memory.DefaultAllocator), inPlaceTable(rows, 3, memory.DefaultAllocator)
	defer left.Release()
	defer right.Release()
	spec := join.Spec{On: onK, Algorithm: "phj-um", Materialize: join.MaterializeDevice}
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	plan, err := smallEngine(t, device).Plan(t.Context(), left, right, spec)
	require.NoError(t, err)
	capBytes := 2 * plan.Alternatives[0].PeakBytes
	require.NoError(t, done())

	device, done = hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
	defer func() { require.NoError(t, done()) }()
	for i := range int(right.NumCols()) {
		buffer := right.Column(i).Data().Chunk(0).Data().Buffers()[1]
		imported, err := device.Import(t.Context(), buffer.Bytes()[:4096], "another")
		require.NoError(t, err)
		defer imported.Release()
	}
	engine := smallEngine(t, device)
	var joins sync.WaitGroup
	var checks [4]func()
	for i := range checks {
		joins.Go(func() { checks[i] = joined(t, engine, left, right, spec) })
	}
	joins.Wait()
	for _, check := range checks {
		check()
	}
	require.LessOrEqual(t, device.MemoryUse(backend.DeviceLocal).Peak, capBytes)
}
