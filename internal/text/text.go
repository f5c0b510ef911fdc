// Package text formats text for people: numbers with units, tables, and lines that fit a terminal. It also suggests the
// name that was meant. No function fails or keeps state; all are safe for concurrent use.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable replaces characters that would move the cursor or change the terminal by a dot.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsPrint(r) {
			return r
		}
		return '·'
	}, s)
}

// OneLine joins lines with "; " and makes the rest printable, because errors may quote names from a file.
func OneLine(s string) string {
	return Printable(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}

// Shorten cuts s to at most width characters, the last one an ellipsis.
func Shorten(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:max(width-1, 0)]) + "…"
}

// Fold breaks s at spaces into lines of at most width characters, as far as its words allow. Runs of spaces become one.
func Fold(s string, width int, lineBreak string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(s) {
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
