package files

import (
	"context"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

// JoinGroups joins two files, groups the rows and writes the groups to a third file, as [Join] does.
//
// Errors: as for [Join] and [spirjoin.Engine.JoinGroupBy].
func JoinGroups(ctx context.Context, engine *spirjoin.Engine, left, right, output string, groups spirjoin.GroupSpec,
	o JoinOptions) (*spirjoin.JoinGroupStats, error) {
	p, err := Open(ctx, [2]string{left, right}, o.Read, For(engine))
	if err != nil {
		return nil, err
	}
	defer p.Close()
	layout, err := p.GroupLayout(o.Spec, groups)
	if err != nil {
		return nil, err
	}
	writer, err := tableio.Create(output, layout.Groups.Schema, writing(engine, o.Write))
	if err != nil {
		return nil, err
	}
	defer writer.Abort() // does nothing after Commit
	if p.Choose(layout.Join); !layout.ByKey() {
		expected := p.Expected(layout.Join, ToWrite)
		defer engine.PrepareJoin(ctx, layout.Join, expected[0], expected[1])()
	}
	result, err := p.JoinGroups(ctx, layout, ToWrite)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	if _, err := Write(ctx, result, writer, groups.Progress); err != nil {
		return nil, err
	}
	stats := result.Stats()
	return &stats, nil
}

// JoinGroups joins the files and groups the rows: both sides as they are read if they are grouped first, otherwise one
// of them as by Join. The caller closes the result.
//
// Errors: as for [spirjoin.Engine.JoinGroupByLayout], and of reading.
func (p *Pair) JoinGroups(ctx context.Context, layout *spirjoin.JoinGroupLayout, use Use) (*spirjoin.JoinGroupResult,
	error) {
	p.Choose(layout.Join)
	if layout.ByKey() {
		return p.groupByKey(ctx, layout)
	}
	from, err := p.streamed(ctx, layout.Join, use)
	if err != nil {
		return nil, err
	}
	engine, err := p.options.Engine()
	if err != nil {
		from.release()
		return nil, err
	}
	if from != nil {
		defer from.release()
		var result *spirjoin.JoinGroupResult
		if err = p.reserve(engine, from.of); err == nil {
			result, err = engine.JoinGroupByLayout(ctx, layout, from.of[0], from.of[1])
		}
		if err == nil {
			return result, nil
		}
		if err := p.explainStream(err, layout.Join); err != nil {
			return nil, err
		}
	}
	tables, err := p.loadBoth(ctx)
	defer relation.ReleaseAll(tables[:])
	if err != nil {
		return nil, err
	}
	return p.groupSources(ctx, engine, layout, [2]spirjoin.Source{spirjoin.FromTable(tables[0]),
		spirjoin.FromTable(tables[1])})
}

// groupByKey groups long tables as they are read, and under a limit all tables.
func (p *Pair) groupByKey(ctx context.Context, layout *spirjoin.JoinGroupLayout) (*spirjoin.JoinGroupResult, error) {
	sources := [2]spirjoin.Source{p.tables[0].source(), p.tables[1].source()}
	for side, t := range p.tables {
		if rows := t.Rows(); p.options.limited() || rows < 0 || rows >= p.options.streamedRows() {
			continue
		}
		table, err := p.load(ctx, side)
		if err != nil {
			return nil, err
		}
		defer table.Release()
		sources[side] = spirjoin.FromTable(table)
	}
	engine, err := p.options.Engine()
	if err != nil {
		return nil, err
	}
	if err := p.reserve(engine, sources); err != nil {
		return nil, err
	}
	return p.groupSources(ctx, engine, layout, sources)
}

func (p *Pair) groupSources(ctx context.Context, engine *spirjoin.Engine, layout *spirjoin.JoinGroupLayout,
	sources [2]spirjoin.Source) (*spirjoin.JoinGroupResult, error) {
	result, err := engine.JoinGroupByLayout(ctx, layout, sources[0], sources[1])
	if err != nil {
		return nil, p.explainKeys(err, &layout.Join.Spec)
	}
	return result, nil
}

// ExplainGroups returns the plan of a join whose rows are grouped. If memory may have no room for both tables, the join
// is run, and the text says how.
func (p *Pair) ExplainGroups(ctx context.Context, layout *spirjoin.JoinGroupLayout) (string, error) {
	if p.options.limited() {
		result, err := p.JoinGroups(ctx, layout, ToExplain)
		if err != nil {
			return "", err
		}
		defer result.Close()
		return result.Explain(), nil
	}
	p.need(layout.Join)
	tables, err := p.loadBoth(ctx)
	defer relation.ReleaseAll(tables[:])
	if err != nil {
		return "", err
	}
	engine, err := p.options.Engine()
	if err != nil {
		return "", err
	}
	plan, err := engine.ExplainJoinGroups(ctx, layout, tables[0], tables[1])
	return plan, p.explainKeys(err, &layout.Join.Spec)
}
