package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/tableio"
)

func (s session) genCommand() *cli.Command {
	return &cli.Command{
		Name: "gen", Usage: "generate tables", UsageText: "spirjoin gen COMMAND [flags]",
		Description: "   Writes Parquet files. The same flags give the same rows on every machine.",
		Subcommands: []*cli.Command{s.genTPCHCommand(), s.genPKFKCommand()},
		Action: func(c *cli.Context) error {
			return command.Usagef("gen needs a command: tpch or pkfk")
		},
	}
}

const genOutput = "Output"

func folderFlag() cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: genOutput,
		Usage: "write into the folder `DIR`, created if it does not exist"}
}

func (s session) genTPCHCommand() *cli.Command {
	return &cli.Command{
		Name: "tpch", Usage: "orders and lineitem of TPC-H", UsageText: "spirjoin gen tpch --sf FACTOR -o DIR",
		Description: "   Writes DIR/orders.parquet and DIR/lineitem.parquet. They join with --on " +
			"o_orderkey=l_orderkey.\n" +
			"   The generator takes about 10 seconds and more than a gigabyte of memory before the first row.",
		Flags: []cli.Flag{
			&cli.Float64Flag{Name: "sf", Category: "Tables",
				Usage: "scale `FACTOR`, up to 1 or a whole number; 1 is 6 M lines"},
			folderFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := genArguments(c, "sf", "output"); err != nil {
				return err
			}
			return s.genTPCH(c.Context, workload.TPCHSpec{ScaleFactor: c.Float64("sf"), Dir: c.String("output")})
		},
	}
}

func (s session) genTPCH(ctx context.Context, spec workload.TPCHSpec) error {
	start := time.Now()
	progress := s.NewProgress(false)
	defer progress.Close()
	spec.Progress = func(orders, total int64) { progress.Report("generate orders", uint64(orders), uint64(total)) }
	progress.Enter("start the generator")
	result, err := workload.TPCH(ctx, spec)
	if err != nil {
		return err
	}
	progress.ClearLine()
	s.reportFile(result.OrdersPath, result.Orders, workload.OrdersSchema)
	s.reportFile(result.LineitemPath, result.Lines, workload.LineitemSchema)
	fmt.Fprintf(s.Stdout, "generated in %.2f s\n", time.Since(start).Seconds())
	return nil
}

func (s session) reportFile(path string, rows int64, schema *arrow.Schema) {
	fmt.Fprintf(s.Stdout, "%s: %s x %s\n", text.Printable(path), text.Plural(rows, "row"),
		text.Plural(schema.NumFields(), "column"))
}

func (s session) genPKFKCommand() *cli.Command {
	const keys, columns = "Keys", "Columns"
	d := workload.DefaultPKFK(0, 0)
	return &cli.Command{
		Name: "pkfk", Usage: "a table of primary keys and one of foreign keys",
		UsageText: "spirjoin gen pkfk -r ROWS -s ROWS -o DIR [flags]",
		Description: "   Writes DIR/r.parquet (r_key, r_1, ...) and DIR/s.parquet (s_key, s_1, ...). r_key is unique " +
			"and\n" +
			"   in random order; s_key refers to it. They join with --on r_key=s_key.",
		Flags: []cli.Flag{
			&cli.GenericFlag{Name: "r", Category: keys, Value: new(command.Rows),
				Usage: "`ROWS` of R, the primary keys, as in 10M or 2^27"},
			&cli.GenericFlag{Name: "s", Category: keys, Value: new(command.Rows), Usage: "`ROWS` of S, the foreign keys"},
			&cli.Float64Flag{Name: "match-ratio", Category: keys, Value: d.MatchRatio,
				Usage: "`FRACTION` of the primary keys that can be referred to; default: 1"},
			&cli.Float64Flag{Name: "zipf", Category: keys, Value: d.Zipf,
				Usage: "skew of the foreign keys, the `FACTOR` of Zipf's law; default: 0"},
			command.SeedFlag(keys),
			&cli.IntFlag{Name: "key-bytes", Category: columns, Value: d.KeyBytes,
				Usage: "`BYTES` of a key, 4 or 8; default: 4"},
			&cli.IntFlag{Name: "payload-bytes", Category: columns, Value: d.RPayloads[0],
				Usage: "`BYTES` of a payload value, 4 or 8; default: 4"},
			&cli.BoolFlag{Name: "payload-texts", Category: columns,
				Usage: "payload columns are texts of 4 to 12 hexadecimal digits instead"},
			&cli.IntFlag{Name: "r-payloads", Category: columns, Value: len(d.RPayloads),
				Usage: "`NUMBER` of payload columns of R; default: 1"},
			&cli.IntFlag{Name: "s-payloads", Category: columns, Value: len(d.SPayloads),
				Usage: "`NUMBER` of payload columns of S; default: 1"},
			folderFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := genArguments(c, "r", "s", "output"); err != nil {
				return err
			}
			rows := func(flag string) int64 { return int64(min(*c.Generic(flag).(*command.Rows), math.MaxInt64)) }
			spec := workload.PKFKSpec{
				RRows: rows("r"), SRows: rows("s"), KeyBytes: c.Int("key-bytes"), MatchRatio: c.Float64("match-ratio"),
				Zipf: c.Float64("zipf"), Seed: c.Uint64("seed"), Texts: c.Bool("payload-texts"),
			}
			f, widths := command.Flags{Context: c}, []int{c.Int("payload-bytes")}
			spec.RPayloads, spec.SPayloads = f.PayloadColumns("r-payloads", widths), f.PayloadColumns("s-payloads", widths)
			if err := f.Err(); err != nil {
				return err
			}
			if err := spec.Validate(); err != nil {
				return err
			}
			return s.genPKFK(c.Context, spec, c.String("output"))
		},
	}
}

