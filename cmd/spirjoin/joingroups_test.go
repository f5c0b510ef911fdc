package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/internal/golden"
)

// visits are two tables whose joined rows are grouped.
func visits(t *testing.T) (dir string, args []string) {
	dir = t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	left := file("shops.csv", "k,city,name\n1,a,x\n1,b,y\n2,a,\n,b,z\n3,c,x\n")
	right := file("visits.csv", "k,paid,name\n1,100,q\n1,200,r\n4,5,t\n,9,\n")
	return dir, []string{"join", left, right, "--on", "k", "--device", "host"}
}

// groupedBy is the output of a join whose rows are grouped: its header and its rows, sorted.
func groupedBy(t *testing.T, args ...string) (header string, rows []string) {
	t.Helper()
	o := tested.Require(t, command.ExitDone, append(args, "-o", "-", "--format", "csv", "-q")...)
	lines := strings.Split(strings.TrimSuffix(o.Stdout, "\n"), "\n")
	return lines[0], sorted(lines[1:])
}

// TestJoinBy: the rows of a join are grouped by names of its output, read whole or as they come, with and without a
// limit of memory.
func TestJoinBy(t *testing.T) {
	defer func(before files.Knobs) { knobs = before }(knobs)
	_, args := visits(t)
	for _, c := range []struct {
		args   []string
		header string
		rows   []string
	}{
		{[]string{"--by", "k", "--agg", "count"}, "k,count", []string{"1,4"}},
		{[]string{"--by", "k", "--agg", "n=count,max:cities", "--how", "full"}, "", nil},
		{[]string{"--by", "k", "--agg", "n=count,count:paid", "--how", "full"}, "k,n,count_paid",
			[]string{"1,4,4", "2,1,0", "3,1,0", "4,1,1", ",2,1"}},
		{[]string{"--by", "k", "--agg", "count", "--how", "full", "--nulls-equal"}, "k,count",
			[]string{"1,4", "2,1", "3,1", "4,1", ",1"}},
		{[]string{"--by", "city", "--by", "name_right", "--agg", "total=sum:paid"}, "city,name_right,total",
			[]string{"a,q,100", "a,r,200", "b,q,100", "b,r,200"}},
		{[]string{"--by", "city", "--agg", "count,sum:paid", "--how", "left"}, "city,count,sum_paid",
			[]string{"a,3,300", "b,3,300", "c,1,"}},
		{[]string{"--by", "city,name", "--how", "anti"}, "city,name", []string{"a,", "b,z", "c,x"}},
		{[]string{"--agg", "count"}, "count", []string{"4"}},
		{[]string{"--agg", "count,sum:paid", "--how", "semi"}, "", nil},
		{[]string{"--agg", "n=count", "--how", "right"}, "n", []string{"6"}},
	} {
		for _, least := range []int64{1, 1 << 20} {
			for _, more := range [][]string{nil, {"--memory-limit", "1GiB"}} {
				knobs.StreamedRows = least
				all := append(append(append([]string{}, args...), c.args...), more...)
				if c.header == "" { // it names a column that the output does not have
					o := tested.Require(t, command.ExitUsage, append(all, "-o", "-")...)
					require.Contains(t, o.Stderr, "the output has no column")
					continue
				}
				header, rows := groupedBy(t, all...)
				require.Equal(t, c.header, header, "%v", c.args)
				require.Equal(t, sorted(c.rows), rows, "%v", c.args)
			}
		}
	}
	o := tested.AtTerminal(t.Context(), append(args, "--by", "k", "--agg", "count", "-q")...)
	require.Equal(t, "k  count\n1      4\n1 row\n", o.Stdout)
}

