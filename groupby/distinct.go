package groupby

import (
	"cmp"
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby/reduce"
	"github.com/spirjoin/spirjoin/relation"
)

// countDistinct adds the number of different values of a column in each group to the states of g, and returns their
// index. The table is grouped by the keys and the column; these groups, of which each has one value, are grouped by the
// keys and counted. Both groupings by the keys have the same groups, which the number of their first row identifies.
//
//	k x      k x first row      k first row values
//	a 1      a 1 0              a 0         2
//	a 2      a 2 1              b 3         1
//	a 1      b 1 3
//	b 1
func (w *work) countDistinct(ctx context.Context, g *groups, column string) (state int, err error) {
	by, pairs := withColumn(g.by, column), &program{table: g.table, numbers: -1}
	pairs.first()
	inner, err := w.group(ctx, pairs, by)
	if err != nil {
		return 0, err
	}
	defer inner.release()
	if err := inner.memory.Grow(exec.Need{Host: 4 * uint64(inner.rows)}); err != nil {
		return 0, err
	}
	numbers := inner.rowNumbers(0, inner.rows)
	slices.Sort(numbers)
	values, err := takeColumns(ctx, g.table, by, numbers, inner.memory)
	if err != nil {
		return 0, err
	}
	defer values.Release()
	counts, count := countValues(values, column)
	counts.first()
	outer, err := w.group(ctx, counts, g.by)
	if err != nil {
		return 0, err
	}
	defer outer.release()
	return g.align(g.first, outer, outer.first, count)
}

// withColumn are keys and a column, which may be one of them.
func withColumn(by []string, column string) []string {
	if slices.Contains(by, column) {
		return by
	}
	return append(slices.Clip(by), column)
}

// countValues is a program that counts the values of a column that are not NULL, and the number of that state.
func countValues(table arrow.Table, column string) (p *program, count int) {
	p = &program{table: table, numbers: -1}
	r := request{fn: reduce.Count, part: -1}
	if relation.NullRows(columnOf(table, column)) > 0 {
		r.value = value{column, asValidity}
	}
	return p, p.need(r)
}

// align adds a state of other groups to those of g, and returns its index. Both are the same groups, with the same
// numbers in the states row of g and otherRow of the others.
func (g *groups) align(row int, others *groups, otherRow, state int) (result int, err error) {
	back, err := charge(g.memory, 8*uint64(g.rows)) // both orders
	if err != nil {
		return 0, err
	}
	defer back()
	if err := g.memory.Grow(exec.Need{Host: 8 * uint64(g.rows)}); err != nil {
		return 0, err
	}
	counts := make([]uint64, g.rows)
	from, values := others.order(otherRow), others.words(state, 0)
	for i, group := range g.order(row) {
		counts[group] = values[from[i]]
	}
	g.states = append(g.states, [][]byte{backend.AsBytes(counts)})
	return len(g.states) - 1, nil
}

// order returns the groups in ascending order of a state.
func (g *groups) order(state int) []uint32 {
	order, number := make([]uint32, g.rows), g.words(state, 0)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(number[a], number[b]) })
	return order
}

// takeColumns returns rows of columns of a table as a table, which the caller releases. Its memory is charged to held.
func takeColumns(ctx context.Context, table arrow.Table, names []string, numbers []uint32,
	held *exec.Grant) (arrow.Table, error) {
	var fields []arrow.Field
	var columns []arrow.Array
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for _, name := range names {
		column, err := relation.Take(ctx, columnOf(table, name), numbers, memory.DefaultAllocator)
		if err != nil {
			return nil, err
		}
		columns = append(columns, column)
		if err := chargeColumn(held, column); err != nil {
			return nil, err
		}
		fields = append(fields, table.Schema().Field(table.Schema().FieldIndices(name)[0]))
	}
	schema := arrow.NewSchema(fields, nil)
	batch := array.NewRecordBatch(schema, columns, int64(len(numbers)))
	defer batch.Release()
	return array.NewTableFromRecords(schema, []arrow.RecordBatch{batch}), nil
}
