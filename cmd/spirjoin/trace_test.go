package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/stretchr/testify/require"
)

// A join with a trace has the same output, and the trace says what the command, its goroutines and its device did, of
// tables that are read first and of those that are joined as they are read.
func TestJoinTrace(t *testing.T) {
	defer func(before files.Knobs) { knobs = before }(knobs)
	dir := t.TempDir()
	keys, values := make([]int64, 3000), make([]int64, 3000)
	for i := range keys {
		keys[i], values[i] = int64(i*7%900), int64(i)
	}
	left := tableFile(t, filepath.Join(dir, "l.parquet"), ints("k", 5, 70, 700, 1000), texts("a", "w", "x", "y", "z"))
	right := tableFile(t, filepath.Join(dir, "r.parquet"), ints("k", keys...), ints("n", values...))
	out, path := filepath.Join(dir, "out.csv"), filepath.Join(dir, "trace.json")
	for streamed, least := range map[bool]int64{false: 0, true: 1} {
		knobs.StreamedRows = least
		args := []string{"join", left, right, "--on", "k", "--device", "host", "-o", out, "--stats", "json"}
		tested.Require(t, command.ExitDone, args...)
		_, want := rowsOf(t, out, nil)
		stats := tested.Require(t, command.ExitDone, append(args, "--trace", path)...)
		_, got := rowsOf(t, out, nil)
		require.Equal(t, want, got)

		var report struct {
			Wall   float64            `json:"wall_seconds"`
			Stages map[string]float64 `json:"stage_seconds"`
		}
		require.NoError(t, json.Unmarshal([]byte(stats.Stdout), &report))
		var trace struct {
			Events []struct {
				Name, Ph string
				Ts, Dur  float64
				Pid      int
				Args     map[string]any
			} `json:"traceEvents"`
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &trace))
		names, stages := make(map[any]bool), make(map[string]float64)
		for _, e := range trace.Events {
			names[e.Name], names[e.Args["name"]] = true, true
			if e.Ph == "X" {
				require.GreaterOrEqual(t, e.Ts, 0.0)
			}
			if e.Pid > 1 {
				stages[e.Name] += e.Dur / 1e6
			}
			if e.Name == "command" && e.Ph == "X" {
				require.InDelta(t, report.Wall, e.Dur/1e6, 0.5)
			}
		}
		for _, name := range []string{"host", "command", "open device", "read and decode", "open inputs", "read left",
			"join", "deliver", "write batch", "encode and write", "finish file", "compute"} {
			require.True(t, names[name], "%s, streamed: %v", name, streamed)
		}
		require.Equal(t, streamed, names["gather"])
		require.NotEmpty(t, report.Stages)
		for stage, seconds := range report.Stages {
			require.InDelta(t, seconds, stages[stage], 1e-5, stage)
		}
	}
	commandtest.RequireFiles(t, dir, "l.parquet", "out.csv", "r.parquet", "trace.json")
}

// A trace that cannot be written is refused before anything runs, and a join that fails leaves none: an earlier one
// stays as it is.
func TestJoinTraceFails(t *testing.T) {
	dir := t.TempDir()
	table := tableFile(t, filepath.Join(dir, "t.parquet"), ints("k", 5, 5, 70))
	out, path := filepath.Join(dir, "out.csv"), filepath.Join(dir, "trace.json")
	join := []string{"join", table, table, "--on", "k", "--device", "host", "-o", out, "--trace"}
	o := tested.Require(t, command.ExitInputOutput, append(join, filepath.Join(dir, "no", "trace.json"))...)
	require.Contains(t, o.Stderr, "--trace: ")
	require.Contains(t, o.Stderr, "must be writable")
	o = tested.Require(t, command.ExitInputOutput, append(join, dir)...)
	require.Contains(t, o.Stderr, "this is a directory")
	for args, says := range map[[2]string]string{
		{""}:                  "--trace takes the name of a file",
		{"-"}:                 "--trace takes the name of a file",
		{out}:                 "--trace and --output name the same file",
		{path, "--explain"}:   "leave out --trace",
		{dir + "/./out.csv"}:  "--trace and --output name the same file",
		{path, "--stats=yes"}: "--stats is json or text",
	} {
		rest := args[:1]
		if args[1] != "" {
			rest = args[:]
		}
		require.Contains(t, tested.Require(t, command.ExitUsage, append(join, rest...)...).Stderr, says)
	}
	commandtest.RequireFiles(t, dir, "t.parquet")

	require.NoError(t, os.WriteFile(path, []byte("earlier"), 0o666))
	tested.Require(t, command.ExitLimit, append(join, path, "--max-output-rows", "2")...)
	commandtest.RequireFiles(t, dir, "t.parquet", "trace.json")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "earlier", string(text))
}
