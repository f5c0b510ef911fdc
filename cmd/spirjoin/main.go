// Command spirjoin joins tables in files and streams on whatever device is there. docs/cli.md describes it.
//
// This package parses, calls and prints; every algorithm lives in the packages below it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spirjoin/spirjoin/bench/workload"
)

func main() {
	workload.RunTPCHChildIfAsked()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal meets the default action again, which ends the process at once
	os.Exit(run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr))
}
