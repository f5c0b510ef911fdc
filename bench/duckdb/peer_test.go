package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// parquetFile writes the rows of a query.
func parquetFile(t *testing.T, query string) string {
	t.Helper()
	s, err := openSession(context.Background(), limits{threads: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.close()) }()
	path := filepath.Join(t.TempDir(), "it's.parquet")
	require.NoError(t, s.exec(context.Background(), "COPY ("+query+") TO "+quoteText(path)+" (FORMAT parquet)"))
	return path
}

func runJSON[T any](t *testing.T, args ...string) T {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), args, &out))
	require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\n")))
	var result T
	require.NoError(t, json.Unmarshal(out.Bytes(), &result))
	return result
}

const (
	leftQuery  = `SELECT * FROM (VALUES (1, 'a', 10), (2, 'b', 20), (NULL, 'c', 30), (4, 'd', 40)) t(k, name, v)`
	rightQuery = `SELECT * FROM (VALUES
		(1, 1.5, 100), (1, 2.5, 200), (2, NULL, 300), (NULL, 4.5, 400), (5, 5.5, 500)) t(fk, w, v)`
)

func TestJoin(t *testing.T) {
	left, right := parquetFile(t, leftQuery), parquetFile(t, rightQuery)
	base := []string{"--left", left, "--right", right, "--on", "k=fk", "--threads", "1"}
	with := func(more ...string) []string { return append(append([]string{}, base...), more...) }

	count := runJSON[joinReport](t, with("--count", "--repeat", "3")...)
	require.Equal(t, []any{"duckdb", "count", 1, int64(4), int64(5), int64(3)},
		[]any{count.Engine, count.Mode, count.Threads, count.RowsLeft, count.RowsRight, count.RowsOut})
	require.Len(t, count.Seconds, 3)
	require.Positive(t, count.SecondsMedian)
	require.Positive(t, count.LoadSeconds)

	require.Equal(t, "600", *runJSON[joinReport](t, with("--sum", "v_right")...).Sum)
	require.Equal(t, "40", *runJSON[joinReport](t, with("--sum", "v")...).Sum)

	out := filepath.Join(t.TempDir(), "out.parquet")
	all := runJSON[joinReport](t, with("-o", out, "--checksum", "--repeat", "2")...)
	require.Equal(t, int64(3), all.RowsOut)
	var names []string
	for _, c := range all.Checksum.Columns {
		names = append(names, c.Name)
	}
	require.Equal(t, []string{"k", "name", "v", "w", "v_right"}, names)
	require.Equal(t, *all.Checksum, runJSON[checksum](t, "--checksum-file", out))

	want := parquetFile(t, `SELECT * FROM (VALUES
		(2, 'b', 20, NULL, 300), (1, 'a', 10, 2.5, 200), (1, 'a', 10, 1.5, 100)) t(k, name, v, w, v_right)`)
	require.Equal(t, *all.Checksum, runJSON[checksum](t, "--checksum-file", want), "another order, other integer widths")

	some := runJSON[joinReport](t, with("--columns", "v_right,name", "--checksum")...)
	require.Len(t, some.Checksum.Columns, 2)
	require.Equal(t, all.Checksum.Columns[4], some.Checksum.Columns[0])
}

func TestDirect(t *testing.T) {
	left, right := parquetFile(t, leftQuery), parquetFile(t, rightQuery)
	base := []string{"--left", left, "--right", right, "--on", "k=fk", "--threads", "1"}
	with := func(more ...string) []string { return append(append([]string{}, base...), more...) }

	count := runJSON[map[string]any](t, with("--direct", "--count", "--repeat", "3")...)
	require.Equal(t, []any{"count", 3.0}, []any{count["mode"], count["rows_out"]})
	require.Len(t, count["seconds"], 3)
	for _, unknown := range []string{"rows_left", "rows_right", "load_seconds"} {
		require.NotContains(t, count, unknown)
	}
	sum := runJSON[joinReport](t, with("--direct", "--sum", "v_right")...)
	require.Equal(t, int64(3), sum.RowsOut)
	require.Equal(t, "600", *sum.Sum)

	for _, columns := range [][]string{nil, {"--columns", "v_right,name,w"}} {
		out := filepath.Join(t.TempDir(), "out.parquet")
		loaded := runJSON[joinReport](t, with(append(columns, "--checksum")...)...)
		direct := runJSON[joinReport](t, with(append(columns, "--direct", "--repeat", "2", "-o", out)...)...)
		require.Equal(t, int64(3), direct.RowsOut)
		require.Equal(t, *loaded.Checksum, runJSON[checksum](t, "--checksum-file", out))
		table := runJSON[joinReport](t, with(append(columns, "--direct", "--repeat", "2", "--checksum")...)...)
		require.Equal(t, loaded.Checksum, table.Checksum)
		require.Len(t, table.Seconds, 2)
	}
}

