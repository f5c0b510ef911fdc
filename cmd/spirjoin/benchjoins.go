package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/bench/workload"
)

func (s *session) benchJoinsCommand() *cli.Command {
	const load, run = "Workload", "Run"
	return &cli.Command{
		Name: "joins", Usage: "joins of relations that are on the device", UsageText: "spirjoin bench joins [ALGORITHM...] [flags]",
		Flags: []cli.Flag{
			&cli.GenericFlag{Name: "r-rows", Aliases: []string{"r"}, Category: load, Value: new(rowsValue), Usage: "`ROWS` with primary keys; default: 2^27, or 2^20 on CPU cores"},
			&cli.GenericFlag{Name: "s-rows", Aliases: []string{"s"}, Category: load, Value: new(rowsValue), Usage: "`ROWS` with foreign keys; default: twice as many"},
			&cli.IntFlag{Name: "payloads", Category: load, Value: 1, Usage: "payload `COLUMNS` of each side; default: 1"},
			&cli.IntFlag{Name: "key-bytes", Category: load, Value: 4, Usage: "`BYTES` of a key: 4 or 8; default: 4"},
			&cli.IntFlag{Name: "payload-bytes", Category: load, Value: 4, Usage: "`BYTES` of a payload: 4 or 8; default: 4"},
			&cli.Float64Flag{Name: "match-ratio", Category: load, Value: 1, Usage: "`SHARE` of the primary keys that foreign keys refer to; default: 1"},
			&cli.Float64Flag{Name: "zipf", Category: load, Usage: "`FACTOR` of the skew of foreign keys; default: 0"},
			&cli.Uint64Flag{Name: "seed", Category: load, Value: 1, Usage: "`NUMBER` that all random values follow from; default: 1"},

			&cli.StringFlag{Name: "device", Category: run, Value: "auto", Usage: "`DEVICE`: its index, name, id or backend; default: auto"},
			&cli.GenericFlag{Name: "device-memory", Category: run, Value: new(sizeValue), Usage: "use at most `SIZE` on the device, as in 512MiB; default: 80%"},
			&cli.IntFlag{Name: "repeat", Category: run, Value: 7, Usage: "time each join `TIMES` times; default: 7"},
			&cli.DurationFlag{Name: "warm", Category: run, Value: time.Second, Usage: "run each join for a `TIME` before it is timed; default: 1s"},
		},
		Action: func(c *cli.Context) error { return s.benchJoins(c.Context, c) },
	}
}

func (s *session) benchJoins(ctx context.Context, c *cli.Context) error {
	algorithms, err := joins.Find(c.Args().Slice())
	if err != nil {
		return err
	}
	device, user, closeAll, err := s.openDevice(ctx, deviceOptionsOf(c))
	if err != nil {
		return err
	}
	defer closeAll()
	rows := func(name string, otherwise int64) int64 {
		if v := *c.Generic(name).(*rowsValue); v > 0 {
			return int64(v)
		}
		return otherwise
	}
	spec := workload.DefaultPKFK(rows("r-rows", int64(defaultRows(device.Info()))), 0)
	spec.SRows = rows("s-rows", 2*spec.RRows)
	spec.RPayloads, spec.SPayloads = c.Int("payloads"), c.Int("payloads")
	spec.KeyBytes, spec.PayloadBytes = c.Int("key-bytes"), c.Int("payload-bytes")
	spec.MatchRatio, spec.Zipf, spec.Seed = c.Float64("match-ratio"), c.Float64("zipf"), c.Uint64("seed")
	bed, err := joins.NewBed(ctx, device, user, spec)
	if err != nil {
		return err
	}
	defer bed.Release()
	fmt.Fprintf(s.stdout, "%s\n%s\n", device.Info().Name, spec)
	for _, a := range algorithms {
		r, err := bed.Measure(ctx, a, c.Int("repeat"), c.Duration("warm"))
		if err != nil {
			fmt.Fprintf(s.stdout, "%-14s %v\n", a.Name, err)
			continue
		}
		var stages []string
		for _, stage := range r.Stages {
			stages = append(stages, fmt.Sprintf("%s %s", stage.Stage, formatTime(stage.Time)))
		}
		fmt.Fprintf(s.stdout, "%-14s %9s (%s to %s)  %s rows  %.1f GB  %s\n", r.Algorithm, formatTime(r.Times.Median), formatTime(r.Times.Min), formatTime(r.Times.Max),
			formatRate(r.TuplesPerSecond(), ""), float64(r.PeakBytes)/1e9, strings.Join(stages, ", "))
	}
	return nil
}
