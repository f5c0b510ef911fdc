package groupby

import (
	"cmp"
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby/reduce"
	"github.com/spirjoin/spirjoin/relation"
)

// countDistinct adds the number of different values of a column in each group to the states of g, and returns their
// index. The table is grouped by the keys and the column; each of these groups has one value, and is one of the group by
// the keys that its first row is in.
//
//	rows   0 1 2 3      by k   a a a b      by k x   first row   group by k
//	k      a a a b                          a 1      0           a
//	x      1 2 1 1                          a 2      1           a            a has 2 values,
//	                                        b 1      3           b            b has 1
func (w *work) countDistinct(ctx context.Context, g *groups, column string) (state int, err error) {
	pairs := &program{table: g.table, numbers: -1}
	if pairs.need(request{fn: reduce.Count, part: -1}); len(g.by) > 0 {
		pairs.first()
	}
	inner, err := w.group(ctx, pairs, withColumn(g.by, column))
	if err != nil {
		return 0, err
	}
	defer inner.release()
	if len(g.by) == 0 {
		return g.addState([]uint64{inner.values(column)}), nil
	}
	counts, _, err := g.countPairs(ctx, inner, column, nil)
	if err != nil {
		return 0, err
	}
	return g.addState(counts), nil
}

// withColumn are keys and a column, which may be one of them.
func withColumn(by []string, column string) []string {
	if slices.Contains(by, column) {
		return by
	}
	return append(slices.Clip(by), column)
}

// countPairs counts the groups by the keys and a column of the same table that are in each group, but not those whose
// value is NULL. least is the least of the numbers of these groups, which may be nil. The memory of both is charged to
// g.
func (g *groups) countPairs(ctx context.Context, inner *groups, column string, numbers []uint64) (counts, least []uint64,
	err error) {
	if err := g.memory.Grow(exec.Need{Host: (8 + 8) * uint64(g.rows)}); err != nil {
		return nil, nil, err
	}
	counts, least = make([]uint64, g.rows), slices.Repeat([]uint64{^uint64(0)}, g.rows)
	groupOf, back, err := g.ofRows(ctx)
	defer back()
	if err != nil {
		return nil, nil, err
	}
	for i, row := range inner.words(inner.first, 0) {
		group := groupOf[row]
		if counts[group]++; numbers != nil {
			least[group] = min(least[group], numbers[i])
		}
	}
	return counts, least, g.withoutNull(ctx, column, groupOf, counts)
}

// withoutNull takes one off the count of each group with a NULL in a column.
func (g *groups) withoutNull(ctx context.Context, column string, groupOf []uint32, counts []uint64) error {
	values := relation.ColumnOf(g.table, column)
	if relation.NullRows(values) == 0 {
		return nil
	}
	back, err := charge(g.memory, uint64(g.rows)+asValidity.bytes(values.DataType(), uint64(g.table.NumRows())))
	defer back()
	if err != nil {
		return err
	}
	found, at := make([]bool, g.rows), 0
	for _, chunk := range values.Chunks() {
		if ctx.Err() != nil {
			return backend.ContextError(ctx)
		}
		valid, first, nulls := relation.LogicalValidity(chunk)
		for i := 0; nulls > 0 && i < chunk.Len(); i++ {
			if valid[(first+i)>>3]>>((first+i)&7)&1 == 0 {
				found[groupOf[at+i]] = true
			}
		}
		at += chunk.Len()
	}
	for group, null := range found {
		if null {
			counts[group]--
		}
	}
	return nil
}

// align appends values, a state of the same groups in another order, to the states of g, in the order of g, and returns
// its index. A group has the same number in the state row of g and in numbers, which is in the order of values.
func (g *groups) align(row int, numbers, values []uint64) (result int, err error) {
	back, err := charge(g.memory, 8*uint64(g.rows)) // both orders
	if err != nil {
		return 0, err
	}
	defer back()
	if err := g.memory.Grow(exec.Need{Host: 8 * uint64(g.rows)}); err != nil {
		return 0, err
	}
	aligned, from := make([]uint64, g.rows), ordered(numbers)
	for i, group := range ordered(g.words(row, 0)) {
		aligned[group] = values[from[i]]
	}
	return g.addState(aligned), nil
}

// ordered returns the places of numbers in ascending order.
func ordered(numbers []uint64) []uint32 {
	order := make([]uint32, len(numbers))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(numbers[a], numbers[b]) })
	return order
}
