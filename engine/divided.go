package engine

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/source"
	"github.com/spirjoin/spirjoin/task"
)

// planDivided is the plan of a join of tables for which the device is too small, or too slow with the memory that it
// has, as short says: both are divided into parts, each of which is a join of its own. If the join does not allow that
// ([Engine.Stream]), the error is short, if possible with what would allow it.
func (e *Engine) planDivided(layout *join.Layout, tables [2]arrow.Table, short error) (*Plan, error) {
	p := &Plan{Layout: layout, engine: e, tables: tables, short: short}
	switch {
	case !p.inParts():
		return nil, short
	case e.Whole(p.task()) != "":
		return nil, fmt.Errorf("%w, or set temp_dir, so that both tables can be divided", short)
	}
	return p, nil
}

// divideTime is the predicted time in which the host, or the device, divides rows of both sides by their keys, and the
// time that joins of parts take beyond a join of all rows. On the host, rows of 16 bytes take about 20 ns of CPU time,
// which many cores cannot share evenly.
func (e *Engine) divideTime(rows, sizeBytes uint64, onDevice bool) time.Duration {
	const perRow, perByte, eachJoin, mostCores = 10, 0.6, 30e6, 8 // ns
	work := (perRow*float64(rows) + perByte*float64(sizeBytes)) / float64(min(runtime.GOMAXPROCS(0), mostCores))
	if rates := planner.RatesFor(e.Device().Info()); onDevice && rates != nil {
		work = float64(divideTimeOnDevice(float64(rows), float64(sizeBytes), rates))
	}
	return time.Duration(eachJoin + work)
}

// divideTimeOnDevice is the time of the slowest of the transfers and the partition, which overlap. Both directions of a
// link share it: together they take two thirds of what one takes after the other.
func divideTimeOnDevice(rows, sizeBytes float64, rates *planner.Rates) time.Duration {
	var link, partition operator.Work
	link[operator.UploadByte], link[operator.DownloadByte] = sizeBytes, sizeBytes
	partition[operator.PartitionRow], partition[operator.PassByte] = rows, 2*sizeBytes
	return max(rates.Time(&link)*2/3, rates.Time(&partition))
}

// inParts reports whether the join can be divided into joins of parts.
func (p *Plan) inParts() bool {
	parts := p.task().Unordered()
	side, _ := parts.BuildSide()
	return parts.CheckStream(side) == nil
}

// task is the join as a task.
func (p *Plan) task() *task.Task { return wholeOf(p.Layout, p.tables, p.consumer) }

// wholeOf is the join of tables as a task.
func wholeOf(layout *join.Layout, tables [2]arrow.Table, consumer deliver.Consumer) *task.Task {
	return task.Whole(layout, source.FromTable(tables[0]), source.FromTable(tables[1]), consumer)
}

// runDivided runs the plan of tables that are divided.
func (p *Plan) runDivided(ctx context.Context) (*Result, error) {
	return p.engine.stream(ctx, p.task(), opening{divides: true, short: p.short})
}

// dividedText is the text of the plan of tables that are divided.
func (p *Plan) dividedText() string {
	way := "into parts by hashes of the keys"
	if p.Layout.Spec.How == join.Cross {
		way = "into blocks"
	}
	return fmt.Sprintf("%s\ndivided      %s, which are joined one after the other\n  because    %v\n",
		p.task().Title(text.Count(p.tables[0].NumRows()), text.Count(p.tables[1].NumRows())), way, p.short)
}
