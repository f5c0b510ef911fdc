package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/tableio"
	"github.com/spirjoin/spirjoin/tableio/csv"
)

// oneOf lists names as a sentence does: a, b or c.
func oneOf(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// goal is the output of a join command.
type goal uint8

const (
	goalFile    goal = iota // a table, in a file or on standard output
	goalCount               // the number of rows, printed
	goalPreview             // the first rows, printed on a terminal
	goalExplain             // the plan, printed
)

// use is what a join of files is for.
func (g goal) use() files.Use {
	return [...]files.Use{goalFile: files.ToWrite, goalCount: files.ToCount, goalPreview: files.ToShow,
		goalExplain: files.ToExplain}[g]
}

// statsForm is how the measurements of a run are given.
type statsForm uint8

const (
	statsLine statsForm = iota // one line for people
	statsText                  // the plan, with predictions and what came of them
	statsJSON
)

// Rows of a batch on the way to a file, where --batch-rows does not say: enough for all cores to put together.
const (
	batchRowsPerCore = 1 << 17
	mostBatchRows    = 1 << 20
)

// joinOptions are the flags of `join`, checked.
type joinOptions struct {
	goal              goal
	paths             [2]string
	formats           [2]tableio.Format
	csv               csv.Options
	spec              spirjoin.JoinSpec
	groups            spirjoin.GroupSpec // of the rows; without keys and aggregates they are not grouped
	groupColumns      []string           // of the output of a group-by; nil: all
	devices           []string
	deviceMemoryBytes uint64
	memoryLimitBytes  uint64
	tempDir           string
	tempLimitBytes    uint64
	graphics          bool // the device is opened with a queue for passes of the graphics pipeline
	output            string
	write             tableio.WriteOptions
	stats             statsForm
	quiet             bool
	overwrite         bool            // parts of an earlier run in a folder
	job               spirjoin.Job    // of which this process is a rank; nil: it joins alone
	coreWarnings      []error         // of ranks that may use few cores
	tracePath         string          // empty: none
	trace             *spirjoin.Trace // of the run; nil: none
}

// grouped tells whether the rows are grouped.
func (o *joinOptions) grouped() bool { return len(o.groups.By)+len(o.groups.Aggregates) > 0 }

const joinText = `   Reads the columns that the output needs from two tables, joins them and writes the result. LEFT
   and RIGHT are Parquet, CSV or Arrow IPC files; - reads one of them from standard input, as an
   Arrow IPC stream unless its format is given. A folder, a pattern ('in/*.parquet', quoted) or a
   list of names (@names.txt) is one table of several files. NULL matches nothing. The rows come in
   any order unless one is asked for.

      spirjoin join orders.parquet lineitem.parquet --on o_orderkey=l_orderkey -o joined.parquet

   The KIND of a join says which rows it returns:
      inner                      the pairs of rows of LEFT and RIGHT with equal keys
      left, right, full          these, and the rows of LEFT, of RIGHT or of both that have no match
      semi, anti                 the rows of LEFT that have a match, or have none
      right-semi, right-anti     the same of RIGHT
      mark                       all rows of LEFT, with a column that says which have a match
      not-in                     as SQL's NOT IN: like anti, but none if RIGHT has a NULL key
      cross                      each row of LEFT with each row of RIGHT; there is no --on

   With --by or --agg the joined rows are grouped, and the output has one row for each group.
   Columns have the names of the output of the join; an aggregate is written as for groupby:

      spirjoin join customer.parquet orders.parquet --on c_custkey=o_custkey --how left \
        --by c_nationkey --agg count,count:o_orderkey,sum:o_totalprice -o sums.csv`

func (s session) joinCommand() *cli.Command {
	const input, keys, groups, limits, output, ranks, report = "Input", "Join", "Groups", "Limits", "Output", "Ranks", "Report"
	return &cli.Command{
		Name: "join", Usage: "join two tables", UsageText: "spirjoin join LEFT RIGHT --on KEY [flags]", Description: joinText,
		Flags: slices.Concat(tableFlags(), groupFlags(groups), []cli.Flag{
			&cli.StringFlag{Name: "left-format", Category: input, Usage: "`FORMAT` of LEFT: auto, parquet, csv, arrow, arrow-stream"},
			&cli.StringFlag{Name: "right-format", Category: input, Usage: "`FORMAT` of RIGHT"},

			&cli.StringSliceFlag{Name: "on", KeepSpace: true, Category: keys, Usage: "`KEY` columns: a=b, or a where both have it; a=b,c=d for several"},
			&cli.GenericFlag{Name: "nulls-equal", Category: keys, Value: new(keysValue), Usage: "NULL equals NULL in all key columns, or in those `KEYS` of LEFT"},
			&cli.StringFlag{Name: "how", Category: keys, Value: "inner", Usage: "`KIND` of join, see above; default: inner"},
			&cli.StringFlag{Name: "validate", Category: keys, Value: "m:m", Usage: "fail unless keys are unique: `1:m` in LEFT, m:1 in RIGHT, 1:1 in both"},
			columnsFlag(keys),
			&cli.StringFlag{Name: "suffix", Category: keys, Value: "_right", Usage: "`TEXT` put behind a name of RIGHT that LEFT has too; default: _right"},
			&cli.BoolFlag{Name: "no-coalesce", Category: keys, Usage: "return both key columns of each pair, instead of one for both"},
			&cli.StringFlag{Name: "indicator", Category: keys, Usage: "add a column `NAME` that says both, left_only or right_only"},
			&cli.StringFlag{Name: "mark-name", Category: keys, Usage: "`NAME` of the column that --how mark adds; default: mark"},
			&cli.StringFlag{Name: "maintain-order", Category: keys, Value: "none", Usage: "keep the order of the rows of `SIDE`: left, right or none (default)"},
			&cli.BoolFlag{Name: "deterministic", Category: keys, Usage: "the same order of rows on every device, by every algorithm"},
			&cli.GenericFlag{Name: "device", Category: keys, Value: new(command.Names),
				Usage: "`DEVICE`: index, name, id or backend; default: auto; may be repeated"},
			&cli.StringFlag{Name: "algo", Category: keys, Value: "auto",
				Usage: "`NAME`: " + oneOf(join.AlgorithmNames()[1:]) + "; default: auto"},
			&cli.StringFlag{Name: "strategy", Category: keys, Value: "auto", Usage: "`WAY` to share a join among devices: auto or hmg"},
			&cli.StringFlag{Name: "build-side", Category: keys, Value: "auto", Usage: "`SIDE` that a hash join builds its table of: left, right or auto"},

			&cli.GenericFlag{Name: "max-output-rows", Category: limits, Value: new(command.Rows),
				Usage: "fail when the output has more than `ROWS`, as in 10M or 2^27"},
			&cli.GenericFlag{Name: "batch-rows", Category: limits, Value: new(command.Rows),
				Usage: "at most `ROWS` in a batch of output; default: 128Ki a core, up to 1Mi"},

			&cli.BoolFlag{Name: "count", Category: output, Usage: "print the number of rows and nothing else"},

			&cli.BoolFlag{Name: "overwrite", Category: ranks, Usage: "replace the parts of an earlier run in the folder of the output"},
			&cli.DurationFlag{Name: "stall", Category: ranks,
				Usage: "fail when another rank is silent for `TIME`, as in 30s; default: no limit"},

			&cli.StringFlag{Name: "trace", Category: report, Usage: "write a Chrome trace of the run to `FILE`, for Perfetto"},
		}),
		Action: func(c *cli.Context) error {
			job, err := s.OpenJob(c.Duration("stall"))
			if err != nil {
				return err
			}
			options, err := s.joinOptions(c, job)
			if job != nil {
				return s.joinAsRank(c.Context, job, options, err)
			}
			if err != nil {
				return err
			}
			return s.join(c.Context, options)
		},
	}
}

// tableFlags are the flags of all commands that make a table of others.
func tableFlags() []cli.Flag {
	const limits, output, report = "Limits", "Output", "Report"
	return append(csvFlags("Input"),
		&cli.GenericFlag{Name: "device-memory", Category: limits, Value: new(command.Size),
			Usage: "use at most `SIZE` on the device, as in 512MiB; default: 80%"},
		memoryFlag(limits),
		&cli.StringFlag{Name: "temp-dir", Category: limits,
			Usage: "put what memory has no room for into files in `DIR`; default: none"},
		&cli.GenericFlag{Name: "temp-limit", Category: limits, Value: new(command.Size),
			Usage: "use at most `SIZE` of --temp-dir; default: no limit"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: output,
			Usage: "write `FILE`, which appears whole or not at all; - is standard output"},
		&cli.StringFlag{Name: "format", Category: output,
			Usage: "`FORMAT` of the output; default: by its extension, arrow-stream for -"},
		compressionFlag(output),
		&cli.BoolFlag{Name: "explain", Category: output, Usage: "print the plan, and run and write nothing"},
		&cli.StringFlag{Name: "stats", Category: report,
			Usage: "measurements as `FORM`: json, one object on standard output, or text"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: report,
			Usage: "no progress bar, no line about the run"},
	)
}

func csvFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "csv-delimiter", Category: category,
			Usage: "`CHARACTER` between the fields of all CSV files; \\t is a tab"},
		&cli.BoolFlag{Name: "csv-no-header", Category: category,
			Usage: "CSV files begin with data; columns are column_1, column_2, ..."},
		&cli.StringSliceFlag{Name: "csv-null", KeepSpace: true, Category: category,
			Usage: "`TEXT` that means NULL in CSV files, may be repeated; default: nothing"},
	}
}

