package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
)

// bench becomes the program beside this one, which has its words, streams, exit code and signals.
func TestBenchStartsItsProgram(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	program := filepath.Join(dir, "spirjoin")
	if os.Link(self, program) != nil { // another file system
		content, err := os.ReadFile(self)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(program, content, 0o777))
	}
	bench := func(words ...string) *exec.Cmd {
		process, _ := commandtest.Process(t, append([]string{"bench"}, words...)...)
		process.Path, process.Stderr = program, nil
		return process
	}
	exitOf := func(err error) syscall.WaitStatus {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		return exit.Sys().(syscall.WaitStatus)
	}

	_, err = bench("joins", "--help").Output()
	require.Equal(t, command.ExitNoDevice, exitOf(err).ExitStatus())
	said := string(err.(*exec.ExitError).Stderr)
	require.True(t, strings.HasPrefix(said, "spirjoin: unsupported: "), said)
	require.Contains(t, said, filepath.Join(dir, benchProgram))
	require.Contains(t, said, "`go install github.com/spirjoin/spirjoin/cmd/spirjoin-bench@latest`")
	require.Equal(t, 1, strings.Count(said, "\n"))

	script := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, benchProgram), []byte("#!/bin/sh\n"+text), 0o777))
	}
	script("echo \"$@\"; cat; echo done >&2; exit 6\n")
	process := bench("joins", "-r", "2^10", "--figure", "a b", "--help")
	process.Stdin = strings.NewReader("input\n")
	output, err := process.Output()
	require.Equal(t, command.ExitDeviceFailed, exitOf(err).ExitStatus())
	require.Equal(t, "joins -r 2^10 --figure a b --help\ninput\n", string(output))
	require.Equal(t, "done\n", string(err.(*exec.ExitError).Stderr))

	script("trap 'exit 130' INT; echo $$; while :; do sleep 0.01; done\n")
	process = bench("joins")
	pipe, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	_, err = bufio.NewReader(pipe).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, process.Process.Signal(os.Interrupt))
	_, _ = io.Copy(io.Discard, pipe)
	require.Equal(t, command.ExitInterrupted, exitOf(process.Wait()).ExitStatus())

	require.NoError(t, os.Chmod(filepath.Join(dir, benchProgram), 0o666))
	_, err = bench().Output()
	require.Equal(t, command.ExitInputOutput, exitOf(err).ExitStatus())
	require.Contains(t, string(err.(*exec.ExitError).Stderr), "permission denied")
}
