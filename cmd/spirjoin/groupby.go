package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/tableio"
)

const groupText = `   Reads the columns that the output needs from a table, puts its rows in groups of equal keys and
   writes one row for each group: the keys, then the aggregates. FILE is a Parquet, CSV or Arrow
   IPC file; - reads standard input, as an Arrow IPC stream unless its format is given. A folder, a
   pattern ('in/*.parquet', quoted) or a list of names (@names.txt) is one table of several files.
   NULL is a key like others. The rows come in any order. Without --by, all rows are one group.

      spirjoin groupby lineitem.parquet --by l_shipdate --agg sum:l_tax,count -o sums.csv

   An aggregate is FUNCTION:COLUMN, or NAME=FUNCTION:COLUMN, which names its column of the output
   instead of FUNCTION_COLUMN. NULL values do not count. The functions are:
`

// groupHelp is groupText with the functions.
func groupHelp() string {
	var lines []string
	for _, f := range spirjoin.GroupFuncs() {
		lines = append(lines, fmt.Sprintf("      %-16s%s", f, f.Help()))
	}
	return groupText + strings.Join(lines, "\n")
}

// groupOptions are the flags of `groupby`, checked.
type groupOptions struct {
	joinOptions // what is the same as of joins
	format      tableio.Format
}

func (s session) groupCommand() *cli.Command {
	const input, groups = "Input", "Groups"
	return &cli.Command{
		Name: "groupby", Usage: "group the rows of a table",
		UsageText:   "spirjoin groupby FILE --by KEYS --agg AGGREGATES [flags]",
		Description: groupHelp(),
		Flags: slices.Concat(tableFlags(), groupFlags(groups), []cli.Flag{
			columnsFlag(groups),
			&cli.StringFlag{Name: "input-format", Category: input,
				Usage: "`FORMAT` of FILE: auto, parquet, csv, arrow, arrow-stream"},
			&cli.GenericFlag{Name: "device", Category: groups, Value: new(command.Names),
				Usage: "`DEVICE`: index, name, id or backend; default: auto"},
			&cli.StringFlag{Name: "algo", Category: groups, Value: "auto",
				Usage: "`NAME`: graphics or sort; default: auto"},
		}),
		Action: func(c *cli.Context) error {
			options, err := s.groupOptions(c)
			if err != nil {
				return err
			}
			return s.groupBy(c.Context, options)
		},
	}
}

func (s session) groupOptions(c *cli.Context) (o groupOptions, err error) {
	f := &joinFlags{command.Flags{Context: c}}
	if c.NArg() != 1 {
		f.Fault("groupby takes one table, FILE, not %d%s", c.NArg(), quoteHint(c.NArg() > 1))
	}
	o.paths[0] = c.Args().First()
	o.format = f.format("input-format")
	if s.tableOptions(f, &o.joinOptions); len(o.devices) > 1 {
		f.Fault("--device: groupby runs on one device")
	}
	f.groupGoal(&o.joinOptions, s.StdoutColumns() > 0)
	o.groups, o.groupColumns = f.groups(), f.names("columns")
	if algo := c.String("algo"); algo != "auto" {
		o.groups.Algorithm, o.graphics = algo, algo == "graphics"
	}
	if err := f.Err(); err != nil {
		return o, err
	}
	return o, o.groups.Check()
}

// groupFlags say how rows are grouped.
func groupFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "by", KeepSpace: true, Category: category,
			Usage: "`KEY` columns, a,b,c; without any, all rows are one group"},
		&cli.StringSliceFlag{Name: "agg", KeepSpace: true, Category: category,
			Usage: "`AGGREGATES`, sum:x,n=count, see above"},
	}
}

// groups reads these flags.
func (f *joinFlags) groups() (spec spirjoin.GroupSpec) {
	spec.By = f.names("by")
	for _, list := range f.StringSlice("agg") {
		for _, item := range splitList(list, ',') {
			spec.Aggregates = append(spec.Aggregates, f.aggregate(item))
		}
	}
	return spec
}

// groupGoal is the output of a command that makes groups.
func (f *joinFlags) groupGoal(o *joinOptions, terminal bool) {
	o.goal = goalFile
	switch {
	case f.Bool("explain"):
		o.goal = goalExplain
	case o.output == "" && terminal:
		o.goal = goalPreview
	case o.output == "":
		f.Fault("standard output is not a terminal; choose where the table goes: --output FILE, or --output - for an " +
			"Arrow IPC stream")
	case o.output == "-" && terminal && o.write.Format != tableio.CSV:
		f.Fault("standard output is a terminal, which cannot show this format; redirect it, or use --format csv")
	}
}

