package groupjoin

import (
	"context"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal256"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
)

// byKey computes groups by keys of the join, with counts, sums, means, least and greatest values. It groups each side
// by the keys first, and joins the groups. n left rows and m right rows of a key are one row, which stands for n·m
// joined rows. Each value of the left rows is in m of them, so their sum counts m times:
//
//	left   k n sum     right   k m     inner   k count sum     left   k count sum
//	       1 3   5             1 2             1   6    10            1   6    10
//	       2 1   7             3 5                                    2   1     7
//
// The join sees each key once a side, and matches NULL as the join of the rows does. What rows of a key have in common,
// as whether they have a partner, their group has too. The joined groups are grouped once more, because not all keys
// may be asked for, and those without a partner on either side may have the same key, NULL. So the work is two
// group-bys and a join of their groups, however many pairs there are.
type byKey struct {
	sides   [2]*groupby.Layout
	join    *join.Layout // of the groups
	columns []int        // of the joined groups: the keys that are asked for
	rows    [2]int       // columns with numbers of rows of each side; -1 if the output has no rows of it
	values  []value      // of each aggregate, and then the numbers of values of which means are wanted
	schema  *arrow.Schema
	means   []int // by aggregate, the value that has the numbers
}

// value says how an aggregate comes from a joined row of groups.
type value struct {
	fn     groupby.Func // Count, Sum, or an idempotent function
	name   string       // of the values in groups of side; "": all rows are counted
	column int          // of the joined groups; -1: all rows are counted
	side   relation.Side
}

// Columns of groups, whose names no column of a user has.
var rowsName = [2]string{"\x00left rows", "\x00right rows"}

const valueName, numberName = "\x00value ", "\x00number "

// newByKey returns nil for groups that have to come from rows. asked is the specification of the join as it was given.
func newByKey(l *Layout, schemas [2]*arrow.Schema, asked join.Spec) *byKey {
	spec := &l.Join.Spec
	keys := [2][]string{spec.LeftOn, spec.RightOn}
	// A limit of rows, and keys that must be unique, are of rows.
	if len(keys[0]) == 0 || len(l.Groups.Spec.By) == 0 || spec.Validate != join.ManyToMany || spec.MaxOutputRows > 0 {
		return nil
	}
	for _, name := range l.Groups.Spec.By {
		c := l.joined(name)
		if c.Role == join.ValueColumn && !slices.Contains(keys[c.Side], c.Source) {
			return nil
		}
	}
	grouping := l.grouping(keys)
	b := &byKey{means: make([]int, len(l.Groups.Computed))}
	if !b.findValues(l, schemas, &grouping) {
		return nil
	}
	var err error
	for side := range grouping {
		if b.sides[side], err = groupby.NewLayout(schemas[side], grouping[side]); err != nil {
			return nil
		}
	}
	asked.Columns, asked.Order, asked.Deterministic = nil, join.Unordered, false
	if b.join, err = join.NewLayout(b.sides[0].Schema, b.sides[1].Schema, asked); err != nil {
		return nil
	}
	b.findColumns(l)
	return b
}

// joined returns a column of the joined rows.
func (l *Layout) joined(name string) join.OutputColumn {
	return l.Join.Columns[l.Join.Schema.FieldIndices(name)[0]]
}

// grouping returns how each side is grouped by the keys of the join, so far with the number of rows as only aggregate.
func (l *Layout) grouping(keys [2][]string) (sides [2]groupby.Spec) {
	for side := range sides {
		of := &sides[side]
		for _, name := range keys[side] {
			if !slices.Contains(of.By, name) {
				of.By = append(of.By, name)
			}
		}
		of.Algorithm = l.Groups.Spec.Algorithm
		of.Aggregates = []groupby.Aggregate{{Func: groupby.Count, Name: rowsName[side]}}
		if report := l.Groups.Spec.Progress; report != nil {
			of.Progress = func(s join.Progress) {
				s.Phase += ", " + relation.Side(side).String()
				report(s)
			}
		}
	}
	return sides
}

