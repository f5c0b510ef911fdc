//go:build linux

package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/cluster/clustertest"
)

// runner starts the ranks of an MPI.
type runner struct {
	name    string
	command []string
}

// runners are the launchers that are installed.
func runners(t testing.TB) (found []runner) {
	for _, r := range []struct {
		name, version string
		commands      []string
		arguments     []string
	}{
		{openMPI.name, "Open MPI", []string{"mpirun.openmpi", "mpirun"},
			[]string{"--oversubscribe", "--bind-to", "none"}},
		{mpich.name, "HYDRA", []string{"mpirun.mpich", "mpiexec.hydra", "mpirun"}, nil},
	} {
		for _, command := range r.commands {
			says, err := exec.Command(command, "--version").CombinedOutput()
			if err == nil && strings.Contains(string(says), r.version) {
				found = append(found, runner{r.name, append([]string{command}, r.arguments...)})
				break
			}
		}
	}
	if len(found) == 0 {
		t.Skip("neither mpirun of Open MPI nor that of MPICH is installed (tools/setup.sh test installs both)")
	}
	return found
}

// result is how a job ended.
type result struct {
	code   int
	output string
	took   time.Duration
}

// run runs a program on some ranks, and checks that the job leaves no process.
func (r runner) run(t testing.TB, ranks int, program string, environment ...string) result {
	job := fmt.Sprintf("%s=%d-%d", jobVariable, os.Getpid(), time.Now().UnixNano())
	got := r.start(t, ranks, []string{os.Args[0]}, append(environment, programVariable+"="+program, job)...)
	require.Eventually(t, func() bool { return len(processesOf(job)) == 0 }, 5*time.Second, 20*time.Millisecond,
		"processes of %s are left", program)
	return got
}

// start runs a command on some ranks.
func (r runner) start(t testing.TB, ranks int, command []string, environment ...string) result {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	began := time.Now()
	arguments := slices.Concat(r.command[1:], []string{"-n", fmt.Sprint(ranks)}, command)
	launcher := exec.CommandContext(ctx, r.command[0], arguments...)
	launcher.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	launcher.Env = append(launcher.Env, environment...)
	var output bytes.Buffer
	launcher.Stdout, launcher.Stderr = &output, &output
	err := launcher.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.NoError(t, ctx.Err(), "%s does not end: %s", command, &output)
	return result{launcher.ProcessState.ExitCode(), output.String(), time.Since(began)}
}

// processesOf returns the processes that have a variable in their environment.
func processesOf(variable string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environment, err := os.ReadFile(file)
		if err == nil && bytes.Contains(environment, []byte(variable)) {
			found = append(found, file)
		}
	}
	return found
}

// equalTags: of two streams with the same tag the second is refused, and the first still works. It changes the job.
func equalTags(ctx context.Context, job *Job) error {
	if job.Size() == 1 {
		return nil
	}
	job.tagLimit = firstTag + 1
	first, second := job.Open("first"), job.Open("second")
	_, _, err := second.Receive(ctx, nil)
	for _, err := range []error{err, second.Send(ctx, (job.Rank()+1)%job.Size(), nil), second.End(ctx)} {
		if !errors.Is(err, backend.ErrInvalidInput) || !strings.Contains(err.Error(), "have the same tag") {
			return fmt.Errorf("equal tags: %v", err)
		}
	}
	if err := first.End(ctx); err != nil {
		return err
	}
	if _, some, err := first.Receive(ctx, nil); some || err != nil {
		return fmt.Errorf("first stream: %v, %w", some, err)
	}
	return nil
}

// jobs runs a test for each program and launcher, two at a time. A short run takes every program once.
func jobs(t *testing.T, programs []string, run func(t *testing.T, r runner, program string)) {
	found := runners(t)
	for i, program := range programs {
		for at, r := range found {
			if testing.Short() && i%len(found) != at {
				continue
			}
			t.Run(r.name+"/"+program, func(t *testing.T) {
				t.Parallel()
				run(t, r, program)
			})
		}
	}
}

// contract runs the suite. The library has taken no signal for good: a nil dereference is recovered.
func contract(ctx context.Context, job cluster.Job) error {
	recovered := func() (ok bool) {
		defer func() { ok = recover() != nil }()
		var nowhere *int
		*nowhere = 1
		return false
	}
	if !recovered() {
		return errors.New("a nil dereference was not recovered")
	}
	for _, node := range job.Nodes() {
		if node != 0 {
			return fmt.Errorf("one machine has nodes %v", job.Nodes())
		}
	}
	if err := clustertest.Run(ctx, job, clustertest.Contract); err != nil {
		return err
	}
	if err := equalTags(ctx, job.(*Job)); err != nil {
		return err
	}
	if job.Rank() == 0 {
		fmt.Printf("contract kept by %d ranks of %s\n", job.Size(), job.(*Job).Library())
	}
	return nil
}

func TestContract(t *testing.T) {
	for _, r := range runners(t) {
		for _, ranks := range []int{1, 2, 4} {
			if testing.Short() && ranks == 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s/ranks=%d", r.name, ranks), func(t *testing.T) {
				t.Parallel()
				got := r.run(t, ranks, "contract")
				require.Zero(t, got.code, got.output)
				require.Contains(t, got.output, fmt.Sprintf("contract kept by %d ranks of ", ranks))
			})
		}
	}
}

