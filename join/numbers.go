package join

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/relation"
)

// NumberColumn is the name of a column that rows of a divided join have beside their own: the number of the row in its
// source. No column of a user has this name.
const NumberColumn = "\x00row"

// NumberField is the field of the column NumberColumn.
var NumberField = arrow.Field{Name: NumberColumn, Type: arrow.PrimitiveTypes.Int64}

// Numbered returns the layout and the form of the parts of a divided join. Rows bring their numbers along where pairs of
// them are wanted, where an error names the rows whose keys should be unique, and where the output is to be in their
// order: then the output has them, too, as its last columns. Pairs are rows of two number columns.
func (l *Layout) Numbered(of Form) (*Layout, Form) {
	n, form := *l, of
	form.Order = Unordered
	for side := range n.Needed {
		side := relation.Side(side)
		orders := of.Ordered() && of.How.Has(side)
		wanted := of.Output == Pairs || l.Spec.Validate.Unique(side) || orders
		if orders && of.Output == Rows {
			field := NumberField
			field.Nullable = of.How.Optional(side)
			n.Schema = arrow.NewSchema(append(slices.Clone(n.Schema.Fields()), field), nil)
			n.Columns = append(slices.Clone(n.Columns), OutputColumn{Role: ValueColumn, Side: side, Source: NumberColumn})
		}
		if wanted && !slices.Contains(l.Needed[side], NumberColumn) {
			n.Needed[side] = append(slices.Clone(l.Needed[side]), NumberColumn)
		}
	}
	if of.Output == Pairs {
		form.Output = Rows
		n.Columns, n.Schema = nil, arrow.NewSchema([]arrow.Field{NumberField, NumberField}, nil)
		for _, side := range []relation.Side{relation.Left, relation.Right} {
			n.Columns = append(n.Columns, OutputColumn{Role: ValueColumn, Side: side, Source: NumberColumn})
		}
	}
	return &n, form
}
