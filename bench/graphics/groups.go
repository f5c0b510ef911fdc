package graphics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/internal/text"
)

// groupCell is a group-by from a table in host memory to record batches.
type groupCell struct {
	name   string // of the query
	groups int64  // of a table of random keys; 0: the query's table
	rows   int64
	query  *groupQuery
	count  bool   // the rows of a group instead of the sum of its values
	folder string // of the files of TPC-H; empty: the table is generated
}

// groupQuery is a query of GARUDA 6.1.1. A group has one value in each of its key columns, and the first tells which
// group it is.
type groupQuery struct {
	by        []string
	value     string
	lineOrder bool // else PartSupp
}

var groupQueries = map[string]*groupQuery{
	"SGO1": {[]string{"orderdate"}, "extendedprice", true},
	"SGO2": {[]string{"orderkey"}, "extendedprice", true},
	"SGO3": {[]string{"partkey"}, "supplycost", false},
	"MGO1": {[]string{"orderkey", "orderdate"}, "extendedprice", true},
	"MGO2": {[]string{"orderkey", "orderdate", "shippriority"}, "extendedprice", true},
}

// randomKeys is the query of a table of random keys.
var randomKeys = &groupQuery{[]string{"key"}, "value", false}

func (c groupCell) place() string {
	switch {
	case c.groups > 0:
		return "groups=" + rowsText(c.groups)
	case c.count:
		return c.name + " count"
	}
	return c.name
}

func (c groupCell) about() string {
	if c.groups > 0 {
		return ""
	}
	return fmt.Sprintf("%s: sum of %s, or count, by %s", c.name, c.query.value, strings.Join(c.query.by, ", "))
}

func (c groupCell) on(s *Sweep) cell {
	if c.query.lineOrder {
		c.folder = s.TPCH
	}
	if c.folder == "" {
		c.rows = max(1, c.rows>>s.Scale)
	}
	if c.groups > 0 {
		c.groups = max(1, c.groups>>s.Scale)
	}
	return c
}

func (c groupCell) inputRows() uint64 { return uint64(c.rows) }

func (c groupCell) String() string {
	function := "sum(" + c.query.value + ")"
	if c.count {
		function = "count(*)"
	}
	from := fmt.Sprintf("rows=%d", c.rows)
	if c.folder != "" {
		from = "tpch"
	}
	if c.groups > 0 {
		from += fmt.Sprintf(" groups=%d", c.groups)
	}
	return fmt.Sprintf("group by=%s of=%s %s seed=1", strings.Join(c.query.by, "+"), function, from)
}

func (c groupCell) make(ctx context.Context) (arrow.Table, error) {
	switch {
	case c.groups > 0:
		return workload.Grouped(ctx, c.rows, c.groups, 1)
	case !c.query.lineOrder:
		return workload.PartSupp(ctx, c.rows, 1)
	case c.folder != "":
		return workload.TPCHLineOrder(ctx, c.folder)
	}
	return workload.LineOrder(ctx, c.rows, 1)
}

func (c groupCell) spec() groupby.Spec {
	a := groupby.Aggregate{Func: groupby.Sum, Column: c.query.value}
	if c.count {
		a = groupby.Aggregate{Func: groupby.Count}
	}
	return groupby.Spec{By: c.query.by, Aggregates: []groupby.Aggregate{a}}
}

func (c groupCell) measure(ctx context.Context, r *run, methods []string) ([]Result, error) {
	table, err := c.make(ctx)
	if err != nil {
		return nil, err
	}
	defer table.Release()
	want, groups := c.groupsOf(table)
	results := make([]Result, len(methods))
	var contenders []measure.Contender[measure.Timed]
	for i, method := range methods {
		on, spec := r.on[computing], c.spec()
		if method == drawn {
			on, spec.Algorithm = r.on[drawing], drawn
		}
		results[i] = Result{Method: method, Rows: uint64(table.NumRows()), OutputRows: groups}
		contenders = append(contenders, measure.Contender[measure.Timed]{Name: method,
			Verify: func() error {
				check := groupCheck{want: want, missing: groups, keys: len(c.query.by), met: make([]bool, len(want))}
				if err := group(ctx, on.groups, table, spec, check.add); err != nil {
					return err
				}
				return check.end()
			},
			Run: func() (measure.Timed, error) {
				start := time.Now()
				err := group(ctx, on.groups, table, spec, func(arrow.RecordBatch) error { return nil })
				return measure.Timed{Wall: time.Since(start)}, err
			}})
	}
	skips := func(err error) bool { return errors.Is(err, backend.ErrUnsupported) || measure.DoesNotFit(err) }
	runs, skipped, err := measure.Rounds(contenders, r.Repeat, r.Warm,
		func(what string) { r.out.Enter(what + " " + c.String()) }, skips)
	if err != nil {
		return nil, err
	}
	for i := range results {
		results[i].Sample, results[i].Skipped = measure.SampleOf(runs[i]), skipped[i]
	}
	return results, nil
}

