package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

const groupText = `   Reads the columns that the output needs from a table, puts its rows in groups of equal keys and
   writes one row for each group: the keys, then the aggregates. FILE is a Parquet, CSV or Arrow
   IPC file; - reads standard input, as an Arrow IPC stream unless its format is given. NULL is a
   key like others. The rows come in any order. Without --by, all rows are one group.

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
		f.Fault("groupby takes one table, FILE, not %d", c.NArg())
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

// groupGoal says what a command that makes groups leaves behind.
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
	var limit *memoryCap
	if o.memoryLimitBytes > 0 {
		engine, err := device.wait()
		if err != nil {
			return err
		}
		if limit, err = limitMemory(engine, o.memoryLimitBytes, max(before, residentBytes())-before); err != nil {
			return err
		}
	}
	reader, err := tableio.Open(ctx, o.paths[0], tableio.ReadOptions{CSV: o.csv, Allocator: limit.of(&offheap.Shared),
		AheadBytes: limit.aheadBytes(), Stdin: s.Stdin, Format: o.format, Progress: func(rows int64) {}})
	if err != nil {
		return nameFormatFlag(err, "input-format")
	}
	defer reader.Close()
	layout, err := spirjoin.NewGroupLayout(reader.Schema(), o.groups)
	if err != nil {
		for _, a := range o.groups.Aggregates {
			explained, ok := explainText(err, reader, o.paths[0], a.Column)
			if ok && strings.Contains(err.Error(), strconv.Quote(a.Column)) {
				return explained
			}
		}
		return err
	}
	defer func() { err = offerTempDir(err, &o.joinOptions) }()
	in := &inputs{paths: o.paths, readers: [2]*tableio.Reader{reader}, needed: [2][]string{layout.Needed}, limit: limit}
	output, err := s.groupOutput(&o.joinOptions, layout.Schema, progress)
	if err != nil {
		return err
	}
	defer output.close()
	if o.goal == goalExplain {
		text, err := explainGroups(ctx, device, layout, in, o, &report)
		progress.ClearLine()
		fmt.Fprint(s.Stdout, text)
		return err
	}
	result, err := startGroups(ctx, device, layout, in, o.limited(), &report)
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
	report.GroupStats = result.Stats()
	report.Groups = rows
	progress.ClearLine()
	return s.reportGroups(o, &report, result)
}

// A file with more bytes in the columns that are needed is grouped as it is read. A table that is read first takes less
// time and memory if it has many groups, because nothing is merged.
var wholeBytes int64 = 1 << 30 // a variable for tests

// whole tells whether a file is read first.
func whole(reader *tableio.Reader, layout *spirjoin.GroupLayout) bool {
	var needed []arrow.Field
	for _, name := range layout.Needed {
		needed = append(needed, reader.Schema().Field(reader.Schema().FieldIndices(name)[0]))
	}
	rows := reader.Rows()
	return rows >= 0 && rows <= wholeBytes/int64(relation.RowBytes(needed...))
}

// startGroups groups a table that is read first, or one that is grouped as it is read: if it is large, does not say how
// many rows it has, or streams is set, because memory is limited.
func startGroups(ctx context.Context, device *opening, layout *spirjoin.GroupLayout, in *inputs,
	streams bool, report *groupReport) (*spirjoin.GroupResult, error) {
	if reader := in.readers[0]; !streams && whole(reader, layout) {
		reading := time.Now()
		table, err := reader.Read(ctx, layout.Needed)
		if err != nil {
			return nil, err
		}
		defer table.Release() // the result keeps it
		report.ReadSeconds = time.Since(reading).Seconds()
		engine, err := device.wait()
		if err != nil {
			return nil, err
		}
		return engine.GroupByLayout(ctx, layout, table)
	}
	engine, err := device.wait()
	if err != nil {
		return nil, err
	}
	source := in.source(0)
	if err := in.reserve(engine, [2]spirjoin.Source{source}); err != nil {
		return nil, err
	}
	return engine.GroupByStreamLayout(ctx, layout, source)
}

// explainGroups returns the plan, or where memory may have no room for the table how its groups were made.
func explainGroups(ctx context.Context, device *opening, layout *spirjoin.GroupLayout, in *inputs, o groupOptions,
	report *groupReport) (string, error) {
	if o.limited() {
		result, err := startGroups(ctx, device, layout, in, true, report)
		if err != nil {
			return "", err
		}
		defer result.Close()
		return result.Explain(), nil
	}
	table, err := in.readers[0].Read(ctx, layout.Needed)
	if err != nil {
		return "", err
	}
	defer table.Release()
	engine, err := device.wait()
	if err != nil {
		return "", err
	}
	plan, err := engine.ExplainGroups(ctx, layout, table)
	if err != nil {
		return "", err
	}
	return plan.String(), nil
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
