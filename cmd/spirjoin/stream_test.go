package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// The larger side is joined as it is read, with the same rows, where the output goes to a file; what needs the whole
// side, as an order of the other one or a proof of unique keys does, reads it whole.
func TestJoinAsItIsRead(t *testing.T) {
	defer func(before files.Knobs) { knobs = before }(knobs)
	dir := t.TempDir()
	many, numbers := make([]int64, 5000), make([]int64, 5000)
	for i := range many {
		many[i], numbers[i] = int64(i*7%900), int64(i)
	}
	for _, extension := range []string{".parquet", ".csv", ".arrow", ".arrows"} {
		left := tableFile(t, filepath.Join(dir, "l"+extension), ints("k", 5, 70, 700, 1000), texts("a", "w", "x", "y", "z"))
		right := tableFile(t, filepath.Join(dir, "r"+extension), ints("k", many...), ints("n", numbers...))
		for _, c := range []struct {
			args     []string
			streamed bool
		}{
			{nil, true}, {[]string{"--how", "left"}, true}, {[]string{"--how", "full"}, true},
			{[]string{"--how", "semi"}, true}, {[]string{"--how", "right-anti"}, true}, {[]string{"--how", "mark"}, true},
			{[]string{"--maintain-order", "right"}, true}, {[]string{"--maintain-order", "left"}, false},
			{[]string{"--validate", "1:m"}, true}, {[]string{"--build-side", "right"}, false},
			{[]string{"--build-side", "left"}, true},
			{[]string{"--columns", "n,a"}, true},
		} {
			run := func(least int64) (rows []string, text string) {
				knobs.StreamedRows = least
				out := filepath.Join(dir, "out.parquet")
				args := append([]string{"join", left, right, "--on", "k", "--device", "host", "-o", out, "--stats", "text"},
					c.args...)
				text = tested.Require(t, command.ExitDone, args...).Stdout
				_, rows = rowsOf(t, out, nil)
				return rows, text
			}
			want, whole := run(math.MaxInt64)
			got, text := run(1)
			require.Equal(t, want, got, "%s %v", extension, c.args)
			if extension != ".arrows" {
				require.NotContains(t, whole, "rows as they come")
			}
			if c.streamed || extension == ".arrows" { // of which the length is not known
				require.Contains(t, text, "rows as they come", "%s %v", extension, c.args)
			} else {
				require.NotContains(t, text, "rows as they come", "%s %v", extension, c.args)
			}
		}
		knobs.StreamedRows = 1
		args := []string{"join", left, right, "--on", "k", "--device", "host", "-o", filepath.Join(dir, "no.parquet")}
		o := tested.Require(t, command.ExitUsage, append(args, "--validate", "m:1")...)
		require.Contains(t, o.Stderr, "must be unique")
		o = tested.Require(t, command.ExitLimit, append(args, "--max-output-rows", "3")...)
		require.Contains(t, o.Stderr, "--max-output-rows")
		require.NoFileExists(t, filepath.Join(dir, "no.parquet"))
	}
}

// Of two tables of as many rows one is joined as it is read; so it is for a count, but only where memory is limited.
func TestJoinOfEqualsAsItIsRead(t *testing.T) {
	defer func(before files.Knobs) { knobs = before }(knobs)
	knobs.StreamedRows = 1
	dir := t.TempDir()
	table := tableFile(t, filepath.Join(dir, "t.parquet"), ints("k", 5, 5, 70, 1000))
	for _, c := range []struct {
		args     []string
		streamed bool
	}{
		{[]string{"-o", filepath.Join(dir, "out.csv")}, true},
		{[]string{"--count"}, false},
		{[]string{"--count", "--memory-limit", "1GiB"}, true},
	} {
		args := append([]string{"join", table, table, "--on", "k", "--device", "host", "--stats", "text"}, c.args...)
		text := tested.Require(t, command.ExitDone, args...).Stdout
		require.Equal(t, c.streamed, strings.Contains(text, "rows as they come"), "%v: %s", c.args, text)
		require.Equal(t, c.args[0] == "--count", strings.HasPrefix(text, "6\n"), "%v: %s", c.args, text)
	}
}

