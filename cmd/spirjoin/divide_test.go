package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/tableio"
)

// TestDivideCommand: parts of two tables, whose keys have different types, are joined one by one.
func TestDivideCommand(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "left.csv")
	lines := []string{"a"}
	values := make([]int64, 500)
	for i := range values {
		values[i] = int64(i % 90)
		lines = append(lines, fmt.Sprintf("%d.0", i%100))
	}
	require.NoError(t, os.WriteFile(left, []byte(strings.Join(lines, "\n")), 0o666))
	right := tableFile(t, filepath.Join(dir, "right.parquet"), ints("b", values...))
	l, r := filepath.Join(dir, "l"), filepath.Join(dir, "r")
	o := tested.Require(t, command.ExitDone, "divide", left, "--with", right, "--on", "a=b", "--parts", "3", "-o", l)
	require.Regexp(t, `^500 rows to 3 parts in .*/l, at most \d+ in one; `, o.Stderr)
	tested.Require(t, command.ExitDone, "divide", right, "--with", left, "--on", "b=a", "--parts", "3", "-o", r, "-q")
	rows := 0
	for part := range 3 {
		name := fmt.Sprintf("part-%05d-of-00003.parquet", part)
		o := tested.Require(t, command.ExitDone, "join", filepath.Join(l, name), filepath.Join(r, name), "--on", "a=b",
			"--count", "--device", "host", "-q")
		n, err := strconv.Atoi(strings.TrimSpace(o.Stdout))
		require.NoError(t, err)
		rows += n
	}
	o = tested.Require(t, command.ExitDone, "join", left, right, "--on", "a=b", "--count", "--device", "host", "-q")
	require.Equal(t, strings.TrimSpace(o.Stdout), strconv.Itoa(rows))

	o = tested.Require(t, command.ExitUsage, "join", filepath.Join(l, "part-00000-of-00003.parquet"),
		filepath.Join(r, "part-00001-of-00003.parquet"), "--on", "a=b", "--count", "--device", "host")
	require.Contains(t, o.Stderr, "rows with equal keys may be in other parts")
	tested.Require(t, command.ExitInputOutput, "divide", right, "--on", "b", "--parts", "2", "-o", r)
	tested.Require(t, command.ExitDone, "divide", right, "--on", "b", "--parts", "2", "-o", r, "--overwrite",
		"--format", "csv", "-q")
	commandtest.RequireFiles(t, r, tableio.ManifestName, "part-00000-of-00002.csv", "part-00001-of-00002.csv")
}

// TestDivideUsage: what is missing or makes no sense is said before anything is read.
func TestDivideUsage(t *testing.T) {
	path := tableFile(t, filepath.Join(t.TempDir(), "t.parquet"), ints("a", 1, 2, 3))
	for _, c := range [][]string{
		{"takes one table", "--on", "a", "--parts", "2", "-o", "x"},
		{"--on is needed", path, "--parts", "2", "-o", "x"},
		{"--parts is needed", path, "--on", "a", "-o", "x"},
		{"--output is needed", path, "--on", "a", "--parts", "2"},
		{"--parts is 1 to 4096", path, "--on", "a", "--parts", "5000", "-o", "x"},
		{"--with is the other one", path, "--on", "a=b", "--parts", "2", "-o", "x"},
		{"--with is a file", path, "--with", "-", "--on", "a=b", "--parts", "2", "-o", "x"},
	} {
		o := tested.Require(t, command.ExitUsage, append([]string{"divide"}, c[1:]...)...)
		require.Contains(t, o.Stderr, c[0])
	}
	o := tested.Require(t, command.ExitLimit, "divide", path, "--on", "a", "--parts", "2", "-o", "x",
		"--memory-limit", "1MiB")
	require.Contains(t, o.Stderr, "raise --memory-limit")
	require.NoDirExists(t, "x")
}

// TestDivideInterrupted: nothing is left of a division that is interrupted.
func TestDivideInterrupted(t *testing.T) {
	dir := t.TempDir()
	table := manyToMany(t, filepath.Join(dir, "t.parquet"), 1000, 2000)
	process, stderr := commandtest.Process(t, "divide", table, "--on", "k", "--parts", "20", "-q", "-o",
		filepath.Join(dir, "parts"))
	require.NoError(t, process.Start())
	deadline := time.Now().Add(time.Minute)
	for _, err := os.Stat(filepath.Join(dir, "parts")); err != nil; _, err = os.Stat(filepath.Join(dir, "parts")) {
		require.Less(t, time.Now(), deadline, "no folder appears: %s", stderr)
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, process.Process.Signal(os.Interrupt))
	require.Error(t, process.Wait())
	require.Equal(t, command.ExitInterrupted, process.ProcessState.ExitCode(), stderr.String())
	commandtest.RequireFiles(t, dir, "t.parquet")
}
