package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

// benchTable has an int64 key k, shuffled and unique or random below distinct, and an int64 payload.
func benchTable(rows, distinct int, payload string, allocator memory.Allocator) arrow.Table {
	random := rand.New(rand.NewPCG(uint64(rows), 1))
	buffers := [2]*memory.Buffer{memory.NewResizableBuffer(allocator), memory.NewResizableBuffer(allocator)}
	for _, buffer := range buffers {
		buffer.Resize(8 * rows)
	}
	keys, values := arrow.Int64Traits.CastFromBytes(buffers[0].Bytes()), arrow.Int64Traits.CastFromBytes(buffers[1].Bytes())
	for i := range keys {
		keys[i], values[i] = int64(i), random.Int64()
		if distinct > 0 {
			keys[i] = int64(random.IntN(distinct))
		}
	}
	if distinct == 0 {
		random.Shuffle(rows, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	}
	column := func(buffer *memory.Buffer) arrow.Array {
		defer buffer.Release()
		return array.MakeFromData(array.NewData(arrow.PrimitiveTypes.Int64, rows, []*memory.Buffer{nil, buffer}, nil, 0, 0))
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: payload, Type: arrow.PrimitiveTypes.Int64}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{column(buffers[0]), column(buffers[1])}, int64(rows))
	return array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
}

// BenchmarkJoin joins unique with foreign 64-bit keys on the host and on the Vulkan devices at hand, and reports the
// device time of each stage. Every answer is verified. SPIRJOIN_BENCH_ROWS is the number of rows on the right, 40 M by
// default; the left has SPIRJOIN_BENCH_LEFT, by default a quarter. Where the device has its own memory, tables are in
// ordinary memory and in pinned memory, and output is in pinned memory.
func BenchmarkJoin(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 40_000_000)
	leftRows := devicetest.Rows(b, "SPIRJOIN_BENCH_LEFT", rows/4)
	run := func(device *backend.Device, name, from string, left, right arrow.Table, to memory.Allocator, spec join.Spec) {
		ops, err := primitive.New(device, nil)
		require.NoError(b, err)
		engine := engine.NewEngine(ops, to, 0)
		b.Run(fmt.Sprintf("rows=%dx%d/from=%s/output=%s/device=%s", leftRows, rows, from, spec.Output, name), func(b *testing.B) {
			for range b.N {
				plan, err := engine.Plan(context.Background(), left, right, spec)
				require.NoError(b, err)
				result, err := plan.Run(context.Background())
				require.NoError(b, err)
				if spec.Output == join.Rows {
					n := int64(0)
					for batch, err := range result.Batches(context.Background()) {
						require.NoError(b, err)
						n += batch.NumRows()
						batch.Release()
					}
					require.Equal(b, int64(rows), n)
				}
				require.Equal(b, uint64(rows), result.Rows())
				stats := result.Stats()
				b.ReportMetric(stats.MatchSeconds*1000, "ms-match")
				b.ReportMetric(stats.TotalSeconds*1000, "ms-run")
				for stage, seconds := range stats.StageSeconds {
					b.ReportMetric(seconds*1000, "ms-"+strings.ReplaceAll(stage, " ", "-"))
				}
				b.ReportMetric(stats.EncodeSeconds*1000, "ms-encode")
				b.ReportMetric(float64(stats.DevicePeakBytes)/float64(leftRows+rows), "peak-B/row")
				result.Close()
			}
			b.ReportMetric(float64(leftRows+rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
	devicetest.Bench(b, func(device *backend.Device, name string) {
		pins := relation.NewPinnedAllocator(device, 1<<40)
		defer pins.Close()
		from, to := []memory.Allocator{memory.DefaultAllocator}, memory.Allocator(&offheap.Shared)
		if !device.Info().Unified {
			from, to = append(from, pins), pins
		}
		for i, allocator := range from {
			left, right := benchTable(leftRows, 0, "l", allocator), benchTable(rows, leftRows, "r", allocator)
			for _, output := range []join.Output{join.Count, join.Rows} {
				run(device, name, []string{"heap", "pinned"}[i], left, right, to, join.Spec{On: []string{"k"}, Output: output})
			}
			left.Release()
			right.Release()
		}
	})
}

// wideTable has an int64 key k, shuffled and unique or random below distinct, and columns of a numeric type.
func wideTable(rows, distinct, columns int, dt arrow.DataType, side string) arrow.Table {
	random := rand.New(rand.NewPCG(uint64(rows), 2))
	keys, permutation := make([]int64, rows), []int(nil)
	if distinct == 0 {
		permutation = random.Perm(rows)
	}
	for i := range keys {
		if keys[i] = int64(random.Uint64N(uint64(max(1, distinct)))); distinct == 0 {
			keys[i] = int64(permutation[i])
		}
	}
	fields, arrays := []arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}}, []arrow.Array(nil)
	add := func(dt arrow.DataType, values []byte) {
		arrays = append(arrays, array.MakeFromData(array.NewData(dt, rows,
			[]*memory.Buffer{nil, memory.NewBufferBytes(values)}, nil, 0, 0)))
	}
	add(arrow.PrimitiveTypes.Int64, backend.AsBytes(keys))
	for i := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint(side, i), Type: dt})
		values := make([]byte, rows*dt.(arrow.FixedWidthDataType).Bytes())
		for at := range values {
			values[at] = byte(at * (i + 3))
		}
		add(dt, values)
	}
	schema := arrow.NewSchema(fields, nil)
	return array.NewTableFromRecords(schema, []arrow.RecordBatch{array.NewRecordBatch(schema, arrays, int64(rows))})
}

