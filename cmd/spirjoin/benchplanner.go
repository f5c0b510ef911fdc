package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/planner"
	"github.com/spirjoin/spirjoin/join/plan"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/tableio"
)

func (s *session) benchPlannerCommand() *cli.Command {
	return &cli.Command{
		Name: "planner", Usage: "the planner of joins, held against measured joins", UsageText: "spirjoin bench planner FILE... --rates DEVICE [flags]",
		Description: "   Reads what bench joins --csv wrote, plans every cell, and prints what the planner takes and what\n" +
			"   was fastest, by their measured times and the ratio of these; then the share of cells with a ratio\n" +
			"   of at most 1.1. Of what several files measured the fastest counts. --fit plans by rates that\n" +
			"   predict these cells best, and prints them, a row for join/plan/rates.json.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "rates", Usage: "plan by the rates of `DEVICE` in rates.json: host, software, nvidia; none: by the decision tree"},
			&cli.BoolFlag{Name: "least", Usage: "compare the least times of all runs, not their medians"},
			&cli.BoolFlag{Name: "errors", Usage: "print the factors by which predictions of stages are off, medians"},
			&cli.BoolFlag{Name: "fit", Usage: "fit the rates to the file, and check these"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 || !c.IsSet("rates") {
				return usagef("bench planner takes files of measured joins, and --rates")
			}
			return s.benchPlanner(c)
		},
	}
}

func (s *session) benchPlanner(c *cli.Context) error {
	rates, tuning, err := ratesNamed(strings.ToLower(c.String("rates")))
	if err != nil {
		return err
	}
	cells, err := readCells(c.Args().Slice(), c.Bool("least"))
	if err != nil {
		return err
	}
	if c.Bool("fit") {
		if rates == nil {
			return usagef("--fit begins with the rates of a device")
		}
		fitted, err := planner.Fit(cells, *rates, tuning)
		if err != nil {
			return err
		}
		rates = &fitted
	}
	verdicts, err := planner.Check(cells, rates, tuning)
	if err != nil {
		return err
	}
	for _, v := range verdicts {
		fmt.Fprintf(s.stdout, "%5.2f  %-18s %10s  predicted %10s  best %-18s %10s  %s\n", v.Ratio(), v.Choice, formatTime(v.Took), formatTime(v.Plan), v.Best, formatTime(v.Least), v.Cell.Name)
	}
	fmt.Fprintf(s.stdout, "%.0f%% of %s within %g of the best\n", 100*planner.Share(verdicts), plural(uint64(len(verdicts)), "cell"), planner.Near)
	if c.Bool("errors") && rates != nil {
		text, err := planner.Errors(cells, rates, tuning)
		if err != nil {
			return err
		}
		fmt.Fprint(s.stdout, text)
	}
	if c.Bool("fit") {
		fmt.Fprintln(s.stdout, rates.JSON())
	}
	return nil
}

func readCells(paths []string, least bool) ([]planner.Cell, error) {
	var files []io.Reader
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, &tableio.Error{Kind: tableio.ErrInput, Op: "open", Path: path, Err: plainError(err)}
		}
		files = append(files, bytes.NewReader(text))
	}
	return planner.Read(least, files...)
}

// ratesNamed finds a row of rates.json by its device, and the tuning tables of such a device; no rates for "none".
func ratesNamed(device string) (*plan.Rates, primitive.Tuning, error) {
	info := backend.DeviceInfo{Type: backend.Discrete, Name: device}
	switch device {
	case "host":
		info.Type = backend.Host
	case "software":
		info.Type = backend.Software
	}
	all, err := plan.AllRates()
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(all, func(r plan.Rates) bool { return r.Device == device })
	if i >= 0 {
		info.Backend = all[i].Backend
	}
	tuning, err := primitive.TuningFor(&info)
	if err != nil {
		return nil, nil, err
	}
	if device == "none" {
		return nil, tuning, nil
	}
	if i < 0 {
		var known []string
		for _, r := range all {
			known = append(known, r.Device)
		}
		return nil, nil, fmt.Errorf("%w: no rates of %q; there are %s", backend.ErrInvalidInput, device, strings.Join(known, ", "))
	}
	return &all[i], tuning, nil
}
