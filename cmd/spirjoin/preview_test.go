package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/stretchr/testify/require"
)

func TestJoinPreview(t *testing.T) {
	dir, args := orders(t, ".parquet")
	show := func(args ...string) string {
		o := tested.AtTerminal(t.Context(), args...)
		require.Equal(t, command.ExitDone, o.Code, o.Stderr)
		return o.Stdout
	}
	text := show(args...)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	require.Len(t, lines, 5, text)
	require.Equal(t, "id  customer  part  id_right", lines[0])
	require.Equal(t, []string{" 2  bob       nail        12", " 2  bob       nut         10",
		" 4  dot       bolt        11"}, sorted(lines[1:4]))
	require.Equal(t, "3 rows", lines[4])

	many, wide := make([]int64, 40), []column{}
	for i := range 12 {
		wide = append(wide, ints("a_rather_long_name_"+string(rune('a'+i)), many...))
	}
	table := tableFile(t, filepath.Join(dir, "wide.parquet"),
		append(wide, texts("t", slices.Repeat([]string{"a\x1b[31m\n" + strings.Repeat("long ", 20)}, 40)...))...)
	text = show("join", table, table, "--on", wide[0].name, "--device", "host", "--columns",
		"t,a_rather_long_name_a,a_rather_long_name_b,a_rather_long_name_c,a_rather_long_name_d")
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, len([]rune(line)), 101, line)
		require.NotContains(t, line, "\x1b")
	}
	require.Contains(t, show("join", args[1], args[2], "--on", "id=id", "--device", "host"), "\n0 rows\n")
	one := tableFile(t, filepath.Join(dir, "one.parquet"), ints("id", 4))
	require.Contains(t, show("join", one, args[1], "--on", "id", "--device", "host"), "\n1 row\n")
	require.Regexp(t, `^1 row in `,
		tested.Require(t, command.ExitDone, "join", one, args[1], "--on", "id", "--device", "host", "--count").Stderr)
	require.Contains(t, text, "20 of 1,600 rows; --output FILE writes them all\n")
	require.Contains(t, text, "2 more columns: a_rather_long_name_c, a_rather_long_name_d\n")
}

// TestPreviewCountsAllRows: the number below the first rows, and the number in the summary, count all rows, also rows
// that were not joined yet when the first ones are shown.
func TestPreviewCountsAllRows(t *testing.T) {
	dir := t.TempDir()
	keys := func(name string, rows, from, step int64) string {
		values := make([]int64, rows)
		for i := range values {
			values[i] = from + int64(i)*step
		}
		return tableFile(t, filepath.Join(dir, name+".parquet"), ints("k", values...), ints(name, values...))
	}
	evens, threes, few := keys("evens", 40_000, 0, 2), keys("threes", 300_000, 0, 3), keys("few", 2_000, 0, 1)
	limit := fmt.Sprint(10<<20 + coreBytes*runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		want string
		args []string
	}{
		{"13,334", []string{evens, threes, "--on", "k"}},
		{"13,334", []string{evens, threes, "--on", "k", "--device-memory", "800KiB", "--batch-rows", "1000"}},
		{"13,334", []string{evens, threes, "--on", "k", "--memory-limit", limit, "--batch-rows", "1000"}},
		{"326,666", []string{evens, threes, "--on", "k", "--how", "full", "--batch-rows", "1000"}},
		{"4,000,000", []string{few, few, "--how", "cross", "--device-memory", "800KiB"}},
	} {
		o := tested.AtTerminal(t.Context(), append(append([]string{"join"}, c.args...), "--device", "host")...)
		require.Equal(t, command.ExitDone, o.Code, o.Stderr)
		require.Contains(t, o.Stdout, "\n20 of "+c.want+" rows; --output FILE writes them all\n", c.args)
		require.Regexp(t, `(^|\r)`+c.want+` rows in [^\r]*$`, o.Stderr, c.args)
	}
}

// TestPreviewOfDecimals: as in CSV, a decimal has all digits of its scale.
func TestPreviewOfDecimals(t *testing.T) {
	b := array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 15, Scale: 2})
	for _, cents := range []int64{14465920, -5, 0} {
		b.Append(decimal128.FromI64(cents))
	}
	table := tableFile(t, filepath.Join(t.TempDir(), "t.parquet"), ints("k", 1, 2, 3), column{"price", b.NewArray()})
	o := tested.AtTerminal(t.Context(), "join", table, table, "--on", "k", "--columns", "k,price", "--device", "host")
	lines := strings.Split(o.Stdout, "\n")
	require.Equal(t, "k      price", lines[0], o)
	require.Equal(t, []string{"1  144659.20", "2      -0.05", "3       0.00"}, sorted(lines[1:4]))
}

// TestPreviewReadsWhatItShows: columns that no terminal of this width shows are not read.
func TestPreviewReadsWhatItShows(t *testing.T) {
	columns := []column{ints("k", 1, 2, 3)}
	for i := range 40 {
		columns = append(columns, ints(fmt.Sprintf("column_%02d", i), 1, 2, 3))
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	table := tableFile(t, path, columns...)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	pages := content[4 : len(content)-8-int(binary.LittleEndian.Uint32(content[len(content)-8:]))]
	clear(pages[len(pages)/2 : len(pages)*3/4]) // of some columns behind the first ones
	require.NoError(t, os.WriteFile(path, content, 0o666))
	args := []string{"join", table, table, "--on", "k", "--how", "semi", "--device", "host"}
	require.Equal(t, command.ExitInputOutput, tested.AtTerminal(t.Context(), append(args, "-o", path+".arrow")...).Code)
	o := tested.AtTerminal(t.Context(), args...)
	require.Equal(t, command.ExitDone, o.Code, o.Stderr)
	require.Contains(t, o.Stdout, "\n31 more columns: column_09, column_10, ")
	require.Contains(t, o.Stdout, "\n3 rows\n")
}

func TestJoinRefusesBinaryOnATerminal(t *testing.T) {
	_, args := orders(t, ".parquet")
	o := tested.AtTerminal(t.Context(), append(args, "-o", "-")...)
	require.Equal(t, command.ExitUsage, o.Code)
	require.Contains(t, o.Stderr, "standard output is a terminal")
	require.Empty(t, o.Stdout)
}