// TestJoinByReports: the plan has the group-by behind the join, and the statistics have both.
func TestJoinByReports(t *testing.T) {
	dir, args := visits(t)
	args, out := append(args, "--batch-rows", "1Mi"), filepath.Join(dir, "out.csv")
	args = append(args, "--how", "left", "--by", "k")
	for _, c := range []struct{ golden, agg string }{{"explain-by-rows.txt", "var:paid,count"},
		{"explain-by-key.txt", "count,count:paid"}} {
		o := tested.Require(t, command.ExitDone, append(args, "--agg", c.agg, "--explain")...)
		require.Empty(t, o.Stderr)
		golden.Require(t, c.golden, plain(o.Stdout))

		o = tested.Require(t, command.ExitDone, append(args, "--agg", c.agg, "-o", out, "--stats", "json")...)
		var report joinReport
		require.NoError(t, json.Unmarshal([]byte(o.Stdout), &report))
		require.EqualValues(t, 7, report.GroupBy.Rows)
		require.EqualValues(t, 4, report.GroupBy.Groups)
		require.NotEmpty(t, report.Algorithm)
		if c.golden == "explain-by-key.txt" {
			require.Len(t, report.Sides, 2)
			require.EqualValues(t, 4, report.LeftRows, "groups of the left side")
		} else {
			require.Empty(t, report.Sides)
			require.EqualValues(t, 7, report.OutputRows)
		}
		o = tested.Require(t, command.ExitDone, append(args, "--agg", c.agg, "-o", out, "--stats", "text")...)
		require.Contains(t, o.Stdout, "group ")
		require.Contains(t, o.Stdout, "algorithm ")
		require.NotContains(t, o.Stdout, "\x00")
		require.Contains(t, o.Stderr, "4 groups of 7 joined rows to ")
	}
}

func TestJoinByFailures(t *testing.T) {
	dir, args := visits(t)
	big := filepath.Join(dir, "big.csv")
	require.NoError(t, os.WriteFile(big, []byte("k,v\n1,9223372036854775807\n1,1\n"), 0o666))
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{command.ExitUsage, append(args, "--by", "k", "--agg", "count", "--columns", "kk"), `the output has no column "kk"`},
		{command.ExitUsage, append(args, "--agg", "count", "--count"),
			"say what the columns of the output are; leave out --count"},
		{command.ExitUsage, append(args, "--by", "cityy", "--agg", "count"), `did you mean "city"?`},
		{command.ExitUsage, append(args, "--by", "k", "--agg", "summ:paid"), `did you mean "sum"?`},
		{command.ExitUsage, append(args, "--by", "k", "--agg", "sum:"), "write count, sum:x or total=sum:x"},
		{command.ExitNoDevice, append(args, "--by", "k", "--agg", "count", "--algo", "graphics", "--explain"),
			"does not draw"},
		{command.ExitNoDevice, append(args, "--by", "k", "--agg", "sum:paid", "--algo", "graphics", "--explain"),
			"does not draw"},
		{command.ExitUsage, append(args, "--by", "k,k"), `key column "k" is named twice`},
		{command.ExitNoDevice, append(args, "--by", "k", "--agg", "sum:city"), `sum of column "city" of type utf8`},
		{command.ExitLimit, []string{"join", big, big, "--on", "k", "--device", "host", "--by", "k", "--agg", "sum:v"},
			`the sum of column "v" exceeds int64`},
		{command.ExitLimit, append(args, "--by", "city", "--agg", "count", "--max-output-rows", "3"),
			"--max-output-rows allows 3"},
		{command.ExitLimit, append(args, "--by", "city", "--agg", "count", "--memory-limit", "16B"), "raise --memory-limit"},
		{command.ExitUsage, append(args, "--by", "k", "--agg", "count", "--validate", "1:m"), "must be unique"},
	} {
		t.Run(fmt.Sprint(c.args[5:]), func(t *testing.T) {
			o := tested.Require(t, c.code, append(c.args, "-o", filepath.Join(dir, "out.parquet"))...)
			require.Contains(t, o.Stderr, c.want)
			require.Equal(t, 1, strings.Count(strings.TrimSpace(o.Stderr), "\n")+1, "%s", o.Stderr)
			require.Empty(t, o.Stdout)
			commandtest.RequireFiles(t, dir, "shops.csv", "visits.csv", "big.csv")
		})
	}
}
