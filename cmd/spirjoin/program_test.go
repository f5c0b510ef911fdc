package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// outcome is what a run of the program leaves.
type outcome struct {
	code           int
	stdout, stderr string
}

// program runs a command line, with stdin from a reader that may be nil.
func program(ctx context.Context, stdin io.Reader, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := run(ctx, append([]string{"spirjoin"}, args...), stdin, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// runProgram runs a command line that is expected to end with the code. A failure says so in one line.
func runProgram(t *testing.T, code int, args ...string) outcome {
	t.Helper()
	o := program(t.Context(), strings.NewReader(""), args...)
	require.Equal(t, code, o.code, "spirjoin %s\n%s", strings.Join(args, " "), o.stderr)
	requireOneLine(t, o)
	return o
}

func requireOneLine(t *testing.T, o outcome) {
	t.Helper()
	if o.code != exitDone {
		require.True(t, strings.HasPrefix(o.stderr, "spirjoin: "), o.stderr)
		require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
	}
}

func columns(n int) func() int { return func() int { return n } }

// terminalSession is a session whose output streams are terminals of 100 columns.
func terminalSession(stdout, stderr io.Writer) *session {
	return &session{stdin: strings.NewReader(""), stdout: &output{w: stdout}, stderr: stderr, stdoutColumns: columns(100),
		stderrColumns: columns(100), reader: func() pipeReader { return noPipe }, abandonAfter: time.Minute}
}

// atTerminal runs a command line on a terminal.
func atTerminal(ctx context.Context, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := terminalSession(&stdout, &stderr).run(ctx, append([]string{"spirjoin"}, args...))
	return outcome{code, stdout.String(), stderr.String()}
}

// requireFiles expects exactly these files in a folder: no output and no temporary file is left.
func requireFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	slices.Sort(names)
	require.Equal(t, names, found)
}
