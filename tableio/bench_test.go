package tableio

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

const benchRows = 1 << 20

func benchFile(b *testing.B, format Format) string {
	path := filepath.Join(b.TempDir(), "table"+extension(format))
	batch := tabletest.ExampleBatch(benchRows)
	writeFile(b, path, batch.Schema(), []arrow.RecordBatch{batch}, WriteOptions{})
	return path
}

// BenchmarkRead opens and reads a table of four columns, or one of them.
func BenchmarkRead(b *testing.B) {
	for _, format := range formats {
		for _, columns := range [][]string{nil, {"key"}} {
			b.Run(fmt.Sprintf("format=%v/rows=%d/columns=%d", format, benchRows, len(columns)), func(b *testing.B) {
				path := benchFile(b, format)
				for b.Loop() {
					r, err := Open(context.Background(), path, ReadOptions{})
					if err != nil {
						b.Fatal(err)
					}
					table, err := r.Read(context.Background(), columns)
					if err != nil {
						b.Fatal(err)
					}
					table.Release()
					r.Close()
				}
				b.ReportMetric(float64(benchRows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
			})
		}
	}
}

// BenchmarkWrite writes a table of four columns in batches of 64 Ki rows.
func BenchmarkWrite(b *testing.B) {
	batch := tabletest.ExampleBatch(benchRows)
	for _, format := range formats {
		b.Run(fmt.Sprintf("format=%v/rows=%d", format, benchRows), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "table"+extension(format))
			for b.Loop() {
				w, err := Create(path, batch.Schema(), WriteOptions{})
				if err != nil {
					b.Fatal(err)
				}
				for row := int64(0); row < benchRows; row += 65536 {
					if err := w.Write(context.Background(), batch.NewSlice(row, row+65536)); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Commit(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(benchRows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// BenchmarkWriteTable writes the table in the Parquet file that SPIRJOIN_BENCH_TABLE names, from memory, to a Parquet
// file beside it.
func BenchmarkWriteTable(b *testing.B) {
	path := os.Getenv("SPIRJOIN_BENCH_TABLE")
	if path == "" {
		b.Skip("SPIRJOIN_BENCH_TABLE names no file")
	}
	r, err := Open(context.Background(), path, ReadOptions{Allocator: &offheap.Shared})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	table, err := r.Read(context.Background(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer table.Release()
	out := filepath.Join(filepath.Dir(path), "benchmark.parquet")
	defer os.Remove(out)
	for b.Loop() {
		w, err := Create(out, table.Schema(), WriteOptions{})
		if err != nil {
			b.Fatal(err)
		}
		batches := array.NewTableReader(table, 1<<20)
		for batches.Next() {
			if err := w.Write(context.Background(), batches.RecordBatch()); err != nil {
				b.Fatal(err)
			}
		}
		batches.Release()
		if err := w.Commit(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(table.NumRows())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
