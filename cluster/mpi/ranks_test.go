//go:build linux

package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
		name      string
		commands  []string
		arguments []string
	}{
		{"Open MPI", []string{"mpirun.openmpi", "mpirun"}, []string{"--oversubscribe", "--bind-to", "none"}},
		{"HYDRA", []string{"mpirun.mpich", "mpiexec.hydra", "mpirun"}, nil},
	} {
		for _, command := range r.commands {
			says, err := exec.Command(command, "--version").CombinedOutput()
			if err == nil && strings.Contains(string(says), r.name) {
				found = append(found, runner{strings.ReplaceAll(r.name, " ", ""), append([]string{command}, r.arguments...)})
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

// run runs a program on some ranks, and checks that the job ends in 10 s and leaves no process.
func (r runner) run(t testing.TB, ranks int, program string, environment ...string) result {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	began := time.Now()
	arguments := append(r.command[1:len(r.command):len(r.command)], "-n", fmt.Sprint(ranks), os.Args[0])
	command := exec.CommandContext(ctx, r.command[0], arguments...)
	job := fmt.Sprintf("%s=%d-%d", jobVariable, os.Getpid(), began.UnixNano())
	command.Env = append(os.Environ(), programVariable+"="+program, job, "OMPI_ALLOW_RUN_AS_ROOT=1",
		"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	command.Env = append(command.Env, environment...)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.NoError(t, ctx.Err(), "%s did not end: %s", program, &output)
	if program != "benchmark" {
		require.Eventually(t, func() bool { return len(processesOf(job)) == 0 }, 5*time.Second, 20*time.Millisecond,
			"processes of %s are left", program)
	}
	return result{command.ProcessState.ExitCode(), output.String(), time.Since(began)}
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

func forEachRunner(t *testing.T, run func(t *testing.T, r runner)) {
	for _, r := range runners(t) {
		t.Run(r.name, func(t *testing.T) { run(t, r) })
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
	if job.Rank() == 0 {
		fmt.Printf("contract kept by %d ranks of %s\n", job.Size(), job.(*Job).Library())
	}
	return nil
}

func TestContract(t *testing.T) {
	forEachRunner(t, func(t *testing.T, r runner) {
		for _, ranks := range []int{1, 2, 4} {
			if testing.Short() && ranks == 1 {
				continue
			}
			got := r.run(t, ranks, "contract")
			require.Zero(t, got.code, got.output)
			require.Contains(t, got.output, fmt.Sprintf("contract kept by %d ranks of ", ranks))
			t.Logf("%d ranks: %v, %s", ranks, got.took, got.output)
		}
	})
}

// TestFailures: all ranks see the failure, and the job ends with its exit code.
func TestFailures(t *testing.T) {
	forEachRunner(t, func(t *testing.T, r runner) {
		for _, c := range clustertest.Failures {
			got := r.run(t, 2, c.Name)
			code := clustertest.PlantedCode
			if c.Name == "different rounds" { // nobody calls Abort: the job cannot be closed
				code = 1
			}
			require.Equal(t, code, got.code, "%s: %s", c.Name, got.output)
			require.Less(t, got.took, 10*time.Second)
			t.Logf("%s: %v\n%s", c.Name, got.took, got.output)
		}
		for _, c := range clustertest.Stalls {
			got := r.run(t, 3, c.Name)
			require.Equal(t, clustertest.PlantedCode, got.code, "%s: %s", c.Name, got.output)
			require.Less(t, got.took, 10*time.Second)
			t.Logf("%s: %v\n%s", c.Name, got.took, got.output)
		}
	})
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

func TestDeaths(t *testing.T) {
	forEachRunner(t, func(t *testing.T, r runner) {
		for _, program := range []string{"exit", "panic", "kill", "interrupt", "unfinished"} {
			got := r.run(t, 2, program)
			t.Logf("%s: code %d, %v\n%s", program, got.code, got.took, got.output)
			require.NotZero(t, got.code, "%s: %s", program, got.output)
			require.Less(t, got.took, 10*time.Second)
		}
	})
}

func benchmark(context.Context, cluster.Job) error { return nil }
