//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
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
)

// TestRanksCount: the number of rows is printed once, also if each rank divides its part into files.
func TestRanksCount(t *testing.T) {
	dir, args := sides(t)
	_, want := joinedBy(t, args...)
	onLaunchers(t, 0, func(t *testing.T, launcher []string) {
		args := append(args, "--count")
		o := runRanks(t, launcher, 2, append(args, "-q"))
		require.Equal(t, commandtest.Outcome{Stdout: fmt.Sprintln(len(want)), Stderr: o.Stderr}, o)
		o = runRanks(t, launcher, 4, append(args, "--memory-limit", "400MiB", "--temp-dir", dir, "--stats", "json"))
		require.Zero(t, o.Code, o.Stderr)
		var report struct {
			Ranks []struct {
				DeviceID string `json:"device_id"`
			}
			Rows       []uint64
			OutputRows int `json:"output_rows"`
			Nodes      []int
		}
		require.NoError(t, json.Unmarshal([]byte(o.Stdout), &report), o.Stdout)
		require.Len(t, report.Ranks, 4)
		require.Len(t, report.Rows, 4)
		require.Equal(t, []int{0, 0, 0, 0}, report.Nodes)
		require.Equal(t, len(want), report.OutputRows)
		require.Equal(t, "host:cpu", report.Ranks[3].DeviceID)
		commandtest.RequireFiles(t, dir, "l", "r")
	})
}

// planted has a rank of a test panic in a phase of its command. The variable is RANK:PHASE.
const planted = "SPIRJOIN_TEST_PANIC"

// plantPanic plants a panic if the variable says so. For TestMain.
func plantPanic() {
	rank, phase, some := strings.Cut(os.Getenv(planted), ":")
	if !some || os.Getenv("OMPI_COMM_WORLD_RANK")+os.Getenv("PMI_RANK") != rank {
		return
	}
	commands := program.Commands
	program.Commands = func(s *command.Session) []*cli.Command {
		s.OnPhase = func(at string) {
			if at == phase {
				panic("planted")
			}
		}
		return commands(s)
	}
}

// longest is the time in which a job ends after a failure.
const longest = 10 * time.Second

// requireFailed checks that a job ended soon with a code, that one rank told why, and that it left no file. MPICH's
// launcher now and then reports that it has killed the other ranks.
func requireFailed(t *testing.T, l *launch, o commandtest.Outcome, code int, says string) {
	t.Helper()
	if l.Args[0] != "mpirun.mpich" || o.Code != int(syscall.SIGKILL) {
		require.Equal(t, code, o.Code, o.Stderr)
	}
	require.Less(t, time.Since(l.began), longest)
	require.Contains(t, o.Stderr, says)
	require.Equal(t, 1, strings.Count(o.Stderr, "spirjoin: "), o.Stderr)
	require.Empty(t, o.Stdout)
}

// TestRanksFail: the rank that fails says why, the others end with its code, and no output is left.
func TestRanksFail(t *testing.T) {
	dir, args := sides(t)
	file := filepath.Join(dir, "file")
	other := tableFile(t, file+".parquet", texts("k", "1", "2"), ints("number", 1, 2), texts("name", "a", "b"))
	out := filepath.Join(dir, "out")
	to := append(slices.Clone(args), "-o", out+"/")
	with := func(more ...string) []string { return append(slices.Clone(to), more...) }
	differs := slices.Clone(to)
	differs[1] = other
	differs2 := slices.Clone(differs)
	differs2[2] = other
	cases := []struct {
		name string
		args [][]string
		code int
		says string
	}{
		{"flags", [][]string{append(slices.Clone(args), "-o", other)}, command.ExitUsage,
			"rank 0: 2 ranks write one file each"},
		{"no output", [][]string{args}, command.ExitUsage, "rank 0: 2 ranks write one file each; choose a folder"},
		{"no input", [][]string{{"join", "nowhere.csv", other, "--on", "k", "--count"}}, command.ExitInputOutput,
			"rank 0: open nowhere.csv"},
		{"device", [][]string{to, with("--device", "nonsense")}, command.ExitNoDevice,
			`rank 1: no device: no device matches`},
		{"memory", [][]string{to, with("--memory-limit", "8MiB")}, command.ExitLimit, "rank 1: "},
		{"rows", [][]string{with("--max-output-rows", "50")}, command.ExitLimit, "raise --max-output-rows"},
		{"rows of all", [][]string{with("--max-output-rows", "5k")}, command.ExitLimit, "raise --max-output-rows"},
		{"unique", [][]string{with("--validate", "1:m")}, command.ExitUsage, ""},
		{"schema", [][]string{to, differs2}, command.ExitUsage, "ranks 0 and 1 differ"},
		{"goal", [][]string{to, append(slices.Clone(args), "--count")}, command.ExitUsage, "different flags"},
	}
	for number, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			onLaunchers(t, number, func(t *testing.T, launcher []string) {
				l := start(t, launcher, 2, c.args...)
				require.NoError(t, l.Start())
				requireFailed(t, l, l.end(t), c.code, c.says)
				commandtest.RequireFiles(t, dir, "file.parquet", "l", "r")
			})
		})
	}
}

