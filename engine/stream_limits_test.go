package engine_test

import (
	"context"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"
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
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/source"
)

// TestStreamLimits: what would need the whole probe side is refused; rows are limited over all parts; keys of the build
// side are proved unique.
func TestStreamLimits(t *testing.T) {
	left, right := rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 700, 150, arrow.PrimitiveTypes.Int64)
	sources := [2]source.Source{source.FromTable(left), sourceOf(right, 50)}
	keys := keyed(t, "k", 120, func(i int) int64 { return int64(i) })
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		engine.GranuleRows = 100
		stream := func(sources [2]source.Source, spec join.Spec) (int, error) {
			spec.On = onK
			result, err := engine.Stream(context.Background(), sources[0], sources[1], spec)
			if err != nil {
				return 0, err
			}
			defer result.Close()
			for batch, err := range result.Batches(context.Background()) {
				if err != nil {
					return 0, err
				}
				batch.Release()
			}
			return int(result.Rows()), nil
		}
		for _, spec := range []join.Spec{{Validate: join.OneToOne},
			{Validate: join.ManyToOne, BuildSide: join.BuildLeft}, {Order: join.LeftOrder, BuildSide: join.BuildLeft}} {
			_, err := stream(sources, spec)
			require.ErrorIs(t, err, backend.ErrUnsupported, "%+v", spec)
		}
		_, err := stream(sources, join.Spec{Validate: join.OneToMany})
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, "keys of the left table must be unique")
		rows, err := stream([2]source.Source{sources[1], source.FromTable(keys)}, join.Spec{Validate: join.ManyToOne})
		require.NoError(t, err)
		rowsOf := len(oracle.Join(right, keys, join.Spec{On: onK}))
		require.Equal(t, rowsOf, rows)
		for _, most := range []int{rowsOf - 1, rowsOf} {
			_, err := stream([2]source.Source{sources[1], source.FromTable(keys)}, join.Spec{MaxOutputRows: uint64(most)})
			if most == rowsOf {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, backend.ErrLimit)
			}
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamsUnderOneCap: many streams at once on an engine whose device memory is enough for few of them all end, and
// right.
func TestStreamsUnderOneCap(t *testing.T) {
	devicetest.HostTest(t)
	const without = 40_000 // rows, the first ones, that have no key
	left := keyed(t, "k", 3000, func(i int) int64 { return int64(i) })
	rights := [2]arrow.Table{keyed(t, "k", 200_000, func(i int) int64 { return int64(i % 3000) }),
		keyed(t, "k", 200_000+without, func(i int) int64 {
			if i < without {
				return -1
			}
			return int64(i % 3000)
		})}
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: 4 << 20})
	engine := smallEngine(t, device)
	engine.GranuleRows = 1 << 14
	var running sync.WaitGroup
	for i := range 12 {
		running.Go(func() {
			spec := join.Spec{On: onK, Algorithm: algorithms[i%len(algorithms)], BatchRows: 1 << 12}
			random := rand.New(rand.NewPCG(uint64(i), 1))
			result, err := engine.Stream(context.Background(), source.FromTable(left), sourceOf(rights[i%2], 3000), spec)
			if err != nil {
				t.Errorf("%s: %v", spec.Algorithm, err)
				return
			}
			defer result.Close()
			rows := int64(0)
			for batch, err := range result.Batches(context.Background()) {
				if err != nil {
					t.Errorf("%s: %v", spec.Algorithm, err)
					return
				}
				rows += batch.NumRows()
				batch.Release()
				time.Sleep(time.Duration(random.IntN(100)) * time.Microsecond)
			}
			if rows != 200_000 {
				t.Errorf("%s: %d rows", spec.Algorithm, rows)
			}
		})
	}
	running.Wait()
	require.NoError(t, done())
}

// TestStreamsBeginInTurn: under a limit of host memory, a stream begins when the one before it has its build side and a
// first part; then both run side by side. Joins of tables do not wait. Without a limit, no stream waits.
func TestStreamsBeginInTurn(t *testing.T) {
	devicetest.HostTest(t)
	left := keyed(t, "k", 300, func(i int) int64 { return int64(i) })
	right := keyed(t, "k", 5000, func(i int) int64 { return int64(i % 300) })
	spec := join.Spec{On: onK, BuildSide: join.BuildLeft, BatchRows: 512}
	for _, limitBytes := range []uint64{64 << 20, 0} {
		device, done := hostDevice(t, host.Options{Discrete: true}, backend.DeviceOptions{})
		e := limitedEngine(t, device, limitBytes)
		e.GranuleRows = 1024
		// The slow source gives less than a part, waits, and then all rows.
		waits, goOn := make(chan struct{}), make(chan struct{})
		slow := counted{source: sourceOf(right, 500), after: 1, then: func(_ context.Context,
			yield func(arrow.RecordBatch, error) bool) {
			close(waits)
			<-goOn
			for batch, err := range sourceOf(right, 500).Batches(context.Background()) {
				if !yield(batch, err) {
					return
				}
			}
		}}
		fast := counted{source: sourceOf(right, 500), after: 1 << 20}
		begin := func(probe *counted) chan *engine.Result {
			begun := make(chan *engine.Result, 1)
			go func() {
				result, err := e.Stream(context.Background(), source.FromTable(left), probe.of(), spec)
				if err != nil {
					t.Errorf("limit %d: %v", limitBytes, err)
				}
				begun <- result
			}()
			return begun
		}
		first := begin(&slow)
		<-waits
		second := begin(&fast)
		rows, err := drain(context.Background(), e, left, right, spec)
		require.NoError(t, err)
		require.EqualValues(t, 5000, rows)
		if limitBytes > 0 {
			time.Sleep(50 * time.Millisecond)
			require.Zero(t, fast.drawn.Load())
			require.Empty(t, second)
			close(goOn)
		}
		results := []*engine.Result{<-second}
		if limitBytes == 0 {
			close(goOn)
		}
		results = append(results, <-first)
		var next []func() (arrow.RecordBatch, error, bool)
		for _, result := range results {
			pull, stop := iter.Pull2(result.Batches(context.Background()))
			defer stop()
			next = append(next, pull)
		}
		var drawn [2]int64
		for open := 2; open > 0; { // batch by batch by turns
			open = 0
			for i, pull := range next {
				if batch, err, more := pull(); more {
					require.NoError(t, err)
					drawn[i] += batch.NumRows()
					batch.Release()
					open++
				}
			}
		}
		require.Equal(t, [2]int64{5000, 5000 + 500}, drawn)
		for _, result := range results {
			result.Close()
		}
		require.NoError(t, done())
	}
}