func memoryFlag(category string) cli.Flag {
	return &cli.GenericFlag{Name: "memory-limit", Category: category, Value: new(command.Size),
		Usage: "use at most `SIZE` of host memory; default: no limit"}
}

func compressionFlag(category string) cli.Flag {
	return &cli.StringFlag{Name: "compression", Category: category,
		Usage: "`CODEC`: none, lz4 or zstd, for Parquet also snappy (its default)"}
}

func columnsFlag(category string) cli.Flag {
	return &cli.StringSliceFlag{Name: "columns", KeepSpace: true, Category: category,
		Usage: "`NAMES` of the output columns, a,b,c; default: all"}
}

// tableOptions reads these flags, and the devices.
func (s session) tableOptions(f *joinFlags, o *joinOptions) {
	o.csv, o.output, o.quiet = f.csv(), f.String("output"), f.Bool("quiet")
	if o.devices = *f.Generic("device").(*command.Names); len(o.devices) == 0 {
		o.devices = []string{"auto"}
	}
	o.deviceMemoryBytes = uint64(*f.Generic("device-memory").(*command.Size))
	o.memoryLimitBytes = uint64(*f.Generic("memory-limit").(*command.Size))
	o.tempDir, o.tempLimitBytes = f.String("temp-dir"), uint64(*f.Generic("temp-limit").(*command.Size))
	if info, err := os.Stat(o.tempDir); o.tempDir != "" && (err != nil || !info.IsDir()) {
		f.Fault("--temp-dir: there is no folder %q", o.tempDir)
	}
	if f.IsSet("temp-limit") && o.tempDir == "" {
		f.Fault("--temp-limit is for the files in --temp-dir, which is not given")
	}
	o.write = tableio.WriteOptions{Format: f.format("format"), CSV: o.csv, Compression: f.String("compression"),
		Stdout: s.Stdout, RowGroupBytes: files.RowGroupBytes(o.memoryLimitBytes)}
	switch form := f.String("stats"); form {
	case "":
	case "json":
		o.stats = statsJSON
	case "text":
		o.stats = statsText
	default:
		f.Fault("--stats is json or text, not %q", form)
	}
}