// findValues finds from which aggregates of the sides each aggregate comes, and adds these to grouping. It reports
// false if one has to come from rows.
func (b *byKey) findValues(l *Layout, schemas [2]*arrow.Schema, grouping *[2]groupby.Spec) bool {
	var numbers []value
	for i, a := range l.Groups.Computed {
		v := value{fn: a.Func}
		if a.Column == "" {
			b.values = append(b.values, v)
			continue
		}
		c := l.joined(a.Column)
		if c.Role != join.ValueColumn {
			return false
		}
		v.side, v.name = c.Side, valueName+a.OutputName()
		add := func(fn groupby.Func, name string) {
			grouping[c.Side].Aggregates = append(grouping[c.Side].Aggregates,
				groupby.Aggregate{Func: fn, Column: c.Source, Name: name, Wide: true})
		}
		switch a.Func {
		case groupby.Avg:
			number := value{groupby.Count, numberName + a.OutputName(), -1, c.Side}
			b.means[i], numbers = len(l.Groups.Computed)+len(numbers), append(numbers, number)
			add(groupby.Count, number.name)
			fallthrough
		case groupby.Sum:
			// Products of wider decimals and counts have more than 256 bits.
			if v.fn = groupby.Sum; sourceType(schemas[c.Side], c.Source).ID() == arrow.DECIMAL256 {
				return false
			}
		case groupby.Count:
		default:
			if !a.Func.Idempotent() {
				return false
			}
		}
		add(v.fn, v.name)
		b.values = append(b.values, v)
	}
	b.values = append(b.values, numbers...)
	return true
}

// findColumns finds keys, numbers of rows and values among the columns of the joined groups.
func (b *byKey) findColumns(l *Layout) {
	at := func(is func(join.OutputColumn) bool) int { return slices.IndexFunc(b.join.Columns, is) }
	of := func(side relation.Side, name string) int {
		return at(func(c join.OutputColumn) bool {
			return c.Role == join.ValueColumn && c.Side == side && c.Source == name
		})
	}
	for _, name := range l.Groups.Spec.By {
		c := l.joined(name)
		b.columns = append(b.columns, at(func(other join.OutputColumn) bool { return other == c }))
	}
	for side := range b.rows {
		b.rows[side] = of(relation.Side(side), rowsName[side])
	}
	fields := slices.Clone(l.Groups.Schema.Fields()[:len(b.columns)])
	for i := range b.values {
		v, field := &b.values[i], arrow.Field{Type: arrow.PrimitiveTypes.Int64, Nullable: true}
		if v.column = -1; v.name != "" {
			v.column = of(v.side, v.name)
			field.Type = sourceType(b.sides[v.side].Schema, v.name)
		}
		if field.Name = v.name; i < len(b.means) {
			field.Name = l.Groups.Computed[i].OutputName()
		}
		fields = append(fields, field)
	}
	b.schema = arrow.NewSchema(fields, nil)
}

func sourceType(schema *arrow.Schema, name string) arrow.DataType {
	return schema.Field(schema.FieldIndices(name)[0]).Type
}

// merging are the aggregates of the rows of batches that give the groups of the output, by the columns of b.schema.
func (b *byKey) merging() (all []groupby.Aggregate) {
	for i, v := range b.values {
		name := b.schema.Field(len(b.columns) + i).Name
		if v.fn == groupby.Count {
			v.fn = groupby.Sum
		}
		all = append(all, groupby.Aggregate{Func: v.fn, Column: name, Name: name})
	}
	return all
}

// finish returns the columns of the output of a batch of merged groups, which the caller releases.
func (b *byKey) finish(l *groupby.Layout, merged arrow.RecordBatch) (columns []arrow.Array, err error) {
	for i, column := range merged.Columns()[:l.Schema.NumFields()] {
		a := groupby.Aggregate{}
		if i >= len(b.columns) {
			a = l.Computed[i-len(b.columns)]
		}
		sums, exact := column.(*array.Decimal256)
		switch {
		case a.Func == groupby.Sum && exact:
			column, err = groupby.Narrow(sums, a.Column, l.Input(i-len(b.columns)))
		case a.Func == groupby.Avg:
			counts := merged.Column(len(b.columns) + b.means[i-len(b.columns)])
			column = groupby.Means(column, counts.(*array.Int64))
		default:
			column.Retain()
		}
		if err != nil {
			relation.ReleaseAll(columns)
			return nil, err
		}
		columns = append(columns, column)
	}
	return columns, nil
}

