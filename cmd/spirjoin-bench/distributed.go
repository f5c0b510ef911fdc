package main

import (
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/bench/distributed"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/command"
)

func distributedCommand(s *command.Session) *cli.Command {
	const figures, joins, output = "Figures", "Joins", "Output"
	return &cli.Command{
		Name: "distributed", Usage: "joins on clusters of GPUs, by a model",
		UsageText: "spirjoin-bench distributed [flags]",
		Description: "   Predicts bytes, messages and time of joins on up to 1,024 GPUs, for figures 6 to 9 and\n" +
			"   table 1 of \"Scaling Joins to a Thousand GPUs\". Rates of the cluster are the paper's; nothing is\n" +
			"   measured. Messages and bytes are what one GPU sends over the network.\n\n" +
			"   With --ranks, joins tables on ranks of this process instead, and compares messages and bytes\n" +
			"   that each sends to each with a forecast; a difference ends the command with code 6.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "figure", Category: figures,
				Usage: "print `FIGURES`: dist-7,skew; default: all; list shows them"},
			&cli.DurationFlag{Name: "message", Category: figures, Value: messageTime,
				Usage: "a message between nodes costs a GPU a `TIME`; default: 4.5us"},
			&cli.IntFlag{Name: "ranks", Category: joins, Usage: "join tables on a `NUMBER` of ranks, 2 to 64"},
			&cli.GenericFlag{Name: "rows", Category: joins, Value: new(command.Rows),
				Usage: "`ROWS` of the left table; default: 2^18"},
			command.SeedFlag(joins),
		}, command.DeviceFlags(joins), []cli.Flag{csvFlag(output)}),
		Action: func(c *cli.Context) error {
			if listsFigures(c) {
				measure.WriteFigures(s.Stdout, distributed.Figures())
				return nil
			}
			sweep, err := distributedOf(c)
			if err != nil {
				return err
			}
			if sweep.Ranks > 0 {
				return s.MeasureOn(c.Context, command.DeviceOptionsOf(c), sweep)
			}
			return s.Measure(nil, func(_ []command.Opener, out measure.Output) error {
				return sweep.Predict(c.Context, out)
			})
		},
	}
}

const messageTime = time.Duration(distributed.NetworkMessage * 1e9)

// distributedOf reads the flags of `distributed`.
func distributedOf(c *cli.Context) (o distributed.Sweep, err error) {
	f := flagsOf(c)
	o = distributed.Sweep{Ranks: c.Int("ranks"), Rows: f.tableRows("rows"), Seed: c.Uint64("seed"),
		NetworkMessage: c.Duration("message").Seconds(), CSV: c.String("csv"), Command: commandText(c)}
	names := f.list("figure")
	if len(names) == 0 {
		names = []string{"all"}
	}
	if o.Figures, err = measure.FindFigures(distributed.Figures(), names); err != nil {
		return o, err
	}
	if o.Rows == 0 {
		o.Rows = 1 << 18
	}
	switch {
	case c.Args().Present():
		f.Fault("distributed takes no argument %q; name figures by --figure", c.Args().First())
	case c.IsSet("ranks") && (o.Ranks < 2 || o.Ranks > distributed.MostRanks):
		f.Fault("--ranks is %d, must be 2 to %d", o.Ranks, distributed.MostRanks)
	case o.Ranks > 0 && c.IsSet("figure"):
		f.Fault("--ranks joins tables; leave out --figure")
	case o.Ranks == 0 && c.IsSet("rows"):
		f.Fault("--rows is for joins; give --ranks, too")
	}
	if o.NetworkMessage < 0 || o.NetworkMessage > 1e-3 {
		f.Fault("--message is %v, must be 0s to 1ms", c.Duration("message"))
	}
	return o, f.Err()
}
