package main

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/relation"
)

// grouping is a join command whose rows are grouped, with its inputs open.
type grouping struct {
	session
	joinOptions
	open   func() (*spirjoin.Engine, error)
	device *opening
	in     *inputs
	report *joinReport
}

// run runs the command.
func (g *grouping) run(ctx context.Context) (err error) {
	defer ofGroups(&err)
	readers := g.in.readers
	g.groups.Progress = g.in.progress.Join
	layout, err := spirjoin.NewJoinGroupLayout(readers[0].Schema(), readers[1].Schema(), g.spec, g.groups)
	if err != nil {
		return explainKeys(err, g.joinOptions, readers)
	}
	if layout.ByKey() || dividable(layout.Join) {
		defer func() { err = offerTempDir(err, &g.joinOptions) }()
	}
	g.in.needed = layout.Join.Needed
	output, err := g.groupOutput(&g.joinOptions, layout.Groups.Schema, g.in.progress)
	if err != nil {
		return err
	}
	defer output.close()
	if g.goal == goalExplain {
		return g.explain(ctx, layout)
	}
	skipRowGroups(readers, layout.Join.Spec)
	if !layout.ByKey() {
		defer prepareJoin(ctx, g.device, g.joinOptions, layout.Join, readers)()
	}
	result, err := g.start(ctx, layout)
	if err != nil {
		return err
	}
	defer result.Close()
	drawing := time.Now()
	rows, writeSeconds, err := output.put(ctx, result)
	if err != nil {
		return err
	}
	g.report.WriteSeconds = writeSeconds
	stats := result.Stats()
	stats.GroupBy.Groups = rows
	g.report.JoinStats, g.report.GroupBy, g.report.Sides = stats.Join, &stats.GroupBy, stats.Sides
	g.report.OutputSeconds = time.Since(drawing).Seconds()
	g.in.progress.ClearLine()
	return g.session.report(g.joinOptions, *g.report, &result.Device, result.Explain)
}

// start joins and groups: both sides as they are read if they are grouped first, otherwise one of them as by a join of
// the same tables.
func (g *grouping) start(ctx context.Context, layout *spirjoin.JoinGroupLayout) (*spirjoin.JoinGroupResult, error) {
	if layout.ByKey() {
		return g.startByKey(ctx, layout)
	}
	fixed, sources, release, err := streamed(ctx, g.joinOptions, layout.Join, g.in, g.report)
	defer release()
	if err != nil {
		return nil, err
	}
	engine, err := g.open()
	if err != nil {
		return nil, err
	}
	if fixed != nil {
		of := *layout
		of.Join = fixed
		err := g.in.reserve(engine, sources)
		var result *spirjoin.JoinGroupResult
		if err == nil {
			result, err = engine.JoinGroupByLayout(ctx, &of, sources[0], sources[1])
		}
		if err == nil {
			return result, nil
		}
		if err := g.in.explainStream(err, g.joinOptions, fixed); err != nil {
			return nil, err
		}
	}
	tables, err := g.read(ctx)
	defer releaseAll(tables)
	if err != nil {
		return nil, err
	}
	result, err := engine.JoinGroupByLayout(ctx, layout, spirjoin.FromTable(tables[0]), spirjoin.FromTable(tables[1]))
	if err != nil {
		return nil, explainKeys(err, g.joinOptions, g.in.readers)
	}
	return result, nil
}

// startByKey groups long tables as they are read, and if memory is limited all.
func (g *grouping) startByKey(ctx context.Context, layout *spirjoin.JoinGroupLayout) (*spirjoin.JoinGroupResult,
	error) {
	sources := [2]spirjoin.Source{g.in.source(0), g.in.source(1)}
	streams := g.limited()
	for side, reader := range g.in.readers {
		if rows := reader.Rows(); streams || rows < 0 || rows >= leastStreamedRows {
			continue
		}
		reading := time.Now()
		table, err := g.in.read(ctx, side)
		if err != nil {
			return nil, err
		}
		defer table.Release()
		g.report.ReadSeconds += time.Since(reading).Seconds()
		sources[side] = spirjoin.FromTable(table)
	}
	engine, err := g.open()
	if err != nil {
		return nil, err
	}
	if err := g.in.reserve(engine, sources); err != nil {
		return nil, err
	}
	result, err := engine.JoinGroupByLayout(ctx, layout, sources[0], sources[1])
	if err != nil {
		return nil, explainKeys(err, g.joinOptions, g.in.readers)
	}
	return result, nil
}

// read reads both tables.
func (g *grouping) read(ctx context.Context) ([2]arrow.Table, error) {
	reading := time.Now()
	tables, err := g.in.readBoth(ctx)
	g.report.ReadSeconds += time.Since(reading).Seconds()
	return tables, err
}

// explain prints the plan, or where memory may have no room for both tables what is done with them.
func (g *grouping) explain(ctx context.Context, layout *spirjoin.JoinGroupLayout) error {
	if g.limited() {
		skipRowGroups(g.in.readers, layout.Join.Spec)
		result, err := g.start(ctx, layout)
		if err != nil {
			return err
		}
		defer result.Close()
		g.in.progress.ClearLine()
		fmt.Fprint(g.Stdout, result.Explain())
		return nil
	}
	tables, err := g.read(ctx)
	defer releaseAll(tables)
	if err != nil {
		return err
	}
	engine, err := g.open()
	if err != nil {
		return err
	}
	plan, err := engine.ExplainJoinGroups(ctx, layout, tables[relation.Left], tables[relation.Right])
	if err != nil {
		return explainKeys(err, g.joinOptions, g.in.readers)
	}
	g.in.progress.ClearLine()
	fmt.Fprint(g.Stdout, command.NameRaisedFlags(plan))
	return nil
}