// TestLimits: DuckDB gets the limits.
func TestLimits(t *testing.T) {
	s, err := openSession(t.Context(), limits{threads: 2, memory: "64MiB", tempDir: "elsewhere"})
	require.NoError(t, err)
	defer s.close()
	var threads int
	var memory, dir string
	require.NoError(t, s.one(t.Context(), "SELECT current_setting('threads'), current_setting('memory_limit'), "+
		"current_setting('temp_directory')", &threads, &memory, &dir))
	require.Equal(t, []any{2, "64.0 MiB", "elsewhere"}, []any{threads, memory, dir})
}

// Files may be CSV, on every side.
func TestCSV(t *testing.T) {
	csv := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o666))
		return path
	}
	base := []string{"--left", csv("l.csv", "k,name\n1,a\n2,b\n,c\n"), "--right", csv("r.csv", "k,v\n1,10\n1,20\n,30\n"),
		"--on", "k"}
	out := filepath.Join(t.TempDir(), "out.csv")
	require.Equal(t, int64(2), runJSON[joinReport](t, append(base, "--direct", "-o", out)...).RowsOut)
	want := csv("want.csv", "k,name,v\n1,a,20\n1,a,10\n")
	require.Equal(t, runJSON[checksum](t, "--checksum-file", want), runJSON[checksum](t, "--checksum-file", out))
	loaded := runJSON[joinReport](t, append(base, "--checksum", "-o", out)...)
	require.Equal(t, *loaded.Checksum, runJSON[checksum](t, "--checksum-file", out))
}

// A statement that fails on its way leaves the folder as it was.
func TestDirectFailures(t *testing.T) {
	left := parquetFile(t, "SELECT i AS k, md5(i::VARCHAR) AS text FROM range(100000) t(i)")
	content, err := os.ReadFile(left)
	require.NoError(t, err)
	clear(content[len(content)/3 : len(content)/2])
	broken := filepath.Join(t.TempDir(), "broken.parquet")
	require.NoError(t, os.WriteFile(broken, content, 0o666))

	dir := t.TempDir()
	out := filepath.Join(dir, "out.parquet")
	require.NoError(t, os.WriteFile(out, []byte("before"), 0o666))
	folder := filepath.Join(dir, "folder.parquet")
	require.NoError(t, os.Mkdir(folder, 0o777))
	ended, end := context.WithCancel(context.Background())
	end()
	for name, c := range map[string]struct {
		ctx         context.Context
		right, path string
	}{
		"corrupt input": {context.Background(), broken, out},
		"a folder":      {context.Background(), left, folder},
		"interrupted":   {ended, left, out},
	} {
		args := []string{"--left", left, "--right", c.right, "--on", "k", "--direct", "-o", c.path}
		require.Error(t, run(c.ctx, args, &bytes.Buffer{}), name)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, 2, name)
		kept, err := os.ReadFile(out)
		require.NoError(t, err)
		require.Equal(t, "before", string(kept), name)
	}
}

func TestNoMatches(t *testing.T) {
	left, right := parquetFile(t, leftQuery), parquetFile(t, rightQuery+" WHERE false")
	report := runJSON[joinReport](t, "--left", left, "--right", right, "--on", "k=fk", "--checksum")
	require.Zero(t, report.RowsOut)
	require.Equal(t, "0000000000000000", report.Checksum.RowSum)
	require.Nil(t, runJSON[joinReport](t, "--left", left, "--right", right, "--on", "k=fk", "--sum", "v").Sum)
}

func TestSeveralKeysAndTakenNames(t *testing.T) {
	left := parquetFile(t, "SELECT 1 AS a, 2 AS b, 3 AS x, 4 AS x_right")
	right := parquetFile(t, "SELECT 1 AS a, 2 AS c, 5 AS x")
	out := filepath.Join(t.TempDir(), "out.parquet")
	report := runJSON[joinReport](t, "--left", left, "--right", right, "--on", "a,b=c", "-o", out, "--checksum")
	require.Equal(t, int64(1), report.RowsOut)
	require.Equal(t, "x_right_right", report.Checksum.Columns[4].Name)
}

