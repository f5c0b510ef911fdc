package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	benchmark "github.com/spirjoin/spirjoin/bench/primitive"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
)

const noTuningFile = "SPIRJOIN_TUNING is off, or there is no folder for the tuning file: nothing can be saved; " +
	"--dry-run only measures"

func (s session) tuneCommand() *cli.Command {
	const run, output = "Run", "Output"
	return &cli.Command{
		Name: "tune", Usage: "measure which settings of the primitives are best on a device, and keep them",
		UsageText: "spirjoin tune [PRIMITIVE...] [flags]",
		Description: "   Each candidate is verified before it is timed. One that beats the present settings by more " +
			"than\n" +
			"   the spread of the measurements is written to the tuning file of this user, which every command\n" +
			"   reads. Without a PRIMITIVE all are tuned:\n   " +
			text.Fold(strings.Join(benchmark.Tuned(), ", "), text.ReportColumns-4, "\n   "),
		Flags: append(command.DeviceFlags(run),
			&cli.GenericFlag{Name: "rows", Category: run, Value: new(command.Rows),
				Usage: "measure with `ROWS`, as in 2^27; default: 2^27, CPUs 2^20"},
			&cli.BoolFlag{Name: "quick", Category: run, Usage: "measure for a fifth of the time"},
			command.SeedFlag(run),
			&cli.BoolFlag{Name: "dry-run", Category: output, Usage: "measure and print, and write nothing"},
		),
		Action: func(c *cli.Context) error {
			tables := benchmark.Tables{Names: c.Args().Slice(), Rows: uint64(*c.Generic("rows").(*command.Rows)),
				Options: benchmark.Options{Repeat: 25, Warm: time.Second, Seed: c.Uint64("seed")}}
			if c.IsSet("rows") && tables.Rows == 0 {
				return command.Usagef("--rows must be at least 1")
			}
			if c.Bool("quick") {
				tables.Repeat, tables.Warm = 5, 200*time.Millisecond
			}
			return s.tune(c.Context, command.DeviceOptionsOf(c), tables, c.Bool("dry-run"))
		},
	}
}

// tune refuses what can be known to fail before anything is measured.
func (s session) tune(ctx context.Context, on command.DeviceOptions, tables benchmark.Tables, dryRun bool) error {
	if _, err := benchmark.Problems(tables.Names, 1); err != nil {
		return err
	}
	path := spirjoin.TuningFile()
	if path == "" && !dryRun {
		return command.Usagef(noTuningFile)
	}
	if _, err := spirjoin.ReadTuning(path); err != nil {
		return fmt.Errorf("%w; correct or remove it", err)
	}
	if !dryRun {
		tables.File = path
	}
	return s.MeasureOn(ctx, on, tables)
}
