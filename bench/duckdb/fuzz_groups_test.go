package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/groupjoin"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// fuzzGroups says how the rows of a case are grouped. Columns are named by their places among all there are.
type fuzzGroups struct {
	By      []int         `json:",omitempty"`
	Compute []fuzzCompute `json:",omitempty"`
}

// fuzzCompute is an aggregate. Where its function has no meaning for the type of the column, the values are counted.
type fuzzCompute struct {
	Func   string
	Column int // negative for a count of rows
}

// by drops a key; the last one if i is negative.
func (g *fuzzGroups) by(i int) {
	if g != nil && len(g.By) > 0 && len(g.By)+len(g.Compute) > 1 {
		g.By = g.By[:len(g.By)+i]
	}
}

// compute drops an aggregate; the last one if i is negative.
func (g *fuzzGroups) compute(i int) {
	if g != nil && len(g.Compute) > 0 && len(g.By)+len(g.Compute) > 1 {
		g.Compute = g.Compute[:len(g.Compute)+i]
	}
}

// fuzzedFuncs are all functions but First: joined rows have no order.
var fuzzedFuncs = slices.DeleteFunc(groupby.Funcs(), func(f groupby.Func) bool { return f == groupby.First })

// groups draws how rows are grouped: in every other case by the first columns, among which keys of the join often are.
func (d drawing) groups(c *fuzzCase) {
	c.Groups = &fuzzGroups{}
	most := 12
	if d.chance(50) {
		most = 3
	}
	for range [...]int{0, 1, 1, 1, 2, 3}[d.IntN(6)] {
		c.Groups.By = append(c.Groups.By, d.IntN(most))
	}
	for range [...]int{0, 1, 1, 2, 3, 5}[d.IntN(6)] {
		c.Groups.Compute = append(c.Groups.Compute,
			fuzzCompute{fuzzedFuncs[d.IntN(len(fuzzedFuncs))].String(), d.IntN(13) - 1})
	}
	if len(c.Groups.By)+len(c.Groups.Compute) == 0 {
		c.Groups.Compute = []fuzzCompute{{"count", -1}}
	}
}