// batches yields, for each batch of joined groups, the keys and the values of the rows that they stand for. rows counts
// these.
func (b *byKey) batches(joined *engine.Result, rows *uint64) func(context.Context) iter.Seq2[
	arrow.RecordBatch, error] {
	return func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) {
			for batch, err := range joined.Batches(ctx) {
				if err == nil {
					batch, err = b.batch(batch, rows)
				}
				if !yield(batch, err) {
					return
				}
			}
		}
	}
}

// batch releases the batch of joined groups.
func (b *byKey) batch(groups arrow.RecordBatch, rows *uint64) (arrow.RecordBatch, error) {
	defer groups.Release()
	var columns []arrow.Array
	for _, c := range b.columns {
		columns = append(columns, groups.Column(c))
	}
	var numbers [2]*array.Int64 // of rows of each side; nil if the output has no rows of it
	for side, c := range b.rows {
		if c >= 0 {
			numbers[side] = groups.Column(c).(*array.Int64)
		}
	}
	for i := range int(groups.NumRows()) {
		n, err := product(numberOf(numbers[0], i, 1), numberOf(numbers[1], i, 1))
		if err != nil {
			return nil, err
		}
		*rows += uint64(n)
	}
	for _, v := range b.values {
		switch v.fn {
		case groupby.Count:
		case groupby.Sum:
			column := multiples(groups.Column(v.column), numbers[1-v.side])
			defer column.Release()
			columns = append(columns, column)
			continue
		default:
			columns = append(columns, groups.Column(v.column))
			continue
		}
		counted, times := numbers[0], numbers[1]
		absent := int64(1)
		if v.column >= 0 { // values that a missing row does not have
			counted, times, absent = groups.Column(v.column).(*array.Int64), numbers[1-v.side], 0
		}
		counts := make([]int64, groups.NumRows())
		for i := range counts {
			var err error
			if counts[i], err = product(numberOf(counted, i, absent), numberOf(times, i, 1)); err != nil {
				return nil, err
			}
		}
		column := relation.FixedArray(arrow.PrimitiveTypes.Int64, len(counts), backend.AsBytes(counts), nil, 0)
		defer column.Release()
		columns = append(columns, column)
	}
	return array.NewRecordBatch(b.schema, columns, groups.NumRows()), nil
}

// multiples returns sums, times the number of rows of the other side. Exact sums are below 2^190 then, because the
// values have at most 128 bits, and a product of rows at most 63.
func multiples(sums arrow.Array, times *array.Int64) arrow.Array {
	if floats, ok := sums.(*array.Float64); ok {
		out := make([]float64, sums.Len())
		for i, v := range floats.Float64Values() {
			out[i] = v * float64(numberOf(times, i, 1))
		}
		return relation.WithNulls(sums, sums.DataType(), backend.AsBytes(out))
	}
	out := make([]decimal256.Num, sums.Len())
	for i, v := range sums.(*array.Decimal256).Values() {
		words, carry, c := v.Array(), uint64(0), uint64(0)
		for w, word := range words { // modulo 2^256, which two's complement allows
			high, low := bits.Mul64(word, uint64(numberOf(times, i, 1)))
			words[w], c = bits.Add64(low, carry, 0)
			carry = high + c
		}
		out[i] = decimal256.New(words[3], words[2], words[1], words[0])
	}
	return relation.WithNulls(sums, sums.DataType(), backend.AsBytes(out))
}

// numberOf returns the number of rows of a side that row i of joined groups stands for, or absent if it has none.
func numberOf(numbers *array.Int64, i int, absent int64) int64 {
	if numbers == nil || numbers.IsNull(i) {
		return absent
	}
	return numbers.Value(i)
}

// product is ErrLimit beyond int64.
func product(n, m int64) (int64, error) {
	high, low := bits.Mul64(uint64(n), uint64(m))
	if high > 0 || low > math.MaxInt64 {
		return 0, errCount
	}
	return int64(low), nil
}

var errCount = &backend.OpError{Op: "group by", Err: backend.ErrLimit,
	Detail: "a group has more than 2^63-1 joined rows, which int64 does not count"}
