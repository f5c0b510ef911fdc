package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/tableio"
)

// goal is what a join command leaves behind.
type goal uint8

const (
	goalFile    goal = iota // a table, in a file or on standard output
	goalCount               // the number of rows, printed
	goalPreview             // the first rows, printed on a terminal
	goalExplain             // the plan, printed
)

// statsForm is how the measurements of a run are given.
type statsForm uint8

const (
	statsLine statsForm = iota // one line for people
	statsJSON
)

// joinOptions are the flags of `join`, checked.
type joinOptions struct {
	goal             goal
	paths            [2]string
	formats          [2]tableio.Format
	spec             spirjoin.JoinSpec
	device           string
	deviceMemory     uint64 // bytes
	memoryLimitBytes uint64
	csv              tableio.CSVOptions
	output           string
	write            tableio.WriteOptions
	stats            statsForm
	quiet            bool
}

const joinText = `   Reads the columns that the output needs from two tables, joins them and writes the result. LEFT
   and RIGHT are Parquet, CSV or Arrow IPC files; - reads one of them from standard input, as an
   Arrow IPC stream unless its format is given. NULL matches nothing. The rows come in any order.

      spirjoin join orders.parquet lineitem.parquet --on o_orderkey=l_orderkey -o joined.parquet`

func (s *session) joinCommand() *cli.Command {
	const input, keys, limits, output, report = "Input", "Join", "Limits", "Output", "Report"
	return &cli.Command{
		Name: "join", Usage: "join two tables", UsageText: "spirjoin join LEFT RIGHT --on KEY [flags]", Description: joinText,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "left-format", Category: input, Usage: "`FORMAT` of LEFT: auto, parquet, csv, arrow, arrow-stream"},
			&cli.StringFlag{Name: "right-format", Category: input, Usage: "`FORMAT` of RIGHT"},
			&cli.StringFlag{Name: "csv-delimiter", Category: input, Usage: "`CHARACTER` between the fields of all CSV files; \\t is a tab"},
			&cli.BoolFlag{Name: "csv-no-header", Category: input, Usage: "CSV files begin with data; columns are column_1, column_2, ..."},
			&cli.StringSliceFlag{Name: "csv-null", Category: input, Usage: "`TEXT` that means NULL in CSV files, may be repeated; default: nothing"},

			&cli.StringSliceFlag{Name: "on", Category: keys, Usage: "`KEY` columns: a=b, or a where both have it; a=b,c=d for several"},
			&cli.StringFlag{Name: "how", Category: keys, Value: "inner", Usage: "`KIND` of join: inner"},
			&cli.StringSliceFlag{Name: "columns", Category: keys, Usage: "`NAMES` of the output columns, a,b,c; default: all"},
			&cli.StringFlag{Name: "suffix", Category: keys, Value: "_right", Usage: "`TEXT` put behind a name of RIGHT that LEFT has too; default: _right"},
			&cli.StringFlag{Name: "device", Category: keys, Value: "auto", Usage: "`DEVICE`: its index, name, id or backend; default: auto"},

			&cli.GenericFlag{Name: "max-output-rows", Category: limits, Value: new(rowsValue), Usage: "fail when the output has more than `ROWS`, as in 10M or 2^27"},
			&cli.GenericFlag{Name: "device-memory", Category: limits, Value: new(sizeValue), Usage: "use at most `SIZE` on the device, as in 512MiB; default: 80%"},
			&cli.GenericFlag{Name: "memory-limit", Category: limits, Value: new(sizeValue), Usage: "use at most `SIZE` of host memory; default: no limit"},
			&cli.GenericFlag{Name: "batch-rows", Category: limits, Value: new(rowsValue), Usage: "at most `ROWS` in one batch of output; default: 1Mi"},

			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: output, Usage: "write `FILE`, which appears whole or not at all; - is standard output"},
			&cli.StringFlag{Name: "format", Category: output, Usage: "`FORMAT` of the output; default: by its extension, arrow-stream for -"},
			&cli.StringFlag{Name: "compression", Category: output, Usage: "`CODEC`: snappy, zstd or none for Parquet; zstd or none for Arrow"},
			&cli.BoolFlag{Name: "count", Category: output, Usage: "print the number of rows and nothing else"},
			&cli.BoolFlag{Name: "explain", Category: output, Usage: "print the plan, and run and write nothing"},

			&cli.StringFlag{Name: "stats", Category: report, Usage: "measurements in this `FORM`: json, one object on standard output"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: report, Usage: "no progress bar, no line about the run"},
		},
		Action: func(c *cli.Context) error {
			options, err := s.joinOptions(c)
			if err != nil {
				return err
			}
			return s.join(c.Context, options)
		},
	}
}

