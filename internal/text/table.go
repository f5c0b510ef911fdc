package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Align says on which side of its column a cell stands.
type Align uint8

const (
	Left Align = iota
	Right
)

const (
	// Gap stands between two columns.
	Gap = "  "
	// ReportColumns is the width that reports are made for.
	ReportColumns = 100
	// NumberColumns is the width of what Duration and Rate write.
	NumberColumns = 9
)

// WriteTable prints rows of cells in columns. The first row is the head; aligns has one entry for each column. Errors
// of w are lost: a writer that can fail remembers them itself.
func WriteTable(w io.Writer, aligns []Align, rows [][]string) {
	for _, line := range TableLines(aligns, rows) {
		fmt.Fprintln(w, line)
	}
}

// TableLines returns the lines of WriteTable, one for each row, without spaces at their ends.
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

// TableLine pads the cells of one row to the widths of their columns, for tables whose rows come one at a time; a
// longer cell moves those behind it.
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
