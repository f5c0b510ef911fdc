package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// align says on which side of its column a cell stands.
type align uint8

const (
	alignLeft align = iota
	alignRight
)

const columnGap = "  "

// writeTable prints rows of cells in columns. The first row is the head; aligns has one entry for each column.
func writeTable(w io.Writer, aligns []align, rows [][]string) {
	for _, line := range tableLines(aligns, rows) {
		fmt.Fprintln(w, line)
	}
}

func tableLines(aligns []align, rows [][]string) []string {
	widths := make([]int, len(aligns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.TrimRight(tableLine(aligns, widths, row), " ")
	}
	return lines
}

// tableLine pads cells to the widths of their columns; a longer one moves those behind it.
func tableLine(aligns []align, widths []int, row []string) string {
	var b strings.Builder
	for i, cell := range row {
		if i > 0 {
			b.WriteString(columnGap)
		}
		padding := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
		if aligns[i] == alignRight {
			b.WriteString(padding + cell)
		} else {
			b.WriteString(cell + padding)
		}
	}
	return b.String()
}

// printable replaces what would move the cursor or change the terminal by a dot.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsPrint(r) {
			return r
		}
		return '·'
	}, text)
}

// shorten cuts a text to at most width characters.
func shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(width-1, 0)]) + "…"
}

// fold breaks a text at spaces into lines of at most width characters, as far as its words allow.
func fold(text string, width int, lineBreak string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		length := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+length > width:
			b.WriteString(lineBreak)
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += length
	}
	return b.String()
}
