package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/internal/golden"
)

// The line about a run fits the terminal: the folder goes first, then the end of the device's name, and so on.
func TestSummaryFitsTheTerminal(t *testing.T) {
	r := joinReport{JoinStats: spirjoin.JoinStats{OutputRows: 1_234_567, Algorithm: "smj-um", MatchSeconds: 1.5},
		Output: "a/rather/long/folder/out.parquet", ReadSeconds: 2, OutputSeconds: 3, WallSeconds: 6.5}
	device := &backend.DeviceInfo{Name: "llvmpipe (LLVM 19.1.7, 256 bits)", Backend: "vulkan"}
	const rows = "1,234,567 rows"
	const times = " in 6.50 s (read 2.00, match 1.50, output 3.00) by smj-um on "
	for columns, want := range map[int]string{
		0:   rows + " to a/rather/long/folder/out.parquet" + times + "llvmpipe (LLVM 19.1.7, 256 bits) (vulkan)",
		200: rows + " to a/rather/long/folder/out.parquet" + times + "llvmpipe (LLVM 19.1.7, 256 bits) (vulkan)",
		135: rows + " to …/out.parquet" + times + "llvmpipe (LLVM 19.1.7, 256 bits) (vulkan)",
		110: rows + " to …/out.parquet" + times + "llvmpipe… (vulkan)",
		100: rows + " to …/out.parquet in 6.50 s by smj-um on llvmpipe (LLVM 19.1.7, 256 bits) (vulkan)",
		80:  rows + " to …/out.parquet in 6.50 s by smj-um on llvmpipe (LLVM … (vulkan)",
		60:  rows + " to …/out.parquet in 6.50 s",
		30:  rows + " in 6.50 s",
		20:  rows + " in 6…",
	} {
		require.Equal(t, want, r.line(device, columns), columns)
	}
	for columns := 1; columns < 200; columns++ {
		require.LessOrEqual(t, utf8.RuneCountInString(r.line(device, columns)), columns)
	}
	r.Output = ""
	require.Equal(t, rows+" in 6.50 s (read 2.00, match 1.50) by smj-um on "+device.Name+" (vulkan)",
		r.line(device, 110))
	require.Equal(t, rows+" in 6.50 s by smj-um on llvmpipe (LL… (vulkan)", r.line(device, 60),
		"there is no folder to leave out")
}

func TestJoinStats(t *testing.T) {
	dir, args := orders(t, ".parquet")
	out := filepath.Join(dir, "out.parquet")
	read := func(text string) map[string]any {
		var stats map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &stats), text)
		return stats
	}
	o := tested.Require(t, command.ExitDone, append(args, "-o", out, "--stats", "json")...)
	require.Empty(t, o.Stderr)
	stats := read(o.Stdout)
	require.Equal(t, 3.0, stats["output_rows"])
	require.Equal(t, 4.0, stats["left_rows"])
	require.Equal(t, "host", stats["backend"])
	require.Equal(t, "host:cpu", stats["device_id"])
	require.Equal(t, out, stats["output"])
	for _, name := range []string{"read_seconds", "match_seconds", "output_seconds", "write_seconds", "wall_seconds",
		"start_seconds"} {
		require.Positive(t, stats[name], name)
	}
	pipelines := stats["pipelines"].(map[string]any)
	require.Positive(t, pipelines["compiled"])
	require.Nil(t, pipelines["from_cache"], "the host keeps none")
	require.Equal(t, 0.0, pipelines["ahead"], "the host has nothing to compile")
	require.Equal(t, 0.0, pipelines["unused"])
	require.Equal(t, 3.0, read(tested.Require(t, command.ExitDone,
		append(args, "--count", "--stats", "json")...).Stdout)["output_rows"], "in place of the number")

	require.NotEmpty(t, stats["algorithm"])
	require.Greater(t, len(stats["alternatives"].([]any)), 6)
	for _, name := range []string{"phj-om", "phj-um", "hj", "smj-om", "smj-um"} {
		stats := read(tested.Require(t, command.ExitDone, append(args, "-o", out, "--stats", "json", "--algo",
			name)...).Stdout)
		require.Equal(t, name, stats["algorithm"])
		require.Equal(t, 3.0, stats["output_rows"])
	}
	o = tested.Require(t, command.ExitDone, append(args, "-o", out, "--stats", "text", "--algo", "phj-om")...)
	require.Contains(t, o.Stdout, "algorithm    phj-om")
	require.Regexp(t, `\n  match +[0-9.]+ [um]?s predicted, +[0-9.]+ [um]?s measured\n`, o.Stdout)
	require.Contains(t, o.Stderr, " by phj-om on ")

	o = tested.Require(t, command.ExitDone, append(args, "-o", "-", "--stats", "json")...)
	require.Equal(t, 3.0, read(o.Stderr)["output_rows"], "standard output carries the table")
	_, rows := rowsOf(t, "-", strings.NewReader(o.Stdout))
	require.Equal(t, joined, rows)
}

func TestJoinExplain(t *testing.T) {
	dir, args := orders(t, ".parquet")
	args = append(args, "--batch-rows", "1Mi")
	o := tested.Require(t, command.ExitDone, append(args, "--explain", "-o", filepath.Join(dir, "out.parquet"))...)
	commandtest.RequireFiles(t, dir, "orders.parquet", "items.parquet")
	require.Empty(t, o.Stderr)
	golden.Require(t, "explain.txt", plain(o.Stdout))
	golden.Require(t, "explain-count.txt",
		plain(tested.Require(t, command.ExitDone, append(args, "--explain", "--count")...).Stdout))
}

// plain leaves out of an explanation what differs from machine to machine or follows from rates.
func plain(explanation string) string {
	text := regexp.MustCompile(`(?m)^(device +).* \(host, host\)$`).ReplaceAllString(explanation,
		"${1}DEVICE (host, host)")
	return regexp.MustCompile(`[0-9.]+ [um]?s\b`).ReplaceAllString(text, "TIME")
}

// The progress bar leaves an empty line behind.
func TestJoinProgressOnATerminal(t *testing.T) {
	dir, args := orders(t, ".parquet")
	args = append(args, "-o", filepath.Join(dir, "out.csv"))
	o := tested.AtTerminal(t.Context(), args...)
	require.Equal(t, command.ExitDone, o.Code, o.Stderr)
	lines := strings.Split(strings.TrimSuffix(o.Stderr, "\n"), "\r")
	require.Regexp(t, `^3 rows to `, lines[len(lines)-1])
	for _, line := range lines {
		require.NotContains(t, line, "\x1b", "no colours")
	}
	require.Equal(t, commandtest.Outcome{Code: command.ExitDone}, tested.AtTerminal(t.Context(), append(args, "-q")...))
}

// TestReportOfFailures: a device that failed is named on standard error.
func TestReportOfFailures(t *testing.T) {
	var r joinReport
	var b strings.Builder
	r.warn(&b)
	require.Empty(t, b.String())
	require.NoError(t, json.Unmarshal([]byte(`{"failures": [{"device": "GPU", "error": "device lost"}]}`), &r))
	r.warn(&b)
	require.Equal(t, "warning: GPU failed, other devices joined its rows: device lost\n", b.String())
}
