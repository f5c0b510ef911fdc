// Package commandtest runs the command lines of a program in tests, within the test or as a process. For tests only.
package commandtest

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
)

// Outcome is the result of a run of a program.
type Outcome struct {
	Code           int
	Stdout, Stderr string
}

// Program is a program under test.
type Program struct{ *command.Program }

// Run runs a command line within the test, with standard input from a reader that may be nil.
func (p Program) Run(ctx context.Context, stdin io.Reader, args ...string) Outcome {
	var stdout, stderr bytes.Buffer
	code := p.Session(stdin, &stdout, &stderr).Run(ctx, append([]string{p.Name}, args...))
	return Outcome{code, stdout.String(), stderr.String()}
}

// Require runs a command line that is expected to end with the code. A failure says so in one line.
func (p Program) Require(t *testing.T, code int, args ...string) Outcome {
	t.Helper()
	o := p.Run(t.Context(), strings.NewReader(""), args...)
	require.Equal(t, code, o.Code, "%s %s\n%s", p.Name, strings.Join(args, " "), o.Stderr)
	p.RequireOneLine(t, o)
	return o
}

// RequireOneLine expects that a failure, if it is one, has printed one line.
func (p Program) RequireOneLine(t *testing.T, o Outcome) {
	t.Helper()
	if o.Code != command.ExitDone {
		require.True(t, strings.HasPrefix(o.Stderr, p.Name+": "), o.Stderr)
		require.Equal(t, 1, strings.Count(o.Stderr, "\n"), o.Stderr)
	}
}

// Terminal is a session whose output streams are terminals of 100 columns.
func (p Program) Terminal(stdout, stderr io.Writer) *command.Session {
	s := p.Session(strings.NewReader(""), stdout, stderr)
	s.Stderr, s.StdoutColumns, s.StderrColumns, s.AbandonAfter = stderr, Columns(100), Columns(100), time.Minute
	return s
}

// AtTerminal runs a command line on a terminal.
func (p Program) AtTerminal(ctx context.Context, args ...string) Outcome {
	var stdout, stderr bytes.Buffer
	code := p.Terminal(&stdout, &stderr).Run(ctx, append([]string{p.Name}, args...))
	return Outcome{code, stdout.String(), stderr.String()}
}

// Columns is a terminal of n columns.
func Columns(n int) func() int { return func() int { return n } }

// AsProgram is the environment variable that makes a test binary the program itself.
const AsProgram = "SPIRJOIN_TEST_AS_PROGRAM"

// Process is a command line as a process of its own, and what it will write to standard error.
func Process(t *testing.T, args ...string) (process *exec.Cmd, stderr *bytes.Buffer) {
	path, err := os.Executable()
	require.NoError(t, err)
	process, stderr = exec.Command(path, args...), new(bytes.Buffer)
	process.Env = append(os.Environ(), AsProgram+"=1", "GOGC=100") // as users run it
	process.Stderr = stderr
	return process, stderr
}

// RunIfAsked turns the test binary into the program for [Process], and does not return then. Otherwise it prepares the
// tests. For TestMain.
func (p Program) RunIfAsked() {
	if os.Getenv(AsProgram) != "" {
		p.Main()
	}
	if err := os.Setenv("SPIRJOIN_TUNING", "off"); err != nil { // what was measured here changes no test
		panic(err)
	}
}

// RequireFiles expects exactly these files in a folder: no output and no temporary file is left.
func RequireFiles(t *testing.T, dir string, names ...string) {
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
