// Package oracle is the simplest join of Arrow tables, of every kind, to compare others with. It uses the types of
// package join but none of its code: it defines independently which rows the output has, where columns come from, and
// which keys are equal. For tests only.
package oracle

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
)

// None is the row number of a side that an output row has no row of.
const None = -1

// Row is a row of the output, by row numbers.
type Row struct {
	Left, Right int  // None if the kind of join returns no row of that side, or there is no partner
	Marked      bool // a partner exists
}

// Join returns the rows of the output, in the order that the specification asks for. If it asks for none, they are in
// the order of the left table, or of the right one in right-semi and right-anti joins. The tables need only the key
// columns.
func Join(left, right arrow.Table, spec join.Spec) (rows []Row) {
	var pairs, keepsLeft, keepsRight bool
	first := relation.Left
	switch spec.How {
	case join.Inner, join.Cross:
		pairs = true
	case join.Left:
		pairs, keepsLeft = true, true
	case join.Right:
		pairs, keepsRight = true, true
	case join.Full:
		pairs, keepsLeft, keepsRight = true, true, true
	case join.Anti, join.Mark, join.NotIn:
		keepsLeft = true
	case join.RightSemi:
		first = relation.Right
	case join.RightAnti:
		first, keepsRight = relation.Right, true
	}
	if spec.Order == join.RightOrder || spec.Order == join.Unordered && spec.Deterministic && spec.How == join.Right {
		first = relation.Right
	}
	keeps := [2]bool{keepsLeft, keepsRight}
	add := func(side relation.Side, this, other int, marked bool) {
		if side == relation.Right {
			this, other = other, this
		}
		rows = append(rows, Row{this, other, marked})
	}
	partners := partnersOf(left, right, spec)
	if spec.How == join.NotIn {
		return notIn(keysOf(left, right, spec), partners[relation.Left])
	}
	for i, found := range partners[first] {
		switch {
		case len(found) == 0:
			if keeps[first] {
				add(first, i, None, false)
			}
		case pairs:
			for _, j := range found {
				add(first, i, j, true)
			}
		case spec.How == join.Semi, spec.How == join.RightSemi, spec.How == join.Mark:
			add(first, i, None, true)
		}
	}
	for j, found := range partners[1-first] { // rows without a partner come last
		if keeps[1-first] && len(found) == 0 {
			add(1-first, j, None, false)
		}
	}
	return rows
}

// notIn returns the left rows for which each comparison with a right key is known to be false, as defined by SQL.
func notIn(keys [2][]string, partners [][]int) (rows []Row) {
	for i, key := range keys[relation.Left] {
		unknown := slices.Contains(keys[relation.Right], "") || key == "" && len(keys[relation.Right]) > 0
		if !unknown && len(partners[i]) == 0 {
			rows = append(rows, Row{i, None, false})
		}
	}
	return rows
}

// partnersOf returns, for each row of each side, the rows of the other side with the same key.
func partnersOf(left, right arrow.Table, spec join.Spec) (partners [2][][]int) {
	keys := keysOf(left, right, spec)
	for side := range keys {
		rows := make(map[string][]int)
		for j, key := range keys[1-side] {
			if key != "" {
				rows[key] = append(rows[key], j)
			}
		}
		partners[side] = make([][]int, len(keys[side]))
		for i, key := range keys[side] {
			partners[side][i] = rows[key]
		}
	}
	return partners
}

// keysOf returns the key of each row of both sides as text; "" if a part of it is NULL and NULL equals nothing. In a
// cross join all keys are equal.
func keysOf(left, right arrow.Table, spec join.Spec) (keys [2][]string) {
	on := [2][]string{spec.LeftOn, spec.RightOn}
	if len(spec.On) > 0 {
		on = [2][]string{spec.On, spec.On}
	}
	for side, table := range [2]arrow.Table{left, right} {
		keys[side] = slices.Repeat([]string{"key"}, int(table.NumRows()))
		for k, name := range on[side] {
			nullsEqual := slices.Contains(spec.NullsEqual, on[relation.Left][k])
			for i, value := range Cells(table, name) {
				switch {
				case nullsEqual && value == null && keys[side][i] != "":
					keys[side][i] += "\x00" + null
				case keys[side][i] == "" || value == null:
					keys[side][i] = ""
				case value == "-0":
					keys[side][i] += "\x00" + "0"
				default:
					keys[side][i] += "\x00" + value
				}
			}
		}
	}
	return keys
}

