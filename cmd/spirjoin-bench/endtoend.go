package main

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/bench/endtoend"
	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/bench/workload"
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
		Flags: slices.Concat([]cli.Flag{
			&cli.GenericFlag{Name: "r-rows", Aliases: []string{"r"}, Category: load, Value: new(command.Rows),
				Usage: "`ROWS` with primary keys; default: 2^25 or 2^21"},
			&cli.GenericFlag{Name: "s-rows", Aliases: []string{"s"}, Category: load, Value: new(command.Rows),
				Usage: "`ROWS` with foreign keys; default: four times as many"},
			&cli.IntFlag{Name: "payloads", Category: load, Value: 1,
				Usage: "payload `COLUMNS` of each side; default: 1"},
			&cli.IntFlag{Name: "key-bytes", Category: load, Value: 8, Usage: "`BYTES` of a key: 4 or 8; default: 8"},
			&cli.StringSliceFlag{Name: "payload-bytes", Category: load,
				Usage: "`BYTES` of a payload: 4, 8, or 4,8 in turn; default: 8"},
			&cli.Float64Flag{Name: "match-ratio", Category: load, Value: 1,
				Usage: "`SHARE` of the primary keys that rows refer to; default: 1"},
			&cli.Float64Flag{Name: "zipf", Category: load, Usage: "`FACTOR` of the skew of foreign keys; default: 0"},
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
	spec := workload.DefaultPKFK(f.tableRows("r-rows"), f.tableRows("s-rows"))
	spec.KeyBytes, spec.Seed = c.Int("key-bytes"), c.Uint64("seed")
	spec.MatchRatio, spec.Zipf = c.Float64("match-ratio"), c.Float64("zipf")
	widths := f.ints("payload-bytes", "bytes")
	if len(widths) == 0 {
		widths = []int{8}
	}
	if spec.RPayloads, err = command.PayloadColumns("payloads", c.Int("payloads"), widths); err != nil {
		return o, err
	}
	spec.SPayloads = spec.RPayloads
	o.Spec = spec
	o.Repeat, o.Warm = f.timing()
	if err := f.Err(); err != nil {
		return o, err
	}
	return o, nil
}
