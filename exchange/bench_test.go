package exchange_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/internal/cputime"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// BenchmarkDivide divides blocks of two columns of 8 bytes, of 2^22 rows (SPIRJOIN_BENCH_ROWS), and reports the CPU
// time of a row.
func BenchmarkDivide(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<22)
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "v", Type: arrow.PrimitiveTypes.Int64}}, nil)
	build := array.NewRecordBuilder(&offheap.Shared, schema)
	defer build.Release()
	for row := range rows {
		for column := range 2 {
			build.Field(column).(*array.Int64Builder).Append(int64(uint64(row) * 0x9e3779b97f4a7c15 >> 20))
		}
	}
	batch := build.NewRecordBatch()
	defer batch.Release()
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	defer table.Release()
	hashes, err := keys.PlanHashes([2]*arrow.Schema{schema, schema}, [2][]string{{"k"}, {"k"}})
	require.NoError(b, err)
	for _, parts := range []int{8, 64, 512} {
		b.Run(fmt.Sprintf("parts=%d", parts), func(b *testing.B) {
			d := exchange.Divider{Hashes: hashes, Parts: parts, Together: true}
			b.SetBytes(int64(rows) * 16)
			before := cputime.Now()
			for b.Loop() {
				divided, err := d.Divide(b.Context(), relation.Left, table, &offheap.Shared)
				require.NoError(b, err)
				for _, part := range divided {
					part.Release()
				}
			}
			b.ReportMetric(float64((cputime.Now()-before).Nanoseconds())/float64(b.N)/float64(rows), "cpu-ns/row")
		})
	}
}