// long starts a join of two ranks that takes seconds, and waits until its output has begun.
func long(t *testing.T, launcher []string, out string, more ...string) (l *launch, pids map[int]int) {
	table := manyToMany(t, filepath.Join(t.TempDir(), "t.parquet"), 20, 1500)
	args := []string{"join", table, table, "--on", "k", "--device", "host", "-o", out}
	l = start(t, launcher, 2, append(args, more...))
	l.Env = append(l.Env, "OMPI_MCA_orte_abort_print_stack=0")
	require.NoError(t, l.Start())
	require.Eventually(t, func() bool {
		pids = l.processes()
		_, err := os.Stat(out)
		return err == nil && len(pids) == 2
	}, 30*time.Second, time.Millisecond)
	l.began = time.Now()
	return l, pids
}

// TestRanksSignals: however a job is ended from outside, it ends soon, and no part is left.
func TestRanksSignals(t *testing.T) {
	for number, c := range []struct {
		name    string
		rank    int // that gets the signal; negative: the launcher
		signal  syscall.Signal
		says    string // by spirjoin
		folders bool   // the new folder may be left
	}{
		{"interrupt", -1, syscall.SIGINT, "", false},
		{"terminate", -1, syscall.SIGTERM, "", false},
		{"interrupt a rank", 1, syscall.SIGINT, "spirjoin: interrupted\n", false},
		{"kill", 1, syscall.SIGKILL, "", true},
		{"stop", 1, syscall.SIGSTOP, "spirjoin: rank 0: wait for other ranks: timed out (rank 1 did not ", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			onLaunchers(t, number+1, func(t *testing.T, launcher []string) {
				out := filepath.Join(t.TempDir(), "out")
				l, pids := long(t, launcher, out, "--stall", "1s")
				pid := l.Process.Pid
				if c.rank >= 0 {
					pid = pids[c.rank]
				}
				require.NoError(t, syscall.Kill(pid, c.signal))
				mpich := launcher[0] == "mpirun.mpich"
				if mpich && c.signal == syscall.SIGSTOP { // its launcher waits for a rank that is stopped
					time.Sleep(longest / 2) // rank 0 has named it by then
					require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
				}
				o := l.end(t)
				if !mpich || c.rank >= 0 { // its launcher may return 0 after a signal of its own
					require.NotZero(t, o.Code, o.Stderr)
				}
				require.Less(t, time.Since(l.began), longest, o.Stderr)
				require.Contains(t, o.Stderr, c.says)
				require.LessOrEqual(t, strings.Count(o.Stderr, "spirjoin: "), 1, o.Stderr)
				if _, err := os.Stat(out); err == nil && c.folders {
					commandtest.RequireFiles(t, out)
				} else {
					require.NoDirExists(t, out)
				}
			})
		})
	}
}

// TestRanksPanic: a panic of one rank ends all.
func TestRanksPanic(t *testing.T) {
	dir, args := sides(t)
	for number, phase := range []string{"join", "finish"} {
		onLaunchers(t, number, func(t *testing.T, launcher []string) {
			l := start(t, launcher, 2, append(slices.Clone(args), "-o", filepath.Join(dir, "out")))
			l.Env = append(l.Env, planted+"=1:"+phase)
			require.NoError(t, l.Start())
			requireFailed(t, l, l.end(t), command.ExitInternal, "spirjoin: rank 1: internal error: ")
			commandtest.RequireFiles(t, dir, "l", "r")
		})
	}
}

// TestRanksFullDisk: a rank whose part has no room ends all.
func TestRanksFullDisk(t *testing.T) {
	table := manyToMany(t, filepath.Join(t.TempDir(), "t.parquet"), 20, 300)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no small file system: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, 0)) })
	onLaunchers(t, 1, func(t *testing.T, launcher []string) {
		l := start(t, launcher, 2, []string{"join", table, table, "--on", "k", "--device", "host",
			"--compression", "none", "-o", filepath.Join(dir, "out")})
		require.NoError(t, l.Start())
		requireFailed(t, l, l.end(t), command.ExitInputOutput, "no space left on device")
		commandtest.RequireFiles(t, dir)
	})
}

// TestRanksAlone: commands that know no ranks do not run several times.
func TestRanksAlone(t *testing.T) {
	dir, args := sides(t)
	onLaunchers(t, 0, func(t *testing.T, launcher []string) {
		o := runRanks(t, launcher, 2, []string{"groupby", args[1], "--agg", "count", "-o", filepath.Join(dir, "x.csv")})
		require.NotZero(t, o.Code)
		require.Contains(t, o.Stderr, "only join works over ranks")
		commandtest.RequireFiles(t, dir, "l", "r")
	})
}
