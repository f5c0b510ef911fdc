package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/internal/command"
)

// grouping is a join command whose rows are grouped, with its inputs open.
type grouping struct {
	session
	joinOptions
	device   *opening
	pair     *files.Pair
	progress *command.Progress
	report   *joinReport
}

// run runs the command.
func (g *grouping) run(ctx context.Context) (err error) {
	defer ofGroups(&err)
	g.groups.Progress = g.progress.Join
	layout, err := g.pair.GroupLayout(g.spec, g.groups)
	if err != nil {
		return explainComparison(err, g.spec, g.pair)
	}
	if layout.ByKey() || dividable(layout.Join) {
		defer func() { err = offerTempDir(err, &g.joinOptions) }()
	}
	output, err := g.groupOutput(&g.joinOptions, layout.Groups.Schema, g.progress)
	if err != nil {
		return err
	}
	defer output.close()
	if g.goal == goalExplain {
		plan, err := g.pair.ExplainGroups(ctx, layout)
		if err != nil {
			return err
		}
		g.progress.ClearLine()
		fmt.Fprint(g.Stdout, command.NameRaisedFlags(plan))
		return nil
	}
	if g.pair.Choose(layout.Join); !layout.ByKey() {
		defer prepareJoin(ctx, g.device, g.joinOptions, layout.Join, g.pair)()
	}
	result, err := g.pair.JoinGroups(ctx, layout, g.goal.use())
	if err != nil {
		return err
	}
	defer result.Close()
	g.report.ReadSeconds += g.pair.ReadSeconds()
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
	g.progress.ClearLine()
	return g.session.report(g.joinOptions, *g.report, &result.Device, result.Explain)
}
