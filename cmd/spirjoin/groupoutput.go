package main

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

// groupOutput is where groups go: to a table, or the first of them to a terminal.
type groupOutput struct {
	session
	schema   *arrow.Schema
	columns  []int           // of the groups, in the order of the schema
	writer   *tableio.Writer // nil for a preview
	progress *command.Progress
}

// groupsOf are the groups of a table, or of the rows of a join.
type groupsOf interface {
	files.Drawn
	Rows() uint64
	Counted() bool
}

// groupOutput chooses the columns of groups that have this schema, and creates the table. The caller closes it.
func (s session) groupOutput(o *joinOptions, schema *arrow.Schema, progress *command.Progress) (*groupOutput, error) {
	g := &groupOutput{session: s, progress: progress}
	names := o.groupColumns
	if names == nil {
		for _, field := range schema.Fields() {
			names = append(names, field.Name)
		}
	}
	var fields []arrow.Field
	for _, name := range names {
		if err := relation.CheckName(schema, "the output", name); err != nil {
			return nil, fmt.Errorf("--columns: %w", err)
		}
		i := schema.FieldIndices(name)[0]
		if slices.Contains(g.columns, i) {
			return nil, command.Usagef("--columns: output column %q is asked for twice", name)
		}
		g.columns, fields = append(g.columns, i), append(fields, schema.Field(i))
	}
	g.schema = arrow.NewSchema(fields, nil)
	if o.goal != goalFile {
		return g, nil
	}
	var err error
	g.writer, err = tableio.Create(o.output, g.schema, o.write)
	return g, explainOutput(err, o.output)
}

// put writes or shows groups, of which it returns the number, and the seconds that writing took.
func (g *groupOutput) put(ctx context.Context, groups groupsOf) (rows uint64, writeSeconds float64, err error) {
	chosen := chosenColumns{groups, g}
	if g.writer != nil {
		writeSeconds, err = files.Write(ctx, chosen, g.writer, g.progress.Join)
		return groups.Rows(), writeSeconds, err
	}
	first, total, err := firstRows(ctx, chosen, previewRows, groups.Counted)
	if err != nil {
		return 0, 0, err
	}
	if groups.Counted() {
		total = groups.Rows()
	}
	var names []string
	for _, field := range g.schema.Fields() {
		names = append(names, field.Name)
	}
	g.progress.ClearLine()
	g.writePreview(g.schema, names, first, total)
	return total, 0, nil
}

// close removes what was not finished.
func (g *groupOutput) close() {
	if g.writer != nil {
		g.writer.Abort()
	}
}

// chosenColumns are the groups with the columns of the output.
type chosenColumns struct {
	groups groupsOf
	output *groupOutput
}

func (c chosenColumns) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for batch, err := range c.groups.Batches(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			columns := make([]arrow.Array, len(c.output.columns))
			for i, column := range c.output.columns {
				columns[i] = batch.Column(column)
			}
			chosen := array.NewRecordBatch(c.output.schema, columns, batch.NumRows())
			batch.Release()
			if !yield(chosen, nil) {
				return
			}
		}
	}
}