// joinFlags reads the flags of commands that read tables.
type joinFlags struct{ command.Flags }

// joinOptions reads the flags. A job has several ranks or one; nil: there is none.
func (s session) joinOptions(c *cli.Context, job spirjoin.Job) (o joinOptions, err error) {
	f := &joinFlags{command.Flags{Context: c}}
	o.paths = f.tables()
	o.formats = [2]tableio.Format{f.format("left-format"), f.format("right-format")}
	s.tableOptions(f, &o)
	o.spec = f.spec()
	o.graphics = c.String("algo") == "graphics"
	o.tracePath = f.trace()
	o.groups, o.overwrite = f.groups(), c.Bool("overwrite")
	f.outputOf(&o, s.StdoutColumns() > 0, job)
	if err := f.Err(); err != nil {
		return o, err
	}
	if o.grouped() {
		if err := o.groups.Check(); err != nil {
			return o, err
		}
	}
	return o, o.spec.Check()
}

// outputOf reads what becomes of the rows.
func (f *joinFlags) outputOf(o *joinOptions, terminal bool, job spirjoin.Job) {
	switch {
	case job != nil && job.Size() > 1:
		o.goal = f.goalOfRanks(job.Size(), o.write.Format)
	case o.grouped() || f.IsSet("by") || f.IsSet("agg"):
		if f.IsSet("count") {
			f.Fault("--by and --agg say what the columns of the output are; leave out --count")
		}
		o.groupColumns, o.spec.Columns = o.spec.Columns, nil
		f.groupGoal(o, terminal)
		return
	default:
		o.goal = f.goal(o.write.Format, terminal)
	}
	if f.Bool("count") {
		o.spec.Output = join.Count
	}
	if o.overwrite && (job == nil || !isFolder(o.output)) {
		f.Fault("--overwrite is for the folder that ranks write")
	}
	if job == nil && f.IsSet("stall") {
		f.Fault("--stall is for ranks, which a launcher such as mpirun starts")
	}
}