func names(cases []clustertest.Case) (names []string) {
	for _, c := range cases {
		names = append(names, c.Name)
	}
	return names
}

// TestFailures: all ranks see the failure, and the job ends with its exit code.
func TestFailures(t *testing.T) {
	jobs(t, names(clustertest.Failures), func(t *testing.T, r runner, program string) {
		code := clustertest.PlantedCode
		if program == "different rounds" { // nobody calls Abort, but the job cannot be closed
			code = 1
		}
		r.requireFailed(t, r.run(t, 2, program), code)
	})
}

// TestStalls: the silent rank is named.
func TestStalls(t *testing.T) {
	jobs(t, names(clustertest.Stalls), func(t *testing.T, r runner, program string) {
		r.requireFailed(t, r.run(t, 3, program), clustertest.PlantedCode)
	})
}

// longest is the time in which a failed job ends.
const longest = 10 * time.Second

// requireFailed checks that a job ended soon, with the exit code of the failure. MPICH's launcher now and then reports
// that it has killed the other ranks instead.
func (r runner) requireFailed(t *testing.T, got result, code int) {
	if r.name != mpich.name || got.code != int(syscall.SIGKILL) {
		require.Equal(t, code, got.code, got.output)
	}
	require.Less(t, got.took, longest)
}

// TestWrongLauncher: launcher and library of different MPIs are refused, with both names.
func TestWrongLauncher(t *testing.T) {
	found := runners(t)
	if len(found) < 2 {
		t.Skip("only one MPI is installed")
	}
	for r, other := range map[*runner][3]string{
		&found[0]: {"libmpich.so.12", "mpirun of Open MPI", "libmpich.so.12 is MPICH Version: "},
		&found[1]: {"libmpi.so.40", "mpiexec of MPICH", "libmpi.so.40 is Open MPI v"},
	} {
		got := r.run(t, 2, "start", libraryVariable+"="+other[0])
		require.NotZero(t, got.code)
		require.Contains(t, got.output, other[1]+" has started this process, but "+other[2])
		require.Less(t, got.took, longest)
	}
}

// givenUp: calls whose context ends give their memory back, and other streams still work.
func givenUp(ctx context.Context, job cluster.Job) error {
	broken := job.Open("given up")
	body := make([]byte, 2*cluster.PieceBytes)
	if job.Rank() == 0 { // the head piece arrives, the body does not
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		for range 2 {
			if err := broken.Send(short, 1, nil, body); !errors.Is(err, backend.ErrTimedOut) {
				return fmt.Errorf("send: %v", err)
			}
		}
	}
	half := job.Open("half").(*stream)
	if job.Rank() == 0 { // only the head piece of a message is sent
		piece := half.headPiece(half.peers[1], bodyFollows, nil, [][]byte{body})
		half.do(func() { half.send(piece, 1, half.tag, func(error) {}) })
	} else {
		short, cancel := context.WithCancel(ctx)
		defer cancel()
		_, some, err := half.Receive(short, func(int, []byte) ([][]byte, error) {
			time.AfterFunc(20*time.Millisecond, cancel)
			return [][]byte{body}, nil
		})
		if !some || !errors.Is(err, backend.ErrCancelled) {
			return fmt.Errorf("receive: %v, %v", some, err)
		}
	}
	if _, err := job.Gather(ctx, "not received", nil); err != nil {
		return err
	}
	if err := clustertest.Run(ctx, job, clustertest.Contract[:3]); err != nil {
		return err
	}
	if job.Rank() == 0 {
		job.Abort(fmt.Errorf("%w: what was given up cannot be closed", clustertest.ErrPlanted))
	}
	<-job.Context().Done()
	return nil
}

// The ends of a rank without Close, while the others wait for it.

func dies(ctx context.Context, job cluster.Job, how func()) error {
	if _, err := job.Gather(ctx, "alive", nil); err != nil {
		return err
	}
	if job.Rank() == job.Size()-1 {
		how()
	}
	_, err := job.Gather(ctx, "dead", nil)
	return err
}

func exit(ctx context.Context, job cluster.Job) error {
	return dies(ctx, job, func() { os.Exit(5) })
}

func panics(ctx context.Context, job cluster.Job) error {
	return dies(ctx, job, func() { panic("planted") })
}

func kill(ctx context.Context, job cluster.Job) error {
	return dies(ctx, job, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} })
}

func interrupt(ctx context.Context, job cluster.Job) error {
	return dies(ctx, job, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGINT); select {} })
}

// unfinished: a job whose stream was not received to its end cannot be closed.
func unfinished(ctx context.Context, job cluster.Job) error {
	s := job.Open("unfinished")
	if job.Rank() == 1 {
		return s.Send(ctx, 0, nil)
	}
	return nil
}

// TestDeaths: the launcher ends the others, and its exit code says so. Open MPI's is that of the rank; MPICH's may be
// that of a rank that the launcher has killed.
func TestDeaths(t *testing.T) {
	codes := map[string]int{"exit": 5, "panic": 2, "kill": 137, "interrupt": 130, "unfinished": 1,
		"given up": clustertest.PlantedCode}
	jobs(t, slices.Sorted(maps.Keys(codes)), func(t *testing.T, r runner, program string) {
		got := r.run(t, 2, program)
		require.NotZero(t, got.code, got.output)
		if r.name == openMPI.name {
			require.Equal(t, codes[program], got.code, got.output)
		}
		require.Less(t, got.took, longest)
	})
}
