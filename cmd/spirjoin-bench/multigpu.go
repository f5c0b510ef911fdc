package main

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/scaling"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
)

func multiGPUCommand(s *command.Session) *cli.Command {
	const figures, run, output = "Figures", "Run", "Output"
	return &cli.Command{
		Name: "multigpu", Usage: "joins of tables by one device, and by several together",
		UsageText: "spirjoin-bench multigpu [STRATEGY...] --device DEVICE --device DEVICE [flags]",
		Description: "   Joins tables in host memory by one and by several devices, as figures 14 to 19 of the paper HMG,\n" +
			"   and shows what each number of devices takes beside what their links take for the same bytes. A\n" +
			"   device that is named twice is opened twice. Each answer is verified before it is timed; a wrong\n" +
			"   one ends the command with code 6. A STRATEGY shares a join among devices:\n   " +
			text.Fold(strings.Join(scaling.StrategyNames(), ", "), text.ReportColumns-4, "\n   "),
		Flags: slices.Concat(figureFlags(figures, "hmg-18", "10"), []cli.Flag{
			&cli.StringSliceFlag{Name: "counts", Category: run,
				Usage: "`NUMBERS` of devices that join: 1,2,4; default: as each figure says"},
			&cli.GenericFlag{Name: "device", Category: run, Value: new(command.Names),
				Usage: "`DEVICE`: index, name, id or backend; default: auto; may be repeated"},
			&cli.StringSliceFlag{Name: "return", Category: run, Value: cli.NewStringSlice("count", "rows"),
				Usage: "`WHAT` joins return: count, pairs or rows; default: count,rows"},
			&cli.StringFlag{Name: "algorithm", Category: run,
				Usage: "`NAME` of the algorithm; default: the one predicted to be fastest"},
		}, scalingFlags(run, output)),
		Action: func(c *cli.Context) error {
			if listsFigures(c) {
				measure.WriteFigures(s.Stdout, scaling.MultiGPUFigures())
				return nil
			}
			sweep, err := multiGPUOf(c)
			if err != nil {
				return err
			}
			return command.Traced(c.Context, nil, c.String("trace"), func(ctx context.Context, trace *spirjoin.Trace) error {
				sweep.Trace = trace
				return measureScaling(ctx, s, sweep)
			})
		},
	}
}

// multiGPUOf reads the flags of `multigpu`.
func multiGPUOf(c *cli.Context) (o scaling.MultiGPU, err error) {
	f := flagsOf(c)
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
	if o.Devices = *c.Generic("device").(*command.Names); len(o.Devices) == 0 {
		o.Devices = []string{"auto"}
	}
	o.Counts = f.ints("counts", "devices")
	if err := f.Err(); err != nil {
		return o, err
	}
	return o, o.Validate()
}
