// Command spirjoin joins tables in files and streams on whatever device is there. docs/cli.md describes it.
//
// This package parses, calls and prints; every algorithm lives in the packages below it. What it shares with the
// program of the benchmarks is internal/command.
package main

import (
	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/command"
)

func main() {
	workload.RunTPCHChildIfAsked()
	runOpenCLChildIfAsked()
	program.Main()
}

var program = command.Program{
	Name: "spirjoin", Usage: "joins and groups tables on any GPU with a Vulkan driver, or on the CPU",
	Commands: func(s *command.Session) []*cli.Command { return session{s}.commands() },
	Reword:   reword,
}

// session is one run of the program.
type session struct{ *command.Session }

func (s session) commands() []*cli.Command {
	return []*cli.Command{s.joinCommand(), s.groupCommand(), s.divideCommand(), s.devicesCommand(),
		s.doctorCommand(), s.genCommand(), benchCommand(), s.tuneCommand()}
}
