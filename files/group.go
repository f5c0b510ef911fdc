package files

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

// GroupOptions say how a file is grouped.
type GroupOptions struct {
	Spec  spirjoin.GroupSpec
	Read  tableio.ReadOptions // Allocator, AheadBytes, Opening and Progress are set by this package
	Write tableio.WriteOptions
}

// Group groups the rows of a file and writes the groups to another one, which appears whole or not at all. A large file
// is grouped as it is read, and under limits every file; see [Join] for the memory that is set aside.
//
// Errors: as for [tableio.Open], [spirjoin.Engine.GroupBy] and [tableio.Create]. A [TextError] says which value of a
// CSV file made a column text.
func Group(ctx context.Context, engine *spirjoin.Engine, path, output string, o GroupOptions) (*spirjoin.GroupStats,
	error) {
	t, err := OpenTable(ctx, path, o.Read, For(engine))
	if err != nil {
		return nil, err
	}
	defer t.Close()
	layout, err := t.GroupLayout(o.Spec)
	if err != nil {
		return nil, err
	}
	writer, err := tableio.Create(output, layout.Schema, writing(engine, o.Write))
	if err != nil {
		return nil, err
	}
	defer writer.Abort() // does nothing after Commit
	result, _, err := t.Group(ctx, layout)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	if _, err := Write(ctx, result, writer, o.Spec.Progress); err != nil {
		return nil, err
	}
	stats := result.Stats()
	return &stats, nil
}

// GroupLayout derives the output columns of a group-by of the table.
//
// Errors: as for [spirjoin.NewGroupLayout], wrapped in a [TextError] if one value of a CSV file made a column text.
func (t *Table) GroupLayout(spec spirjoin.GroupSpec) (*spirjoin.GroupLayout, error) {
	layout, err := spirjoin.NewGroupLayout(t.Schema(), spec)
	if err == nil {
		return layout, nil
	}
	for _, a := range spec.Aggregates {
		explained, ok := t.explainText(err, a.Column)
		if ok && strings.Contains(err.Error(), strconv.Quote(a.Column)) {
			return nil, explained
		}
	}
	return nil, err
}

// Group groups the rows of the table: as they are read if it is large, if the number of rows is unknown, or under
// limits, otherwise after reading it, which takes readSeconds. The caller closes the result. Call it once.
func (t *Table) Group(ctx context.Context, layout *spirjoin.GroupLayout) (result *spirjoin.GroupResult,
	readSeconds float64, err error) {
	if t.needed = layout.Needed; t.options.limited() || !t.whole() {
		engine, err := t.options.Engine()
		if err != nil {
			return nil, 0, err
		}
		if err := t.reserve(engine); err != nil {
			return nil, 0, err
		}
		result, err := engine.GroupByStreamLayout(ctx, layout, t.source())
		return result, 0, err
	}
	start := time.Now()
	table, err := t.Read(ctx, layout.Needed)
	if err != nil {
		return nil, 0, err
	}
	defer table.Release() // the result keeps it
	readSeconds = time.Since(start).Seconds()
	engine, err := t.options.Engine()
	if err != nil {
		return nil, 0, err
	}
	result, err = engine.GroupByLayout(ctx, layout, table)
	return result, readSeconds, err
}

// ExplainGroups returns the plan of a group-by. If memory may have no room for the table, the group-by is run, and the
// text says how.
func (t *Table) ExplainGroups(ctx context.Context, layout *spirjoin.GroupLayout) (string, error) {
	if t.options.limited() {
		result, _, err := t.Group(ctx, layout)
		if err != nil {
			return "", err
		}
		defer result.Close()
		return result.Explain(), nil
	}
	table, err := t.Read(ctx, layout.Needed)
	if err != nil {
		return "", err
	}
	defer table.Release()
	engine, err := t.options.Engine()
	if err != nil {
		return "", err
	}
	plan, err := engine.ExplainGroups(ctx, layout, table)
	if err != nil {
		return "", err
	}
	return plan.String(), nil
}

// mostWholeBytes is the default of Knobs.WholeBytes.
const mostWholeBytes = 1 << 30

// whole reports whether the table is read before it is grouped.
func (t *Table) whole() bool {
	var needed []arrow.Field
	for _, name := range t.needed {
		needed = append(needed, t.Schema().Field(t.Schema().FieldIndices(name)[0]))
	}
	rows := t.Rows()
	return rows >= 0 && rows <= cmp.Or(t.options.WholeBytes, mostWholeBytes)/max(1, int64(relation.RowBytes(needed...)))
}