// Valid reports whether the keys of both sides are as unique as Validate requires.
func Valid(left, right arrow.Table, spec join.Spec) bool {
	unique := [2]bool{spec.Validate == join.OneToOne || spec.Validate == join.OneToMany,
		spec.Validate == join.OneToOne || spec.Validate == join.ManyToOne}
	for side, keys := range keysOf(left, right, spec) {
		seen := make(map[string]bool)
		for _, key := range keys {
			if unique[side] && key != "" && seen[key] {
				return false
			}
			seen[key] = true
		}
	}
	return true
}

// Texts formats the rows of the output, in the order of [Join], with the columns of the layout. The tables need the
// columns that the layout uses.
func Texts(left, right arrow.Table, l *join.Layout) []string {
	texts := []string{}
	for _, row := range joinedCells(left, right, l) {
		texts = append(texts, strings.Join(row, "|"))
	}
	return texts
}

// joinedCells are the rows of [Texts], column by column.
func joinedCells(left, right arrow.Table, l *join.Layout) (texts [][]string) {
	tables, cells := [2]arrow.Table{left, right}, [2]map[string][]string{{}, {}}
	cell := func(side int, name string, row int) string {
		if row == None {
			return null
		}
		if cells[side][name] == nil {
			cells[side][name] = Cells(tables[side], name)
		}
		return cells[side][name][row]
	}
	for _, row := range Join(left, right, l.Spec) {
		rows := [2]int{row.Left, row.Right}
		fields := make([]string, 0, len(l.Columns))
		for _, c := range l.Columns {
			var field string
			switch c.Role {
			case join.ValueColumn:
				field = cell(int(c.Side), c.Source, rows[c.Side])
			case join.KeyColumn: // of the left row, except in right joins and for right rows without a left row
				if l.Spec.How == join.Right || row.Left == None {
					field = cell(1, c.Other, row.Right)
				} else {
					field = cell(0, c.Source, row.Left)
				}
			case join.IndicatorColumn:
				field = `"both"`
				if row.Right == None {
					field = `"left_only"`
				} else if row.Left == None {
					field = `"right_only"`
				}
			case join.MarkColumn:
				field = strconv.FormatBool(row.Marked)
			}
			fields = append(fields, field)
		}
		texts = append(texts, fields)
	}
	return texts
}

// BatchTexts formats the rows of record batches in the same way.
func BatchTexts(batches []arrow.RecordBatch) []string {
	texts, text := []string{}, []byte{}
	for _, batch := range batches {
		for i := range int(batch.NumRows()) {
			text = text[:0]
			for c, column := range batch.Columns() {
				if c > 0 {
					text = append(text, '|')
				}
				text = appendCell(text, column, i)
			}
			texts = append(texts, string(text))
		}
	}
	return texts
}

// Require compares the output of a join with the oracle's: the rows, their order if the specification of the layout
// asks for one, and the schema. No column may hold a NULL that its field forbids.
func Require(t testing.TB, left, right arrow.Table, l *join.Layout, batches []arrow.RecordBatch) {
	t.Helper()
	for _, batch := range batches {
		require.True(t, batch.Schema().Equal(l.Schema), "%s, not %s", batch.Schema(), l.Schema)
		for i, column := range batch.Columns() {
			field := l.Schema.Field(i)
			require.True(t, field.Nullable || column.NullN() == 0, "%s has NULLs", field)
		}
	}
	want, got := Texts(left, right, l), BatchTexts(batches)
	if l.Spec.Order == join.Unordered {
		slices.Sort(want)
		slices.Sort(got)
	}
	if !slices.Equal(want, got) { // reflection takes many times as long
		require.Equal(t, want, got)
	}
}

// Pairs returns the rows of an inner join as pairs of row numbers, sorted by the left one and then by the right one.
func Pairs(left, right arrow.Table, spec join.Spec) [][2]uint32 {
	pairs := [][2]uint32{}
	for _, row := range Join(left, right, spec) {
		pairs = append(pairs, [2]uint32{uint32(row.Left), uint32(row.Right)})
	}
	slices.SortFunc(pairs, func(a, b [2]uint32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return pairs
}
