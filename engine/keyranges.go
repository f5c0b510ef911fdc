package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/task"
)

// runRanges runs the strategy hmg for tables that do not fit the devices together: ranges of their keys are joined one
// by one, on all devices ([task.DivideByRanges]).
func (p *Plan) runRanges(ctx context.Context) (*Result, error) {
	tasks, err := task.DivideByRanges(ctx, &p.engine.Means, p.engine.Engines(), p.task(), p.ranges.keys, p.ranges.unique,
		func(on *query.Engine) task.Run {
			return func(ctx context.Context, of *task.Task, _ task.Turn) (task.Output, error) {
				output, err := p.ranges.runRange(ctx, on, of)
				if errors.Is(err, backend.ErrDeviceMemory) { // others may need more
					if err = fmt.Errorf("%w, for a range of keys", err); p.ranges.short != nil {
						err = fmt.Errorf("%w; undivided: %v", err, p.ranges.short)
					}
				}
				return output, err
			}
		})
	if err != nil {
		return nil, err
	}
	return &Result{Device: *p.engine.Device().Info(), of: tasks}, nil
}

// runRange runs a task with a range of keys of the join on a device.
func (l *lowering) runRange(ctx context.Context, on *query.Engine, of *task.Task) (task.Output, error) {
	part := lowering{Task: of, engine: l.engine, spec: &of.Layout.Spec, keys: of.Range.Keys, unique: of.Range.Unique,
		whole: l}
	for side := range part.tables {
		part.tables[side] = of.Sources[side].Table()
	}
	spec := part.lower()
	if err := l.sortsOnly(&spec); err != nil {
		return nil, err
	}
	spec.Trees = part.trees(on)
	q, err := on.Plan(spec)
	if err != nil {
		return nil, err
	}
	result, err := q.Run(ctx)
	if err != nil {
		return nil, err
	}
	return one{result}, nil
}

// share estimates how keys match in a range, from the facts of the whole join.
func (l *lowering) share(f *operator.Facts) {
	w := l.whole.facts
	if l.sides != l.whole.sides {
		slices.Reverse(w.Hottest[:])
		slices.Reverse(w.Rows[:])
		w.MatchRatio, w.BuildRatio, w.Unique, w.Distinct = w.BuildRatio, w.MatchRatio, false, 0
	}
	f.MatchRatio, f.BuildRatio, f.Repeats, f.Hottest = w.MatchRatio, w.BuildRatio, w.Repeats, w.Hottest
	f.Unique, f.Distinct = w.Unique, w.Distinct
	f.OutputRows = uint64(float64(w.OutputRows) * float64(f.Rows[0]+f.Rows[1]) / float64(max(1, w.Rows[0]+w.Rows[1])))
	for side, table := range l.sides {
		f.Sorted[side] = l.Range.Sides[table].Sorted
	}
}

// rangesText is the text of a plan by ranges of keys.
func (p *Plan) rangesText() string {
	var b strings.Builder
	fmt.Fprintln(&b, p.task().Title(text.Count(p.tables[0].NumRows()), text.Count(p.tables[1].NumRows())))
	for i, e := range p.engine.Engines() {
		info := e.Device().Info()
		fmt.Fprintf(&b, "%-12s %s (%s, %s)\n", [2]string{"device", "  and"}[min(i, 1)], info.Name, info.Backend, info.Type)
	}
	fmt.Fprintf(&b, "%-12s hmg, as asked for\n", "strategy")
	fmt.Fprintf(&b, "%-12s %s\n", "divided", "by ranges of keys, which the devices sort and match one by one")
	return b.String()
}
