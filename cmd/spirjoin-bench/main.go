// Command spirjoin-bench measures the primitives, joins and group-bys of spirjoin. docs/benchmarks.md describes it;
// spirjoin bench starts it.
//
// This package parses, calls and prints; the benchmarks are the packages of bench. What it shares with spirjoin is
// internal/command.
package main

import (
	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/internal/command"
)

func main() { program.Main() }

var program = command.Program{
	Name: "spirjoin-bench", Usage: "measures the primitives, joins and group-bys of spirjoin",
	Commands: func(s *command.Session) []*cli.Command {
		return []*cli.Command{codecCommand(s), distributedCommand(s), endToEndCommand(s), graphicsCommand(s),
			joinsCommand(s), multiGPUCommand(s), outOfCoreCommand(s), plannerCommand(s), primitiveCommand(s)}
	},
}
