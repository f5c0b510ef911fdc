package command

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spirjoin/spirjoin/tableio"
)

// Main runs the command line of the process and ends the process with its exit code. The first signal cancels the
// command; the second ends the process at once, without a temporary file that stays.
func (p *Program) Main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as it is by nohup
		signal.Notify(signals, syscall.SIGHUP) // the terminal was closed
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a write has the error instead
	go func() {
		<-signals
		cancel()
		<-signals // impatience: nothing is waited for, but nothing is left either
		_ = tableio.RemoveTemporaryFiles()
		os.Exit(ExitInterrupted)
	}()
	os.Exit(p.Session(os.Stdin, os.Stdout, os.Stderr).Run(ctx, os.Args))
}

// endByPipe removes temporary files, and ends the process by SIGPIPE with another write to the standard stream whose
// reader is gone. It returns if w is another one.
func endByPipe(w io.Writer) {
	_ = tableio.RemoveTemporaryFiles()
	signal.Reset(syscall.SIGPIPE)
	_, _ = w.Write([]byte("\n"))
}
