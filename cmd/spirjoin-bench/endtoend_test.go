package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/stretchr/testify/require"
)

func TestEndToEnd(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "results.csv")
	o := tested.Require(t, command.ExitDone, append([]string{"end-to-end", "memory", "csv", "-r", "2^10", "--zipf", "0.5",
		"--payloads", "2", "--payload-bytes", "4,8", "--how", "left", "--match-ratio", "0.5", "--algorithm", "smj-om",
		"--memory-limit", "1GiB", "--dir", dir, "--csv", path}, benchQuickly...)...)
	require.Empty(t, o.Stderr)
	commandtest.RequireFiles(t, dir, "results.csv")
	lines := strings.Split(strings.TrimSpace(o.Stdout), "\n")
	require.Contains(t, lines[1], "pkfk r=1024 s=4096 key-bytes=8 r-payload-bytes=4+8 s-payload-bytes=4+8 "+
		"match-ratio=0.5 zipf=0.5 multiplicity=1 seed=1 how=left")
	require.Regexp(t, `(?m)^copy by one core, read and written +[\d.]+ [MG]B/s$`, o.Stdout)
	require.Regexp(t, `(?m)^2,\d{3} rows \([\d.]+ KiB\) by smj-om in [\d.]+ [mu]?s \(min .*\), first batch after `,
		o.Stdout)
	require.Regexp(t, `(?m)^PHASE +BUSY +OF WALL +BYTES +WHILE BUSY$`, o.Stdout)
	require.Regexp(t, `(?m)^RESOURCE +BYTES +RATE +BOUND +FULL$`, o.Stdout)
	require.Regexp(t, `^fullest: .+, \d+% of [\d.]+ [mu]?s$`, lines[len(lines)-1])
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(string(text), "\n"))
	require.Contains(t, string(text), "spirjoin-bench end-to-end memory csv --r-rows 1024 --payloads 2 "+
		"--payload-bytes 4,8 --match-ratio 0.5 --zipf 0.5 --how left --device host --memory-limit 1073741824 "+
		"--algorithm smj-om --dir "+dir+" --repeat 2 --warm 0s\"", "each flag once")

	for args, want := range map[string]string{
		"orc":                `no way "orc"; there are memory, pinned, parquet, arrow, csv`,
		"--how outer":        `no kind of join "outer"; there are inner, left, `,
		"--algorithm best":   `"best"`,
		"--payloads -1":      "--payloads is -1, must be 0 to 1000",
		"--repeat 0":         "--repeat must be at least 1",
		"--warm -1s":         "--warm is -1s, must be 0s or more",
		"--key-bytes 5 -r 9": "keys have 5 bytes, must be 4 or 8",
		"-r 0 --s-rows 0": "--r-rows must be at least 1; leave it out for the default; --s-rows must be at least 1; " +
			"leave it out for the default",
	} {
		require.Contains(t, tested.Require(t, command.ExitUsage,
			append([]string{"end-to-end", "--device", "host"}, strings.Fields(args)...)...).Stderr, want)
	}
	tested.Require(t, command.ExitInputOutput, append([]string{"end-to-end", "csv", "-r", "9", "--dir",
		filepath.Join(dir, "missing")}, benchQuickly...)...)
}

// An interrupt ends the measurement of the machine at once, and a second one leaves no folder either.
func TestEndToEndInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	s := tested.Terminal(new(bytes.Buffer), new(bytes.Buffer))
	s.StderrColumns = commandtest.Columns(0)
	var phases []string
	s.OnPhase = func(phase string) {
		if phases = append(phases, phase); len(phases) == 1 {
			time.AfterFunc(10*time.Millisecond, cancel)
		}
	}
	args := []string{"spirjoin-bench", "end-to-end", "memory", "-r", "9", "--device", "host", "--dir", dir}
	require.Equal(t, command.ExitInterrupted, s.Run(ctx, args))
	require.Equal(t, []string{"measure the machine"}, phases)
	commandtest.RequireFiles(t, dir)

	for range 3 {
		process, _ := commandtest.Process(t, args[1:]...)
		require.NoError(t, process.Start())
		rate := func() bool { found, _ := filepath.Glob(filepath.Join(dir, "*", "rate")); return found != nil }
		require.Eventually(t, rate, time.Minute, time.Millisecond)
		require.NoError(t, process.Process.Signal(os.Interrupt))
		_ = process.Process.Signal(syscall.SIGTERM) // unless it has ended
		var exit *exec.ExitError
		require.ErrorAs(t, process.Wait(), &exit)
		require.Equal(t, command.ExitInterrupted, exit.ExitCode())
		commandtest.RequireFiles(t, dir)
	}
}

// TestClosedPipeLeavesNothing: a process whose output nobody reads any more ends by SIGPIPE, and leaves no folder.
func TestClosedPipeLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	process, _ := commandtest.Process(t, "outofcore", "--figure", "memory-limit", "--device", "host", "--dir", dir)
	pipe, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	folder := func() bool { found, _ := filepath.Glob(filepath.Join(dir, "*")); return found != nil }
	require.Eventually(t, folder, time.Minute, time.Millisecond)
	require.NoError(t, pipe.Close())
	var exit *exec.ExitError
	require.ErrorAs(t, process.Wait(), &exit)
	require.Equal(t, syscall.SIGPIPE, exit.Sys().(syscall.WaitStatus).Signal())
	commandtest.RequireFiles(t, dir)
}