// TestStreamMemoryLimit: parts are as small as the cap of host memory asks for, and a batch that is beyond it is an
// error.
func TestStreamMemoryLimit(t *testing.T) {
	devicetest.HostTest(t)
	left := keyed(t, "k", 3000, func(i int) int64 { return int64(i) })
	right := keyed(t, "k", 500_000, func(i int) int64 { return int64(i % 3000) })
	device, done := hostDevice(t, host.Options{Discrete: true}, backend.DeviceOptions{})
	spec := join.Spec{On: onK, BuildSide: join.BuildLeft, BatchRows: 1 << 12}
	stream := func(limitBytes uint64, batchRows int64) (*engine.Result, error) {
		engine := limitedEngine(t, device, limitBytes)
		result, err := engine.Stream(context.Background(), source.FromTable(left), sourceOf(right, batchRows), spec)
		if err != nil {
			return nil, err
		}
		defer result.Close()
		rows := int64(0)
		for batch, err := range result.Batches(context.Background()) {
			if err != nil {
				return nil, err
			}
			rows += batch.NumRows()
			batch.Release()
		}
		require.EqualValues(t, right.NumRows(), rows)
		return result, nil
	}
	granules := make(map[uint64]uint64)
	for _, limitBytes := range []uint64{0, 64 << 20, 20 << 20} {
		result, err := stream(limitBytes, 5000)
		require.NoError(t, err, limitBytes)
		granules[limitBytes] = result.Stats().Granules
	}
	require.EqualValues(t, 1, granules[0])
	require.Greater(t, granules[20<<20], granules[64<<20])
	_, err := stream(20<<20, 0)
	require.ErrorIs(t, err, backend.ErrHostMemory)
	require.ErrorContains(t, err, "a record batch takes")
	_, err = stream(1<<20, 5000)
	require.ErrorIs(t, err, backend.ErrHostMemory)
	require.ErrorContains(t, err, "raise memory_limit")
	require.NoError(t, done())
}

// TestStreamHoldsFewParts: however long a source is, no more of it is in memory than a few parts and what is read.
func TestStreamHoldsFewParts(t *testing.T) {
	devicetest.ShortOnHost(t)
	const batchRows, batches, partBatches = 1000, 120, 4
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	left := keyed(t, "k", 3000, func(i int) int64 { return int64(i) })
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		engine.GranuleRows = batchRows * partBatches
		for _, c := range devicetest.Combinations(t, len(kinds)-2, len(algorithms)) {
			of := memory.NewCheckedAllocator(memory.DefaultAllocator)
			var most atomic.Int64 // batches that were there at a time
			from := source.Source{Schema: schema, Rows: batchRows * batches,
				Batches: func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
					return func(yield func(arrow.RecordBatch, error) bool) {
						one := 0
						for n := range batches {
							b := array.NewRecordBuilder(of, schema)
							for i := range batchRows {
								b.Field(0).(*array.Int64Builder).Append(int64((n*batchRows + i) % 4000))
								b.Field(1).(*array.StringBuilder).Append("text")
							}
							batch := b.NewRecordBatch()
							b.Release()
							if n == 0 {
								one = of.CurrentAlloc()
							}
							most.Store(max(most.Load(), int64((of.CurrentAlloc()+one-1)/one)))
							if !yield(batch, nil) {
								return
							}
						}
					}
				}}
			spec := join.Spec{On: onK, How: kinds[c[0]], Algorithm: algorithms[c[1]], BuildSide: join.BuildLeft, BatchRows: 500}
			result, err := engine.Stream(context.Background(), source.FromTable(left), from, spec)
			require.NoError(t, err)
			for batch, err := range result.Batches(context.Background()) {
				require.NoError(t, err)
				batch.Release()
			}
			require.EqualValues(t, batches/partBatches, result.Stats().Granules)
			result.Close()
			require.LessOrEqual(t, uint64(most.Load()), query.PartsAtOnce(!device.Info().Unified)*partBatches+2)
			of.AssertSize(t, 0)
		}
		noMemoryInUse(t, device)
	})
}
