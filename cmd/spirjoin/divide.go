package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

const divideText = `   Divides the rows of a table by the hashes of their keys into the files
   DIR/part-00000-of-00064.parquet and so on, and lists them in DIR/manifest.json, which comes last.
   Two tables that are divided by the keys of a join into as many parts can be joined part by part,
   on any machines in any order:

      spirjoin divide orders.parquet --on o_orderkey --parts 64 -o orders/
      spirjoin divide lineitem.parquet --on l_orderkey --parts 64 -o lineitem/
      spirjoin join orders/part-00007-of-00064.parquet lineitem/part-00007-of-00064.parquet \
        --on o_orderkey=l_orderkey -o joined-7.parquet

   If the keys have other types in the other table, --with names it and --on pairs the columns:

      spirjoin divide orders.parquet --with lineitem.csv --on o_orderkey=l_orderkey --parts 64 -o orders/`

// divideOptions are the flags of `divide`, checked.
type divideOptions struct {
	files.DivideOptions
	path, with, folder string
	withOn             []string
	withFormat         tableio.Format
	memoryLimitBytes   uint64
	quiet              bool
}

func (s session) divideCommand() *cli.Command {
	const input, parts, output = "Input", "Parts", "Output"
	return &cli.Command{
		Name: "divide", Usage: "divide a table into parts that are joined one by one",
		UsageText: "spirjoin divide FILE --on KEYS --parts N -o DIR [flags]", Description: divideText,
		Flags: slices.Concat(csvFlags(input), []cli.Flag{
			&cli.StringFlag{Name: "input-format", Category: input,
				Usage: "`FORMAT` of FILE: auto, parquet, csv, arrow, arrow-stream"},
			&cli.StringFlag{Name: "with", Category: parts,
				Usage: "the other `FILE` of the join, for the types of its keys"},
			&cli.StringFlag{Name: "with-format", Category: input, Usage: "`FORMAT` of the other file"},
			&cli.StringSliceFlag{Name: "on", KeepSpace: true, Category: parts,
				Usage: "`KEY` columns, a,b,c; with --with as for join, a=b"},
			&cli.BoolFlag{Name: "nulls-equal", Category: parts, Usage: "joins of the parts may have NULL equal NULL"},
			&cli.GenericFlag{Name: "parts", Category: parts, Value: new(command.Rows), Usage: "divide into `N` parts"},
			memoryFlag("Limits"),
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: output,
				Usage: "write into the folder `DIR`, created if it does not exist"},
			&cli.BoolFlag{Name: "overwrite", Category: output, Usage: "replace the parts of an earlier run in DIR"},
			&cli.StringFlag{Name: "format", Category: output, Usage: "`FORMAT` of the parts; default: parquet"},
			compressionFlag(output),
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: "Report",
				Usage: "no progress bar, no line about the run"},
		}),
		Action: func(c *cli.Context) error {
			options, err := s.divideOptions(c)
			if err != nil {
				return err
			}
			return s.divide(c.Context, options)
		},
	}
}

func (s session) divideOptions(c *cli.Context) (o divideOptions, err error) {
	f := &joinFlags{command.Flags{Context: c}}
	if c.NArg() != 1 {
		f.Fault("divide takes one table, FILE, not %d", c.NArg())
	}
	o.path, o.with, o.folder, o.quiet = c.Args().First(), c.String("with"), c.String("output"), c.Bool("quiet")
	if o.with == "-" {
		f.Fault("--with is a file, not standard input")
	}
	for _, missing := range [][2]string{{"on", "the key columns"}, {"parts", "how many parts there are"},
		{"output", "the folder for the parts"}} {
		if !f.IsSet(missing[0]) {
			f.Fault("--%s is needed: %s", missing[0], missing[1])
		}
	}
	o.On, o.withOn = f.pairs()
	if o.with == "" && !slices.Equal(o.On, o.withOn) {
		f.Fault("--on names columns of two tables; --with is the other one")
	}
	o.NullsEqual, o.Overwrite = c.Bool("nulls-equal"), c.Bool("overwrite")
	o.withFormat = f.format("with-format")
	parts := uint64(*f.Generic("parts").(*command.Rows))
	if f.IsSet("parts") && (parts < 1 || parts > files.MostParts) {
		f.Fault("--parts is 1 to %d", files.MostParts)
	}
	o.Parts = int(min(parts, files.MostParts))
	o.Read = tableio.ReadOptions{CSV: f.csv(), Stdin: s.Stdin, Format: f.format("input-format")}
	o.Write = tableio.WriteOptions{Format: f.format("format"), CSV: o.Read.CSV, Compression: f.String("compression")}
	o.memoryLimitBytes = uint64(*f.Generic("memory-limit").(*command.Size))
	return o, f.Err()
}

// divide runs the command.
func (s session) divide(ctx context.Context, o divideOptions) error {
	started := time.Now()
	progress := s.NewProgress(o.quiet)
	defer progress.Close()
	if before := residentBytes(); o.memoryLimitBytes > 0 {
		if o.memoryLimitBytes <= before {
			return fmt.Errorf("%w: the program alone takes %s; raise memory_limit", backend.ErrHostMemory,
				text.Limit(before))
		}
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(heapLimitBytes(o.memoryLimitBytes)))
		o.Limit = files.NewLimit(o.memoryLimitBytes, before)
	}
	o.Reading = func(_ relation.Side, rows, total int64) {
		progress.Report("divide", uint64(rows), uint64(max(total, 0)))
	}
	if o.with != "" {
		other, err := tableio.Open(ctx, o.with, tableio.ReadOptions{CSV: o.Read.CSV, Format: o.withFormat})
		if err != nil {
			return nameFormatFlag(err, "with-format")
		}
		o.With, o.WithOn = other.Schema(), o.withOn
		if err := other.Close(); err != nil {
			return err
		}
	}
	d, err := files.Divide(ctx, o.path, o.folder, o.DivideOptions)
	if err != nil {
		return nameFormatFlag(err, "input-format")
	}
	progress.ClearLine()
	if o.quiet {
		return nil
	}
	rows := int64(0)
	for _, n := range d.Rows {
		rows += n
	}
	fmt.Fprintf(s.Stderr, "%s to %s in %s, at most %s in one; %.2f s\n", text.Plural(rows, "row"),
		text.Plural(o.Parts, "part"), text.Printable(o.folder), text.Count(slices.Max(d.Rows)),
		time.Since(started).Seconds())
	return nil
}
