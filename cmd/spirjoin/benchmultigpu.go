package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/bench/scaling"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
)

func (s *session) benchMultiGPUCommand() *cli.Command {
	const figures, run, output = "Figures", "Run", "Output"
	return &cli.Command{
		Name: "multigpu", Usage: "joins of tables by one device, and by several together",
		UsageText: "spirjoin bench multigpu [STRATEGY...] --device DEVICE --device DEVICE [flags]",
		Description: "   Joins tables in host memory by one and by several devices, as figures 14 to 19 of the paper HMG,\n" +
			"   and shows what each number of devices takes beside what their links take for the same bytes. A\n" +
			"   device that is named twice is opened twice. Each answer is verified before it is timed; a wrong\n" +
			"   one ends the command with code 6. A STRATEGY shares a join among devices:\n   " +
			text.Fold(strings.Join(scaling.StrategyNames(), ", "), text.ReportColumns-4, "\n   "),
		Flags: slices.Concat(figureFlags(figures, "hmg-18", "10"), []cli.Flag{
			&cli.StringSliceFlag{Name: "counts", Category: run,
				Usage: "`NUMBERS` of devices that join: 1,2,4; default: as each figure says"},
			&cli.GenericFlag{Name: "device", Category: run, Value: new(namesValue),
				Usage: "`DEVICE`: index, name, id or backend; default: auto; may be repeated"},
			&cli.StringSliceFlag{Name: "return", Category: run, Value: cli.NewStringSlice("count", "rows"),
				Usage: "`WHAT` joins return: count, pairs or rows; default: count,rows"},
			&cli.StringFlag{Name: "algorithm", Category: run,
				Usage: "`NAME` of the algorithm; default: the one predicted to be fastest"},
		}, scalingFlags(run, output)),
		Action: func(c *cli.Context) error {
			if listsFigures(c) {
				scaling.Write(s.stdout, scaling.MultiGPUFigures())
				return nil
			}
			sweep, err := multiGPUOf(c)
			if err != nil {
				return err
			}
			return traced(c.Context, c.String("trace"), func(ctx context.Context, trace *spirjoin.Trace) error {
				sweep.Trace = trace
				return s.measureScaling(ctx, sweep)
			})
		},
	}
}

// multiGPUOf reads the flags of `bench multigpu`.
func multiGPUOf(c *cli.Context) (o scaling.MultiGPU, err error) {
	f := &joinFlags{Context: c}
	if o.Options, err = f.scaling(scaling.MultiGPUFigures(), join.Count, join.Pairs, join.Rows); err != nil {
		return o, err
	}
	if o.Strategies, err = scaling.FindStrategies(c.Args().Slice()); err != nil {
		return o, err
	}
	if name := c.String("algorithm"); name != "" {
		if o.Algorithm, err = join.ParseAlgorithm(name); err != nil {
			return o, err
		}
	}
	if o.Devices = *c.Generic("device").(*namesValue); len(o.Devices) == 0 {
		o.Devices = []string{"auto"}
	}
	o.Counts = f.ints("counts", "devices")
	if len(f.faults) > 0 {
		return o, usageError(strings.Join(f.faults, "; "))
	}
	return o, o.Validate()
}

// figureFlags are the flags by which figures are chosen.
func figureFlags(category, example, cpuScale string) []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "figure", Category: category,
			Usage: "repeat the sweeps of `FIGURES`: " + example + "; default: all; list shows them"},
		&cli.StringFlag{Name: "cell", Category: category,
			Usage: "only cells whose place on the axis contains `TEXT`"},
		&cli.IntFlag{Name: "scale", Category: category,
			Usage: "divide rows by 2 to the `POWER`; default: 0, on a CPU " + cpuScale},
	}
}

// scalingFlags are the other flags of [scaling.Options].
func scalingFlags(run, output string) []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "device-memory", Category: run, Value: new(sizeValue),
			Usage: "use at most `SIZE` of each device, as in 512MiB; default: 80%"},
		&cli.IntFlag{Name: "repeat", Category: run, Value: 3, Usage: "time each join `TIMES` times; default: 3"},
		&cli.DurationFlag{Name: "warm", Category: run, Value: time.Second,
			Usage: "run the joins for a `TIME` before; default: 1s"},
		&cli.StringFlag{Name: "csv", Category: output,
			Usage: "write the results to `FILE`, which appears whole or not at all"},
		&cli.StringFlag{Name: "trace", Category: output,
			Usage: "write a Chrome trace of all runs to `FILE`, for Perfetto"},
	}
}

func listsFigures(c *cli.Context) bool {
	return slices.Equal(c.StringSlice("figure"), []string{"list"})
}

// scaling reads the flags of [scaling.Options].
func (f *joinFlags) scaling(figures []scaling.Figure, outputs ...scaling.Output) (o scaling.Options, err error) {
	o = scaling.Options{Cell: f.String("cell"), DeviceMemoryBytes: uint64(*f.Generic("device-memory").(*sizeValue)),
		CSV: f.String("csv"), Command: commandText(f.Context)}
	if o.Figures, err = scaling.Find(figures, f.list("figure")); err != nil {
		return o, err
	}
	if o.Outputs, err = scaling.ParseOutputs(f.list("return"), outputs...); err != nil {
		return o, err
	}
	o.Scale = f.scale()
	o.Repeat, o.Warm = f.timing()
	return o, nil
}
