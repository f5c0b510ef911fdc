package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	o := runProgram(t, exitDone, "groupby", path, "--by", "day", "--agg",
		"sum:price,rows=count,count:price,count_distinct:shop,avg:price,first:shop,min:price", "--device", "host", "-o", out)
	require.Contains(t, o.stderr, "3 groups of 5 rows")
	content, err := os.ReadFile(out)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	require.Equal(t, "day,sum_price,rows,count_price,count_distinct_shop,avg_price,first_shop,min_price", lines[0])
	slices.Sort(lines[1:])
	require.Equal(t, []string{",40,1,1,1,40.0,a,40", "1,50,3,2,2,25.0,a,20", "2,50,1,1,0,50.0,,50"}, lines[1:])

	runProgram(t, exitDone, "groupby", path, "--by", "day", "--by", "shop", "--agg", "sum:price", "--device", "host",
		"-o", filepath.Join(dir, "out.parquet"), "--stats", "json", "--memory-limit", "1GiB")
	defer func(bytes int64) { wholeBytes = bytes }(wholeBytes)
	for _, wholeBytes = range []int64{wholeBytes, 4*(8+32+8) - 1} { // four rows of two integers and a text
		o = runProgram(t, exitDone, "groupby", filepath.Join(dir, "out.parquet"), "--by", "day,shop", "--agg",
			"count,sum:sum_price", "--device", "host", "-o", out, "--stats", "json")
		var stats struct {
			ReadSeconds float64 `json:"read_seconds"`
		}
		require.NoError(t, json.Unmarshal([]byte(o.stdout), &stats), o.stdout)
		require.Equal(t, wholeBytes > 1<<20, stats.ReadSeconds > 0, "a table is read first, a stream is not")
		content, err := os.ReadFile(out)
		require.NoError(t, err)
		require.Equal(t, 5, strings.Count(string(content), "\n"))
	}
	o = runProgram(t, exitDone, "groupby", path, "--by", "day", "--agg", "var:price", "--device", "host", "--explain")
	require.Contains(t, o.stdout, "1..2 and NULL")
	require.Contains(t, o.stdout, "var_price float64 = var(price)")
	o = runProgram(t, exitDone, "groupby", path, "--agg", "count", "--device", "host", "--algo", "sort", "-o", "-",
		"--format", "csv", "--stats", "text")
	require.Equal(t, "count\n5\n", o.stdout)
	require.Contains(t, o.stderr, "sort: a sort of the keys")
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
		{"missing file", exitInputOutput, []string{filepath.Join(dir, "none"), "--agg", "count"}, "no such file"},
		{"two files", exitUsage, []string{path, path, "--agg", "count"}, "groupby takes one table"},
		{"nothing", exitUsage, []string{path}, "neither key columns nor aggregates"},
		{"unknown key", exitUsage, []string{path, "--by", "dayy"}, `the table has no column "dayy"; did you mean "day"?`},
		{"unknown column", exitUsage, []string{path, "--agg", "sum:prize"}, `did you mean "price"?`},
		{"unknown function", exitUsage, []string{path, "--agg", "summ:price"}, `did you mean "sum"?`},
		{"form", exitUsage, []string{path, "--agg", "sum:"}, "write count, sum:x or total=sum:x"},
		{"no column", exitUsage, []string{path, "--agg", "sum"}, "sum needs a column"},
		{"same names", exitUsage, []string{path, "--by", "day", "--agg", "day=count"}, `two output columns are named "day"`},
		{"type", exitNoDevice, []string{path, "--agg", "sum:shop"}, `sum of column "shop" of type utf8`},
		{"algorithm", exitUsage, []string{path, "--agg", "count", "--algo", "hash"}, `no algorithm "hash"`},
		{"drawing", exitNoDevice, []string{path, "--agg", "count", "--algo", "graphics"}, "the host backend does not draw"},
		{"plan of drawing", exitNoDevice, []string{path, "--agg", "count", "--algo", "graphics", "--explain"},
			"the host backend does not draw"},
		{"overflow", exitLimit, []string{big, "--by", "k", "--agg", "sum:v"}, `the sum of column "v" exceeds int64`},
		{"host memory", exitLimit, []string{path, "--agg", "count", "--memory-limit", "16B"}, "raise --memory-limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := runProgram(t, c.code, append([]string{"groupby", "--device", "host", "-o", out}, c.args...)...)
			require.Contains(t, o.stderr, c.want)
			require.Equal(t, 1, strings.Count(strings.TrimSpace(o.stderr), "\n")+1)
			require.Empty(t, o.stdout)
			requireFiles(t, dir, "sales.csv", "big.csv")
		})
	}
}
