package main

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	benchmark "github.com/spirjoin/spirjoin/bench/primitive"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
)

func primitiveCommand(s *command.Session) *cli.Command {
	const cases, run, output = "Cases", "Run", "Output"
	return &cli.Command{
		Name: "primitive", Usage: "the primitives of joins on columns that are on the device",
		UsageText: "spirjoin-bench primitive [NAME...] [flags]",
		Description: "   Each case is verified before it is timed; a wrong answer ends the command with code 6. " +
			"Times are\n" +
			"   device times. Without a NAME all are measured:\n   " +
			text.Fold(strings.Join(benchmark.Names(), ", "), text.ReportColumns-4, "\n   "),
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "rows", Category: cases,
				Usage: "`ROWS`: 2^27,10M, or 2^10..2^30 for each power; default: 2^27 or 2^20"},
			&cli.StringSliceFlag{Name: "key", Category: cases, Usage: "`BITS` of keys or values: 32,64; default: all"},
			&cli.StringSliceFlag{Name: "payload", Category: cases,
				Usage: "`BITS` of what travels along, or of sums: 0,32,64; default: all"},
			&cli.StringSliceFlag{Name: "distribution", Category: cases,
				Usage: "`NAMES` of distributions, or all; default: one for each primitive"},
			command.SeedFlag(cases),
		}, command.DeviceFlags(run), []cli.Flag{
			&cli.IntFlag{Name: "repeat", Category: run, Value: 15, Usage: "time each case `TIMES` times; default: 15"},
			&cli.DurationFlag{Name: "warm", Category: run, Value: time.Second,
				Usage: "run each case for a `TIME` before it is timed; default: 1s"},
			&cli.StringSliceFlag{Name: "tuning", Category: run,
				Usage: "`SETTINGS` instead of the tuned ones: workgroup=512,items=8"},

			csvFlag(output),
		}),
		Action: func(c *cli.Context) error {
			sweep, err := primitiveSweepOf(c)
			if err != nil {
				return err
			}
			return s.MeasureOn(c.Context, command.DeviceOptionsOf(c), sweep)
		},
	}
}

// primitiveSweepOf reads the flags of `primitive`.
func primitiveSweepOf(c *cli.Context) (o benchmark.Sweep, err error) {
	f := flagsOf(c)
	o = benchmark.Sweep{Options: benchmark.Options{Seed: c.Uint64("seed")}, CSV: c.String("csv"), Command: commandText(c)}
	o.Repeat, o.Warm = f.timing()
	o.Axes = benchmark.Axes{Names: c.Args().Slice(), Rows: f.rows("rows"), Keys: f.ints("key", "bits"),
		Payloads: f.ints("payload", "bits")}
	for _, name := range f.list("distribution") {
		if name == "all" {
			o.Axes.Distributions = workload.Distributions()
			break
		}
		if !slices.Contains(workload.Distributions(), workload.Distribution(name)) {
			f.Fault("--distribution %q: there are %v and all", name, workload.Distributions())
		}
		o.Axes.Distributions = append(o.Axes.Distributions, workload.Distribution(name))
	}
	o.Settings = f.settings("tuning")
	if err := f.Err(); err != nil {
		return o, err
	}
	_, err = benchmark.Cases(benchmark.Axes{Names: o.Axes.Names})
	return o, err
}
