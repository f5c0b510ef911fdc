package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/stretchr/testify/require"
)

func TestJoinFailures(t *testing.T) {
	dir, args := orders(t, ".parquet")
	left, right := args[1], args[2]
	corrupt, empty, words := filepath.Join(dir, "corrupt.parquet"), filepath.Join(dir, "empty.parquet"),
		filepath.Join(dir, "words.parquet")
	content, err := os.ReadFile(left)
	require.NoError(t, err)
	content[len(content)/2] ^= 0xff
	require.NoError(t, os.WriteFile(corrupt, append(content[:len(content)-20], "garbage at the end.."...), 0o666))
	require.NoError(t, os.WriteFile(empty, nil, 0o666))
	tableFile(t, words, texts("id", "one", "two"))
	files := []string{"orders.parquet", "items.parquet", "corrupt.parquet", "empty.parquet", "words.parquet"}
	out := filepath.Join(dir, "out.parquet")
	for _, c := range []struct {
		name string
		code int
		args []string
		want string
	}{
		{"missing file", command.ExitInputOutput, []string{filepath.Join(dir, "none.parquet"), right, "--on", "id"},
			"none.parquet: no such file or directory"},
		{"folder", command.ExitInputOutput, []string{t.TempDir(), right, "--on", "id"}, "there is no file in the folder"},
		{"corrupt file", command.ExitInputOutput, []string{corrupt, right, "--on", "id"}, "corrupt.parquet: "},
		{"empty file", command.ExitInputOutput, []string{empty, right, "--on", "id"}, "the file is empty"},
		{"no format", command.ExitInputOutput, []string{left, os.DevNull, "--on", "id"},
			"unknown format: recognized neither by its content nor by its extension; name one of parquet, csv, arrow, arrow-stream: --right-format"},
		{"wrong format", command.ExitInputOutput, []string{left, right, "--on", "id", "--left-format", "arrow"},
			"orders.parquet: "},
		{"unknown key", command.ExitUsage, []string{left, right, "--on", "id=order_idd"},
			`the right table has no column "order_idd"; did you mean "order_id"?`},
		{"unknown column", command.ExitUsage, []string{left, right, "--on", "id=order_id", "--columns", "custmer"},
			`no column "custmer"; did you mean "customer"?`},
		{"incompatible keys", command.ExitNoDevice, []string{left, words, "--on", "id"}, `key column "id"`},
		{"incompatible keys of a full join", command.ExitNoDevice, []string{left, words, "--on", "id", "--how", "full"},
			"mean different things; cast one of them"},
		{"unknown device", command.ExitNoDevice, []string{left, right, "--on", "id", "--device", "abacus"},
			`no device matches "abacus"; choose one of `},
		{"too many rows", command.ExitLimit, []string{left, right, "--on", "id=order_id", "--max-output-rows", "2"},
			"3 rows, --max-output-rows allows 2; raise --max-output-rows, or ask for the count"},
		{"too many rows to count", command.ExitLimit, []string{left, right, "--on", "id=order_id", "--max-output-rows", "2",
			"--count"}, "3 rows, --max-output-rows allows 2; raise --max-output-rows or leave it out: a count makes no rows)"},
		{"too little device memory", command.ExitLimit, []string{left, right, "--on", "id=order_id", "--device-memory",
			"1KiB"}, "raise --device-memory to at least "},
		{"comparison", command.ExitUsage, []string{left, right, "--on", "id>=order_id"},
			`--on "id>=order_id": keys are compared by equality; write a=b`},
		{"too little host memory", command.ExitLimit, []string{left, right, "--on", "id=order_id", "--memory-limit", "16B"},
			"raise --memory-limit"},
		{"too little host memory for the plan", command.ExitLimit,
			[]string{left, right, "--on", "id=order_id", "--memory-limit", "64KiB"}, "raise --memory-limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			full := append([]string{"join"}, c.args...)
			if !slices.Contains(full, "--device") {
				full = append(full, "--device", "host")
			}
			if !slices.Contains(full, "--count") {
				full = append(full, "-o", out)
			}
			o := tested.Require(t, c.code, full...)
			require.Contains(t, o.Stderr, c.want)
			require.Empty(t, o.Stdout)
			commandtest.RequireFiles(t, dir, files...)
		})
	}
}

