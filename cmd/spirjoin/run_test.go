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

	"github.com/spirjoin/spirjoin/internal/golden"
)

func TestHelp(t *testing.T) {
	for name, args := range map[string][]string{
		"spirjoin": {"--help"}, "join": {"join", "--help"}, "groupby": {"help", "groupby"},
		"devices": {"help", "devices"}, "doctor": {"doctor", "-h"},
		"gen": {"gen", "--help"}, "gen-tpch": {"gen", "tpch", "--help"}, "gen-pkfk": {"help", "gen", "pkfk"},
		"version": {"version", "--help"},
		"bench":   {"bench", "-h"}, "bench-graphics": {"bench", "graphics", "-h"},
		"bench-joins":      {"bench", "joins", "-h"},
		"bench-end-to-end": {"bench", "end-to-end", "--help"}, "bench-multigpu": {"bench", "multigpu", "-h"}, "bench-outofcore": {"bench", "outofcore", "-h"},
		"bench-planner": {"bench", "planner", "-h"}, "bench-primitive": {"help", "bench", "primitive"},
		"tune": {"tune", "--help"},
	} {
		o := runProgram(t, exitDone, args...)
		require.Empty(t, o.stderr)
		for line := range strings.Lines(o.stdout) {
			require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 100, "help of %s: %s", name, line)
		}
		golden.Require(t, filepath.Join("help", name+".txt"), o.stdout)
	}
	require.Equal(t, runProgram(t, exitDone, "--help").stdout, runProgram(t, exitDone).stdout)
}

// The help of a command lists all its flags.
func TestHelpListsFlags(t *testing.T) {
	var check func(path []string, commands []*cli.Command)
	check = func(path []string, commands []*cli.Command) {
		for _, c := range commands {
			path := append(slices.Clone(path), c.Name)
			help := runProgram(t, exitDone, append(path, "--help")...).stdout
			for _, flag := range c.Flags {
				require.Contains(t, help, "\n   "+flagLine(flag)+"\n", path)
			}
			check(path, c.Subcommands)
		}
	}
	check(nil, (&session{}).app().Commands)
}

func TestVersion(t *testing.T) {
	o := runProgram(t, exitDone, "version")
	require.Regexp(t, `^spirjoin version .+ \(go[0-9.]+.*, \w+/\w+\)\n$`, o.stdout)
	require.Equal(t, o.stdout, runProgram(t, exitDone, "--version").stdout)
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
		"bench":                                                     `bench needs a command: end-to-end, graphics, joins, multigpu, outofcore, planner or primitive`,
		"bench planner":                                             `bench planner takes files of measured joins, and --rates`,
		"bench planner no-such.csv --rates tpu":                     `no rates for "tpu"; there are host`,
		"join a b --on k --count --algo nlj":                        `no algorithm "nlj"; there are auto, phj-om`,
		"join a b --on k --count --algo hjj":                        `no algorithm "hjj"; did you mean "hj"? There are auto, `,
		"bench joins shj":                                           `no join "shj"; there are phj-om`,
		"bench joins --repeat 0":                                    `--repeat must be at least 1`,
		"bench joins --key-bytes 5 --device host":                   `keys have 5 bytes, must be 4 or 8`,
		"bench primitive srot":                                      `no primitive "srot"; there are compact, compare_texts, copy`,
		"bench primitive --rows 0":                                  `--rows "0": give numbers of rows`,
		"bench primitive --rows 2^10..2^9":                          `--rows "2^10..2^9": give numbers of rows`,
		"bench primitive --rows 10..x":                              `--rows "10..x": give numbers of rows`,
		"bench primitive --key wide":                                `--key "wide": give numbers of bits`,
		"bench primitive --repeat 0":                                `--repeat must be at least 1`,
		"bench primitive --tuning items":                            `--tuning "items": write SETTING=NUMBER`,
		"bench primitive --tuning items=-1":                         `--tuning "items=-1": write SETTING=NUMBER`,
		"bench primitive sort --device host --key 7":                `sort offers key=[32 64]`,
	} {
		o := runProgram(t, exitUsage, strings.Fields(line)...)
		require.Contains(t, o.stderr, want, line)
		require.Empty(t, o.stdout, line)
	}
}

