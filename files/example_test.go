package files_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/tableio"
)

// Join two Parquet files into a third one, with at most 256 MiB of memory. What has no room goes to temporary files.
func ExampleJoin() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "spirjoin")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	orders, items := filepath.Join(dir, "orders.parquet"), filepath.Join(dir, "items.parquet")
	store(ctx, orders, "order", 1, 2, 3, 4)
	store(ctx, items, "order", 2, 4, 2, 5)

	engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: "host", MemoryLimitBytes: 256 << 20, TempDir: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	report, err := files.Join(ctx, engine, orders, items, filepath.Join(dir, "joined.parquet"), files.JoinOptions{
		Spec: spirjoin.JoinSpec{On: []string{"order"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.OutputRows, "rows")
	// Output: 3 rows
}

// store writes a Parquet file with one column.
func store(ctx context.Context, path, name string, values ...int64) {
	builder := array.NewInt64Builder(memory.DefaultAllocator)
	builder.AppendValues(values, nil)
	schema := arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Int64}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{builder.NewArray()}, int64(len(values)))
	writer, err := tableio.Create(path, schema, tableio.WriteOptions{})
	if err == nil {
		defer writer.Abort() // does nothing after Commit
		err = writer.Write(ctx, batch)
	}
	if err == nil {
		err = writer.Commit(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
}
