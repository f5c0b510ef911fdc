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
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/cluster"
)

// TestStub runs a rank on a library that checks the handles and constants of an ABI that is not installed.
func TestStub(t *testing.T) {
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc to build the library")
	}
	for abi, says := range map[int]string{1: "Some MPI 1.0", 5: "Open MPI v5.0.9"} {
		file := filepath.Join(t.TempDir(), "libstub.so")
		out, err := exec.Command(compiler, fmt.Sprintf("-DABI=%d", abi), "-Wall", "-Werror", "-shared", "-fPIC",
			"-o", file, "testdata/stub.c").CombinedOutput()
		require.NoError(t, err, "%s", out)
		run := func(library string, launcher ...string) (int, string) {
			command := exec.Command(os.Args[0])
			command.Env = append(os.Environ(), programVariable+"=mirror", libraryVariable+"="+library)
			command.Env = append(command.Env, launcher...)
			out, err := command.CombinedOutput()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
				require.NoError(t, err)
			}
			return command.ProcessState.ExitCode(), string(out)
		}
		launchers := [][]string{{"PMIX_RANK=0"}, {"OMPI_COMM_WORLD_SIZE=2"}}
		if abi == 1 {
			launchers = append(launchers, []string{"PMI_RANK=0", "PMI_SIZE=2"})
		}
		for _, launcher := range launchers {
			code, output := run(file, launcher...)
			require.Zero(t, code, output)
			require.Contains(t, output, "mirrored by "+says)
		}
		code, output := run(file, "OMPI_COMM_WORLD_SIZE=3")
		require.Equal(t, startCode, code)
		require.Contains(t, output, "mpirun of Open MPI has started 3 processes, but "+says)
		code, output = run(file)
		require.Equal(t, startCode, code)
		require.Contains(t, output, "no launcher of MPI has started this process")
		code, output = run(file+".missing", "PMIX_RANK=0")
		require.Equal(t, startCode, code)
		require.Contains(t, output, "its library is missing")
	}
}

// mirror runs on the stub: the other rank says and sends what this one does.
func mirror(ctx context.Context, job cluster.Job) error {
	said, err := job.Gather(ctx, "mirror", []byte("me"))
	if err != nil {
		return err
	}
	if !slices.EqualFunc(said, [][]byte{[]byte("me"), []byte("me")}, bytes.Equal) {
		return fmt.Errorf("said %q", said)
	}
	s := job.Open("mirror")
	body := [][]byte{[]byte("small"), bytes.Repeat([]byte("large "), 2_000_000)}
	sent := make(chan error, 1)
	go func() {
		err := s.Send(ctx, 1, []byte("head"), body...)
		sent <- errors.Join(err, s.End(ctx))
	}()
	got := [][]byte{make([]byte, len(body[0])), make([]byte, len(body[1]))}
	from, some, err := s.Receive(ctx, func(_ int, head []byte) ([][]byte, error) {
		if string(head) != "head" {
			return nil, fmt.Errorf("head %q", head)
		}
		return got, nil
	})
	if err := errors.Join(err, <-sent); err != nil || from != 1 || !some || !slices.EqualFunc(got, body, bytes.Equal) {
		return fmt.Errorf("from %d, %v, equal %v: %w", from, some, slices.EqualFunc(got, body, bytes.Equal), err)
	}
	if _, some, err := s.Receive(ctx, nil); some || err != nil {
		return fmt.Errorf("after the end: %v, %w", some, err)
	}
	fmt.Println("mirrored by", job.(*Job).Library())
	return nil
}

func TestABI(t *testing.T) {
	for _, c := range []struct {
		version  string
		standard int
		name     string
	}{
		{"Open MPI v4.1.4, package: Debian OpenMPI", 0, "Open MPI"},
		{"Open MPI v6.0.0, package", 1, "MPI ABI 1"},
		{"Open MPI v5.0.9, package", -1, "Open MPI"},
		{"MPICH Version:\t4.0.2\nMPICH Release date: ...", 0, "MPICH"},
		{"Intel(R) MPI Library 2021.11 for Linux* OS\n", 0, "MPICH"},
		{"MPI VERSION    : CRAY MPICH version 8.1.28.15\n", 0, "MPICH"},
		{"MVAPICH2 Version      :\t2.3.7", 0, "MPICH"},
	} {
		got, known := abiOf(c.version, c.standard)
		require.True(t, known)
		require.Equal(t, c.name, got.name, c.version)
	}
	_, known := abiOf("Something else 1.0", 0)
	require.False(t, known)
	require.Equal(t, "Open MPI v4.1.4", title("Open MPI v4.1.4, package: Debian OpenMPI\nmore"))
	require.Equal(t, "MPICH Version: 4.0.2", title("MPICH Version:\t4.0.2\nMPICH Release date: ..."))
}
