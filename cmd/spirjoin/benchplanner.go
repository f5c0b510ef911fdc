package main

import (
	"errors"
	"fmt"
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
		Name: "planner", Usage: "the planner of joins, held against measured joins", UsageText: "spirjoin bench planner FILE --rates DEVICE [flags]",
		Description: "   Reads what bench joins --csv wrote, plans every cell, and prints what the planner takes and what\n" +
			"   was fastest, by their measured times and the ratio of these; then the share of cells with a ratio\n" +
			"   of at most 1.1. --fit plans by rates that predict these cells best, and prints them, a row for\n" +
			"   join/plan/rates.json.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "rates", Usage: "plan by the rates of `DEVICE` in rates.json: host, software, nvidia; none: by the decision tree"},
			&cli.BoolFlag{Name: "errors", Usage: "print the factors by which predictions of stages are off, medians"},
			&cli.BoolFlag{Name: "fit", Usage: "fit the rates to the file, and check these"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 || !c.IsSet("rates") {
				return usagef("bench planner takes a file of measured joins, and --rates")
			}
			return s.benchPlanner(c.Args().First(), strings.ToLower(c.String("rates")), c.Bool("fit"), c.Bool("errors"))
		},
	}
}

func (s *session) benchPlanner(path, device string, fit, factors bool) error {
	rates, tuning, err := ratesNamed(device)
	if err != nil {
		return err
	}
	cells, err := readCells(path)
	if err != nil {
		return err
	}
	if fit {
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
	if factors && rates != nil {
		text, err := planner.Errors(cells, rates, tuning)
		if err != nil {
			return err
		}
		fmt.Fprint(s.stdout, text)
	}
	if fit {
		fmt.Fprintln(s.stdout, rates.JSON())
	}
	return nil
}

func readCells(path string) (cells []planner.Cell, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &tableio.Error{Kind: tableio.ErrInput, Op: "open", Path: path, Err: plainError(err)}
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return planner.Read(file)
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
	tuning, err := primitive.TuningFor(&info)
	if err != nil {
		return nil, nil, err
	}
	if device == "none" {
		return nil, tuning, nil
	}
	all, err := plan.AllRates()
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(all, func(r plan.Rates) bool { return r.Device == device })
	if i < 0 {
		var known []string
		for _, r := range all {
			known = append(known, r.Device)
		}
		return nil, nil, fmt.Errorf("%w: no rates of %q; there are %s", backend.ErrInvalidInput, device, strings.Join(known, ", "))
	}
	return &all[i], tuning, nil
}
