package main

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

	"golang.org/x/term"

	"github.com/spirjoin/spirjoin/tableio"
)

// session is one run of the program: its streams, and what is known of them.
type session struct {
	stdin  io.Reader
	stdout *output
	stderr io.Writer
	// Columns that the terminal which the stream is has now; 0 where it is none.
	stdoutColumns, stderrColumns func() int
	reader                       func() pipeReader // of standard output

	abandonAfter time.Duration // that a command which hangs in a call of the system keeps the program after a signal
	onPhase      func(string)  // told of each phase of a command; may be nil
}

// run executes a command line, args[0] being the program's name, and returns the exit code. A failure prints one line on
// stderr. Cancelling ctx ends any command soon, with code 130.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := &session{
		stdin: stdin, stdout: &output{w: stdout}, stderr: &output{w: stderr},
		stdoutColumns: func() int { return terminalColumns(stdout) }, stderrColumns: func() int { return terminalColumns(stderr) },
		reader:       func() pipeReader { return readerOf(stdout) },
		abandonAfter: 3 * time.Second,
	}
	return s.run(ctx, args)
}

func (s *session) run(ctx context.Context, args []string) int {
	done := make(chan error, 1)
	go func() { done <- s.execute(ctx, args) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(s.abandonAfter): // blocked in a pipe that nobody reads, for example
			err = errors.Join(ctx.Err(), tableio.RemoveTemporaryFiles())
		}
	}
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil {
		err = context.Canceled // whatever else failed, failed because of it
	}
	fmt.Fprintln(s.stderr, message(err))
	return exitCode(err)
}

// execute runs the command; a panic becomes an error after the deferred calls have cleaned up.
func (s *session) execute(ctx context.Context, args []string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v, at %s", p, panicSite(string(debug.Stack())))
		}
	}()
	app := s.app()
	if args, err = arrange(app, args); err != nil {
		return err
	}
	if err = app.RunContext(ctx, args); s.stdout.err != nil {
		return s.stdout.err
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

// output is standard output, or standard error, which remembers the first error: a report that did not arrive is a
// failure.
type output struct {
	w       io.Writer
	err     error
	before  func() // called before something is written; may be nil
	written sync.Once
}

func (o *output) Write(p []byte) (int, error) {
	if o.before != nil {
		o.written.Do(o.before)
	}
	n, err := o.w.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		endByPipe(o.w)
	}
	if err != nil && o.err == nil {
		o.err = &tableio.Error{Kind: tableio.ErrOutput, Op: "write", Path: "-", Err: plainError(err)}
	}
	return n, err
}

// plainError drops the name that the system's errors repeat.
func plainError(err error) error {
	if pathErr, ok := err.(*os.PathError); ok {
		return pathErr.Err
	}
	return err
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