// genArguments checks that there are flags, and nothing else.
func genArguments(c *cli.Context, needed ...string) error {
	f := command.Flags{Context: c}
	if c.Args().Present() {
		f.Fault("%s takes flags only, not %q", c.Command.Name, c.Args().First())
	}
	for _, name := range needed {
		if !c.IsSet(name) {
			f.Fault("%s is needed", command.Dashed(name))
		}
	}
	return f.Err()
}

// genPKFK makes both tables and writes them into a folder, whose files appear when both are complete.
func (s session) genPKFK(ctx context.Context, spec workload.PKFKSpec, dir string) error {
	start := time.Now()
	if err := makeFolder(dir); err != nil {
		return &tableio.Error{Kind: tableio.ErrOutput, Op: "create", Path: dir, Err: command.PlainError(err)}
	}
	progress := s.NewProgress(false)
	defer progress.Close()
	progress.Enter("generate")
	r, sTable, err := workload.PKFK(ctx, spec)
	if err != nil {
		return err
	}
	defer r.Release()
	defer sTable.Release()
	tables := []arrow.Table{r, sTable}
	var writers [2]*tableio.Writer
	paths := [2]string{filepath.Join(dir, "r.parquet"), filepath.Join(dir, "s.parquet")}
	for i, table := range tables {
		if writers[i], err = tableio.Create(paths[i], table.Schema(), tableio.WriteOptions{}); err != nil {
			return err
		}
		defer writers[i].Abort() // does nothing after Commit
		if err := storeTable(ctx, writers[i], table, progress, "write "+paths[i]); err != nil {
			return err
		}
	}
	progress.Enter("finish")
	for _, w := range writers {
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	progress.ClearLine()
	for i, table := range tables {
		s.reportFile(paths[i], table.NumRows(), table.Schema())
	}
	fmt.Fprintf(s.Stdout, "generated in %.2f s\n", time.Since(start).Seconds())
	return nil
}

// makeFolder creates the folder if it is missing, and checks that files can be created in it before any work is done.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, ".spirjoin.*.tmp")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

const generatedBatchRows = 1 << 20

func storeTable(ctx context.Context, w *tableio.Writer, table arrow.Table, progress *command.Progress,
	phase string) error {
	total := uint64(table.NumRows())
	progress.Report(phase, 0, total)
	reader := array.NewTableReader(table, generatedBatchRows)
	defer reader.Release()
	for reader.Next() {
		if err := w.Write(ctx, reader.RecordBatch()); err != nil {
			return err
		}
		progress.Report(phase, uint64(w.Rows()), total)
	}
	return reader.Err()
}
