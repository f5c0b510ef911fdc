package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/internal/command"
)

// TestJoinOnSeveralDevices: --device may be repeated, also with one name; the rows are the same.
func TestJoinOnSeveralDevices(t *testing.T) {
	defer func(before files.Knobs) { knobs = before }(knobs)
	knobs.StreamedRows = 1
	dir := t.TempDir()
	keys, many := make([]int64, 50_000), make([]int64, 600_000)
	for i := range keys {
		keys[i] = int64(i)
	}
	for i := range many {
		many[i] = int64(i * 7 % 60_000)
	}
	left := tableFile(t, filepath.Join(dir, "l.parquet"), ints("k", keys...), ints("n", keys...))
	right := tableFile(t, filepath.Join(dir, "r.parquet"), ints("k", many...))
	out := filepath.Join(dir, "out.parquet")
	joined := func(devices ...string) (rows []string, stats spirjoin.JoinStats) {
		args := []string{"join", left, right, "--on", "k", "--how", "full", "-o", out, "--stats", "json", "-q"}
		for _, device := range devices {
			args = append(args, "--device", device)
		}
		require.NoError(t, json.Unmarshal([]byte(tested.Require(t, command.ExitDone, args...).Stdout), &stats))
		_, rows = rowsOf(t, out, nil)
		return rows, stats
	}
	want, alone := joined("host")
	require.Empty(t, alone.Devices)
	got, together := joined("host", "host", "host")
	require.Equal(t, want, got)
	require.NotEmpty(t, together.Devices)
	rows := uint64(0)
	for _, device := range together.Devices {
		require.Equal(t, together.Device, device.Device)
		require.Equal(t, "host", device.Backend)
		rows += device.ProbeRows
	}
	require.EqualValues(t, len(many), rows)
	args := []string{"join", left, right, "--on", "k", "--device", "host", "--device", "host", "-o", out}
	tested.Require(t, command.ExitDone, args...)
	_, want = rowsOf(t, out, nil)
	text := tested.Require(t, command.ExitDone, append(args, "--strategy", "hmg", "--stats", "text")...).Stdout
	_, got = rowsOf(t, out, nil)
	require.Equal(t, want, got)
	require.Contains(t, text, "strategy     hmg")
	tested.Require(t, command.ExitDone, append(args, "--strategy", "hmg", "--maintain-order", "left")...)
	_, got = rowsOf(t, out, nil)
	require.Equal(t, want, got)
	require.Contains(t, tested.Require(t, command.ExitNoDevice, append(args, "--strategy", "hmg",
		"--algo", "hj")...).Stderr, "choose another strategy")
	require.Contains(t, tested.Require(t, command.ExitNoDevice, "join", left, right, "--on", "k", "--device", "host",
		"--device", "none", "-o", out).Stderr, "none")
}
