package main

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/bench/endtoend"
	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
)

func endToEndCommand(s *command.Session) *cli.Command {
	const load, run, output = "Workload", "Run", "Output"
	return &cli.Command{
		Name: "end-to-end", Usage: "joins from memory to memory and from file to file, by phase",
		UsageText: "spirjoin-bench end-to-end [WAY...] [flags]",
		Description: "   Joins tables of primary and foreign keys, and shows what each phase takes beside the rates of " +
			"the\n" +
			"   machine. Each answer is verified before it is timed; a wrong one ends the command with code 6.\n" +
			"   Without a WAY all are measured:\n   " +
			text.Fold(strings.Join(endtoend.Names(), ", "), text.ReportColumns-4, "\n   ") +
			"\n   Kinds of joins: " + text.Fold(strings.Join(joins.Hows(), ", "), text.ReportColumns-20, "\n   "),
		Flags: slices.Concat(pkfkFlags(load, "2^25 or 2^21", "four times as many", 8), []cli.Flag{
			&cli.StringFlag{Name: "how", Category: load, Value: "inner",
				Usage: "`KIND` of join, R on the left; default: inner"},
			command.SeedFlag(load),
		}, command.DeviceFlags(run), []cli.Flag{
			&cli.GenericFlag{Name: "memory-limit", Category: run, Value: new(command.Size),
				Usage: "limit the memory of a join on the host to `SIZE`; default: none"},
			&cli.StringFlag{Name: "algorithm", Category: run,
				Usage: "`NAME` of the algorithm; default: the one predicted to be fastest"},
			&cli.StringFlag{Name: "dir", Category: run,
				Usage: "put temporary files into a folder in `DIR`; default: the system's"},
			&cli.IntFlag{Name: "repeat", Category: run, Value: 5, Usage: "time each way `TIMES` times; default: 5"},
			&cli.DurationFlag{Name: "warm", Category: run, Value: time.Second,
				Usage: "run each way for a `TIME` before; default: 1s"},

			csvFlag(output),
		}),
		Action: func(c *cli.Context) error {
			sweep, err := endToEndOf(c)
			if err != nil {
				return err
			}
			return s.MeasureOn(c.Context, command.DeviceOptionsOf(c), sweep)
		},
	}
}

// endToEndOf reads the flags of `end-to-end`.
func endToEndOf(c *cli.Context) (o endtoend.Sweep, err error) {
	f := flagsOf(c)
	o = endtoend.Sweep{How: c.String("how"), MemoryLimitBytes: uint64(*c.Generic("memory-limit").(*command.Size)),
		Dir: c.String("dir"), CSV: c.String("csv"), Command: commandText(c)}
	if o.Ways, err = endtoend.Find(c.Args().Slice()); err != nil {
		return o, err
	}
	if name := c.String("algorithm"); name != "" {
		if o.Algorithm, err = join.ParseAlgorithm(name); err != nil {
			return o, err
		}
	}
	o.Spec = f.pkfk(8)
	o.Repeat, o.Warm = f.timing()
	return o, f.Err()
}