// BenchmarkMaterialize joins unique with foreign 64-bit keys, with columns gathered on the host and on the device, in
// turn, and reports the median of each and what the planner chooses. SPIRJOIN_BENCH_ROWS is the number of rows on the
// right, 4 M by default; the left has a quarter. Figures are the medians of b.N runs.
func BenchmarkMaterialize(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 4_000_000)
	devicetest.Bench(b, func(device *backend.Device, name string) {
		ops, err := primitive.New(device, nil)
		require.NoError(b, err)
		for _, c := range []struct {
			columns int
			dt      arrow.DataType
		}{{1, arrow.PrimitiveTypes.Int32}, {1, arrow.PrimitiveTypes.Int64}, {3, arrow.PrimitiveTypes.Int32},
			{3, arrow.PrimitiveTypes.Int64}, {3, arrow.PrimitiveTypes.Int16},
			{3, &arrow.Decimal128Type{Precision: 38, Scale: 2}}} {
			left := wideTable(rows/4, 0, c.columns, c.dt, "l")
			right := wideTable(rows, rows/4, c.columns, c.dt, "r")
			engine := engine.NewEngine(ops, &offheap.Shared, 0)
			b.Run(fmt.Sprintf("columns=%d/type=%s/rows=%d/device=%s", c.columns, c.dt, rows, name), func(b *testing.B) {
				times := make(map[join.Materialize][]float64)
				places := []join.Materialize{join.MaterializeHost, join.MaterializeDevice}
				for range b.N {
					for _, place := range places {
						plan, err := engine.Plan(context.Background(), left, right,
							join.Spec{On: []string{"k"}, Materialize: place})
						require.NoError(b, err)
						start := time.Now()
						got, err := drawn(context.Background(), plan)
						require.NoError(b, err)
						require.EqualValues(b, rows, got)
						times[place] = append(times[place], float64(time.Since(start).Microseconds())/1000)
					}
				}
				plan, err := engine.Plan(context.Background(), left, right, join.Spec{On: []string{"k"}})
				require.NoError(b, err)
				taken := &plan.Alternatives[0]
				b.Logf("planned: %s on the %s; %s", taken.Algorithm.Name(), taken.Place, plan)
				for i, place := range []string{"ms-host", "ms-device"} {
					slices.Sort(times[places[i]])
					b.ReportMetric(times[places[i]][b.N/2], place)
				}
			})
			left.Release()
			right.Release()
		}
	})
}

// hexKeys is the keys of a table as texts of 16 bytes, which are random: none has a prefix in common with others.
func hexKeys(table arrow.Table) arrow.Table {
	rows := int(table.NumRows())
	texts, starts := make([]byte, 0, rows*16), make([]int32, 1, rows+1)
	for _, chunk := range table.Column(0).Data().Chunks() {
		for _, key := range chunk.(*array.Int64).Int64Values() {
			texts = fmt.Appendf(texts, "%016x", uint64(key+1)*0x9e3779b97f4a7c15)
			starts = append(starts, int32(len(texts)))
		}
	}
	keys := array.MakeFromData(array.NewData(arrow.BinaryTypes.String, rows,
		[]*memory.Buffer{nil, memory.NewBufferBytes(backend.AsBytes(starts)), memory.NewBufferBytes(texts)}, nil, 0, 0))
	field := arrow.Field{Name: "k", Type: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{field, table.Schema().Field(1)}, nil)
	return array.NewTable(schema, []arrow.Column{
		*arrow.NewColumn(field, arrow.NewChunked(field.Type, []arrow.Array{keys})), *table.Column(1)}, int64(rows))
}

// BenchmarkTextKeys joins two tables of as many rows by unique keys: by numbers of 64 bits, and by texts of 16 bytes that
// the host or the device hashes and compares. ns/B is the time for each byte of the keys, with the 4 of where a text
// starts. SPIRJOIN_BENCH_ROWS is the number of rows of either table, 10 M by default.
func BenchmarkTextKeys(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 10_000_000)
	left, right := benchTable(rows, 0, "l", memory.DefaultAllocator), benchTable(rows, 0, "r", memory.DefaultAllocator)
	leftTexts, rightTexts := hexKeys(left), hexKeys(right)
	devicetest.Bench(b, func(device *backend.Device, name string) {
		ops, err := primitive.New(device, nil)
		require.NoError(b, err)
		for _, c := range []struct {
			keys        string
			left, right arrow.Table
			bytes       int
			compare     query.Comparing
		}{{"int64", left, right, 8, query.CompareAuto}, {"texts on the host", leftTexts, rightTexts, 20, query.CompareHost},
			{"texts on the device", leftTexts, rightTexts, 20, query.CompareDevice}} {
			engine := engine.NewEngine(ops, memory.DefaultAllocator, 0)
			engine.Compare = c.compare
			b.Run(fmt.Sprintf("keys=%s/rows=%d/device=%s", c.keys, rows, name), func(b *testing.B) {
				for range b.N {
					plan, err := engine.Plan(context.Background(), c.left, c.right,
						join.Spec{On: []string{"k"}, Columns: []string{"l", "r"}})
					require.NoError(b, err)
					planned := b.Elapsed()
					got, err := drawn(context.Background(), plan)
					require.NoError(b, err)
					require.EqualValues(b, rows, got)
					b.ReportMetric(float64((b.Elapsed() - planned).Milliseconds()), "ms-run")
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*rows*c.bytes), "ns/B")
				b.ReportMetric(float64(2*rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
			})
		}
	})
}
