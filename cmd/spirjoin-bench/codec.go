package main

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	benchmark "github.com/spirjoin/spirjoin/bench/primitive"
	"github.com/spirjoin/spirjoin/internal/command"
)

func codecCommand(s *command.Session) *cli.Command {
	const columns, run, output = "Columns", "Run", "Output"
	return &cli.Command{
		Name: "codec", Usage: "the cascaded codec of columns between machines",
		UsageText: "spirjoin-bench codec [COLUMN...] [flags]",
		Description: "   Each column is encoded with the scheme that is smallest by a sample, and decoded; a wrong " +
			"answer\n   ends the command with code 6. Rates count raw bytes. nvCOMP's are those of version 2.2 " +
			"on an H100.\n" +
			"   Without a COLUMN all are measured:\n   " + strings.Join(benchmark.CodecColumns(), ", "),
		Flags: slices.Concat([]cli.Flag{
			&cli.Uint64Flag{Name: "mib", Category: columns,
				Usage: "`MEBIBYTES` of a column; default: 1024, or 16 on CPU cores"},
			&cli.IntFlag{Name: "destinations", Category: columns, Value: 16,
				Usage: "rows are divided among a `NUMBER` of destinations; default: 16"},
			command.SeedFlag(columns),
		}, command.DeviceFlags(run), []cli.Flag{
			&cli.IntFlag{Name: "repeat", Category: run, Value: 15, Usage: "time each case `TIMES` times; default: 15"},
			&cli.DurationFlag{Name: "warm", Category: run, Value: time.Second,
				Usage: "run each case for a `TIME` before it is timed; default: 1s"},
			csvFlag(output),
		}),
		Action: func(c *cli.Context) error {
			f := flagsOf(c)
			o := benchmark.Codec{Columns: c.Args().Slice(), Bytes: c.Uint64("mib") << 20,
				Destinations: c.Int("destinations"), CSV: c.String("csv"), Command: commandText(c)}
			o.Options = benchmark.Options{Seed: c.Uint64("seed")}
			o.Repeat, o.Warm = f.timing()
			for _, name := range o.Columns {
				if !slices.Contains(benchmark.CodecColumns(), name) {
					f.Fault("no column %q; there are %s", name, strings.Join(benchmark.CodecColumns(), ", "))
				}
			}
			if o.Destinations < 1 || o.Destinations > 1<<16 {
				f.Fault("--destinations is %d, must be 1 to 65536", o.Destinations)
			}
			if c.Uint64("mib") > 8<<10 {
				f.Fault("--mib is %d, must be at most 8192", c.Uint64("mib"))
			}
			if err := f.Err(); err != nil {
				return err
			}
			return s.MeasureOn(c.Context, command.DeviceOptionsOf(c), o)
		},
	}
}
