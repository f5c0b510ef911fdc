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

// BenchmarkFilter divides rows of two columns of 8 bytes, of which a share is known to a filter of 2^20 keys, and
// reports the CPU time of a row; adds is that of a key which is added.
func BenchmarkFilter(b *testing.B) {
	const parts = 4
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<22)
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "v", Type: arrow.PrimitiveTypes.Int64}}, nil)
	tableOf := func(rows int, key func(row int) int) arrow.Table {
		build := array.NewRecordBuilder(&offheap.Shared, schema)
		defer build.Release()
		for row := range rows {
			build.Field(0).(*array.Int64Builder).Append(int64(key(row)))
			build.Field(1).(*array.Int64Builder).Append(int64(row))
		}
		batch := build.NewRecordBatch()
		defer batch.Release()
		return array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	}
	hashes, err := keys.PlanHashes([2]*arrow.Schema{schema, schema}, [2][]string{{"k"}, {"k"}})
	require.NoError(b, err)
	known := tableOf(1<<20, func(row int) int { return row })
	defer known.Release()
	hashed, err := hashes.Bind(b.Context(), relation.Left, known)
	require.NoError(b, err)
	d := exchange.Divider{Hashes: hashes, Parts: parts}
	var all [][]byte
	b.Run("adds", func(b *testing.B) {
		before := cputime.Now()
		for b.Loop() {
			all = nil
			for part := range parts {
				f := d.NewFilter(part, exchange.FilterBytes(1<<20, parts))
				require.NoError(b, f.Add(b.Context(), hashed))
				all = append(all, f.Part())
			}
		}
		b.ReportMetric(float64((cputime.Now()-before).Nanoseconds())/float64(b.N)/parts/(1<<20), "cpu-ns/row")
	})
	for _, percent := range []int{0, 5, 50, 95, 100} {
		table := tableOf(rows, func(row int) int {
			x := uint64(row) * 0x9e3779b97f4a7c15 >> 20
			return int(x%(1<<20)) + 1<<20*min(1, int(x>>20%100)/max(1, percent))
		})
		for _, filter := range []bool{false, true} {
			b.Run(fmt.Sprintf("known=%d/filter=%t", percent, filter), func(b *testing.B) {
				d := d
				if filter {
					d.Filter = d.NewFilter(0, exchange.FilterBytes(1<<20, parts))
					require.NoError(b, d.Filter.SetParts(all))
				}
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
		table.Release()
	}
}
