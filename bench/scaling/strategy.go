package scaling

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/source"
	"github.com/spirjoin/spirjoin/task"
)

// begin begins a join of two tables.
type begin func(ctx context.Context, e *engine.Engine, tables [2]arrow.Table, spec join.Spec) (*engine.Result, error)

// Strategy is a way to share a join among devices.
type Strategy struct {
	Name, Title string
	begin       begin
}

// Strategies returns all strategies.
func Strategies() []Strategy {
	return []Strategy{
		{"broadcast", "the build side on each device, the probe side in parts that they take", broadcast},
		{"hmg", "key codes sorted across the devices and matched in place, or beyond their memory divided by the host " +
			"and joined range by range", sortMerge(task.RangesAuto)},
		{"hmg-trip", "as hmg, but brought back to the host, sorted, and up again to be matched",
			sortMerge(task.RangesRoundTrip)},
		{"hmg-merge", "as hmg-trip, but merged by the host beyond the memory of the devices",
			sortMerge(task.RangesMerge)},
	}
}

// StrategyNames returns the names of all strategies.
func StrategyNames() (names []string) {
	for _, s := range Strategies() {
		names = append(names, s.Name)
	}
	return names
}

// FindStrategies returns strategies by name, all for none.
func FindStrategies(names []string) ([]Strategy, error) {
	if len(names) == 0 {
		return Strategies(), nil
	}
	return measure.Find("strategy", Strategies(), func(s Strategy) string { return s.Name }, names)
}

// sortMerge is the join of the paper, with a way to divide tables.
func sortMerge(way task.RangeWay) begin {
	return func(ctx context.Context, e *engine.Engine, tables [2]arrow.Table, spec join.Spec) (*engine.Result, error) {
		spec.Strategy, spec.Algorithm = join.StrategyHMG, ""
		e.ByRange.Way = way
		defer func() { e.ByRange.Way = task.RangesAuto }()
		plan, err := e.Plan(ctx, tables[0], tables[1], spec)
		if err != nil {
			return nil, err
		}
		return plan.Run(ctx)
	}
}

// broadcast is what the engine does: on one device it joins tables, on several a stream of one of them.
func broadcast(ctx context.Context, e *engine.Engine, tables [2]arrow.Table, spec join.Spec) (*engine.Result, error) {
	if len(e.Engines()) > 1 || max(tables[0].NumRows(), tables[1].NumRows()) > math.MaxUint32 {
		return e.Stream(ctx, source.FromTable(tables[0]), source.FromTable(tables[1]), spec)
	}
	plan, err := e.Plan(ctx, tables[0], tables[1], spec)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx)
}
