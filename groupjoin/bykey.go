package groupjoin

import (
	"context"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
)

// byKey is the way of groups by keys of the join that are counted, or of which least and greatest values are wanted. It
// groups each side by the keys first, and joins the groups. n left rows and m right rows of a key are one row, which
// stands for n·m joined rows:
//
//	left   k n     right   k m     inner   k count     left   k count
//	       1 3             1 2             1   6              1   6
//	       2 1             3 5                                2   1
//
// The join sees each key once a side, and matches NULL as the join of the rows does. What rows of a key have in common,
// as whether they have a partner, their group has too. The joined groups are grouped once more, because not all keys
// may be asked for, and those without a partner on either side may have the same key, NULL. So the work is that of two
// group-bys and of a join of their groups, however many pairs there are.
type byKey struct {
	sides   [2]*groupby.Layout
	join    *join.Layout // of the groups
	columns []int        // of the joined groups: the keys that are asked for
	rows    [2]int       // columns with numbers of rows of each side; -1 if the output has no rows of it
	values  []value      // of each aggregate
}

// value says how an aggregate comes from a joined row of groups.
type value struct {
	count  bool // it is a number of rows or values; otherwise it is the value of the column
	column int  // values that are counted or returned, of rows of side; -1: all rows are counted
	side   relation.Side
}

// Columns of groups, whose names no column of a user has.
var rowsName = [2]string{"\x00left rows", "\x00right rows"}

const valueName = "\x00value "

// newByKey returns nil for groups that have to come from rows. asked is the specification of the join as it was given.
func newByKey(l *Layout, schemas [2]*arrow.Schema, asked join.Spec) *byKey {
	spec := &l.Join.Spec
	keys := [2][]string{spec.LeftOn, spec.RightOn}
	isKey := func(c join.OutputColumn) bool {
		return c.Role != join.ValueColumn || slices.Contains(keys[c.Side], c.Source)
	}
	// A limit of rows, and keys that must be unique, are of rows.
	if len(keys[0]) == 0 || len(l.Groups.Spec.By) == 0 || spec.Validate != join.ManyToMany || spec.MaxOutputRows > 0 {
		return nil
	}
	columnOf := func(name string) join.OutputColumn { return l.Join.Columns[l.Join.Schema.FieldIndices(name)[0]] }
	var grouping [2]groupby.Spec
	for side := range grouping {
		for _, name := range keys[side] {
			if !slices.Contains(grouping[side].By, name) {
				grouping[side].By = append(grouping[side].By, name)
			}
		}
		grouping[side].Algorithm = l.Groups.Spec.Algorithm
		grouping[side].Aggregates = []groupby.Aggregate{{Func: groupby.Count, Name: rowsName[side]}}
		if report := l.Groups.Spec.Progress; report != nil {
			grouping[side].Progress = func(s join.Progress) {
				s.Phase += ", " + relation.Side(side).String()
				report(s)
			}
		}
	}
	for _, name := range l.Groups.Spec.By {
		if !isKey(columnOf(name)) {
			return nil
		}
	}
	b := &byKey{}
	var names []string // of values
	for _, a := range l.Groups.Spec.Aggregates {
		counts := a.Func == groupby.Count
		if !counts && a.Func != groupby.Min && a.Func != groupby.Max {
			return nil
		}
		v, name := value{count: counts}, ""
		if a.Column != "" {
			c := columnOf(a.Column)
			if c.Role != join.ValueColumn {
				return nil
			}
			v.side, name = c.Side, valueName+a.OutputName()
			grouping[c.Side].Aggregates = append(grouping[c.Side].Aggregates,
				groupby.Aggregate{Func: a.Func, Column: c.Source, Name: name})
		}
		b.values, names = append(b.values, v), append(names, name)
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
	at := func(is func(join.OutputColumn) bool) int { return slices.IndexFunc(b.join.Columns, is) }
	of := func(side relation.Side, name string) int {
		return at(func(c join.OutputColumn) bool {
			return c.Role == join.ValueColumn && c.Side == side && c.Source == name
		})
	}
	for _, name := range l.Groups.Spec.By {
		c := columnOf(name)
		b.columns = append(b.columns, at(func(other join.OutputColumn) bool { return other == c }))
	}
	for side := range b.rows {
		b.rows[side] = of(relation.Side(side), rowsName[side])
	}
	for i, name := range names {
		if b.values[i].column = -1; name != "" {
			b.values[i].column = of(b.values[i].side, name)
		}
	}
	return b
}

// batches yields, for each batch of joined groups, the keys and the values of the rows that they stand for. rows counts
// these.
func (b *byKey) batches(joined *join.Result, schema *arrow.Schema, rows *uint64) func(context.Context) iter.Seq2[
	arrow.RecordBatch, error] {
	return func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) {
			for batch, err := range joined.Batches(ctx) {
				if err == nil {
					batch, err = b.batch(batch, schema, rows)
				}
				if !yield(batch, err) {
					return
				}
			}
		}
	}
}

// batch releases the batch of joined groups.
func (b *byKey) batch(groups arrow.RecordBatch, schema *arrow.Schema, rows *uint64) (arrow.RecordBatch, error) {
	defer groups.Release()
	var columns []arrow.Array
	for _, c := range b.columns {
		columns = append(columns, groups.Column(c))
	}
	numbers := [2]multiplicity{b.numbers(groups, relation.Left), b.numbers(groups, relation.Right)}
	for i := range int(groups.NumRows()) {
		n, err := product(numbers[0].of(i, 1), numbers[1].of(i, 1))
		if err != nil {
			return nil, err
		}
		*rows += uint64(n)
	}
	for _, v := range b.values {
		if !v.count {
			columns = append(columns, groups.Column(v.column))
			continue
		}
		counted, times := numbers[0], numbers[1]
		absent := int64(1)
		if v.column >= 0 { // values that a missing row does not have
			counted.counts, times, absent = groups.Column(v.column).(*array.Int64), numbers[1-v.side], 0
		}
		counts := make([]int64, groups.NumRows())
		for i := range counts {
			var err error
			if counts[i], err = product(counted.of(i, absent), times.of(i, 1)); err != nil {
				return nil, err
			}
		}
		data := array.NewData(arrow.PrimitiveTypes.Int64, len(counts),
			[]*memory.Buffer{nil, memory.NewBufferBytes(backend.AsBytes(counts))}, nil, 0, 0)
		column := array.NewInt64Data(data)
		data.Release()
		defer column.Release()
		columns = append(columns, column)
	}
	return array.NewRecordBatch(schema, columns, groups.NumRows()), nil
}

// multiplicity is how many rows of a side a joined row of groups stands for.
type multiplicity struct{ counts *array.Int64 }

func (b *byKey) numbers(groups arrow.RecordBatch, side relation.Side) (m multiplicity) {
	if c := b.rows[side]; c >= 0 {
		m.counts = groups.Column(c).(*array.Int64)
	}
	return m
}

// of returns the number of row i, or absent if it has no rows of the side.
func (m multiplicity) of(i int, absent int64) int64 {
	if m.counts == nil || m.counts.IsNull(i) {
		return absent
	}
	return m.counts.Value(i)
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
