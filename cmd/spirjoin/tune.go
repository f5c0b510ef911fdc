package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	benchmark "github.com/spirjoin/spirjoin/bench/primitive"
	"github.com/spirjoin/spirjoin/internal/text"
)

func (s *session) tuneCommand() *cli.Command {
	const run, output = "Run", "Output"
	return &cli.Command{
		Name: "tune", Usage: "measure which settings of the primitives are best on a device, and keep them", UsageText: "spirjoin tune [PRIMITIVE...] [flags]",
		Description: "   Each candidate is verified before it is timed. One that beats the present settings by more than\n" +
			"   the spread of the measurements is written to the tuning file of this user, which every command\n" +
			"   reads. Without a PRIMITIVE all are tuned:\n   " + text.Fold(strings.Join(benchmark.Tuned(), ", "), reportColumns-4, "\n   "),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "device", Category: run, Value: "auto", Usage: "`DEVICE`: its index, name, id or backend; default: auto"},
			&cli.GenericFlag{Name: "device-memory", Category: run, Value: new(sizeValue), Usage: "use at most `SIZE` on the device, as in 512MiB; default: 80%"},
			&cli.GenericFlag{Name: "rows", Category: run, Value: new(rowsValue), Usage: "measure with `ROWS`, as in 2^27; default: 2^27, CPUs 2^20"},
			&cli.BoolFlag{Name: "quick", Category: run, Usage: "measure for a fifth of the time"},
			&cli.Uint64Flag{Name: "seed", Category: run, Value: 1, Usage: "`NUMBER` that all random values follow from; default: 1"},
			&cli.BoolFlag{Name: "dry-run", Category: output, Usage: "measure and print, and write nothing"},
		},
		Action: func(c *cli.Context) error {
			o := tuneOptions{deviceOptionsOf(c), benchmark.Options{Repeat: 25, Warm: time.Second, Seed: c.Uint64("seed")},
				c.Args().Slice(), uint64(*c.Generic("rows").(*rowsValue)), c.Bool("dry-run")}
			if c.IsSet("rows") && o.rows == 0 {
				return usagef("--rows must be at least 1")
			}
			if c.Bool("quick") {
				o.Repeat, o.Warm = 5, 200*time.Millisecond
			}
			return s.tune(c.Context, o)
		},
	}
}

type tuneOptions struct {
	deviceOptions
	benchmark.Options
	tables []string
	rows   uint64
	dryRun bool
}

func (s *session) tune(ctx context.Context, o tuneOptions) (err error) {
	if _, err := benchmark.Problems(o.tables, 1); err != nil {
		return err
	}
	path := spirjoin.TuningFile()
	if path == "" && !o.dryRun {
		return usagef("SPIRJOIN_TUNING is off, or there is no folder for it: nothing can be kept; --dry-run measures only")
	}
	if _, err := spirjoin.ReadTuning(path); err != nil {
		return fmt.Errorf("%w; correct or remove it", err)
	}
	device, user, closeAll, err := s.openDevice(ctx, o.deviceOptions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	if o.rows == 0 {
		o.rows = defaultRows(device.Info())
	}
	problems, err := benchmark.Problems(o.tables, o.rows)
	if err != nil {
		return err
	}
	rig, err := benchmark.NewRig(device, user, o.Options)
	if err != nil {
		return err
	}
	progress := s.newProgress(false)
	defer progress.close()
	var wrong []string
	kept := 0
	for _, problem := range problems {
		choice, err := tuneOne(ctx, rig, device.Info(), problem, progress)
		if err != nil {
			return err
		}
		progress.clearLine()
		writeChoice(s, &choice)
		for _, trial := range choice.Trials {
			if errors.Is(trial.Fault, benchmark.ErrWrong) {
				wrong = append(wrong, fmt.Sprintf("%s %v", problem.Table, trial.Config))
			}
		}
		if !o.dryRun {
			if err := keepChoice(path, &choice, device.Info()); err != nil {
				return err
			}
			if choice.Better {
				kept++
			}
		}
	}
	if kept > 0 {
		fmt.Fprintf(s.stdout, "%s kept in %s\n", text.Plural(kept, "row"), text.Printable(path))
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w: refused were %s", benchmark.ErrWrong, strings.Join(wrong, "; "))
	}
	return nil
}

func tuneOne(ctx context.Context, rig *benchmark.Rig, info *backend.DeviceInfo, p benchmark.Problem, progress *progress) (benchmark.Choice, error) {
	candidates, err := benchmark.Candidates(p, info)
	if err != nil {
		return benchmark.Choice{}, err
	}
	return rig.Tune(ctx, p, candidates, func(done, total int) {
		progress.report("tune "+p.Table+" "+p.Variant.String(), uint64(done), uint64(total))
	})
}

// keepChoice reads the file again, because it may have changed since.
func keepChoice(path string, choice *benchmark.Choice, info *backend.DeviceInfo) error {
	rows, err := spirjoin.ReadTuning(path)
	if err != nil {
		return err
	}
	revised := choice.Revise(rows, info, time.Now().UTC().Format(time.DateOnly))
	if !choice.Better && len(revised) == len(rows) {
		return nil
	}
	return spirjoin.WriteTuning(path, revised)
}

// writeChoice prints the candidates of a problem, the fastest first.
func writeChoice(s *session, c *benchmark.Choice) {
	fmt.Fprintf(s.stdout, "%s, by %v\n", strings.TrimSpace(c.Table+" "+c.Variant.String()), c.Case)
	rows := [][]string{{"CANDIDATE", "MEDIAN", "SPREAD", "ROWS/S", "OF COPY", ""}}
	for _, trial := range c.Trials {
		if trial.Fault != nil {
			rows = append(rows, []string{trial.Config.String(), "-", "-", "-", "-", "refused: " + text.Shorten(text.OneLine(trial.Fault.Error()), reportColumns)})
			continue
		}
		remark := ""
		switch {
		case maps.Equal(trial.Config, c.Best.Config) && c.Better:
			remark = fmt.Sprintf("chosen: again %s, the present %s", text.Duration(c.Best.Times.Median), text.Duration(c.Present.Times.Median))
		case maps.Equal(trial.Config, c.Present.Config) && c.Better:
			remark = "present"
		case maps.Equal(trial.Config, c.Best.Config) && !maps.Equal(trial.Config, c.Present.Config):
			remark = "not better by more than the spread"
		case maps.Equal(trial.Config, c.Present.Config):
			remark = "present, stays"
		}
		rows = append(rows, []string{trial.Config.String(), text.Duration(trial.Times.Median), text.Duration(trial.Times.Spread),
			text.Rate(trial.RowsPerSecond(), ""), fmt.Sprintf("%.0f%%", 100*trial.CopyShare()), remark})
	}
	text.WriteTable(s.stdout, []text.Align{text.Left, text.Right, text.Right, text.Right, text.Right, text.Left}, rows)
	fmt.Fprintln(s.stdout)
}