func TestJoinUnwritableOutput(t *testing.T) {
	dir, args := orders(t, ".parquet")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.parquet"), 0o777))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o777))
	for out, want := range map[string]string{
		filepath.Join(dir, "none", "out.parquet"): "the directory must be writable: no such file or directory",
		filepath.Join(dir, "folder.parquet"):      "this is a directory",
		filepath.Join(dir, "folder"):              "folder: this is a directory; name a file in it",
	} {
		require.Contains(t, tested.Require(t, command.ExitInputOutput, append(args, "-o", out)...).Stderr, want)
	}
	require.Contains(t, tested.Require(t, command.ExitUsage, append(args, "-o", filepath.Join(dir, "out.xml"))...).Stderr,
		`the extension ".xml" does not name one; use .parquet, .csv, .arrow or .arrows, or name the format: --format`)
	if os.Geteuid() != 0 {
		require.NoError(t, os.Chmod(dir, 0o555))
		defer os.Chmod(dir, 0o777)
		require.Contains(t, tested.Require(t, command.ExitInputOutput,
			append(args, "-o", filepath.Join(dir, "out.parquet"))...).Stderr, "permission denied")
	}
	commandtest.RequireFiles(t, dir, "orders.parquet", "items.parquet", "folder.parquet", "folder")
	if _, err := os.Stat("/dev/full"); err == nil {
		o := tested.Require(t, command.ExitInputOutput, append(args, "-o", "/dev/full", "--format", "csv")...)
		require.Contains(t, o.Stderr, "/dev/full: no space left on device")
	}
}

// A compression that the format does not have is wrong use, and leaves no file.
func TestJoinUnknownCompression(t *testing.T) {
	dir, args := orders(t, ".parquet")
	for _, c := range []struct{ out, compression, want string }{
		{"out.parquet", "gzipp", `compression "gzipp" is unknown for Parquet: choose snappy, zstd, lz4 or none`},
		{"out.arrow", "snappy", `compression "snappy" is unknown for Arrow IPC: choose zstd, lz4 or none`},
		{"out.csv", "zstd", `compression "zstd" is unknown for CSV: choose none`},
	} {
		o := tested.Require(t, command.ExitUsage, append(args, "-o", filepath.Join(dir, c.out), "--compression",
			c.compression)...)
		require.Contains(t, o.Stderr, c.want)
	}
	commandtest.RequireFiles(t, dir, "orders.parquet", "items.parquet")
}

func TestJoinToFullStandardOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	_, args := orders(t, ".parquet")
	for _, more := range [][]string{{"-o", "-"}, {"--count"}, {"--explain"}} {
		var stderr bytes.Buffer
		code := program.Session(nil, full, &stderr).Run(t.Context(), append([]string{"spirjoin", "-q"}[:1],
			append(slices.Clone(args), append(more, "-q")...)...))
		require.Equal(t, command.ExitInputOutput, code, more)
		require.Contains(t, stderr.String(), "standard output: no space left on device")
	}
}

