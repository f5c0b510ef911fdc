package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/scaling"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/primitive"
)

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
		&cli.GenericFlag{Name: "device-memory", Category: run, Value: new(command.Size),
			Usage: "use at most `SIZE` of each device, as in 512MiB; default: 80%"},
		&cli.IntFlag{Name: "repeat", Category: run, Value: 3, Usage: "time each join `TIMES` times; default: 3"},
		&cli.DurationFlag{Name: "warm", Category: run, Value: time.Second,
			Usage: "run the joins for a `TIME` before; default: 1s"},
		csvFlag(output),
		&cli.StringFlag{Name: "trace", Category: output,
			Usage: "write a Chrome trace of all runs to `FILE`, for Perfetto"},
	}
}

// listsFigures tells whether the names of figures are asked for, in place of measurements.
func listsFigures(c *cli.Context) bool {
	return slices.Equal(c.StringSlice("figure"), []string{"list"})
}

// scaling reads the flags of [scaling.Options].
func (f *flags) scaling(figures []scaling.Figure, outputs ...scaling.Output) (o scaling.Options, err error) {
	o = scaling.Options{Cell: f.String("cell"), DeviceMemoryBytes: uint64(*f.Generic("device-memory").(*command.Size)),
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

// scalingMeasurement is a benchmark that opens its devices itself.
type scalingMeasurement interface {
	Run(ctx context.Context, open scaling.Open, out measure.Output) error
}

func measureScaling(ctx context.Context, s *command.Session, m scalingMeasurement) error {
	return s.Measure([]spirjoin.SystemOptions{{}}, func(open []command.Opener, out measure.Output) error {
		return m.Run(ctx, func(ctx context.Context, name string, deviceMemoryBytes uint64) (*primitive.Ops, error) {
			device, user, err := open[0](ctx, name, deviceMemoryBytes)
			if err != nil {
				return nil, err
			}
			ops, err := primitive.New(device, user)
			if err != nil {
				return nil, errors.Join(err, device.Close())
			}
			return ops, nil
		}, out)
	})
}
