//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/text"
)

// launchers are those of both MPIs, by name, without the number of ranks.
var launchers = map[string][]string{
	"Open MPI": {"mpirun.openmpi", "--oversubscribe", "--bind-to", "none"},
	"MPICH":    {"mpirun.mpich"},
}

// jobVariable is in the environment of all processes of a job of a test.
const jobVariable = "SPIRJOIN_TEST_JOB"

// onLaunchers runs a test with each launcher that is installed. Of a table of tests, a short run takes the launchers in
// turn: number is that of the test.
func onLaunchers(t *testing.T, number int, run func(t *testing.T, launcher []string)) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	var found []string
	for name, command := range launchers {
		if _, err := exec.LookPath(command[0]); err == nil {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		t.Skip("neither mpirun.openmpi nor mpirun.mpich is installed (tools/setup.sh test installs both)")
	}
	slices.Sort(found)
	for i, name := range found {
		if !testing.Short() || number%len(found) == i {
			t.Run(name, func(t *testing.T) { run(t, launchers[name]) })
		}
	}
}

// launch is a run of ranks.
type launch struct {
	*exec.Cmd
	job            string // in the environment of its processes
	stdout, stderr bytes.Buffer
	began          time.Time
}

// start starts ranks. Each of args is a command line for one rank, or a single one for all.
func start(t *testing.T, launcher []string, ranks int, args ...[]string) *launch {
	line := slices.Clone(launcher)
	each := strconv.Itoa(ranks)
	if len(args) > 1 {
		each = "1"
	}
	for i, of := range args {
		if i > 0 {
			line = append(line, ":")
		}
		line = append(append(line, "-n", each, os.Args[0]), of...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	l := &launch{Cmd: exec.CommandContext(ctx, line[0], line[1:]...), began: time.Now(),
		job: fmt.Sprintf("%s=%d-%d", jobVariable, os.Getpid(), time.Now().UnixNano())}
	l.Env = append(os.Environ(), commandtest.AsProgram+"=1", "OMPI_ALLOW_RUN_AS_ROOT=1",
		"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", l.job)
	l.Stdout, l.Stderr = &l.stdout, &l.stderr
	return l
}

// end waits for the ranks, and checks that no process is left.
func (l *launch) end(t *testing.T) commandtest.Outcome {
	err := l.Wait()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return len(l.processes()) == 0 }, 5*time.Second, 20*time.Millisecond,
		"processes are left: %s", &l.stderr)
	return commandtest.Outcome{Code: l.ProcessState.ExitCode(), Stdout: l.stdout.String(), Stderr: l.stderr.String()}
}

// processes are the ranks that run, by rank.
func (l *launch) processes() map[int]int {
	found := make(map[int]int)
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environment, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(environment, []byte(l.job)) {
			continue
		}
		for line := range strings.SplitSeq(string(environment), "\x00") {
			name, value, _ := strings.Cut(line, "=")
			if name == "OMPI_COMM_WORLD_RANK" || name == "PMI_RANK" {
				rank, err := strconv.Atoi(value)
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
				if err == nil {
					found[rank] = pid
				}
			}
		}
	}
	return found
}

// runRanks runs ranks to their end.
func runRanks(t *testing.T, launcher []string, ranks int, args ...[]string) commandtest.Outcome {
	l := start(t, launcher, ranks, args...)
	require.NoError(t, l.Start())
	return l.end(t)
}

// sides writes two tables of several files and row groups whose rows have few, many and no partners.
func sides(t *testing.T) (dir string, args []string) {
	dir = t.TempDir()
	for side, name := range []string{"l", "r"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o777))
		for file := range 3 {
			keys, numbers, names := make([]int64, 700), make([]int64, 700), make([]string, 700)
			for i := range keys {
				n := file*len(keys) + i
				keys[i], numbers[i] = int64(n*(7+15*side)%(1300*(1+side))), int64(n)
				names[i] = fmt.Sprintf("%s %d", name, n%50)
				if n%20 == 0 {
					keys[i] = 13 // on many rows of both sides
				}
			}
			tableFile(t, filepath.Join(dir, name, fmt.Sprintf("%d.parquet", file)), ints("k", keys...),
				ints("number", numbers...), texts("name", names...))
		}
	}
	return dir, []string{"join", filepath.Join(dir, "l"), filepath.Join(dir, "r"), "--on", "k", "--device", "host"}
}

// TestRanks: all kinds of joins over ranks have the rows that one process has.
func TestRanks(t *testing.T) {
	dir, args := sides(t)
	kinds := []string{"inner", "left", "right", "full", "semi", "anti", "right-semi", "right-anti", "mark", "not-in"}
	for number, kind := range kinds {
		args := append(slices.Clone(args), "--how", kind)
		names, want := joinedBy(t, args...)
		for _, ranks := range []int{2, 4} {
			if testing.Short() && (number+ranks/2)%3 > 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", kind, ranks), func(t *testing.T) {
				onLaunchers(t, number, func(t *testing.T, launcher []string) {
					out := filepath.Join(dir, "out-"+kind)
					o := runRanks(t, launcher, ranks, append(args, "-o", out+"/", "--overwrite"))
					require.Zero(t, o.Code, o.Stderr)
					require.Contains(t, o.Stderr, text.Plural(len(want), "row")+" to ")
					files := []string{"manifest.json"}
					for rank := range ranks {
						files = append(files, fmt.Sprintf("part-%05d-of-%05d.parquet", rank, ranks))
					}
					commandtest.RequireFiles(t, out, files...)
					gotNames, got := rowsOf(t, filepath.Join(out, "*.parquet"), nil)
					require.Equal(t, names, gotNames)
					require.True(t, slices.Equal(want, got), "%d rows, want %d", len(got), len(want))
				})
			})
		}
	}
}
