package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/internal/golden"
)

func TestHelp(t *testing.T) {
	for name, args := range map[string][]string{
		"spirjoin": {"--help"}, "join": {"join", "--help"}, "groupby": {"help", "groupby"},
		"devices": {"help", "devices"}, "doctor": {"doctor", "-h"},
		"gen": {"gen", "--help"}, "gen-tpch": {"gen", "tpch", "--help"}, "gen-pkfk": {"help", "gen", "pkfk"},
		"version": {"version", "--help"},
		"tune":    {"tune", "--help"},
	} {
		o := tested.Require(t, command.ExitDone, args...)
		require.Empty(t, o.Stderr)
		for line := range strings.Lines(o.Stdout) {
			require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 100, "help of %s: %s", name, line)
		}
		golden.Require(t, filepath.Join("help", name+".txt"), o.Stdout)
	}
	require.Equal(t, tested.Require(t, command.ExitDone, "--help").Stdout, tested.Require(t, command.ExitDone).Stdout)
}

// The help of a command lists all its flags.
func TestHelpListsFlags(t *testing.T) {
	var check func(path []string, commands []*cli.Command)
	check = func(path []string, commands []*cli.Command) {
		for _, c := range commands {
			if c.SkipFlagParsing { // bench, which another program describes
				continue
			}
			path := append(slices.Clone(path), c.Name)
			help := tested.Require(t, command.ExitDone, append(path, "--help")...).Stdout
			for _, flag := range c.Flags {
				require.Contains(t, help, "\n   "+flag.String()+"\n", path)
			}
			check(path, c.Subcommands)
		}
	}
	check(nil, program.Session(nil, nil, nil).App().Commands)
}

func TestVersion(t *testing.T) {
	o := tested.Require(t, command.ExitDone, "version")
	require.Regexp(t, `^spirjoin version .+ \(go[0-9.]+.*, \w+/\w+\)\n$`, o.Stdout)
	require.Equal(t, o.Stdout, tested.Require(t, command.ExitDone, "--version").Stdout)
}

func TestUsageErrors(t *testing.T) {
	for line, want := range map[string]string{
		"jion":                                                      `did you mean "join"?`,
		"devices --jsn":                                             `did you mean --json?`,
		"devices now":                                               `devices takes no arguments`,
		"doctor now":                                                `doctor takes no arguments`,
		"version now":                                               `version takes no arguments`,
		"join":                                                      `join takes two tables, LEFT and RIGHT, not 0; --on is needed`,
		"join a b c --on k --count":                                 `not 3`,
		"join - - --on k --count":                                   `only one table can come from standard input`,
		"join a b --on k":                                           `standard output is not a terminal; choose where the table goes`,
		"join a b --on =k --count":                                  `--on "=k": write a=b`,
		"join a b --on a=b=c --count":                               `--on "a=b=c": write a=b`,
		"join a b --on k --count -o f":                              `--count writes no table`,
		"join a b --on k --count --columns x":                       `--count returns no columns`,
		"join a b --on k -o f --format xml":                         `--format: unknown format "xml"`,
		"join a b --on k -o f --left-format xml":                    `--left-format: unknown format "xml"`,
		"join a b --on k --count --csv-delimiter ab":                `--csv-delimiter is one ASCII character, not "ab"`,
		"join a b --on k --count --csv-delimiter \"":                `delimiter`,
		"join a b --on k --count --how sideways":                    `--how: invalid input: how="sideways"`,
		"join a b --on k --count --how lfet":                        `did you mean "left"? There are inner, left, right, full, semi`,
		"join a b --count --how cross --on k":                       `a cross join takes no key columns`,
		"join a b --count --how cross --validate 1:1":               `a cross join has no keys to validate`,
		"join a b --count --how left":                               `--on is needed`,
		"join a b --on k --count --validate 1:n":                    `--validate: invalid input: validate="1:n"; did you mean "1:m"?`,
		"join a b --on k --count --how outr":                        `did you mean "outer"? There are inner, left`,
		"join a b --on k --count --how left-outer":                  `did you mean "left"? There are inner, left`,
		"join a b --on k --count -o x -o y":                         `flag -o is given twice`,
		"groupby a --agg mean:x -o f":                               `"mean"; did you mean "avg"? There are count, `,
		"groupby a --agg std:x -o f":                                `did you mean "stddev"?`,
		"groupby a --agg nunique:x -o f":                            `did you mean "count_distinct"?`,
		"join a b --on k --count --build-side both":                 `--build-side: invalid input: build_side="both"`,
		"join a b --on k --count --maintain-order up":               `--maintain-order: invalid input: order="up"`,
		"join a b --on k --count --how semi --maintain-order right": `cannot be in the order of the right one`,
		"join a b --on k --count --how anti --indicator x":          `an anti join returns rows of one`,
		"join a b --on k --count --indicator=":                      `--indicator must not be empty`,
		"join a b --on k --count --mark-name x":                     `--mark-name is for mark joins`,
		"join a b --on k --count --stats xml":                       `--stats is json or text, not "xml"`,
		"join a b --on k --count --batch-rows 0":                    `--batch-rows must be 1`,
		"join a b --on k --count --batch-rows 4G":                   `--batch-rows must be 1`,
		"join a b --on k --count --max-output-rows 0":               `--max-output-rows must be at least 1`,
		"join a b --on k --count --device-memory 5G":                `"5G" for flag --device-memory: unit "G" can mean two things`,
		"join a b --on k --count --count=maybe":                     `invalid boolean value "maybe" for flag --count`,
		"join a b --on k -o f --suffix=":                            `--suffix must not be empty`,
		"join a b --on k --count --algo nlj":                        `no algorithm "nlj"; there are auto, phj-om`,
		"join a b --on k --count --algo hjj":                        `no algorithm "hjj"; did you mean "hj"? There are auto, `,
	} {
		o := tested.Require(t, command.ExitUsage, strings.Fields(line)...)
		require.Contains(t, o.Stderr, want, line)
		require.Empty(t, o.Stdout, line)
	}
}