// quoteHint is what to do if there are too many inputs: a shell replaces a pattern that is not quoted.
func quoteHint(many bool) string {
	if many {
		return "; put a pattern of names between quotes"
	}
	return ""
}

func (f *joinFlags) tables() (paths [2]string) {
	if f.NArg() != 2 {
		f.Fault("join takes two tables, LEFT and RIGHT, not %d%s", f.NArg(), quoteHint(f.NArg() > 2))
		return paths
	}
	paths = [2]string(f.Args().Slice())
	if paths == [2]string{"-", "-"} {
		f.Fault("only one table can come from standard input")
	}
	return paths
}

func (f *joinFlags) format(flag string) tableio.Format {
	format, err := tableio.ParseFormat(f.String(flag))
	if err != nil {
		f.Fault("--%s: %v", flag, err)
	}
	return format
}

func (f *joinFlags) csv() csv.Options {
	options := csv.Options{Nulls: f.StringSlice("csv-null")}
	if f.Bool("csv-no-header") {
		options.Header = csv.HeaderAbsent
	}
	if d := strings.ReplaceAll(f.String("csv-delimiter"), `\t`, "\t"); len(d) == 1 {
		options.Delimiter = d[0]
	} else if d != "" {
		f.Fault("--csv-delimiter is one ASCII character, not %q", d)
	}
	if err := options.Validate(); err != nil {
		f.Fault("%v", err)
	}
	return options
}

// parsed reads the value of a flag.
func parsed[T any](f *joinFlags, flag string, parse func(string) (T, error)) T {
	value, err := parse(f.String(flag))
	if err != nil {
		f.Fault("--%s: %v", flag, err)
	}
	return value
}

