package main

import (
	"context"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/graphics"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/vulkan"
)

func graphicsCommand(s *command.Session) *cli.Command {
	const figures, run, output = "Figures", "Run", "Output"
	return &cli.Command{
		Name: "graphics", Usage: "joins and group-bys by drawing, beside those by kernels",
		UsageText: "spirjoin-bench graphics [flags]",
		Description: "   Repeats the experiments of GARUDA, after the rate at which the device draws points. Each answer\n" +
			"   is verified before it is timed; a wrong one ends the command with code 6. The device is opened\n" +
			"   twice: with a queue for draws for the methods that draw, and without one for kernels. Where it\n" +
			"   does not draw, the lines of drawing methods say so.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "figure", Category: figures,
				Usage: "measure `FIGURES`: garuda-8a,garuda-11; default: all; list shows them"},
			&cli.StringFlag{Name: "cell", Category: figures,
				Usage: "only cells whose place on the axis contains `TEXT`, as in JO4"},
			&cli.IntFlag{Name: "scale", Category: figures,
				Usage: "divide rows by 2 to the `POWER`; default: 0, on a CPU 8"},
			&cli.StringFlag{Name: "tpch", Category: figures,
				Usage: "take the tables of TPC-H from the files of gen tpch in `DIR`"},
		}, command.DeviceFlags(run), []cli.Flag{
			&cli.IntFlag{Name: "repeat", Category: run, Value: 3,
				Usage: "time each method `TIMES` times; default: 3"},
			&cli.DurationFlag{Name: "warm", Category: run, Value: 50 * time.Millisecond,
				Usage: "run each cell for a `TIME` before; default: 50ms"},

			&cli.StringFlag{Name: "out", Category: output,
				Usage: "write a CSV file and a chart of each figure to `DIR`"},
		}),
		Action: func(c *cli.Context) error {
			if listsFigures(c) {
				measure.WriteFigures(s.Stdout, graphics.Figures())
				return nil
			}
			sweep, err := graphicsSweepOf(c)
			if err != nil {
				return err
			}
			return measureDraws(c.Context, s, command.DeviceOptionsOf(c), sweep)
		},
	}
}

// graphicsSweepOf reads the flags of `graphics`.
func graphicsSweepOf(c *cli.Context) (o graphics.Sweep, err error) {
	f := flagsOf(c)
	o = graphics.Sweep{Cell: c.String("cell"), TPCH: c.String("tpch"), Out: c.String("out"), Command: commandText(c)}
	if o.Figures, err = graphics.FindFigures(f.list("figure")); err != nil {
		return o, err
	}
	if c.Args().Present() {
		f.Fault("graphics takes no argument %q; name figures by --figure", c.Args().First())
	}
	o.Scale = f.scale()
	o.Repeat, o.Warm = f.timing()
	return o, f.Err()
}

// measureDraws runs a sweep on a device that is opened with and without a queue for draws.
func measureDraws(ctx context.Context, s *command.Session, o command.DeviceOptions, sweep graphics.Sweep) error {
	systems := []spirjoin.SystemOptions{{}, {Vulkan: vulkan.Options{Graphics: true}}}
	return s.Measure(systems, func(open []command.Opener, out measure.Output) error {
		return sweep.Run(ctx, func(ctx context.Context, draws bool) (*backend.Device, primitive.Tuning, error) {
			if draws {
				return open[1](ctx, o.Device, o.DeviceMemoryBytes)
			}
			return open[0](ctx, o.Device, o.DeviceMemoryBytes)
		}, out)
	})
}