// A pipe, whose length is not known, is joined as it comes, also where the build side is named.
func TestJoinPipeAsItComes(t *testing.T) {
	dir := t.TempDir()
	left := tableFile(t, filepath.Join(dir, "l.parquet"), ints("k", 5, 70, 700, 1000), texts("a", "w", "x", "y", "z"))
	stream := tableFile(t, filepath.Join(dir, "r.arrows"), ints("k", 70, 5, 6, 70), texts("b", "1", "2", "3", "4"))
	for _, side := range []string{"auto", "left", "right"} {
		in, err := os.Open(stream)
		require.NoError(t, err)
		defer in.Close()
		out := filepath.Join(dir, "out.csv")
		o := tested.Run(t.Context(), io.MultiReader(in), "join", left, "-", "--on", "k", "--device", "host", "--build-side",
			side, "--how", "full", "--stats", "text", "-o", out)
		require.Equal(t, command.ExitDone, o.Code, o.Stderr)
		if side != "right" { // of which the other side is short
			require.Contains(t, o.Stdout, "rows as they come")
		}
		_, rows := rowsOf(t, out, nil)
		require.Equal(t, sorted([]string{"70|x|1", "5|w|2", "6|(null)|3", "70|x|4", "700|y|(null)", "1000|z|(null)"}), rows)
	}
}

// Files that are read whole are divided where the device is too small for them, in the order of either side; so the plan
// says.
func TestWholeFilesInParts(t *testing.T) {
	dir := t.TempDir()
	const rows = 20_000
	keys, others := make([]int64, rows), make([]int64, rows)
	for i := range keys {
		keys[i], others[i] = int64(i), int64(i)*7%(rows*2)
	}
	left := tableFile(t, filepath.Join(dir, "l.parquet"), ints("k", keys...), ints("a", keys...))
	right := tableFile(t, filepath.Join(dir, "r.parquet"), ints("k", others...), ints("b", keys...))
	out := filepath.Join(dir, "out.parquet")
	for _, side := range []string{"none", "left", "right"} {
		run := func(more ...string) (commandtest.Outcome, []string) {
			o := tested.Require(t, command.ExitDone, append([]string{"join", left, right, "--on", "k", "--device", "host",
				"--build-side", "left", "--maintain-order", side, "--stats", "text", "-o", out}, more...)...)
			_, rows := rowsOf(t, out, nil)
			return o, rows
		}
		o, want := run()
		require.NotContains(t, o.Stdout, "divided ")
		o, got := run("--device-memory", "200KiB")
		require.Regexp(t, "divided      into .* parts by hashes of the keys, in memory", o.Stdout)
		require.Equal(t, want, got)
	}
	o := tested.Require(t, command.ExitDone, "join", left, right, "--on", "k", "--device", "host", "--device-memory",
		"200KiB", "--explain")
	require.Contains(t, o.Stdout, "divided      into parts")
	require.Contains(t, o.Stdout, "raise --device-memory to at least ")
}

// Whatever runs under a limit of memory can be explained under it, also if the tables do not fit.
func TestExplainUnderAMemoryLimit(t *testing.T) {
	dir := t.TempDir()
	long := repeatedTexts(t, filepath.Join(dir, "long.parquet"), 60_000, 1100) // 66 MB
	narrow := tableFile(t, filepath.Join(dir, "narrow.parquet"), ints("k", 1, 2, 3))
	for _, c := range []struct {
		args []string
		want string // of the text
	}{
		{[]string{"join", narrow, long, "--on", "k", "--temp-dir", dir}, "probe        right, rows as they come"},
		{[]string{"join", narrow, long, "--on", "k", "--columns", "k"}, "algorithm "},
		{[]string{"join", long, long, "--on", "k", "--temp-dir", dir}, "parts by hashes of the keys, "},
		{[]string{"join", narrow, long, "--on", "k", "--temp-dir", dir, "--by", "name", "--agg", "count"}, "aggregate    count"},
		{[]string{"groupby", long, "--by", "name", "--agg", "count"}, "aggregate    count"},
	} {
		o := tested.Require(t, command.ExitDone, append(c.args, "--device", "host", "--memory-limit", "64MiB",
			"--explain")...)
		require.Contains(t, o.Stdout, c.want, c.args)
		if c.args[0] == "join" && !slices.Contains(c.args, "--by") {
			require.NotContains(t, o.Stdout, "measured", c.args)
		}
	}
}

