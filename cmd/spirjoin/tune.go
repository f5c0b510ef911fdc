package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	benchmark "github.com/spirjoin/spirjoin/bench/primitive"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/vulkan"
)

const noTuningFile = "SPIRJOIN_TUNING is off, or there is no folder for the tuning file: nothing can be saved; " +
	"--dry-run only measures"

// drawsName is what `tune` calls the rates of draws.
const drawsName = "draws"

func (s *session) tuneCommand() *cli.Command {
	const run, output = "Run", "Output"
	return &cli.Command{
		Name: "tune", Usage: "measure which settings of the primitives are best on a device, and keep them",
		UsageText: "spirjoin tune [PRIMITIVE...] [flags]",
		Description: "   Each candidate is verified before it is timed. One that beats the present settings by more " +
			"than\n" +
			"   the spread of the measurements is written to the tuning file of this user, which every command\n" +
			"   reads. Without a PRIMITIVE all are tuned:\n   " +
			text.Fold(strings.Join(append(benchmark.Tuned(), drawsName), ", "), text.ReportColumns-4, "\n   ") +
			"\n   draws measures how fast the device draws points. It is opened for draws from then on if joins by\n" +
			"   drawing are predicted to be the fastest.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "device", Category: run, Value: "auto",
				Usage: "`DEVICE`: its index, name, id or backend; default: auto"},
			&cli.GenericFlag{Name: "device-memory", Category: run, Value: new(sizeValue),
				Usage: "use at most `SIZE` on the device, as in 512MiB; default: 80%"},
			&cli.GenericFlag{Name: "rows", Category: run, Value: new(rowsValue),
				Usage: "measure with `ROWS`, as in 2^27; default: 2^27, CPUs 2^20"},
			&cli.BoolFlag{Name: "quick", Category: run, Usage: "measure for a fifth of the time"},
			&cli.Uint64Flag{Name: "seed", Category: run, Value: 1,
				Usage: "`NUMBER` that is the random seed; default: 1"},
			&cli.BoolFlag{Name: "dry-run", Category: output, Usage: "measure and print, and write nothing"},
		},
		Action: func(c *cli.Context) error {
			tables := benchmark.Tables{Names: c.Args().Slice(), Rows: uint64(*c.Generic("rows").(*rowsValue)),
				Options: benchmark.Options{Repeat: 25, Warm: time.Second, Seed: c.Uint64("seed")}}
			if c.IsSet("rows") && tables.Rows == 0 {
				return usagef("--rows must be at least 1")
			}
			if c.Bool("quick") {
				tables.Repeat, tables.Warm = 5, 200*time.Millisecond
			}
			draws := len(tables.Names) == 0 || slices.Contains(tables.Names, drawsName)
			tables.Names = slices.DeleteFunc(tables.Names, func(name string) bool { return name == drawsName })
			if !draws || c.NArg() == 0 || len(tables.Names) > 0 {
				if err := s.tune(c.Context, deviceOptionsOf(c), tables, c.Bool("dry-run")); err != nil || !draws {
					return err
				}
			}
			return s.tuneDraws(c.Context, c.String("device"), c.Bool("dry-run"), len(tables.Names) > 0 || c.NArg() == 0)
		},
	}
}

// tune refuses what can be known to fail before anything is measured.
func (s *session) tune(ctx context.Context, on deviceOptions, tables benchmark.Tables, dryRun bool) error {
	if _, err := benchmark.Problems(tables.Names, 1); err != nil {
		return fmt.Errorf("%w, and %s", err, drawsName)
	}
	path := spirjoin.TuningFile()
	if path == "" && !dryRun {
		return usagef(noTuningFile)
	}
	if _, err := spirjoin.ReadTuning(path); err != nil {
		return fmt.Errorf("%w; correct or remove it", err)
	}
	if !dryRun {
		tables.File = path
	}
	return s.measureOn(ctx, on, tables)
}

// tuneDraws measures how fast a device draws. It is opened for that alone, because a queue for draws can make its
// kernels slower. One that does not draw is no error beside other things to tune.
func (s *session) tuneDraws(ctx context.Context, device string, dryRun, beside bool) (err error) {
	if spirjoin.RasterFile() == "" && !dryRun {
		return usagef(noTuningFile)
	}
	if _, err := spirjoin.ReadRaster(spirjoin.RasterFile()); err != nil {
		return err
	}
	system, err := spirjoin.Discover(spirjoin.SystemOptions{Vulkan: vulkan.Options{Graphics: true}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, system.Close()) }()
	on, err := system.Open(ctx, device, backend.DeviceOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	ops, err := primitive.New(on, nil)
	if err != nil {
		return err
	}
	if _, err := on.Rasterizer(); err != nil {
		if beside {
			fmt.Fprintf(s.stdout, "draws: %v\n", err)
			return nil
		}
		return err
	}
	row, err := spirjoin.MeasureRaster(ctx, ops)
	if err != nil {
		return err
	}
	wins, err := row.Wins(on.Info())
	if err != nil {
		return err
	}
	verdict := "joins by drawing are not the fastest here"
	if wins {
		verdict = "joins by drawing are the fastest here: the device is opened for draws"
	}
	fmt.Fprintf(s.stdout, "draws: %.3g ns for a point, %.3g ns for a vertex; %s\n", row.PointNs, row.VertexNs, verdict)
	if dryRun {
		return nil
	}
	return row.Keep()
}