// joinOptions reads the flags and reports all that is wrong with them together.
func (s *session) joinOptions(c *cli.Context) (joinOptions, error) {
	o := joinOptions{
		device: c.String("device"), output: c.String("output"), quiet: c.Bool("quiet"),
		deviceMemory: uint64(*c.Generic("device-memory").(*sizeValue)), memoryLimitBytes: uint64(*c.Generic("memory-limit").(*sizeValue)),
	}
	var faults []string
	fault := func(format string, a ...any) { faults = append(faults, fmt.Sprintf(format, a...)) }
	if paths := c.Args().Slice(); len(paths) != 2 {
		fault("join takes two tables, LEFT and RIGHT, not %d", len(paths))
	} else {
		o.paths = [2]string(paths)
		if o.paths[0] == "-" && o.paths[1] == "-" {
			fault("only one table can come from standard input")
		}
	}
	format := func(flag string) tableio.Format {
		f, err := tableio.ParseFormat(c.String(flag))
		if err != nil {
			fault("--%s: %v", flag, err)
		}
		return f
	}
	o.formats = [2]tableio.Format{format("left-format"), format("right-format")}
	o.write = tableio.WriteOptions{Format: format("format"), Compression: c.String("compression"), Stdout: s.stdout}

	o.csv.Nulls = c.StringSlice("csv-null")
	if c.Bool("csv-no-header") {
		o.csv.Header = tableio.HeaderAbsent
	}
	if d := strings.ReplaceAll(c.String("csv-delimiter"), `\t`, "\t"); len(d) == 1 {
		o.csv.Delimiter = d[0]
	} else if d != "" {
		fault("--csv-delimiter is one ASCII character, not %q", d)
	}
	if err := o.csv.Validate(); err != nil {
		fault("%v", err)
	}
	o.write.CSV = o.csv

	o.spec.Suffix = c.String("suffix")
	if o.spec.Suffix == "" {
		fault("--suffix must not be empty")
	}
	how, err := join.ParseHow(c.String("how"))
	if err != nil {
		return o, fmt.Errorf("--how: %w", err)
	}
	o.spec.How = how
	for _, list := range c.StringSlice("on") {
		for _, pair := range splitList(list, ',') {
			sides := splitList(pair, '=')
			if len(sides) > 2 || sides[0] == "" || sides[len(sides)-1] == "" {
				fault("--on %q: write a=b, or a where both tables have it, and a backslash before , and = in names", list)
				continue
			}
			o.spec.LeftOn = append(o.spec.LeftOn, unescape(sides[0]))
			o.spec.RightOn = append(o.spec.RightOn, unescape(sides[len(sides)-1]))
		}
	}
	if !c.IsSet("on") {
		fault("--on is needed: the key columns, as in --on o_orderkey=l_orderkey")
	}
	for _, list := range c.StringSlice("columns") {
		for _, name := range splitList(list, ',') {
			o.spec.Columns = append(o.spec.Columns, unescape(name))
		}
	}
	o.spec.MaxOutputRows = uint64(*c.Generic("max-output-rows").(*rowsValue))
	if c.IsSet("max-output-rows") && o.spec.MaxOutputRows == 0 {
		fault("--max-output-rows must be at least 1")
	}
	batch := uint64(*c.Generic("batch-rows").(*rowsValue))
	if batch > math.MaxInt32 || c.IsSet("batch-rows") && batch == 0 {
		fault("--batch-rows goes from 1 to %d", math.MaxInt32)
	}
	o.spec.BatchRows = int(min(batch, math.MaxInt32))
	switch form := c.String("stats"); form {
	case "":
	case "json":
		o.stats = statsJSON
	default:
		fault("--stats is json, not %q", form)
	}
	o.goal = goalFile
	count, explain := c.Bool("count"), c.Bool("explain")
	switch {
	case count && o.output != "":
		fault("--count writes no table; leave out --output")
	case count && len(o.spec.Columns) > 0:
		fault("--count returns no columns; leave out --columns")
	case count:
		o.goal = goalCount
		o.spec.Output = join.Count
	case explain:
	case o.output == "" && s.stdoutColumns > 0:
		o.goal = goalPreview
	case o.output == "":
		fault("standard output is no terminal, so say where the table goes: --output FILE, --output - for an Arrow IPC stream, or --count")
	case o.output == "-" && s.stdoutColumns > 0 && o.write.Format != tableio.CSV:
		fault("standard output is a terminal, where a table shows as noise; redirect it, or use --format csv")
	}
	if explain {
		o.goal = goalExplain
	}
	if len(faults) > 0 {
		return o, usageError(strings.Join(faults, "; "))
	}
	return o, nil
}
