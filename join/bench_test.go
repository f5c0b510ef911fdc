package join_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
)

// benchTable has an int64 key k, shuffled and unique or random below distinct, and an int32 payload.
func benchTable(rows, distinct int, payload string) arrow.Table {
	random := rand.New(rand.NewPCG(uint64(rows), 1))
	keys, values := make([]int64, rows), make([]int32, rows)
	for i := range keys {
		keys[i], values[i] = int64(i), int32(random.Uint32())
		if distinct > 0 {
			keys[i] = int64(random.IntN(distinct))
		}
	}
	if distinct == 0 {
		random.Shuffle(rows, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	}
	column := func(t arrow.DataType, bytes []byte) arrow.Array {
		return array.MakeFromData(array.NewData(t, rows, []*memory.Buffer{nil, memory.NewBufferBytes(bytes)}, nil, 0, 0))
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: payload, Type: arrow.PrimitiveTypes.Int32}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{column(arrow.PrimitiveTypes.Int64, backend.AsBytes(keys)),
		column(arrow.PrimitiveTypes.Int32, backend.AsBytes(values))}, int64(rows))
	return array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
}

// BenchmarkJoin joins unique with foreign 64-bit keys on the host and on the Vulkan devices at hand, and reports the
// device time of each stage. Every answer is verified. SPIRJOIN_BENCH_ROWS is the number of rows on the right, 40 M by
// default; the left has SPIRJOIN_BENCH_LEFT, by default a quarter.
func BenchmarkJoin(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 40_000_000)
	leftRows := devicetest.Rows(b, "SPIRJOIN_BENCH_LEFT", rows/4)
	left, right := benchTable(leftRows, 0, "l"), benchTable(rows, leftRows, "r")
	run := func(device *backend.Device, name string, spec join.Spec) {
		ops, err := primitive.New(device, nil)
		require.NoError(b, err)
		engine := join.NewEngine(ops, memory.DefaultAllocator, 0)
		b.Run(fmt.Sprintf("rows=%dx%d/output=%s/device=%s", leftRows, rows, spec.Output, name), func(b *testing.B) {
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
		run(device, name, join.Spec{On: []string{"k"}, Output: join.Count})
		run(device, name, join.Spec{On: []string{"k"}})
	})
}
