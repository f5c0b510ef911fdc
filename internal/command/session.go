package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/spirjoin/spirjoin/cluster/mpi"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/tableio"
)

// Program is a program and what it offers.
type Program struct {
	Name, Usage string
	Commands    func(*Session) []*cli.Command
	// Reword writes the text of an error that is due to input, output or devices as users of this program read it; may
	// be nil.
	Reword func(err error, text string) string
}

// Session is one run of a program, with its streams.
type Session struct {
	*Program
	Stdin  io.Reader
	Stdout *Output
	Stderr io.Writer
	// Columns that the terminal which the stream is has now; 0 where it is none.
	StdoutColumns, StderrColumns func() int
	reader                       func() pipeReader // of standard output

	AbandonAfter time.Duration // that a command which hangs in a call of the system keeps the program after a signal
	job          *mpi.Job      // of the launcher; nil: none was opened
	OnPhase      func(string)  // told of each phase of a command; may be nil
}

// Session prepares a run with these streams.
func (p *Program) Session(stdin io.Reader, stdout, stderr io.Writer) *Session {
	return &Session{
		Program: p,
		Stdin:   stdin, Stdout: &Output{w: stdout}, Stderr: &Output{w: stderr},
		StdoutColumns: func() int { return terminalColumns(stdout) },
		StderrColumns: func() int { return terminalColumns(stderr) },
		reader:        func() pipeReader { return readerOf(stdout) },
		AbandonAfter:  3 * time.Second,
	}
}

// Run executes a command line and returns the exit code. args[0] is the program's name. A failure prints one line on
// standard error. Cancelling ctx ends any command soon, with code 130.
func (s *Session) Run(ctx context.Context, args []string) int {
	done := make(chan error, 1)
	go func() { done <- s.execute(ctx, args) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(s.AbandonAfter): // blocked in a pipe without a reader, for example
			err = errors.Join(ctx.Err(), tableio.RemoveTemporaryFiles())
		}
	}
	if err != nil && ctx.Err() != nil {
		err = context.Canceled // whatever else failed, failed because of it
	}
	if s.job != nil {
		return s.endJob(err)
	}
	if err == nil {
		return ExitDone
	}
	fmt.Fprintln(s.Stderr, s.message(err))
	return exitCode(err)
}

// execute runs the command; a panic becomes an error after the deferred calls have cleaned up.
func (s *Session) execute(ctx context.Context, args []string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v, at %s", p, panicSite(string(debug.Stack())))
		}
	}()
	app := s.App()
	if args, err = arrange(app, args); err != nil {
		return err
	}
	if err = app.RunContext(ctx, args); s.Stdout.err != nil {
		return s.Stdout.err
	}
	if panicked := new(exec.PanicError); errors.As(err, &panicked) {
		return fmt.Errorf("%w, at %s", err, panicSite(string(panicked.Stack)))
	}
	return err
}

// panicSite finds the place of a panic in a stack trace: the file and line below the call of panic.
func panicSite(stack string) string {
	_, below, found := strings.Cut(stack, "\npanic(")
	lines := strings.Split(below, "\n")
	if !found || len(lines) < 4 {
		return "an unknown place"
	}
	site, _, _ := strings.Cut(strings.TrimSpace(lines[3]), " ")
	return site[strings.LastIndexByte(site, '/')+1:]
}

// Output is standard output, or standard error, which remembers the first error: a report that did not arrive is a
// failure.
type Output struct {
	w       io.Writer
	err     error
	before  func() // called before something is written; may be nil
	written sync.Once
}

func (o *Output) Write(p []byte) (int, error) {
	if o.before != nil {
		o.written.Do(o.before)
	}
	n, err := o.w.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		endByPipe(o.w)
	}
	if err != nil && o.err == nil {
		o.err = &tableio.Error{Kind: tableio.ErrOutput, Op: "write", Path: "-", Err: PlainError(err)}
	}
	return n, err
}

func terminalColumns(stream any) int {
	file, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
		return columns
	}
	return 80
}