// aggregate reads NAME=FUNCTION:COLUMN.
func (f *joinFlags) aggregate(item string) (a spirjoin.GroupAggregate) {
	parts := splitList(item, '=')
	call := splitList(parts[len(parts)-1], ':')
	if len(parts) > 2 || len(call) > 2 || parts[0] == "" || call[0] == "" || call[len(call)-1] == "" {
		f.Fault("--agg %q: write count, sum:x or total=sum:x, and names with , = or : between double quotes", item)
		return a
	}
	if len(parts) == 2 {
		a.Name = unescape(parts[0])
	}
	if len(call) == 2 {
		a.Column = unescape(call[1])
	}
	var err error
	if a.Func, err = spirjoin.ParseGroupFunc(unescape(call[0])); err != nil {
		f.Fault("--agg: %v", err)
	}
	return a
}

// groupReport is what --stats json gives.
type groupReport struct {
	spirjoin.GroupStats
	ReadSeconds  float64 `json:"read_seconds"`
	WriteSeconds float64 `json:"write_seconds"`
	WallSeconds  float64 `json:"wall_seconds"`
	Output       string  `json:"output,omitempty"`
	Version      string  `json:"version"`
}

// groupBy runs the command. Nothing is computed before it is known that the input can be read and the output be
// written.
func (s session) groupBy(ctx context.Context, o groupOptions) (err error) {
	defer ofGroups(&err)
	report := groupReport{Output: o.output, Version: command.Version()}
	started := time.Now()
	progress := s.NewProgress(o.quiet)
	defer progress.Close()
	o.groups.Progress = progress.Join
	if o.memoryLimitBytes > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(heapLimitBytes(o.memoryLimitBytes)))
	}
	before := residentBytes()
	ctx, device := begin(ctx, o.joinOptions)
	defer func() { err = device.end(err) }()
	var limit *files.Limit
	if o.memoryLimitBytes > 0 {
		engine, err := device.wait()
		if err != nil {
			return err
		}
		if limit, err = limitMemory(engine, o.memoryLimitBytes, max(before, residentBytes())-before); err != nil {
			return err
		}
	}
	table, err := files.OpenTable(ctx, o.paths[0], tableio.ReadOptions{CSV: o.csv, Stdin: s.Stdin, Format: o.format},
		files.Options{Engine: device.wait, Limit: limit, TempDir: o.tempDir != "", Knobs: knobs})
	if err != nil {
		return nameFormatFlag(err, "input-format")
	}
	defer table.Close()
	layout, err := table.GroupLayout(o.groups)
	if err != nil {
		return nameCSVNull(err)
	}
	defer func() { err = offerTempDir(err, &o.joinOptions) }()
	output, err := s.groupOutput(&o.joinOptions, layout.Schema, progress)
	if err != nil {
		return err
	}
	defer output.close()
	if o.goal == goalExplain {
		text, err := table.ExplainGroups(ctx, layout)
		progress.ClearLine()
		fmt.Fprint(s.Stdout, text)
		return err
	}
	result, readSeconds, err := table.Group(ctx, layout)
	if err != nil {
		return err
	}
	defer result.Close()
	writing := time.Now()
	rows, _, err := output.put(ctx, result)
	if err != nil {
		return err
	}
	report.WriteSeconds, report.WallSeconds = time.Since(writing).Seconds(), time.Since(started).Seconds()
	report.GroupStats, report.ReadSeconds = result.Stats(), readSeconds
	report.Groups = rows
	progress.ClearLine()
	return s.reportGroups(o, &report, result)
}

// reportGroups says what ran where: one line on standard error, or the statistics that were asked for.
func (s session) reportGroups(o groupOptions, r *groupReport, result *spirjoin.GroupResult) error {
	w := io.Writer(s.Stdout)
	if o.output == "-" {
		w = s.Stderr
	}
	switch {
	case o.stats == statsJSON:
		return writeJSON(w, r)
	case o.stats == statsText:
		fmt.Fprint(w, result.Explain())
	}
	if o.quiet {
		return nil
	}
	fmt.Fprintln(s.Stderr, runLine{made: text.Plural(r.Groups, "group") + " of " + text.Plural(r.Rows, "row"),
		output: o.output, seconds: r.WallSeconds, device: &result.Device,
		phases: fmt.Sprintf("read %.2f, group %.2f, output %.2f", r.ReadSeconds, r.GroupSeconds, r.WriteSeconds),
	}.fit(s.StderrColumns()))
	return nil
}
