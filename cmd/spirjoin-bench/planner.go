package main

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/bench/planner"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/tableio"
)

func plannerCommand(s *command.Session) *cli.Command {
	const rates, output = "Rates", "Output"
	return &cli.Command{
		Name: "planner", Usage: "the planner of joins, held against measured joins",
		UsageText: "spirjoin-bench planner FILE... --rates DEVICE [flags]",
		Description: "   Reads what joins --csv wrote, plans every cell, and prints what the planner takes and what\n" +
			"   was fastest, by their measured times and the ratio of these; then the share of cells with a ratio\n" +
			"   of at most 1.1. Of what several files measured the fastest counts. --fit plans by rates that\n" +
			"   predict these cells best, and prints them, a row for planner/rates.json.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "rates", Category: rates,
				Usage: "rates of `DEVICE`, as in nvidia/opencl; none: decision tree"},
			&cli.BoolFlag{Name: "least", Category: output, Usage: "compare the least times of all runs, not their medians"},
			&cli.BoolFlag{Name: "errors", Category: output,
				Usage: "print the median factors by which stages are mispredicted"},
			&cli.BoolFlag{Name: "fit", Category: rates, Usage: "fit the rates to the files, and check these"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 || !c.IsSet("rates") {
				return command.Usagef("planner takes files of measured joins, and --rates")
			}
			return checkPlanner(c, s.Stdout)
		},
	}
}

func checkPlanner(c *cli.Context, w io.Writer) error {
	rates, tuning, err := planner.RatesNamed(strings.ToLower(c.String("rates")))
	if err != nil {
		return err
	}
	cells, err := readCells(c.Args().Slice(), c.Bool("least"))
	if err != nil {
		return err
	}
	if c.Bool("fit") && rates == nil {
		return command.Usagef("--fit begins with the rates of a device")
	}
	return planner.Report{Fit: c.Bool("fit"), Errors: c.Bool("errors")}.Write(w, cells, rates, tuning)
}

func readCells(paths []string, least bool) ([]planner.Cell, error) {
	var files []io.Reader
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, &tableio.Error{Kind: tableio.ErrInput, Op: "open", Path: path, Err: command.PlainError(err)}
		}
		files = append(files, bytes.NewReader(text))
	}
	return planner.Read(least, files...)
}
