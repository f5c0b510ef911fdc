package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/tableio"
)

// question is a group-by that both engines answer.
type question struct {
	name, file string
	by         string
	aggregates string // FUNCTION:COLUMN, or count
}

// The questions: the sums of the paper Garuda over lineitem joined with orders, and the questions of the database
// benchmark (h2oai/db-benchmark, G1 with 100 groups) that need no median, no regression and no ranking.
var questions = []question{
	{"SGO1", "sales", "o_orderdate", "sum:l_extendedprice"},
	{"SGO2", "sales", "l_orderkey", "sum:l_extendedprice"},
	{"q1", "g1", "id1", "sum:v1"},
	{"q2", "g1", "id1,id2", "sum:v1"},
	{"q3", "g1", "id3", "sum:v1,avg:v3"},
	{"q4", "g1", "id4", "avg:v1,avg:v2,avg:v3"},
	{"q5", "g1", "id6", "sum:v1,sum:v2,sum:v3"},
	{"q7", "g1", "id3", "max:v1,min:v2"},
	{"q10", "g1", "id1,id2,id3,id4,id5,id6", "sum:v3,count"},
}

// sql is the question as DuckDB has it.
func (q question) sql() string {
	columns := []string{q.by}
	for _, a := range strings.Split(q.aggregates, ",") {
		fn, column, ok := strings.Cut(a, ":")
		if !ok {
			column = "*"
		}
		columns = append(columns, fmt.Sprintf("%s(%s) AS %s", fn, column, strings.TrimSuffix(fn+"_"+column, "_*")))
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM " + q.file + " GROUP BY " + q.by
}

// spec is the question as this library has it.
func (q question) spec() (spec spirjoin.GroupSpec, err error) {
	spec.By = strings.Split(q.by, ",")
	for _, a := range strings.Split(q.aggregates, ",") {
		fn, column, _ := strings.Cut(a, ":")
		var out spirjoin.GroupAggregate
		if out.Func, err = spirjoin.ParseGroupFunc(fn); err != nil {
			return spec, err
		}
		out.Column = column
		spec.Aggregates = append(spec.Aggregates, out)
	}
	return spec, nil
}

// makeTables makes the files of the questions in a folder where they are missing. tpch is a folder of spirjoin gen
// tpch.
func makeTables(ctx context.Context, s *session, dir, tpch string, rows int64) error {
	for name, query := range map[string]string{
		"sales": fmt.Sprintf("SELECT o_orderdate, l_orderkey, l_extendedprice FROM %s JOIN %s "+
			"ON l_orderkey = o_orderkey", file(filepath.Join(tpch, "lineitem.parquet")), file(filepath.Join(tpch, "orders.parquet"))),
		"g1": fmt.Sprintf(`SELECT 'id' || lpad((1 + floor(random() * 100))::INT::VARCHAR, 3, '0') AS id1,
			'id' || lpad((1 + floor(random() * 100))::INT::VARCHAR, 3, '0') AS id2,
			'id' || lpad((1 + floor(random() * %[1]d / 100))::INT::VARCHAR, 10, '0') AS id3,
			(1 + floor(random() * 100))::INT AS id4, (1 + floor(random() * 100))::INT AS id5,
			(1 + floor(random() * %[1]d / 100))::INT AS id6, (1 + floor(random() * 5))::INT AS v1,
			(1 + floor(random() * 15))::INT AS v2, round(random() * 100, 6) AS v3 FROM range(%[1]d)`, rows),
	} {
		path := filepath.Join(dir, name+".parquet")
		if _, err := os.Stat(path); err == nil {
			continue
		}
		query = "SELECT setseed(0.5); COPY (" + query + ") TO " + quoteText(path) + " (FORMAT parquet)"
		if err := s.exec(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// runGroups answers the questions with both engines in turn, from tables in memory to tables in memory, both warm, and
// prints the medians of elapsed times and of processor times of all cores, and DuckDB's by ours. Answers that differ
// are an error.
func runGroups(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("duckdb-peer groupby", flag.ContinueOnError)
	dir := flags.String("dir", "", "`folder` of the tables, which are made where they are missing")
	tpch := flags.String("tpch", "", "`folder` with orders.parquet and lineitem.parquet")
	rows := flags.Int64("rows", 1e7, "`rows` of G1")
	repeat := flags.Int("repeat", 5, "timed runs")
	device := flags.String("device", spirjoin.HostDevice, "`device`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" || *tpch == "" {
		return fmt.Errorf("%w: --dir and --tpch are needed", errUsage)
	}
	threads := runtime.GOMAXPROCS(0)
	s, err := openSession(ctx, limits{threads: threads})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := makeTables(ctx, s, *dir, *tpch, *rows); err != nil {
		return err
	}
	engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: *device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	tables := make(map[string]arrow.Table)
	for _, name := range []string{"sales", "g1"} {
		path := filepath.Join(*dir, name+".parquet")
		if err := s.exec(ctx, "CREATE TABLE "+name+" AS SELECT * FROM "+file(path)); err != nil {
			return err
		}
		r, err := tableio.Open(ctx, path, tableio.ReadOptions{Allocator: engine.Allocator()})
		if err != nil {
			return err
		}
		defer r.Close()
		var columns []string
		for _, f := range r.Schema().Fields() {
			columns = append(columns, f.Name)
		}
		if tables[name], err = r.Read(ctx, columns); err != nil {
			return err
		}
		defer tables[name].Release()
	}
	fmt.Fprintf(out, "%-5s %10s %9s %9s %6s %9s %9s %6s   %d threads, %s\n", "", "groups", "ours s", "duckdb s",
		"ratio", "ours cpu", "duckdb", "ratio", threads, engine.Device().Name)
	for _, q := range questions {
		if err := compareGroups(ctx, s, engine, tables[q.file], q, *repeat, out); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return nil
}

// compareGroups answers a question with both engines in turn, and prints a line with the medians.
func compareGroups(ctx context.Context, s *session, engine *spirjoin.Engine, table arrow.Table, q question, repeat int,
	out io.Writer) (err error) {
	var ours, theirs, oursBusy, theirsBusy []time.Duration
	var sums [2][]float64
	for i := range repeat + 1 {
		start, busy := time.Now(), processorTime()
		if sums[0], err = oursOf(ctx, engine, table, q); err != nil {
			return err
		}
		ours, oursBusy = append(ours, time.Since(start)), append(oursBusy, processorTime()-busy)
		start, busy = time.Now(), processorTime()
		if err := s.exec(ctx, "CREATE OR REPLACE TABLE answer AS "+q.sql()); err != nil {
			return err
		}
		theirs, theirsBusy = append(theirs, time.Since(start)), append(theirsBusy, processorTime()-busy)
		if i == 0 { // warm
			ours, theirs, oursBusy, theirsBusy = nil, nil, nil, nil
		}
	}
	if sums[1], err = theirsOf(ctx, s, q); err != nil {
		return err
	}
	for i := range sums[0] {
		if a, b := sums[0][i], sums[1][i]; math.Abs(a-b) > 1e-9*max(math.Abs(a), math.Abs(b)) {
			return fmt.Errorf("%w: the answers differ: %v and %v", measure.ErrWrong, sums[0], sums[1])
		}
	}
	median := func(of []time.Duration) float64 { return measure.Summarize(of).Median.Seconds() }
	a, b, c, d := median(ours), median(theirs), median(oursBusy), median(theirsBusy)
	fmt.Fprintf(out, "%-5s %10.0f %9.3f %9.3f %6.2f %9.3f %9.3f %6.2f\n", q.name, sums[0][0], a, b, b/a, c, d, d/c)
	return nil
}

// processorTime is the time that all cores have worked for this process, which other work on them changes less than it
// changes elapsed times.
func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // fails only for an argument that is wrong
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// oursOf groups a table, makes all batches, and returns the number of groups and the sum of each aggregate.
func oursOf(ctx context.Context, engine *spirjoin.Engine, table arrow.Table, q question) ([]float64, error) {
	spec, err := q.spec()
	if err != nil {
		return nil, err
	}
	result, err := engine.GroupBy(ctx, table, spec)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	sums := make([]float64, 1+len(spec.Aggregates))
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			return nil, err
		}
		sums[0] += float64(batch.NumRows())
		for i := range spec.Aggregates {
			sums[1+i] += totalOf(batch.Column(len(spec.By) + i))
		}
		batch.Release()
	}
	return sums, nil
}

// totalOf adds the values of a column.
func totalOf(column arrow.Array) (sum float64) {
	switch c := column.(type) {
	case *array.Int64:
		for _, v := range c.Int64Values() {
			sum += float64(v)
		}
	case *array.Int32:
		for _, v := range c.Int32Values() {
			sum += float64(v)
		}
	case *array.Float64:
		for _, v := range c.Float64Values() {
			sum += v
		}
	case *array.Decimal128:
		scale := c.DataType().(arrow.DecimalType).GetScale()
		for i := range c.Len() {
			sum += c.Value(i).ToFloat64(scale)
		}
	default:
		return math.NaN()
	}
	return sum
}

// theirsOf is the same of DuckDB's answer.
func theirsOf(ctx context.Context, s *session, q question) ([]float64, error) {
	columns := []string{"count(*)::DOUBLE"}
	for _, a := range strings.Split(q.aggregates, ",") {
		columns = append(columns, "sum("+strings.ReplaceAll(a, ":", "_")+"::DOUBLE)")
	}
	sums := make([]float64, len(columns))
	into := make([]any, len(columns))
	for i := range sums {
		into[i] = &sums[i]
	}
	return slices.Clip(sums), s.one(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM answer", into...)
}
