package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Align says on which side of its column a cell is aligned.
type Align uint8

const (
	Left Align = iota
	Right
)

const (
	// Gap separates two columns.
	Gap = "  "
	// ReportColumns is the maximum width of reports in characters.
	ReportColumns = 100
	// NumberColumns is the maximum width of the texts of Duration and Rate.
	NumberColumns = 9
)

// WriteTable prints rows of cells in columns. The first row is the header; aligns has one entry per column. It ignores
// errors of w: a writer that can fail must remember them itself.
func WriteTable(w io.Writer, aligns []Align, rows [][]string) {
	for _, line := range TableLines(aligns, rows) {
		fmt.Fprintln(w, line)
	}
}

// TableLines returns the lines of WriteTable, one per row, without trailing spaces.
func TableLines(aligns []Align, rows [][]string) []string {
	widths := make([]int, len(aligns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.TrimRight(TableLine(aligns, widths, row), " ")
	}
	return lines
}

// TableLine pads the cells of one row to the widths of their columns, for tables whose rows come one at a time. A
// longer cell shifts the cells after it.
func TableLine(aligns []Align, widths []int, row []string) string {
	var b strings.Builder
	for i, cell := range row {
		if i > 0 {
			b.WriteString(Gap)
		}
		padding := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
		if aligns[i] == Right {
			b.WriteString(padding + cell)
		} else {
			b.WriteString(cell + padding)
		}
	}
	return b.String()
}
