// Package groupjoin joins two sides and groups the joined rows, without ever having all of them. Rows are grouped on
// the devices that join them, or go from the join to a group-by batch by batch, with the columns that it needs. Where
// counts, sums, means, least and greatest values are asked for by the keys of the join, no pair of rows is made at all.
// docs/groupby.md describes the ways.
package groupjoin

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
)

// Layout is what schemas make of a join and a group-by of its rows.
type Layout struct {
	// Join is the join. Its output has the columns that the group-by needs; if it needs none, the join only counts
	// rows.
	Join   *join.Layout
	Groups *groupby.Layout // of the joined rows; its schema is the schema of the output

	windows *groupby.Windows // how the rows are grouped on the devices that join them; nil if they come to the host

	byKey *byKey          // how the groups come from groups of both sides; nil if they come from rows
	sums  *groupby.Layout // of counts instead of rows, one for each aggregate, named as its output; may be nil
}

// NewLayout derives the columns of the output, and the input columns that it needs. The group-by names columns as the
// output of the join does, with suffixes and merged keys. The join must specify no Columns, and rows as its output.
//
// Errors: as for [join.NewLayout] and [groupby.NewLayout].
func NewLayout(left, right *arrow.Schema, spec join.Spec, groups groupby.Spec) (*Layout, error) {
	if err := groups.Check(); err != nil {
		return nil, err
	}
	if spec.Columns != nil || spec.Output != join.Rows {
		return nil, fmt.Errorf("%w: join: a group-by chooses the columns and needs rows; leave out columns and output",
			backend.ErrInvalidInput)
	}
	spec.Columns = []string{}
	add := func(name string) {
		if !slices.Contains(spec.Columns, name) {
			spec.Columns = append(spec.Columns, name)
		}
	}
	for _, name := range groups.By {
		add(name)
	}
	for _, a := range groups.Aggregates {
		if a.Column != "" {
			add(a.Column)
		}
	}
	l, err := new(Layout), error(nil)
	if l.Join, err = join.NewLayout(left, right, spec); err != nil {
		return nil, err
	}
	if l.Groups, err = groupby.NewLayout(l.Join.Schema, groups); err != nil {
		return nil, err
	}
	if len(spec.Columns) == 0 {
		spec.Columns, spec.Output = nil, join.Count
		if l.Join, err = join.NewLayout(left, right, spec); err != nil {
			return nil, err
		}
		l.sums, err = l.sumLayout()
		return l, err
	}
	if spec.Strategy != join.StrategyHMG && spec.Materialize != join.MaterializeHost {
		l.windows = groupby.NewWindows(l.Groups, l.origin)
	}
	if l.byKey = newByKey(l, [2]*arrow.Schema{left, right}, spec); l.byKey != nil {
		l.sums, err = l.sumLayout()
	}
	return l, err
}

// origin returns where a column of the joined rows comes from.
func (l *Layout) origin(name string) groupby.Origin {
	c := l.joined(name)
	o := groupby.Origin{First: c.Side, Role: map[join.Role]deliver.Role{join.IndicatorColumn: deliver.Indicator,
		join.MarkColumn: deliver.Mark}[c.Role]}
	for side := range o.Of {
		if of, some := c.In(relation.Side(side)); some && c.GivenBy(relation.Side(side), l.Join.Spec.How) {
			o.Of[side] = of
		}
	}
	return o
}

// ofRows returns the layout without groups of both sides: rows are joined, and grouped.
func (l *Layout) ofRows() *Layout {
	rows := *l
	rows.byKey, rows.sums = nil, nil
	return &rows
}

// ByKey reports whether both sides are grouped first, each as it is read, and their groups are joined instead of rows.
func (l *Layout) ByKey() bool { return l.byKey != nil }

// sumLayout is the layout of the group-by of rows that stand for several joined rows each: their counts are added.
// Columns are named as in the output.
func (l *Layout) sumLayout() (*groupby.Layout, error) {
	spec, schema := l.Groups.Spec, l.Groups.Schema
	if l.byKey != nil {
		spec.Aggregates, schema = l.byKey.merging(), l.byKey.schema
		return groupby.NewLayout(schema, spec)
	}
	spec.Aggregates = nil
	for _, a := range l.Groups.Spec.Aggregates { // counts of all rows
		spec.Aggregates = append(spec.Aggregates,
			groupby.Aggregate{Func: groupby.Sum, Column: a.OutputName(), Name: a.OutputName()})
	}
	return groupby.NewLayout(schema, spec)
}