func TestPanicIsAnInternalError(t *testing.T) {
	dir := t.TempDir()
	left, right, out := filepath.Join(dir, "l.parquet"), filepath.Join(dir, "r.parquet"),
		filepath.Join(dir, "out.parquet")
	tableFile(t, left, ints("k", 1))
	tableFile(t, right, ints("k", 1))
	var stdout, stderr bytes.Buffer
	s := terminalSession(&stdout, &stderr)
	s.stderrColumns = columns(0)
	s.onPhase = func(phase string) {
		if phase == "finish" {
			panic("planted")
		}
	}
	require.Equal(t, exitInternal,
		s.run(t.Context(), []string{"spirjoin", "join", left, right, "--on", "k", "--device", "host", "-o", out}))
	require.Regexp(t, `^spirjoin: internal error: planted, at run_test.go:\d+\n$`, stderr.String())
	requireFiles(t, dir, "l.parquet", "r.parquet")
}

func TestReportThatDoesNotArrive(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	for _, args := range [][]string{{"devices"}, {"devices", "--json"}, {"version"}, {"--help"}, {"join", "--help"}} {
		var stderr bytes.Buffer
		code := run(t.Context(), append([]string{"spirjoin"}, args...), nil, full, &stderr)
		require.Equal(t, exitInputOutput, code, args)
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
	s := terminalSession(writer, &stderr)
	s.stdoutColumns, s.stderrColumns, s.abandonAfter = columns(0), columns(0), 10*time.Millisecond
	s.onPhase = func(phase string) {
		if phase == "finish" {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
	}
	require.Equal(t, exitInterrupted,
		s.run(ctx, []string{"spirjoin", "join", left, left, "--on", "k", "--device", "host", "-o", "-", "-q"}))
	require.Equal(t, "spirjoin: interrupted\n", stderr.String())
}

// A command that hangs while it writes a file is abandoned after a signal, and its hidden file does not stay.
func TestAbandonedOutputIsRemoved(t *testing.T) {
	dir := t.TempDir()
	left := tableFile(t, filepath.Join(dir, "l.parquet"), ints("k", 1))
	ctx, cancel := context.WithCancel(t.Context())
	release, ended := make(chan struct{}), make(chan struct{})
	s := terminalSession(new(bytes.Buffer), new(bytes.Buffer))
	s.stderrColumns, s.abandonAfter = columns(0), 10*time.Millisecond
	s.onPhase = func(phase string) {
		if phase == "finish" {
			defer close(ended)
			cancel()
			<-release
		}
	}
	out := filepath.Join(dir, "out.parquet")
	require.Equal(t, exitInterrupted,
		s.run(ctx, []string{"spirjoin", "join", left, left, "--on", "k", "--device", "host", "-o", out}))
	requireFiles(t, dir, "l.parquet")
	close(release)
	<-ended
}

// asProgram is the environment variable that makes this test program spirjoin itself.
const asProgram = "SPIRJOIN_TEST_AS_PROGRAM"

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
		command := exec.Command(program, "join", "-", right, "--left-format", "csv", "--on", "k", "--device", "host",
			"-o", filepath.Join(dir, "out.parquet"))
		command.Env = append(os.Environ(), asProgram+"=1")
		var stderr bytes.Buffer
		command.Stderr = &stderr
		pipe, err := command.StdinPipe()
		require.NoError(t, err)
		defer pipe.Close()
		require.NoError(t, command.Start())
		// more than a pipe holds, so the program is reading once this returns
		_, err = pipe.Write(bytes.Repeat([]byte("k\n"), 1<<19))
		require.NoError(t, err)
		require.NoError(t, command.Process.Signal(sent))
		var exit *exec.ExitError
		require.ErrorAs(t, command.Wait(), &exit)
		require.Equal(t, exitInterrupted, exit.ExitCode(), "%v: %s", sent, stderr.String())
		require.Equal(t, "spirjoin: interrupted\n", stderr.String())
		requireFiles(t, dir, "r.parquet")
	}
}
