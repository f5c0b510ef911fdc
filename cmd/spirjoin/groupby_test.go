package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/stretchr/testify/require"
)

// sales is a folder with a table.
func sales(t *testing.T) (dir, path string) {
	dir = t.TempDir()
	path = filepath.Join(dir, "sales.csv")
	require.NoError(t, os.WriteFile(path, []byte("day,shop,price\n1,a,20\n1,b,\n,a,40\n2,,50\n1,a,30\n"), 0o666))
	return dir, path
}

func TestGroupBy(t *testing.T) {
	dir, path := sales(t)
	out := filepath.Join(dir, "out.csv")
	o := tested.Require(t, command.ExitDone, "groupby", path, "--by", "day", "--agg",
		"sum:price,rows=count,count:price,count_distinct:shop,avg:price,first:shop,min:price", "--device", "host", "-o", out)
	require.Contains(t, o.Stderr, "3 groups of 5 rows")
	content, err := os.ReadFile(out)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	require.Equal(t, "day,sum_price,rows,count_price,count_distinct_shop,avg_price,first_shop,min_price", lines[0])
	slices.Sort(lines[1:])
	require.Equal(t, []string{",40,1,1,1,40.0,a,40", "1,50,3,2,2,25.0,a,20", "2,50,1,1,0,50.0,,50"}, lines[1:])

	tested.Require(t, command.ExitDone, "groupby", path, "--by", "day", "--by", "shop", "--agg", "sum:price", "--device",
		"host", "-o", filepath.Join(dir, "out.parquet"), "--stats", "json", "--memory-limit", "1GiB")
	defer func(before files.Knobs) { knobs = before }(knobs)
	for _, knobs.WholeBytes = range []int64{0, 4*(8+32+8) - 1} { // four rows of two integers and a text
		o = tested.Require(t, command.ExitDone, "groupby", filepath.Join(dir, "out.parquet"), "--by", "day,shop", "--agg",
			"count,sum:sum_price", "--device", "host", "-o", out, "--stats", "json")
		var stats struct {
			Backend, Driver string
			ReadSeconds     float64 `json:"read_seconds"`
		}
		require.NoError(t, json.Unmarshal([]byte(o.Stdout), &stats), o.Stdout)
		require.Equal(t, knobs.WholeBytes == 0, stats.ReadSeconds > 0, "a table is read first, a stream is not")
		require.Equal(t, []string{"host", "Go kernels"}, []string{stats.Backend, stats.Driver})
		content, err := os.ReadFile(out)
		require.NoError(t, err)
		require.Equal(t, 5, strings.Count(string(content), "\n"))
	}
	o = tested.Require(t, command.ExitDone, "groupby", path, "--by", "day", "--agg", "var:price", "--device", "host",
		"--explain")
	require.Contains(t, o.Stdout, "1..2 and NULL")
	require.Contains(t, o.Stdout, "var_price float64 = var(price)")
	o = tested.Require(t, command.ExitDone, "groupby", path, "--agg", "count", "--device", "host", "--algo", "sort", "-o",
		"-", "--format", "csv", "--stats", "text")
	require.Equal(t, "count\n5\n", o.Stdout)
	require.Contains(t, o.Stderr, "sort: a sort of the keys")
}

// TestCountReadsNoColumn: how many rows there are is known without their values, of which those here cannot be read.
func TestCountReadsNoColumn(t *testing.T) {
	dir := t.TempDir()
	for _, format := range []string{".parquet", ".arrow"} {
		path := tableFile(t, filepath.Join(dir, "t"+format), texts("t", "one", "two", "three"))
		if format == ".parquet" {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			footer := len(content) - 8 - int(binary.LittleEndian.Uint32(content[len(content)-8:]))
			clear(content[4:footer])
			require.NoError(t, os.WriteFile(path, content, 0o666))
			tested.Require(t, command.ExitInputOutput, "groupby", path, "--by", "t", "--device", "host", "-o", "-", "--format",
				"csv")
		}
		for _, limit := range [][]string{nil, {"--memory-limit", "1GiB"}} {
			args := append([]string{"groupby", path, "--agg", "count", "--device", "host", "-o", "-", "--format", "csv"},
				limit...)
			require.Equal(t, "count\n3\n", tested.Require(t, command.ExitDone, args...).Stdout)
		}
	}
}

func TestGroupByColumns(t *testing.T) {
	_, path := sales(t)
	args := []string{"groupby", path, "--by", "day", "--agg", "n=count,sum:price", "--device", "host", "-o", "-",
		"--format", "csv", "--columns"}
	lines := func(o commandtest.Outcome) []string { return sorted(strings.Split(strings.TrimSpace(o.Stdout), "\n")) }
	require.Equal(t, []string{"1,40", "1,50", "3,50", "n,sum_price"}, lines(tested.Require(t, command.ExitDone,
		append(args, "n,sum_price")...)))
	require.Equal(t, []string{"1,", "1,2", "3,1", "n,day"}, lines(tested.Require(t, command.ExitDone, append(args,
		"n,day")...)))
	for columns, want := range map[string]string{
		"price":   `the output has no column "price"; its columns are day, n, sum_price`,
		"dayy":    `did you mean "day"?`,
		"day,day": `"day" is asked for twice`,
	} {
		require.Contains(t, tested.Require(t, command.ExitUsage, append(args, columns)...).Stderr, want)
		require.Contains(t, tested.Require(t, command.ExitUsage, append(args, columns, "--explain")...).Stderr, want)
	}
	_, join := orders(t, ".parquet")
	require.Equal(t, []string{"1,4", "2,2", "n,id"}, lines(tested.Require(t, command.ExitDone, append(join, "--by", "id",
		"--agg", "n=count", "--columns", "n,id", "-o", "-", "--format", "csv")...)))
}

