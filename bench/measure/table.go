package measure

import (
	"unicode/utf8"

	"github.com/spirjoin/spirjoin/internal/text"
)

// Column is a column of a [Table] of results.
type Column[R any] struct {
	Head  string
	Width int // of the widest cell; the head may be wider
	Align text.Align
	Known bool // of a skipped result, too; such columns come first
	Cell  func(R) string
}

// Fitting returns the column with room for these cells.
func (c Column[R]) Fitting(cells ...string) Column[R] {
	for _, cell := range cells {
		c.Width = max(c.Width, utf8.RuneCountInString(cell))
	}
	return c
}

// Number is a column of durations or rates.
func Number[R any](head string, cell func(R) string) Column[R] {
	return Column[R]{Head: head, Width: text.NumberColumns, Align: text.Right, Cell: cell}
}

// TimeColumns are the median, the least and the greatest time.
func TimeColumns[R any](times func(R) Summary) []Column[R] {
	return []Column[R]{
		Number("MEDIAN", func(r R) string { return text.Duration(times(r).Median) }),
		Number("MIN", func(r R) string { return text.Duration(times(r).Min) }),
		Number("MAX", func(r R) string { return text.Duration(times(r).Max) }),
	}
}

// Table prints results line by line: its widths are known before the first.
type Table[R any] struct {
	columns []Column[R]
	aligns  []text.Align
	widths  []int
}

// NewTable returns a table with these columns.
func NewTable[R any](columns ...Column[R]) *Table[R] {
	t := &Table[R]{columns: columns}
	for _, c := range columns {
		c = c.Fitting(c.Head)
		t.aligns, t.widths = append(t.aligns, c.Align), append(t.widths, c.Width)
	}
	return t
}

// Head is the line above the results.
func (t *Table[R]) Head() string {
	var heads []string
	for _, c := range t.columns {
		heads = append(heads, c.Head)
	}
	return text.TableLine(t.aligns, t.widths, heads)
}

// Line is the line of a result, with the details, if any, below it. A result that was skipped has the reason instead.
func (t *Table[R]) Line(r R, skipped error, details string) string {
	var cells []string
	for _, c := range t.columns {
		if skipped == nil || c.Known {
			cells = append(cells, c.Cell(r))
		}
	}
	n := len(cells)
	line := text.TableLine(t.aligns[:n], t.widths[:n], cells)
	switch {
	case skipped != nil:
		line += text.Gap + "skipped: " + text.OneLine(skipped.Error())
	case details != "":
		line += "\n   " + text.Fold(details, text.ReportColumns-4, "\n   ")
	}
	return line
}