// spec is the group-by of rows with these columns.
func (g *fuzzGroups) spec(columns []outColumn, batchRows int) (spec groupby.Spec) {
	spec.BatchRows = batchRows
	var fields []arrow.Field
	for _, o := range columns {
		fields = append(fields, arrow.Field{Name: o.name, Type: o.typ, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	able := func(s groupby.Spec) bool {
		_, err := groupby.NewLayout(schema, s)
		return err == nil
	}
	for _, place := range g.By {
		if len(columns) == 0 {
			break
		}
		with := spec
		with.By = append(with.By[:len(with.By):len(with.By)], columns[place%len(columns)].name)
		if able(with) {
			spec = with
		}
	}
	for i, compute := range g.Compute {
		a := groupby.Aggregate{Name: fmt.Sprint("a", i)}
		if compute.Column >= 0 && len(columns) > 0 {
			o := columns[compute.Column%len(columns)]
			a.Column = o.name
			a.Func, _ = groupby.ParseFunc(compute.Func)
			inexact := relation.TraitOf(o.typ).Class == relation.ClassFloat && // depends on the order of rows
				slices.Contains([]groupby.Func{groupby.Sum, groupby.Avg, groupby.Var, groupby.Stddev}, a.Func)
			if inexact || !able(groupby.Spec{Aggregates: []groupby.Aggregate{a}}) {
				a.Func = groupby.Count
			}
		}
		spec.Aggregates = append(spec.Aggregates, a)
	}
	if len(spec.By)+len(spec.Aggregates) == 0 {
		spec.Aggregates = []groupby.Aggregate{{Func: groupby.Count}}
	}
	return spec
}

// group joins, groups the rows, and compares the groups.
func (r *attempts) group(ctx context.Context, on *engine.Engine) (again bool, fail *failure) {
	want, spec := &r.parts[0], r.spec
	groups := r.c.Groups.spec(r.columns, spec.BatchRows)
	spec.Columns, spec.Output = nil, join.Rows
	left, right := r.tables[0].table, r.tables[1].table
	l, err := groupjoin.NewLayout(left.Schema(), right.Schema(), spec, groups)
	if err != nil {
		return false, failf("groups", "%v", err)
	}
	sources := [2]source.Source{source.FromTable(left), source.FromTable(right)}
	if r.c.Stream > 0 {
		sources = [2]source.Source{r.source(left), r.source(right)}
	}
	rows := oracle.GroupsOf(len(want.rows), r.cells(want.rows), groups)
	e := &groupjoin.Engine{Join: on, Groups: &groupby.Engine{Engine: on.Engine},
		HostReduces: r.c.Right.Seed&3 != 0}
	result, err := e.Run(ctx, l, sources[0], sources[1])
	if err != nil {
		return r.judgeGroups(ctx, err, want, rows, l)
	}
	defer result.Close()
	var batches []arrow.RecordBatch
	defer func() { relation.ReleaseAll(batches) }()
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			return r.judgeGroups(ctx, err, want, rows, l)
		}
		batches = append(batches, batch)
	}
	if differ := oracle.Differ(rows, l.Groups, batches); differ != "" {
		return false, failf("groups", "%s", differ)
	}
	if n := result.Stats().GroupBy.Rows; n != want.count {
		return false, failf("count", "the groups say %d rows, there are %d", n, want.count)
	}
	if strings.Contains(result.Explain(), "on the devices that joined the rows") {
		r.f.outcomes["grouped on devices"]++
	}
	if !l.ByKey() { // which reads both sides whole
		return false, r.accept(want)
	}
	r.f.outcomes["grouped by key"]++
	return false, nil
}

// cells are the columns of rows, as the oracle formats values.
func (r *attempts) cells(rows []rowOf) map[string][]string {
	cells := make(map[string][]string)
	for _, o := range r.columns {
		column := make([]string, len(rows))
		for i, row := range rows {
			side := o.side
			if o.role == join.KeyColumn && row.from[side] < 0 {
				side = 1 - side
			}
			switch {
			case o.role == join.MarkColumn:
				column[i] = strconv.FormatBool(row.marked)
			case o.role == join.IndicatorColumn && row.from[1] < 0:
				column[i] = `"left_only"`
			case o.role == join.IndicatorColumn && row.from[0] < 0:
				column[i] = `"right_only"`
			case o.role == join.IndicatorColumn:
				column[i] = `"both"`
			case row.from[side] < 0:
				column[i] = "(null)"
			default:
				column[i] = oracle.Cell(r.tables[side].columns[o.at[side]], int(row.from[side]))
			}
		}
		cells[o.name] = column
	}
	return cells
}

// judgeGroups is judge for groups: a sum may be beyond its type, and an error about memory names no remedy.
func (r *attempts) judgeGroups(ctx context.Context, err error, want *expectation, rows [][]string, l *groupjoin.Layout) (
	again bool, fail *failure) {
	switch overflow := (groupby.OverflowError{}); {
	case errors.As(err, &overflow):
		if !overflows(rows, l.Groups) {
			return false, failf("groups", "no sum is beyond its type: %v", err)
		}
		r.f.outcomes["sum overflows"]++
		return false, nil
	case errors.Is(err, backend.ErrHostMemory) && r.hostMemory > 0:
		r.f.outcomes["short of host memory"]++
		r.hostMemory *= 2
		return true, nil
	case errors.Is(err, backend.ErrDeviceMemory) && r.deviceMemory > 0:
		r.f.outcomes["short of device memory"]++
		r.deviceMemory *= 2
		return true, nil
	}
	return r.judge(ctx, err, want)
}

// overflows tells whether a sum is beyond its type.
func overflows(rows [][]string, l *groupby.Layout) bool {
	for i, a := range l.Spec.Aggregates {
		if a.Func != groupby.Sum {
			continue
		}
		column := len(l.Spec.By) + i
		least, most := new(big.Rat), new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64))
		switch t := l.Schema.Field(column).Type.(type) {
		case arrow.DecimalType:
			digits := int64(t.GetPrecision() - max(t.GetScale(), 0))
			most.SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil))
			least.Neg(most)
		case *arrow.Uint64Type:
		default:
			most.SetInt(new(big.Int).Lsh(big.NewInt(1), 63))
			if t, ok := t.(*arrow.DurationType); ok { // which the oracle gives in seconds
				most.Quo(most, new(big.Rat).SetInt64(int64(time.Second/t.Unit.Multiplier())))
			}
			least.Neg(most)
		}
		for _, row := range rows {
			if sum, ok := new(big.Rat).SetString(row[column]); ok && (sum.Cmp(most) >= 0 || sum.Cmp(least) < 0) {
				return true
			}
		}
	}
	return false
}
