// Command spirjoin joins tables in files and streams on whatever device is there. docs/cli.md describes it.
//
// This package parses, calls and prints; every algorithm lives in the packages below it.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/tableio"
)

func main() {
	workload.RunTPCHChildIfAsked()
	runOpenCLChildIfAsked()
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
		os.Exit(exitInterrupted)
	}()
	os.Exit(run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// endByPipe removes temporary files, and ends the process by SIGPIPE with another write to the standard stream whose
// reader is gone. It returns if w is another one.
func endByPipe(w io.Writer) {
	_ = tableio.RemoveTemporaryFiles()
	signal.Reset(syscall.SIGPIPE)
	_, _ = w.Write([]byte("\n"))
}