func (f *joinFlags) spec() (spec spirjoin.JoinSpec) {
	spec.How = parsed(f, "how", join.ParseHow)
	spec.Validate = parsed(f, "validate", join.ParseValidate)
	spec.Order = parsed(f, "maintain-order", join.ParseOrder)
	spec.Algorithm = parsed(f, "algo", spirjoin.ParseJoinAlgorithm)
	spec.BuildSide = parsed(f, "build-side", join.ParseBuildSide)
	spec.Strategy = parsed(f, "strategy", join.ParseStrategy)
	spec.SeparateKeys, spec.Deterministic = f.Bool("no-coalesce"), f.Bool("deterministic")
	spec.Indicator, spec.MarkName = f.String("indicator"), f.String("mark-name")
	f.keys(&spec)
	spec.Columns = f.names("columns")
	spec.Suffix = f.String("suffix")
	for _, name := range []string{"suffix", "indicator", "mark-name"} {
		if f.String(name) == "" && (f.IsSet(name) || name == "suffix") {
			f.Fault("--%s must not be empty", name)
		}
	}
	spec.MaxOutputRows = uint64(*f.Generic("max-output-rows").(*command.Rows))
	if f.IsSet("max-output-rows") && spec.MaxOutputRows == 0 {
		f.Fault("--max-output-rows must be at least 1")
	}
	batch := uint64(*f.Generic("batch-rows").(*command.Rows))
	if batch > math.MaxInt32 || f.IsSet("batch-rows") && batch == 0 {
		f.Fault("--batch-rows must be 1 to %d", math.MaxInt32)
	}
	if spec.BatchRows = int(min(batch, math.MaxInt32)); batch == 0 {
		spec.BatchRows = min(batchRowsPerCore*runtime.GOMAXPROCS(0), mostBatchRows)
	}
	return spec
}

// names reads a flag that names columns, a,b,c.
func (f *joinFlags) names(flag string) (names []string) {
	for _, list := range f.StringSlice(flag) {
		for _, name := range splitList(list, ',') {
			names = append(names, unescape(name))
		}
	}
	return names
}

func (f *joinFlags) keys(spec *spirjoin.JoinSpec) {
	if !f.IsSet("on") && spec.How != join.Cross {
		f.Fault("--on is needed: the key columns, as in --on o_orderkey=l_orderkey")
	}
	spec.LeftOn, spec.RightOn = f.pairs()
	if f.IsSet("nulls-equal") && spec.How == join.Cross {
		f.Fault("--nulls-equal: a cross join has no keys")
	}
	spec.NullsEqual = f.Generic("nulls-equal").(*keysValue).of(spec.LeftOn)
}

// pairs reads the key columns of both tables.
func (f *joinFlags) pairs() (left, right []string) {
	for _, list := range f.StringSlice("on") {
		for _, pair := range splitList(list, ',') {
			sides := splitList(pair, '=')
			if len(sides) > 2 || sides[0] == "" || sides[len(sides)-1] == "" {
				f.Fault("--on %q: write a=b, or a where both tables have it, and names with , or = between double quotes", list)
				continue
			}
			left, right = append(left, unescape(sides[0])), append(right, unescape(sides[len(sides)-1]))
		}
	}
	return left, right
}

func (f *joinFlags) trace() (path string) {
	path = f.String("trace")
	switch {
	case f.IsSet("trace") && (path == "" || path == "-"):
		f.Fault("--trace takes the name of a file")
	case path != "" && f.Bool("explain"):
		f.Fault("--explain runs nothing that can be traced; leave out --trace")
	case path != "" && filepath.Clean(path) == filepath.Clean(f.String("output")):
		f.Fault("--trace and --output name the same file")
	}
	return path
}

func (f *joinFlags) goal(format tableio.Format, terminal bool) goal {
	output := f.String("output")
	switch {
	case f.Bool("count") && output != "":
		f.Fault("--count writes no table; leave out --output")
	case f.Bool("count") && f.IsSet("columns"):
		f.Fault("--count returns no columns; leave out --columns")
	case f.Bool("explain"):
		return goalExplain
	case f.Bool("count"):
		return goalCount
	case output == "" && terminal:
		return goalPreview
	case output == "":
		f.Fault("standard output is not a terminal; choose where the table goes: --output FILE, --output - for an Arrow IPC stream, or --count")
	case output == "-" && terminal && format != tableio.CSV:
		f.Fault("standard output is a terminal, which cannot show this format; redirect it, or use --format csv")
	}
	return goalFile
}
