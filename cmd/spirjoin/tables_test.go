package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/tableio"
)

// tableFile writes a table to a file.
func tableFile(t *testing.T, path string, columns ...column) string {
	t.Helper()
	batch := recordOf(columns...)
	defer batch.Release()
	w, err := tableio.Create(path, batch.Schema(), tableio.WriteOptions{})
	require.NoError(t, err)
	defer w.Abort()
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Commit(t.Context()))
	return path
}

// column is a name and an array.
type column struct {
	name  string
	array arrow.Array
}

func recordOf(columns ...column) arrow.RecordBatch {
	fields, arrays := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.name, Type: c.array.DataType(), Nullable: true}
		arrays[i] = c.array
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(arrays[0].Len()))
}

func ints(name string, values ...int64) column {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return column{name, b.NewArray()}
}

func texts(name string, values ...string) column {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return column{name, b.NewArray()}
}

// rowsOf reads a table and gives its rows, fields joined by "|", sorted.
func rowsOf(t *testing.T, path string, stdin io.Reader) (names []string, rows []string) {
	t.Helper()
	r, err := tableio.Open(t.Context(), path, tableio.ReadOptions{Stdin: stdin})
	require.NoError(t, err)
	defer r.Close()
	table, err := r.Read(t.Context(), nil)
	require.NoError(t, err)
	defer table.Release()
	for _, f := range table.Schema().Fields() {
		names = append(names, f.Name)
	}
	reader := array.NewTableReader(table, 0)
	defer reader.Release()
	for reader.Next() {
		batch := reader.RecordBatch()
		for i := range int(batch.NumRows()) {
			var fields []string
			for _, c := range batch.Columns() {
				fields = append(fields, c.ValueStr(i))
			}
			rows = append(rows, strings.Join(fields, "|"))
		}
	}
	return names, sorted(rows)
}

func sorted(rows []string) []string {
	slices.Sort(rows)
	return rows
}

// orders writes two small tables into a new folder and returns it and the arguments that join them on the host.
func orders(t *testing.T, extension string) (dir string, args []string) {
	t.Helper()
	dir = t.TempDir()
	left := tableFile(t, filepath.Join(dir, "orders"+extension), ints("id", 1, 2, 3, 4),
		texts("customer", "ann", "bob", "cid", "dot"))
	right := tableFile(t, filepath.Join(dir, "items"+extension), ints("order_id", 2, 4, 2, 5),
		texts("part", "nut", "bolt", "nail", "cog"), ints("id", 10, 11, 12, 13))
	return dir, []string{"join", left, right, "--on", "id=order_id", "--device", "host"}
}

// joinedBy runs a join into a file, and returns what that holds.
func joinedBy(t *testing.T, args ...string) (names []string, rows []string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.parquet")
	tested.Require(t, command.ExitDone, append(args, "-o", out)...)
	return rowsOf(t, out, nil)
}

// joined is what orders makes.
var joined = []string{"2|bob|nail|12", "2|bob|nut|10", "4|dot|bolt|11"}
