package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/team"
)

// rangesAlgorithm merges sides by range search, as HMG does (3.3.3).
const rangesAlgorithm = "smj-um"

// planHMG plans the strategy hmg as it was asked for. Ranges of keys are joined one by one if the tables do not fit the
// devices together, or if that was decided before: because of an order of rows on several devices, or by a knob.
func (p *Plan) planHMG(ctx context.Context, l *lowering, lowered query.Spec) (err error) {
	if l.How == join.Cross {
		return notSorted(l.How.Noun())
	}
	if !l.byRange {
		if p.Query, err = p.engine.planSorted(l, lowered); !errors.Is(err, backend.ErrDeviceMemory) {
			return err
		}
		l.byRange, l.short, l.unique = true, err, [2]*keys.Plan{}
		if err := l.planKeys(ctx); err != nil {
			return err
		}
		if err := l.planProofs(ctx); err != nil {
			return err
		}
		l.lower()
	}
	p.ranges = l
	return l.sortsOnly(&query.Spec{Algorithms: join.AlgorithmsNamed(l.spec.Algorithm)})
}

// planSorted plans the strategy hmg for tables that fit the devices together: both sides are sorted across the devices,
// each of which merges its range of keys ([team.Sort]). On one device that is a sort-merge join.
//
// Errors: backend.ErrDeviceMemory if the tables do not fit.
func (e *Engine) planSorted(l *lowering, spec query.Spec) (*query.Query, error) {
	devices := e.Engines()
	if err := l.sortsOnly(&spec); err != nil {
		return nil, err
	}
	ways := []query.Way{{Name: fmt.Sprintf("hmg on %s, as asked for", text.Plural(len(devices), "device"))}}
	if len(devices) == 1 {
		q, err := e.Engine.Plan(spec)
		if err == nil {
			q.Ways = ways
		}
		return q, err
	}
	spec.Scattered, spec.Sorted, spec.Among = true, true, uint64(len(devices))
	share := team.Slack / float64(len(devices))
	for side := range spec.Facts.Rows {
		spec.Facts.Rows[side] = uint64(share*float64(spec.Facts.Rows[side])) + 1
	}
	spec.Facts.OutputRows = uint64(share*float64(spec.Facts.OutputRows)) + 1
	spec.Facts.Sorted = [2]bool{true, true}
	first, err := planAll(len(devices), func(i int, place string) (*query.Query, error) {
		spec.Trees = treesIn(place, l.trees(devices[i]))
		return devices[i].Plan(spec)
	})
	if err == nil {
		first.Ways = ways
	}
	return first, err
}

// sortsOnly makes a query one of the strategy hmg, which merges sorted sides.
func (l *lowering) sortsOnly(spec *query.Spec) error {
	spec.Algorithms = slices.DeleteFunc(slices.Clone(spec.Algorithms), func(a operator.Algorithm) bool {
		return a.Name() != rangesAlgorithm
	})
	if len(spec.Algorithms) == 0 {
		return notSorted("the algorithm " + l.spec.Algorithm)
	}
	spec.Strategy = join.StrategyHMG.String()
	return nil
}

// notSorted is the error of what the strategy does not do.
func notSorted(what string) error {
	return &backend.OpError{Op: "join", Err: backend.ErrUnsupported,
		Detail: fmt.Sprintf("the strategy hmg does not support %s; choose another strategy", what)}
}

// runSorted runs a query that [Engine.planSorted] has planned.
func (p *Plan) runSorted(ctx context.Context) (*Result, error) {
	if len(p.Others) == 0 {
		return p.runAlone(ctx)
	}
	flow, begun, err := p.engine.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer begun()
	return resultOf(team.Sort(flow, p.Query, p.engine.ByRange.Sort.Method()))
}
