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
	"github.com/spirjoin/spirjoin/internal/text"
)

const (
	previewRows      = 20
	previewCellWidth = 40
)

// preview prints the first rows of the output, as many columns as the terminal is wide, and what is not shown. It
// returns the number of rows of the output, for which count is called where the result does not know it by then.
func (s *session) preview(ctx context.Context, result *spirjoin.JoinResult, progress *progress,
	count func() (uint64, error)) (total uint64, err error) {
	rows, err := firstRows(ctx, result, previewRows)
	if err != nil {
		return 0, err
	}
	if total = result.Rows(); !result.Counted() {
		result.Close() // its memory is the count's then
		if total, err = count(); err != nil {
			return 0, err
		}
	}
	progress.clearLine()
	writePreview(s.stdout, s.stdoutColumns, result.Schema(), rows)
	if shown := uint64(len(rows)); shown < total {
		fmt.Fprintf(s.stdout, "%d of %s rows; --output FILE writes them all\n", shown, text.Count(total))
	} else {
		fmt.Fprintln(s.stdout, text.Plural(total, "row"))
	}
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

// firstRows draws at most limit rows, as text.
func firstRows(ctx context.Context, result *spirjoin.JoinResult, limit int) (rows [][]string, err error) {
	if result.Rows() == 0 {
		return nil, nil
	}
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			return nil, err
		}
		for i := 0; i < int(batch.NumRows()) && len(rows) < limit; i++ {
			row := make([]string, batch.NumCols())
			for c, column := range batch.Columns() {
				row[c] = cellText(column, i)
			}
			rows = append(rows, row)
		}
		batch.Release()
		if len(rows) == limit {
			break
		}
	}
	if ctx.Err() != nil {
		return nil, backend.ContextError(ctx)
	}
	return rows, nil
}

func cellText(column arrow.Array, row int) string {
	if column.IsNull(row) {
		return "NULL"
	}
	return text.Shorten(text.Printable(column.ValueStr(row)), previewCellWidth)
}

func writePreview(w io.Writer, columns int, schema *arrow.Schema, rows [][]string) {
	head := make([]string, schema.NumFields())
	aligns := make([]text.Align, schema.NumFields())
	for i, field := range schema.Fields() {
		head[i] = text.Shorten(text.Printable(field.Name), previewCellWidth)
		if arrow.IsPrimitive(field.Type.ID()) && field.Type.ID() != arrow.BOOL || arrow.IsDecimal(field.Type.ID()) {
			aligns[i] = text.Right
		}
	}
	shown, width := 0, 0
	for ; shown < len(head); shown++ {
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