// TestGroupPreview: a terminal shows the first groups, and no escape sequence of a text.
func TestGroupPreview(t *testing.T) {
	dir := t.TempDir()
	var keys []string
	var values []int64
	for i := range 1000 {
		keys, values = append(keys, fmt.Sprintf("\x1b[31m%d", i)), append(values, int64(i))
	}
	path := tableFile(t, filepath.Join(dir, "t.parquet"), texts("key", keys...), ints("value", values...))
	defer func(before files.Knobs) { knobs = before }(knobs)
	knobs.WholeBytes = 1
	for _, args := range [][]string{
		{"groupby", path, "--by", "key"},
		{"groupby", path, "--by", "key", "--memory-limit", "400MiB", "--temp-dir", dir},
		{"join", path, path, "--on", "key", "--by", "key"},
		{"join", path, path, "--on", "key", "--by", "key,value"},
	} {
		args = append(args, "--agg", "sum:value,n=count", "--device", "host")
		o := tested.AtTerminal(t.Context(), args...)
		require.Equal(t, command.ExitDone, o.Code, o.Stderr)
		require.NotContains(t, o.Stdout, "\x1b")
		lines := strings.Split(strings.TrimSpace(o.Stdout), "\n")
		require.Len(t, lines, 22)
		require.Regexp(t, `^key +(value +)?sum_value +n$`, lines[0])
		require.Regexp(t, `^\S*\[31m(\d+) +(\d+ +)?\d+  1$`, lines[1])
		require.Equal(t, "20 of 1,000 rows; --output FILE writes them all", lines[21])
		require.Regexp(t, `(^|\r)1,000 groups of 1,000 (joined )?rows in [^\r]*$`, o.Stderr)
		require.Equal(t, "n", strings.Split(tested.AtTerminal(t.Context(), append(args, "--columns", "n")...).Stdout,
			"\n")[0])
	}
	o := tested.AtTerminal(t.Context(), "groupby", path, "--agg", "count", "--device", "host", "-q")
	require.Equal(t, commandtest.Outcome{Stdout: "count\n 1000\n1 row\n"}, o)
}

func TestGroupByFailures(t *testing.T) {
	dir, path := sales(t)
	big := filepath.Join(dir, "big.csv")
	require.NoError(t, os.WriteFile(big, []byte("k,v\n1,9223372036854775807\n1,1\n"), 0o666))
	out := filepath.Join(dir, "out.parquet")
	for _, c := range []struct {
		name string
		code int
		args []string
		want string
	}{
		{"missing file", command.ExitInputOutput, []string{filepath.Join(dir, "none"), "--agg", "count"}, "no such file"},
		{"two files", command.ExitUsage, []string{path, path, "--agg", "count"}, "groupby takes one table"},
		{"nothing", command.ExitUsage, []string{path}, "neither key columns nor aggregates"},
		{"unknown key", command.ExitUsage, []string{path, "--by", "dayy"},
			`the table has no column "dayy"; did you mean "day"?`},
		{"unknown column", command.ExitUsage, []string{path, "--agg", "sum:prize"}, `did you mean "price"?`},
		{"unknown function", command.ExitUsage, []string{path, "--agg", "summ:price"}, `did you mean "sum"?`},
		{"form", command.ExitUsage, []string{path, "--agg", "sum:"}, "write count, sum:x or total=sum:x"},
		{"no column", command.ExitUsage, []string{path, "--agg", "sum"}, "sum needs a column"},
		{"same names", command.ExitUsage, []string{path, "--by", "day", "--agg", "day=count"},
			`two output columns are named "day"`},
		{"type", command.ExitNoDevice, []string{path, "--agg", "sum:shop"}, `sum of column "shop" of type utf8`},
		{"algorithm", command.ExitUsage, []string{path, "--agg", "count", "--algo", "hash"}, `no algorithm "hash"`},
		{"drawing", command.ExitNoDevice, []string{path, "--agg", "count", "--algo", "graphics"},
			"the host backend does not draw"},
		{"plan of drawing", command.ExitNoDevice, []string{path, "--agg", "count", "--algo", "graphics", "--explain"},
			"the host backend does not draw"},
		{"overflow", command.ExitLimit, []string{big, "--by", "k", "--agg", "sum:v"}, `the sum of column "v" exceeds int64`},
		{"host memory", command.ExitLimit, []string{path, "--agg", "count", "--memory-limit", "16B"}, "raise --memory-limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := tested.Require(t, c.code, append([]string{"groupby", "--device", "host", "-o", out}, c.args...)...)
			require.Contains(t, o.Stderr, c.want)
			require.Equal(t, 1, strings.Count(strings.TrimSpace(o.Stderr), "\n")+1)
			require.Empty(t, o.Stdout)
			commandtest.RequireFiles(t, dir, "sales.csv", "big.csv")
		})
	}
}
