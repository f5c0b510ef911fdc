package oracle

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/join"
)

// Groups returns the output of a group-by of a table, row by row: the key columns and then the aggregates, as [Cell]
// formats them. Rows are in ascending order of the texts of their keys.
func Groups(table arrow.Table, spec groupby.Spec) (rows [][]string) {
	cells := make(map[string][]string)
	for _, name := range spec.By {
		cells[name] = Cells(table, name)
	}
	for _, a := range spec.Aggregates {
		if a.Column != "" {
			cells[a.Column] = Cells(table, a.Column)
		}
	}
	return GroupsOf(int(table.NumRows()), cells, spec)
}

// JoinedGroups is [Groups] of the rows that [Texts] formats, in their order.
func JoinedGroups(left, right arrow.Table, l *join.Layout, spec groupby.Spec) [][]string {
	rows, cells := joinedCells(left, right, l), make(map[string][]string)
	for i, field := range l.Schema.Fields() {
		for _, row := range rows {
			cells[field.Name] = append(cells[field.Name], row[i])
		}
	}
	return GroupsOf(len(rows), cells, spec)
}

// GroupsOf is [Groups] of a number of rows, whose columns are given by name, as [Cell] formats them.
func GroupsOf(number int, cells map[string][]string, spec groupby.Spec) (rows [][]string) {
	members := make(map[string][]int)
	if len(spec.By) == 0 {
		members[""] = nil
	}
	for i := range number {
		key := ""
		for _, name := range spec.By {
			key += strings.ReplaceAll("\x00"+cells[name][i]+"\x00", "\x00-0\x00", "\x000\x00")
		}
		members[key] = append(members[key], i)
	}
	for _, of := range members {
		var row []string
		for _, name := range spec.By {
			row = append(row, strings.Replace(cells[name][of[0]], "-0", "0", btoi(cells[name][of[0]] == "-0")))
		}
		for _, a := range spec.Aggregates {
			row = append(row, aggregate(a, cells[a.Column], of))
		}
		rows = append(rows, row)
	}
	sortRows(rows)
	return rows
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func sortRows(rows [][]string) { slices.SortFunc(rows, slices.Compare[[]string]) }

// aggregate computes one aggregate of the rows of a group.
func aggregate(a groupby.Aggregate, cells []string, rows []int) string {
	if a.Column == "" {
		return strconv.Itoa(len(rows))
	}
	if a.Func == groupby.First {
		if len(rows) == 0 {
			return null
		}
		return cells[rows[0]]
	}
	var values []string
	different := make(map[string]bool)
	for _, i := range rows {
		if cells[i] != null {
			values = append(values, cells[i])
			different[strings.Replace(cells[i], "-0", "0", btoi(cells[i] == "-0"))] = true
		}
	}
	switch {
	case a.Func == groupby.Count:
		return strconv.Itoa(len(values))
	case a.Func == groupby.CountDistinct:
		return strconv.Itoa(len(different))
	case len(values) == 0, (a.Func == groupby.Var || a.Func == groupby.Stddev) && len(values) < 2:
		return null
	case a.Func == groupby.Min, a.Func == groupby.Max:
		slices.SortStableFunc(values, compareCells)
		if a.Func == groupby.Min {
			return values[0]
		}
		return values[len(values)-1]
	}
	sum, special := new(big.Rat), 0.0
	for _, v := range values {
		if number, ok := new(big.Rat).SetString(v); ok {
			sum.Add(sum, number)
		} else {
			f, _ := strconv.ParseFloat(v, 64)
			special += f
		}
	}
	if special != 0 {
		if a.Func == groupby.Var || a.Func == groupby.Stddev {
			special = math.NaN()
		}
		return floatText(special)
	}
	n := new(big.Rat).SetInt64(int64(len(values)))
	if a.Func == groupby.Sum {
		return sum.RatString()
	}
	mean := new(big.Rat).Quo(sum, n)
	if a.Func == groupby.Avg {
		return mean.RatString()
	}
	squares := new(big.Rat)
	for _, v := range values {
		number, _ := new(big.Rat).SetString(v)
		number.Sub(number, mean)
		squares.Add(squares, number.Mul(number, number))
	}
	squares.Quo(squares, n.Sub(n, new(big.Rat).SetInt64(1)))
	if a.Func == groupby.Var {
		return squares.RatString()
	}
	f, _ := squares.Float64()
	return floatText(math.Sqrt(f))
}

// compareCells orders numbers by value, false before true, NaN last, and texts by their bytes.
func compareCells(a, b string) int {
	if strings.HasPrefix(a, `"`) {
		x, _ := strconv.Unquote(a)
		y, _ := strconv.Unquote(b)
		return strings.Compare(x, y)
	}
	x, number := new(big.Rat).SetString(a)
	y, also := new(big.Rat).SetString(b)
	if number && also {
		return x.Cmp(y)
	}
	if a == "true" || a == "false" {
		return strings.Compare(a, b)
	}
	rank := func(text string) int {
		return map[string]int{"-Inf": -1, "+Inf": 1, "NaN": 2}[text]
	}
	return rank(a) - rank(b)
}

// RequireGroups compares the output of a group-by with [Groups]: the rows in any order, floats of sums, means and
// variances up to a relative error of 1e-9, and the schema. No column may hold a NULL that its field forbids.
func RequireGroups(t testing.TB, table arrow.Table, l *groupby.Layout, batches []arrow.RecordBatch) {
	t.Helper()
	RequireRows(t, Groups(table, l.Spec), l, batches)
}

// RequireJoinedGroups compares the output of a group-by of joined rows with [JoinedGroups], as RequireGroups does.
func RequireJoinedGroups(t testing.TB, left, right arrow.Table, of *join.Layout, l *groupby.Layout,
	batches []arrow.RecordBatch) {
	t.Helper()
	RequireRows(t, JoinedGroups(left, right, of, l.Spec), l, batches)
}

// RequireRows is RequireGroups with the rows that the output must have, which [Groups] or [JoinedGroups] returned.
func RequireRows(t testing.TB, want [][]string, l *groupby.Layout, batches []arrow.RecordBatch) {
	t.Helper()
	require.Empty(t, Differ(want, l, batches))
}

// Differ says how batches differ from the rows that the output must have; "" if they do not.
func Differ(want [][]string, l *groupby.Layout, batches []arrow.RecordBatch) string {
	got := [][]string{}
	for _, batch := range batches {
		if !batch.Schema().Equal(l.Schema) {
			return fmt.Sprintf("%s, not %s", batch.Schema(), l.Schema)
		}
		for i, column := range batch.Columns() {
			if !l.Schema.Field(i).Nullable && column.NullN() > 0 {
				return fmt.Sprintf("%s has NULLs", l.Schema.Field(i))
			}
		}
		for i := range int(batch.NumRows()) {
			var row []string
			for c, column := range batch.Columns() {
				cell := Cell(column, i)
				if c < len(l.Spec.By) && cell == "-0" {
					cell = "0"
				}
				row = append(row, cell)
			}
			got = append(got, row)
		}
	}
	sortRows(got)
	for i := range min(len(want), len(got)) {
		for c, cell := range want[i] {
			field := l.Schema.Field(c)
			if cell != got[i][c] && !(c >= len(l.Spec.By) && near(field.Type, cell, got[i][c])) {
				return fmt.Sprintf("%d rows, want %d; row %d is %q, want %q; column %s", len(got), len(want), i, got[i], want[i],
					field.Name)
			}
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d rows, want %d", len(got), len(want))
	}
	return ""
}

// near reports whether two texts of floats are close, or are zeros.
func near(t arrow.DataType, a, b string) bool {
	if t.ID() != arrow.FLOAT64 {
		return a == "-0" && b == "0" || a == "0" && b == "-0"
	}
	value := func(text string) float64 {
		if r, ok := new(big.Rat).SetString(text); ok {
			f, _ := r.Float64()
			return f
		}
		return math.NaN()
	}
	x, y := value(a), value(b)
	return math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y), 1e-6)
}
