package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
)

// Inputs of several files join and group like one file, with and without a limit.
func TestInputsOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		return path
	}
	tableFile(t, in("left/1.parquet"), ints("k", 1, 2, 3), texts("name", "a", "b", "c"))
	tableFile(t, in("left/2.parquet"), texts("name", "d", "e"), ints("k", 4, 5))
	for name, text := range map[string]string{
		"right/year=2025/x.csv": "k,v\n1,10\n4,40\n", "right/_SUCCESS": "",
		"right/year=2026/x.csv": "v,k\n41.5,4\n50,5\n",
	} {
		require.NoError(t, os.WriteFile(in(name), []byte(text), 0o600))
	}
	list := in("list.txt")
	require.NoError(t, os.WriteFile(list, []byte(in("left/2.parquet")+"\n"+in("left/1.parquet")+"\n"), 0o600))
	for _, left := range []string{in("left"), in("left/*.parquet"), in("left/{2,1}.parquet"), "@" + list} {
		for _, limits := range [][]string{nil, {"--memory-limit", "400MiB"}} {
			out := filepath.Join(t.TempDir(), "out.csv")
			tested.Require(t, command.ExitDone, append([]string{"join", left, in("right"), "--on", "k",
				"--device", "host", "-q", "--maintain-order", "right", "--columns", "k,name,v,year", "-o", out}, limits...)...)
			text, err := os.ReadFile(out)
			require.NoError(t, err)
			require.Equal(t, "k,name,v,year\n1,a,10.0,2025\n4,d,40.0,2025\n4,d,41.5,2026\n5,e,50.0,2026\n",
				string(text), left)
			tested.Require(t, command.ExitDone, append([]string{"groupby", in("right/**/*.csv"), "--by", "year",
				"--agg", "sum:v,count", "--device", "host", "-q", "-o", out}, limits...)...)
			text, err = os.ReadFile(out)
			require.NoError(t, err)
			require.ElementsMatch(t, []string{"year,sum_v,count", "2025,50.0,2", "2026,91.5,2"},
				strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"))
		}
	}
}

func TestFaultsOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	one := tableFile(t, filepath.Join(dir, "1.parquet"), ints("k", 1))
	tableFile(t, filepath.Join(dir, "2.parquet"), texts("k", "x"))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"join", dir + "/x*", one, "--on", "k", "--count"}, command.ExitInputOutput,
			"open " + dir + "/x*: no file matches the pattern"},
		{[]string{"join", "@" + dir + "/list", one, "--on", "k", "--count"}, command.ExitInputOutput,
			"open @" + dir + "/list: no such file"},
		{[]string{"join", one, one, one, "--on", "k", "--count"}, command.ExitUsage,
			"not 3; put a pattern of names between quotes"},
		{[]string{"groupby", dir, "--by", "k", "-o", "-"}, command.ExitInputOutput,
			`column "k" is int64 in ` + one + " and utf8 in " + dir +
				"/2.parquet, and neither type holds the other; leave it out of --by and --agg"},
	} {
		o := tested.Require(t, c.code, append(c.args, "--device", "host")...)
		require.Contains(t, o.Stderr, c.want)
	}
	text := filepath.Join(dir, "csv")
	require.NoError(t, os.Mkdir(text, 0o700))
	for name, lines := range map[string]string{"1.csv": "k\n1\n", "2.csv": "k\n2\nNA\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(text, name), []byte(lines), 0o600))
	}
	o := tested.Require(t, command.ExitNoDevice, "join", text, one, "--on", "k", "--count", "--device", "host")
	require.Contains(t, o.Stderr, `column "k" of `+text+`/2.csv is text because of line 3: "NA"; --csv-null NA reads`)
}
