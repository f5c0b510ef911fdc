package main

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
)

func joinsCommand(s *command.Session) *cli.Command {
	const load, figures, run, output = "Workload", "Figures", "Run", "Output"
	return &cli.Command{
		Name: "joins", Usage: "joins of relations that are on the device",
		UsageText: "spirjoin-bench joins [ALGORITHM...] [flags]",
		Description: "   Joins primary with foreign keys and returns the key and all payload columns of both sides, " +
			"or\n" +
			"   repeats the sweeps of figures. Each answer is verified before it is timed; a wrong one ends the\n" +
			"   command with code 6. Times are device times. Without an ALGORITHM a figure takes its own;\n" +
			"   otherwise, and with all, these are measured:\n   " +
			text.Fold(strings.Join(joins.Names(), ", "), text.ReportColumns-4, "\n   ") +
			"\n   Kinds of joins: " + text.Fold(strings.Join(joins.Hows(), ", "), text.ReportColumns-20, "\n   "),
		Flags: slices.Concat(pkfkFlags(load, "2^27 or 2^20", "twice as many", 4), []cli.Flag{
			&cli.GenericFlag{Name: "distinct", Category: load, Value: new(command.Rows),
				Usage: "`KEYS` that rows of both sides have; default: primary keys"},
			&cli.StringFlag{Name: "how", Category: load, Value: "inner",
				Usage: "`KIND` of join, R on the left; default: inner"},
			&cli.GenericFlag{Name: "granule", Category: load, Value: new(command.Rows),
				Usage: "`ROWS` of the probe side at a time, a multiple of 64; default: all"},
			&cli.GenericFlag{Name: "window", Category: load, Value: new(command.Rows),
				Usage: "`ROWS` of output that there is room for at a time; default: all"},
			command.SeedFlag(load),

			&cli.StringSliceFlag{Name: "figure", Category: figures,
				Usage: "repeat the sweeps of `FIGURES`: gftr-8,rt-7 or all; list shows them"},
			&cli.StringFlag{Name: "cell", Category: figures,
				Usage: "only cells whose place on the axis contains `TEXT`, as in zipf=1"},
			&cli.IntFlag{Name: "scale", Category: figures,
				Usage: "divide rows by 2 to the `POWER`; default: 0, on a CPU 8"},
			&cli.StringFlag{Name: "tpch", Category: figures,
				Usage: "take the joins of TPC-H in gftr-17 from the files of gen tpch in `DIR`"},
		}, command.DeviceFlags(run), []cli.Flag{
			&cli.IntFlag{Name: "repeat", Category: run, Value: 7,
				Usage: "time each join `TIMES` times, in turn; default: 7, for figures 3"},
			&cli.DurationFlag{Name: "warm", Category: run, Value: time.Second,
				Usage: "run the joins for a `TIME` before; default: 1s, for figures 50ms"},

			csvFlag(output),
		}),
		Action: func(c *cli.Context) error {
			if listsFigures(c) {
				measure.WriteFigures(s.Stdout, joins.Figures())
				return nil
			}
			sweep, err := joinSweepOf(c)
			if err != nil {
				return err
			}
			return s.MeasureOn(c.Context, command.DeviceOptionsOf(c), sweep)
		},
	}
}

// joinSweepOf reads the flags of `joins`.
func joinSweepOf(c *cli.Context) (o joins.Sweep, err error) {
	f := flagsOf(c)
	o = joins.Sweep{Cell: c.String("cell"), TPCH: c.String("tpch"), CSV: c.String("csv"), Command: commandText(c)}
	if o.Figures, err = joins.FindFigures(f.list("figure")); err != nil {
		return o, err
	}
	others := []string{"r-rows", "s-rows", "payloads", "key-bytes", "payload-bytes", "match-ratio", "zipf",
		"distinct", "how", "granule", "window", "seed"}
	if len(o.Figures) == 0 {
		others = []string{"cell", "scale", "tpch"}
	}
	for _, name := range others {
		switch {
		case !c.IsSet(name):
		case len(o.Figures) > 0:
			f.Fault("--%s does not apply to figures, which define their own workloads", name)
		default:
			f.Fault("--%s needs --figure", name)
		}
	}
	if len(o.Figures) == 0 || c.Args().Present() {
		if o.Algorithms, err = joins.Find(c.Args().Slice()); err != nil {
			return o, err
		}
	}
	o.Scale = f.scale()
	o.Repeat, o.Warm = f.timing()
	if len(o.Figures) > 0 {
		if !c.IsSet("repeat") {
			o.Repeat = 3
		}
		if !c.IsSet("warm") {
			o.Warm = 50 * time.Millisecond
		}
	} else {
		spec := f.pkfk(4)
		spec.Distinct = int64(*c.Generic("distinct").(*command.Rows))
		o.Figures, o.Scale = joins.Workload(joins.Cell{Spec: spec, How: c.String("how"),
			Granule: uint64(*c.Generic("granule").(*command.Rows)), Window: uint64(*c.Generic("window").(*command.Rows))}), 0
	}
	return o, f.Err()
}
