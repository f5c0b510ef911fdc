// Command spirjoin joins tables in files and streams on whatever device is there. docs/cli.md describes it.
//
// This package parses, calls and prints; every algorithm lives in the packages below it. What it shares with the
// program of the benchmarks is internal/command.
package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/cluster/mpi"
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
	return []*cli.Command{s.joinCommand(), alone(s.groupCommand()), alone(s.divideCommand()), s.devicesCommand(),
		s.doctorCommand(), alone(s.genCommand()), benchCommand(), alone(s.tuneCommand())}
}

// alone has a command, which writes files, refuse to run once on each rank of a launcher.
func alone(c *cli.Command) *cli.Command {
	c.Before = func(*cli.Context) error {
		if mpi.LaunchedRanks() <= 1 {
			return nil
		}
		return fmt.Errorf("%w: a launcher has started several processes, and each would run %s; start it without, only "+
			"join works over ranks", backend.ErrUnsupported, c.Name)
	}
	return c
}
