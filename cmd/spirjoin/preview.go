package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/relation"
)

const (
	previewRows      = 20
	previewCellWidth = 40
)

// previewLayout is the layout of a join of files with as many columns as their names fit the terminal, at least one.
// The other columns are not read. names are the names of all columns.
func (s session) previewLayout(layout *spirjoin.JoinLayout, spec spirjoin.JoinSpec, pair *files.Pair) (
	_ *spirjoin.JoinLayout, names []string, err error) {
	width, fit := 0, 0
	for i, field := range layout.Schema.Fields() {
		names = append(names, field.Name)
		width += utf8.RuneCountInString(headText(field.Name)) + len(text.Gap)
		if i == 0 || width-len(text.Gap) <= s.StdoutColumns() {
			fit = i + 1
		}
	}
	spec.Columns = names[:fit]
	layout, err = pair.Layout(spec)
	return layout, names, err
}

// preview prints the first rows of the output, of all columns named as many as the terminal is wide. It returns the
// number of rows of the output, for which count is called where the result does not know it by then.
func (s session) preview(ctx context.Context, result *spirjoin.JoinResult, names []string, progress *command.Progress,
	count func() (uint64, error)) (total uint64, err error) {
	var rows [][]string
	if result.Rows() > 0 {
		counted := func() bool { return true } // below
		if rows, _, err = firstRows(ctx, result, previewRows, counted); err != nil {
			return 0, err
		}
	}
	if total = result.Rows(); !result.Counted() {
		result.Close() // its memory is the count's then
		if total, err = count(); err != nil {
			return 0, err
		}
	}
	progress.ClearLine()
	s.writePreview(result.Schema(), names, rows, total)
	return total, nil
}

// countRows runs a join of tables for the number of its rows alone.
func countRows(ctx context.Context, engine *spirjoin.Engine, spec spirjoin.JoinSpec, tables [2]arrow.Table) (uint64, error) {
	spec.Output, spec.Columns = spirjoin.Count, nil
	result, err := engine.Join(ctx, tables[0], tables[1], spec)
	if err != nil {
		return 0, err
	}
	defer result.Close()
	return result.Rows(), nil
}

// firstRows draws at most limit rows, as text. It draws the other rows, too, until their number is known. It returns how
// many rows it drew.
func firstRows(ctx context.Context, result files.Drawn, limit int, counted func() bool) (rows [][]string, total uint64,
	err error) {
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			return nil, 0, err
		}
		for i := 0; i < int(batch.NumRows()) && len(rows) < limit; i++ {
			row := make([]string, batch.NumCols())
			for c, column := range batch.Columns() {
				row[c] = cellText(column, i)
			}
			rows = append(rows, row)
		}
		total += uint64(batch.NumRows())
		batch.Release()
		if len(rows) == limit && counted() {
			break
		}
	}
	if ctx.Err() != nil {
		return nil, 0, backend.ContextError(ctx)
	}
	return rows, total, nil
}

func cellText(column arrow.Array, row int) string {
	return text.Shorten(text.Printable(relation.ValueText(column, row)), previewCellWidth)
}

func headText(name string) string { return text.Shorten(text.Printable(name), previewCellWidth) }

// writePreview prints the first rows and the number of all rows. names are the names of all columns; the schema has the
// first of them.
func (s session) writePreview(schema *arrow.Schema, names []string, rows [][]string, total uint64) {
	writeRows(s.Stdout, s.StdoutColumns(), schema, names, rows)
	if shown := uint64(len(rows)); shown < total {
		fmt.Fprintf(s.Stdout, "%d of %s rows; --output FILE writes them all\n", shown, text.Count(total))
	} else {
		fmt.Fprintln(s.Stdout, text.Plural(total, "row"))
	}
}

// writeRows prints rows of the columns of a schema, which are the first of those named.
func writeRows(w io.Writer, columns int, schema *arrow.Schema, names []string, rows [][]string) {
	head := make([]string, len(names))
	for i, name := range names {
		head[i] = headText(name)
	}
	aligns := make([]text.Align, schema.NumFields())
	for i, field := range schema.Fields() {
		if arrow.IsPrimitive(field.Type.ID()) && field.Type.ID() != arrow.BOOL || arrow.IsDecimal(field.Type.ID()) {
			aligns[i] = text.Right
		}
	}
	shown, width := 0, 0
	for ; shown < len(aligns); shown++ {
		cell := utf8.RuneCountInString(head[shown])
		for _, row := range rows {
			cell = max(cell, utf8.RuneCountInString(row[shown]))
		}
		if width += cell + len(text.Gap); width-len(text.Gap) > columns && shown > 0 {
			break
		}
	}
	table := [][]string{head[:shown]}
	for _, row := range rows {
		table = append(table, row[:shown])
	}
	text.WriteTable(w, aligns[:shown], table)
	if hidden := head[shown:]; len(hidden) > 0 {
		fmt.Fprintln(w, text.Shorten(fmt.Sprintf("%s: %s", text.Plural(len(hidden), "more column"),
			strings.Join(hidden, ", ")), columns))
	}
}