// Whatever the phase in which ctx ends: exit code 130, one line, no file.
func TestJoinCancelledInEveryPhase(t *testing.T) {
	for i, goal := range []string{"file", "count", "preview", "stream", "file"} {
		dir, args := orders(t, ".parquet")
		algorithm := []string{"smj-um", "smj-um", "phj-om", "phj-om", "phj-om"}[i]
		args = append(args, "--algo", algorithm)
		switch goal {
		case "file":
			args = append(args, "-o", filepath.Join(dir, "out.parquet"))
		case "count":
			args = append(args, "--count")
		case "stream":
			args = append(args, "-o", "-", "--format", "csv")
		}
		attempt := func(ctx context.Context, onPhase func(string)) commandtest.Outcome {
			var stdout, stderr bytes.Buffer
			s := tested.Terminal(&stdout, &stderr)
			s.StderrColumns, s.OnPhase = commandtest.Columns(0), onPhase
			code := s.Run(ctx, append([]string{"spirjoin"}, args...))
			return commandtest.Outcome{Code: code, Stdout: stdout.String(), Stderr: stderr.String()}
		}
		var phases []string
		o := attempt(t.Context(), func(phase string) { phases = append(phases, phase) })
		require.Equal(t, command.ExitDone, o.Code, o.Stderr)
		require.Subset(t, phases, []string{"open device", "read left", "read right", "plan"})
		require.Subset(t, phases, []string{"load left", "join"})
		if goal == "file" || goal == "stream" {
			require.Contains(t, phases, "finish")
		}
		_ = os.Remove(filepath.Join(dir, "out.parquet"))
		for _, phase := range phases {
			if phase == "output" { // reported when the last rows were delivered already
				continue
			}
			ctx, cancel := context.WithCancel(t.Context())
			o := attempt(ctx, func(p string) {
				if p == phase {
					cancel()
				}
			})
			cancel()
			require.Equal(t, command.ExitInterrupted, o.Code, "%s, %s: %s", goal, phase, o.Stderr)
			require.Equal(t, "spirjoin: interrupted\n", o.Stderr, "%s, %s", goal, phase)
			commandtest.RequireFiles(t, dir, "orders.parquet", "items.parquet")
		}
	}
}

func TestJoinCancelledWhileAPipeGivesNothing(t *testing.T) {
	_, args := orders(t, ".parquet")
	pipe, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	time.AfterFunc(50*time.Millisecond, cancel)
	o := tested.Run(ctx, pipe, append([]string{"join", "-"}, append(args[2:], "--count")...)...)
	require.Equal(t, command.ExitInterrupted, o.Code)
	require.Equal(t, "spirjoin: interrupted\n", o.Stderr)
}

// TestJoinOpensDeviceWhileReading: tables are read before the device is waited for, but not under a memory limit, which
// counts what drivers take.
func TestJoinOpensDeviceWhileReading(t *testing.T) {
	for _, limit := range []bool{false, true} {
		_, args := orders(t, ".parquet")
		args = append(args, "--count")
		if limit {
			args = append(args, "--memory-limit", "1GiB")
		}
		var phases []string
		var stdout, stderr bytes.Buffer
		s := tested.Terminal(&stdout, &stderr)
		s.OnPhase = func(phase string) { phases = append(phases, phase) }
		require.Equal(t, command.ExitDone, s.Run(t.Context(), append([]string{"spirjoin"}, args...)), stderr.String())
		opened, read := slices.Index(phases, "open device"), slices.Index(phases, "read right")
		require.Equal(t, limit, opened < read, "%v", phases)
		require.GreaterOrEqual(t, min(opened, read), 0, "%v", phases)
	}
}

// TestJoinOfUnknownDevice: reading ends as soon as it is known that the device cannot be opened, and other errors are
// not told.
func TestJoinOfUnknownDevice(t *testing.T) {
	_, args := orders(t, ".parquet")
	pipe, writer := io.Pipe()
	defer writer.Close()
	for _, left := range []string{"-", "missing.parquet"} {
		o := tested.Run(t.Context(), pipe, append([]string{"join", left}, append(args[2:5:5], "--count", "--device",
			"none")...)...)
		require.Equal(t, command.ExitNoDevice, o.Code, o.Stderr)
		require.Contains(t, o.Stderr, "none")
		require.NotContains(t, o.Stderr, "missing")
	}
}