func TestPanicIsAnInternalError(t *testing.T) {
	dir := t.TempDir()
	left, right, out := filepath.Join(dir, "l.parquet"), filepath.Join(dir, "r.parquet"),
		filepath.Join(dir, "out.parquet")
	tableFile(t, left, ints("k", 1))
	tableFile(t, right, ints("k", 1))
	for at, by := range map[string]string{"finish": "", "join": `[a-z 0-9]+: panic: `} { // the latter in a flow
		var stdout, stderr bytes.Buffer
		s := tested.Terminal(&stdout, &stderr)
		s.StderrColumns = commandtest.Columns(0)
		s.OnPhase = func(phase string) {
			if phase == at {
				panic("planted")
			}
		}
		require.Equal(t, command.ExitInternal,
			s.Run(t.Context(), []string{"spirjoin", "join", left, right, "--on", "k", "--device", "host", "-o", out}))
		require.Regexp(t, `^spirjoin: internal error: `+by+`planted, at run_test.go:\d+\n$`, stderr.String())
		commandtest.RequireFiles(t, dir, "l.parquet", "r.parquet")
	}
}

func TestReportThatDoesNotArrive(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	for _, args := range [][]string{{"devices"}, {"devices", "--json"}, {"version"}, {"--help"}, {"join", "--help"}} {
		var stderr bytes.Buffer
		code := program.Session(nil, full, &stderr).Run(t.Context(), append([]string{"spirjoin"}, args...))
		require.Equal(t, command.ExitInputOutput, code, args)
		require.Equal(t, "spirjoin: write standard output: no space left on device\n", stderr.String())
	}
}

// A command that hangs in a pipe is abandoned after a signal.
func TestCancelWhileStandardOutputBlocks(t *testing.T) {
	dir := t.TempDir()
	left := tableFile(t, filepath.Join(dir, "l.parquet"), ints("k", 1))
	reader, writer := io.Pipe() // nobody reads
	defer reader.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	s := tested.Terminal(writer, &stderr)
	s.StdoutColumns, s.StderrColumns, s.AbandonAfter = commandtest.Columns(0), commandtest.Columns(0), 10*time.Millisecond
	s.OnPhase = func(phase string) {
		if phase == "finish" {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
	}
	require.Equal(t, command.ExitInterrupted,
		s.Run(ctx, []string{"spirjoin", "join", left, left, "--on", "k", "--device", "host", "-o", "-", "-q"}))
	require.Equal(t, "spirjoin: interrupted\n", stderr.String())
}

// A command that hangs while it writes a file is abandoned after a signal, and its hidden file does not stay.
func TestAbandonedOutputIsRemoved(t *testing.T) {
	dir := t.TempDir()
	left := tableFile(t, filepath.Join(dir, "l.parquet"), ints("k", 1))
	ctx, cancel := context.WithCancel(t.Context())
	release, ended := make(chan struct{}), make(chan struct{})
	s := tested.Terminal(new(bytes.Buffer), new(bytes.Buffer))
	s.StderrColumns, s.AbandonAfter = commandtest.Columns(0), 10*time.Millisecond
	s.OnPhase = func(phase string) {
		if phase == "finish" {
			defer close(ended)
			cancel()
			<-release
		}
	}
	out := filepath.Join(dir, "out.parquet")
	require.Equal(t, command.ExitInterrupted,
		s.Run(ctx, []string{"spirjoin", "join", left, left, "--on", "k", "--device", "host", "-o", out}))
	commandtest.RequireFiles(t, dir, "l.parquet")
	close(release)
	<-ended
}

// A signal that comes from outside ends a command that waits, with the promised code.
func TestSignals(t *testing.T) {
	for _, sent := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sent) { // as SIGHUP is under nohup, for programs that it starts, too
			continue
		}
		dir := t.TempDir()
		right := tableFile(t, filepath.Join(dir, "r.parquet"), ints("k", 1))
		program, err := os.Executable()
		require.NoError(t, err)
		process := exec.Command(program, "join", "-", right, "--left-format", "csv", "--on", "k", "--device", "host",
			"-o", filepath.Join(dir, "out.parquet"))
		process.Env = append(os.Environ(), commandtest.AsProgram+"=1")
		var stderr bytes.Buffer
		process.Stderr = &stderr
		pipe, err := process.StdinPipe()
		require.NoError(t, err)
		defer pipe.Close()
		require.NoError(t, process.Start())
		// more than a pipe holds, so the program is reading once this returns
		_, err = pipe.Write(bytes.Repeat([]byte("k\n"), 1<<19))
		require.NoError(t, err)
		require.NoError(t, process.Process.Signal(sent))
		var exit *exec.ExitError
		require.ErrorAs(t, process.Wait(), &exit)
		require.Equal(t, command.ExitInterrupted, exit.ExitCode(), "%v: %s", sent, stderr.String())
		require.Equal(t, "spirjoin: interrupted\n", stderr.String())
		commandtest.RequireFiles(t, dir, "r.parquet")
	}
}
