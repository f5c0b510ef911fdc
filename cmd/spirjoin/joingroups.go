package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spirjoin/spirjoin/internal/command"
)

// group joins, and groups the rows.
func (j *joining) group(ctx context.Context) (err error) {
	defer ofGroups(&err)
	j.groups.Progress = j.progress.Join
	layout, err := j.pair.GroupLayout(j.spec, j.groups)
	if err != nil {
		return explainComparison(err, j.spec, j.pair)
	}
	if layout.ByKey() || dividable(layout.Join) {
		defer func() { err = offerTempDir(err, &j.joinOptions) }()
	}
	output, err := j.groupOutput(&j.joinOptions, layout.Groups.Schema, j.progress)
	if err != nil {
		return err
	}
	defer output.close()
	if j.goal == goalExplain {
		plan, err := j.pair.ExplainGroups(ctx, layout)
		if err != nil {
			return err
		}
		j.progress.ClearLine()
		fmt.Fprint(j.Stdout, command.NameRaisedFlags(plan))
		return nil
	}
	if j.pair.Choose(layout.Join); !layout.ByKey() {
		defer prepareJoin(ctx, j.device, j.joinOptions, layout.Join, j.pair)()
	}
	result, err := j.pair.JoinGroups(ctx, layout, j.goal.use())
	if err != nil {
		return err
	}
	defer result.Close()
	j.report.ReadSeconds += j.pair.ReadSeconds()
	drawing := time.Now()
	rows, writeSeconds, err := output.put(ctx, result)
	if err != nil {
		return err
	}
	j.report.WriteSeconds = writeSeconds
	stats := result.Stats()
	stats.GroupBy.Groups = rows
	j.report.JoinStats, j.report.GroupBy, j.report.Sides = stats.Join, &stats.GroupBy, stats.Sides
	j.report.OutputSeconds = time.Since(drawing).Seconds()
	j.progress.ClearLine()
	return j.session.report(j.joinOptions, *j.report, &result.Device, result.Explain)
}