// With a place on disk, a join whose build side does not fit in memory is joined in parts, with the same rows, from
// files and from a pipe, also in order; a limit of the disk holds. Where only memory of the device is short, parts are
// in memory.
func TestJoinInPartsOnDisk(t *testing.T) {
	dir, disk := t.TempDir(), t.TempDir()
	const rows = 200_000
	keys, others, words := make([]int64, rows), make([]int64, rows), make([]string, rows)
	for i := range keys {
		keys[i], others[i], words[i] = int64(i), int64(i)*7%(rows*2), strings.Repeat("text ", i%30)
	}
	left := tableFile(t, filepath.Join(dir, "l.parquet"), ints("k", keys...), texts("a", words...))
	right := tableFile(t, filepath.Join(dir, "r.parquet"), ints("k", others...), texts("b", words...))
	stream := tableFile(t, filepath.Join(dir, "r.arrows"), ints("k", others...), texts("b", words...))
	out := filepath.Join(dir, "out.parquet")
	run := func(args ...string) (commandtest.Outcome, []string) {
		o := tested.Require(t, command.ExitDone, append([]string{"join", "--on", "k", "--device", "host", "--how", "full",
			"--stats", "text", "-o", out}, args...)...)
		_, rows := rowsOf(t, out, nil)
		return o, rows
	}
	_, want := run(left, right)
	for _, inputs := range [][]string{{left, right}, {left, stream}} {
		o, got := run(append(inputs, "--temp-dir", disk, "--device-memory", "2MiB")...)
		require.Contains(t, o.Stdout, "divided      into ")
		require.Equal(t, want, got)
		o = tested.Require(t, command.ExitDone, append([]string{"join", "--on", "k", "--device", "host", "--how", "full",
			"--count", "--temp-dir", disk, "--device-memory", "2MiB"}, inputs...)...)
		require.Equal(t, fmt.Sprintln(len(want)), o.Stdout)
	}
	refused := func(code int, args ...string) string {
		return tested.Require(t, code, append([]string{"join", left, right, "--on", "k", "--device", "host", "-o", out},
			args...)...).Stderr
	}
	_, want = run(left, right, "--maintain-order", "right")
	o, got := run(left, right, "--temp-dir", disk, "--device-memory", "2MiB", "--maintain-order", "right")
	require.Regexp(t, "divided      into .* parts by hashes of the keys, in memory", o.Stdout)
	require.Equal(t, want, got)
	require.Contains(t, refused(command.ExitUsage, "--temp-dir", filepath.Join(dir, "none")), "there is no folder")
	require.Contains(t, refused(command.ExitUsage, "--temp-limit", "1MiB"), "--temp-dir")
	files, err := os.ReadDir(disk)
	require.NoError(t, err)
	require.Empty(t, files)
}

// TestJoinOnDiskUnderALimit: tables beyond the limit of memory are divided on disk, in any order and with either build
// side.
func TestJoinOnDiskUnderALimit(t *testing.T) {
	devicetest.SkipRace(t)
	dir, disk := t.TempDir(), t.TempDir()
	out := filepath.Join(dir, "out.parquet")
	many := make([]int64, devicetest.Short(2_000_000, 4_000_000))
	for i := range many {
		many[i] = int64(i)
	}
	rows := fmt.Sprintln(len(many))
	wide := tableFile(t, filepath.Join(dir, "wide.parquet"), ints("k", many...), ints("a", many...))
	under := []string{"join", wide, wide, "--on", "k", "--device", "host", "-o", out, "--memory-limit", "64MiB",
		"--temp-dir", disk, "--stats", "text"}
	o := tested.Require(t, command.ExitDone, under...)
	require.Regexp(t, "divided      into .* parts by hashes of the keys, .* on disk", o.Stdout)
	require.Equal(t, rows, tested.Require(t, command.ExitDone, "join", out, wide, "--on", "k", "--device", "host",
		"--count").Stdout)
	o = tested.Require(t, command.ExitDone, append(under, "--maintain-order", "left")...) // the side that is otherwise the build side
	require.Regexp(t, "divided      into .* parts by hashes of the keys, .* on disk", o.Stdout)
	for _, side := range devicetest.Short([]string{"right"}, []string{"left", "right"}) { // also where the ordered side is to be the build side
		o = tested.Require(t, command.ExitDone, append(under, "--maintain-order", side, "--build-side", side)...)
		require.Regexp(t, "divided      into .* parts by hashes of the keys, .* on disk", o.Stdout)
		require.Equal(t, rows,
			tested.Require(t, command.ExitDone, "join", out, wide, "--on", "k,a", "--device", "host", "--count").Stdout)
	}
	o = tested.Require(t, command.ExitInputOutput, append(under, "--temp-limit", "1MiB")...)
	require.Contains(t, o.Stderr, "--temp-limit")
	files, err := os.ReadDir(disk)
	require.NoError(t, err)
	require.Empty(t, files)
}
