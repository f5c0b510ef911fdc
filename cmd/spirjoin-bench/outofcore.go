package main

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/scaling"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/join"
)

func outOfCoreCommand(s *command.Session) *cli.Command {
	const figures, run, output = "Figures", "Run", "Output"
	return &cli.Command{
		Name: "outofcore", Usage: "joins of tables that exceed the memory of the device or of the host",
		UsageText: "spirjoin-bench outofcore [ALGORITHM...] [flags]",
		Description: "   Shows the time for each row while tables grow beyond the memory of the device, as figure 14 of\n" +
			"   the paper RT, and while limits of the memory of the device and of the host shrink. What does not\n" +
			"   fit goes to temporary files. Each answer is verified before it is timed; a wrong one ends the\n" +
			"   command with code 6. Without an ALGORITHM a figure takes its own, or the one predicted to be\n" +
			"   fastest.",
		Flags: slices.Concat(figureFlags(figures, "rt-14", "6"), []cli.Flag{
			&cli.StringFlag{Name: "device", Category: run, Value: "auto",
				Usage: "`DEVICE`: its index, name, id or backend; default: auto"},
			&cli.StringSliceFlag{Name: "return", Category: run, Value: cli.NewStringSlice("count", "rows"),
				Usage: "`WHAT` joins return: count or rows; default: count,rows"},
			&cli.StringFlag{Name: "dir", Category: run,
				Usage: "put temporary files into a folder in `DIR`; default: the system's"},
		}, scalingFlags(run, output)),
		Action: func(c *cli.Context) error {
			if listsFigures(c) {
				measure.WriteFigures(s.Stdout, scaling.OutOfCoreFigures())
				return nil
			}
			sweep, err := outOfCoreOf(c)
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

// outOfCoreOf reads the flags of `outofcore`.
func outOfCoreOf(c *cli.Context) (o scaling.OutOfCore, err error) {
	f := flagsOf(c)
	if o.Options, err = f.scaling(scaling.OutOfCoreFigures(), join.Count, join.Rows); err != nil {
		return o, err
	}
	for _, name := range c.Args().Slice() {
		algorithm, err := join.ParseAlgorithm(name)
		if err != nil {
			return o, err
		}
		o.Algorithms = append(o.Algorithms, algorithm)
	}
	o.Device, o.Dir = c.String("device"), c.String("dir")
	return o, f.Err()
}