// group runs a group-by and gives its batches to check.
func group(ctx context.Context, e *groupby.Engine, table arrow.Table, spec groupby.Spec,
	check func(arrow.RecordBatch) error) error {
	result, err := e.Group(ctx, table, spec)
	if err != nil {
		return err
	}
	defer result.Close()
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			return err
		}
		err = check(batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// groupOf describes a group: its further keys, its rows, and its sum or count.
type groupOf struct {
	keys      [2]int64
	rows, sum int64
}

// groupsOf computes the groups of a table row by row, in the order of their first key, which is dense. Those without
// rows are none.
func (c groupCell) groupsOf(table arrow.Table) (groups []groupOf, count uint64) {
	names := append(append([]string(nil), c.query.by...), c.query.value)
	for chunk := range table.Column(0).Data().Chunks() { // all columns share their chunks
		columns := make([]func(row int) int64, len(names))
		rows := 0
		for i, name := range names {
			values := table.Column(table.Schema().FieldIndices(name)[0]).Data().Chunk(chunk)
			columns[i], rows = integers(values), values.Len()
		}
		value := columns[len(columns)-1]
		for row := range rows {
			key := columns[0](row)
			if more := int(key) + 1 - len(groups); more > 0 {
				groups = append(groups, make([]groupOf, more)...)
			}
			g := &groups[key]
			if g.rows++; g.rows == 1 {
				count++
				for k, column := range columns[1 : len(columns)-1] {
					g.keys[k] = column(row)
				}
			}
			if c.count {
				g.sum++
			} else {
				g.sum += value(row)
			}
		}
	}
	return groups, count
}

func integers(column arrow.Array) func(row int) int64 {
	switch column := column.(type) {
	case *array.Int32:
		return func(row int) int64 { return int64(column.Value(row)) }
	case *array.Int64:
		return column.Value
	}
	return nil
}

// groupCheck compares groups, which come batch by batch, with those that are known.
type groupCheck struct {
	want    []groupOf // by first key
	missing uint64
	keys    int
	met     []bool
}

// add returns ErrWrong for a group that is not as it should be, or comes twice.
func (c *groupCheck) add(batch arrow.RecordBatch) error {
	if int(batch.NumCols()) != c.keys+1 {
		return measure.Wrongf("%d columns, not %d", batch.NumCols(), c.keys+1)
	}
	columns := make([]func(row int) int64, c.keys+1)
	for i := range columns {
		column := batch.Column(i)
		if columns[i] = integers(column); columns[i] == nil || column.NullN() > 0 {
			return measure.Wrongf("column %d has type %s and %s", i, column.DataType(),
				text.Plural(column.NullN(), "NULL"))
		}
	}
	for row := range int(batch.NumRows()) {
		key := columns[0](row)
		if key < 0 || key >= int64(len(c.want)) || c.want[key].rows == 0 || c.met[key] {
			return measure.Wrongf("group %d is unknown or comes twice", key)
		}
		want := &c.want[key]
		c.met[key] = true
		c.missing--
		for k := 1; k < c.keys; k++ {
			if got := columns[k](row); got != want.keys[k-1] {
				return measure.Wrongf("key column %d of group %d is %d, not %d", k, key, got, want.keys[k-1])
			}
		}
		if got := columns[c.keys](row); got != want.sum {
			return measure.Wrongf("group %d has %d, not %d", key, got, want.sum)
		}
	}
	return nil
}

// end returns ErrWrong if groups are missing.
func (c *groupCheck) end() error {
	if c.missing > 0 {
		return measure.Wrongf("%s missing", text.Plural(c.missing, "group"))
	}
	return nil
}