// The sums follow the rules of README.md, computed here without DuckDB.
func TestChecksumRules(t *testing.T) {
	texts := [][]string{ // by column; "\x00" is null
		{"1", "\x00", "-3"},
		{"0.10", "12.00", "\x00"},
		{"", "ä:b", "\x00"},
		{"0.1", "nan", "1e+16"},
		{"0.0", "5e-324", "100.0"},
		{"true", "false", "\x00"},
		{"1992-01-02", "2024-02-29", "\x00"},
		{"2024-02-29 12:00:00", "2024-02-29 12:00:00.5", "1969-12-31 23:59:59.000001"},
		{"2024-02-29 10:00:00+00", "\x00", "\x00"},
		{"00ff", "", "\x00"},
	}
	path := parquetFile(t, `SELECT * FROM (VALUES
		(1::SMALLINT, 0.1::DECIMAL(15,2), '', 0.1::FLOAT, '-0.0'::DOUBLE, true, DATE '1992-01-02',
			TIMESTAMP '2024-02-29 12:00:00', TIMESTAMPTZ '2024-02-29 12:00:00+02', '\x00\xFF'::BLOB),
		(NULL, 12, 'ä:b', 'nan'::FLOAT, 5e-324, false, DATE '2024-02-29', TIMESTAMP '2024-02-29 12:00:00.5', NULL, ''::BLOB),
		(-3, NULL, NULL, 1e16::FLOAT, 100, NULL, NULL, TIMESTAMP '1969-12-31 23:59:59.000001', NULL, NULL)) t`)
	hash := func(text string) uint64 {
		sum := md5.Sum([]byte(text))
		return binary.LittleEndian.Uint64(sum[:8])
	}
	rowTexts, rowSum := make([]string, 3), uint64(0)
	got := runJSON[checksum](t, "--checksum-file", path)
	require.Equal(t, int64(3), got.Rows)
	for c, column := range texts {
		sum, nulls := uint64(0), int64(0)
		for row, text := range column {
			if text == "\x00" {
				nulls++
				rowTexts[row] += "n"
				continue
			}
			sum += hash(text)
			rowTexts[row] += fmt.Sprintf("v%d:%s", len(text), text)
		}
		require.Equal(t, fmt.Sprintf("%016x", sum), got.Columns[c].Sum, "column %d", c)
		require.Equal(t, nulls, got.Columns[c].Nulls)
	}
	for _, text := range rowTexts {
		rowSum += hash(text)
	}
	require.Equal(t, fmt.Sprintf("%016x", rowSum), got.RowSum)
}

// Each of these faults of an engine must change the checksum.
func TestChecksumSeesFaults(t *testing.T) {
	sum := func(values string) checksum {
		return runJSON[checksum](t, "--checksum-file", parquetFile(t, "SELECT * FROM (VALUES "+values+") t(a, b)"))
	}
	right := sum("(1, 'x'), (2, 'y')")
	require.Equal(t, right, sum("(2, 'y'), (1, 'x')"))
	for name, values := range map[string]string{
		"a lost row":       "(1, 'x')",
		"a row twice":      "(1, 'x'), (2, 'y'), (2, 'y')",
		"a wrong value":    "(1, 'x'), (2, 'z')",
		"payloads swapped": "(1, 'y'), (2, 'x')",
		"a lost value":     "(1, 'x'), (2, NULL)",
	} {
		require.NotEqual(t, right.RowSum, sum(values).RowSum, name)
	}
	require.NotEqual(t, sum("('a', 'b:c')").RowSum, sum("('a:b', 'c')").RowSum)
	require.NotEqual(t, sum("(NULL, ''), ('', NULL)").RowSum, sum("(NULL, NULL), ('', '')").RowSum)
}

func TestFaults(t *testing.T) {
	left := parquetFile(t, leftQuery)
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"nothing":        {},
		"no key":         {"--left", left, "--right", left},
		"bad key":        {"--left", left, "--right", left, "--on", "=v"},
		"bad flag":       {"--lfet", left},
		"stray argument": {"--left", left, "--right", left, "--on", "k", "x"},
		"count and file": {"--left", left, "--right", left, "--on", "k", "--count", "-o", filepath.Join(dir, "x")},
		"repeat 0":       {"--left", left, "--right", left, "--on", "k", "--repeat", "0"},
		"direct and checksum": {"--left", left, "--right", left, "--on", "k", "--direct", "--checksum",
			"-o", filepath.Join(dir, "x")},
		"unknown column": {"--left", left, "--right", left, "--on", "k", "--columns", "none"},
	} {
		require.ErrorIs(t, run(context.Background(), args, &bytes.Buffer{}), errUsage, name)
	}
	missing := filepath.Join(dir, "none.parquet")
	err := run(context.Background(), []string{"--left", left, "--right", missing, "--on", "k", "--count"}, &bytes.Buffer{})
	require.ErrorContains(t, err, missing)
	require.NotErrorIs(t, err, errUsage)
	err = run(context.Background(), []string{"--checksum-file", parquetFile(t, "SELECT [1, 2] AS l")}, &bytes.Buffer{})
	require.ErrorContains(t, err, `column "l": type INTEGER[] has no checksum`)
	elsewhere := filepath.Join(dir, "none", "x.parquet")
	args := []string{"--left", left, "--right", left, "--on", "k", "-o", elsewhere}
	err = run(context.Background(), args, &bytes.Buffer{})
	require.Error(t, err)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}
