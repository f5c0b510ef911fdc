package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/joins"
	benchmark "github.com/spirjoin/spirjoin/bench/primitive"
	"github.com/spirjoin/spirjoin/bench/workload"
)

func (s *session) benchJoinsCommand() *cli.Command {
	const load, run = "Workload", "Run"
	return &cli.Command{
		Name: "joins", Usage: "joins of relations that are on the device", UsageText: "spirjoin bench joins [ALGORITHM...] [flags]",
		Description: "   Joins primary with foreign keys and returns the key and all payload columns of both sides. Each\n" +
			"   answer is verified before it is timed; a wrong one ends the command with code 6. Times are those\n" +
			"   of the device. Without an ALGORITHM all are measured:\n   " + fold(strings.Join(joins.Names(), ", "), reportColumns-4, "\n   "),
		Flags: []cli.Flag{
			&cli.GenericFlag{Name: "r-rows", Aliases: []string{"r"}, Category: load, Value: new(rowsValue), Usage: "`ROWS` with primary keys; default: 2^27 or 2^20"},
			&cli.GenericFlag{Name: "s-rows", Aliases: []string{"s"}, Category: load, Value: new(rowsValue), Usage: "`ROWS` with foreign keys; default: twice as many"},
			&cli.IntFlag{Name: "payloads", Category: load, Value: 1, Usage: "payload `COLUMNS` of each side; default: 1"},
			&cli.IntFlag{Name: "key-bytes", Category: load, Value: 4, Usage: "`BYTES` of a key: 4 or 8; default: 4"},
			&cli.IntFlag{Name: "payload-bytes", Category: load, Value: 4, Usage: "`BYTES` of a payload: 4 or 8; default: 4"},
			&cli.Float64Flag{Name: "match-ratio", Category: load, Value: 1, Usage: "`SHARE` of the primary keys that rows refer to; default: 1"},
			&cli.Float64Flag{Name: "zipf", Category: load, Usage: "`FACTOR` of the skew of foreign keys; default: 0"},
			&cli.Uint64Flag{Name: "seed", Category: load, Value: 1, Usage: "`NUMBER` that all random values follow from; default: 1"},

			&cli.StringFlag{Name: "device", Category: run, Value: "auto", Usage: "`DEVICE`: its index, name, id or backend; default: auto"},
			&cli.GenericFlag{Name: "device-memory", Category: run, Value: new(sizeValue), Usage: "use at most `SIZE` on the device, as in 512MiB; default: 80%"},
			&cli.IntFlag{Name: "repeat", Category: run, Value: 7, Usage: "time each join `TIMES` times; default: 7"},
			&cli.DurationFlag{Name: "warm", Category: run, Value: time.Second, Usage: "run each join for a `TIME` before it is timed; default: 1s"},
		},
		Action: func(c *cli.Context) error {
			algorithms, err := joins.Find(c.Args().Slice())
			if err != nil {
				return err
			}
			spec := workload.DefaultPKFK(int64(*c.Generic("r-rows").(*rowsValue)), int64(*c.Generic("s-rows").(*rowsValue)))
			spec.RPayloads, spec.SPayloads = c.Int("payloads"), c.Int("payloads")
			spec.KeyBytes, spec.PayloadBytes = c.Int("key-bytes"), c.Int("payload-bytes")
			spec.MatchRatio, spec.Zipf, spec.Seed = c.Float64("match-ratio"), c.Float64("zipf"), c.Uint64("seed")
			if c.Int("repeat") < 1 {
				return usagef("--repeat must be at least 1")
			}
			return s.benchJoins(c.Context, algorithms, spec, deviceOptionsOf(c), c.Int("repeat"), c.Duration("warm"))
		},
	}
}

func (s *session) benchJoins(ctx context.Context, algorithms []joins.Algorithm, spec workload.PKFKSpec, o deviceOptions, repeat int, warm time.Duration) (err error) {
	device, user, closeAll, err := s.openDevice(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	if spec.RRows == 0 {
		spec.RRows = int64(defaultRows(device.Info()))
	}
	if spec.SRows == 0 {
		spec.SRows = 2 * spec.RRows
	}
	if err := spec.Validate(); err != nil {
		return usageError(err.Error())
	}
	progress := s.newProgress(false)
	defer progress.close()
	progress.enter("make the workload")
	bed, err := joins.NewBed(ctx, device, user, spec)
	if err != nil {
		return err
	}
	defer bed.Release()
	progress.clearLine()
	fmt.Fprintln(s.stdout, printable(fmt.Sprintf("%s, %s %s", device.Info().Name, device.Info().Driver, device.Info().DriverVersion)))
	fmt.Fprintln(s.stdout, spec)
	aligns := []align{alignLeft, alignRight, alignRight, alignRight, alignRight, alignRight, alignRight}
	head := []string{"ALGORITHM", "MEDIAN", "MIN", "MAX", "TUPLES/S", "MEMORY", "OUTPUT ROWS"}
	widths := []int{len(head[0]), numberColumns, numberColumns, numberColumns, numberColumns, numberColumns, len(head[6])}
	for _, a := range algorithms {
		widths[0] = max(widths[0], len(a.Name))
	}
	fmt.Fprintln(s.stdout, tableLine(aligns, widths, head))
	for _, a := range algorithms {
		progress.enter(a.Name)
		r, err := bed.Measure(ctx, a, repeat, warm)
		progress.clearLine()
		switch {
		case errors.Is(err, backend.ErrDeviceMemory) || errors.Is(err, backend.ErrHostMemory) || errors.Is(err, backend.ErrLimit):
			fmt.Fprintln(s.stdout, a.Name+columnGap+"skipped: "+oneLine(err.Error()))
			continue
		case err != nil:
			return err
		}
		fmt.Fprintln(s.stdout, tableLine(aligns, widths, []string{a.Name, formatTime(r.Times.Median), formatTime(r.Times.Min), formatTime(r.Times.Max),
			formatRate(r.TuplesPerSecond(), ""), formatBytes(r.PeakBytes), benchmark.RowsText(r.Rows)}))
		fmt.Fprintln(s.stdout, "   "+fold(stagesText(r.Stages), reportColumns-4, "\n   "))
	}
	return nil
}

// stagesText lists the stages of a join with their times on the device.
func stagesText(stages []backend.StageTime) string {
	var texts []string
	for _, stage := range stages {
		texts = append(texts, fmt.Sprintf("%s %s", stage.Stage, formatTime(stage.Time)))
	}
	return strings.Join(texts, ", ")
}
