package engine

import (
	"fmt"
	"time"

	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

// weighHMG takes the strategy hmg for a plan of whole tables if it is predicted to be faster; otherwise it notes it
// among the ways of the query. If several devices may share the join in another way, hmg must be faster than an equal
// share of the time of the first device.
func (p *Plan) weighHMG(l *lowering) error {
	spec, one := &p.Layout.Spec, p.Alternatives[0].Time()
	asked := p.Forced || spec.BuildSide != join.BuildAuto || spec.Materialize != join.MaterializeAuto
	if len(p.engine.others) == 0 || asked || p.Empty != "" || l.How == join.Cross || l.Ordered() {
		return nil
	}
	sorts := query.Way{Name: fmt.Sprintf("hmg on %d devices", 1+len(p.engine.others))}
	var err error
	if sorts.Time, sorts.Reason, err = p.engine.predictHMG(l, &p.Facts); err != nil {
		return err
	}
	alone := query.Way{Name: "one device", Time: one}
	if p.severally() {
		one /= time.Duration(1 + len(p.engine.others))
	}
	if sorts.Reason == "" && withRounds(sorts.Time) < one {
		q, err := p.engine.planSorted(l)
		if err == nil {
			p.Query, p.sorts, q.Ways = q, true, []query.Way{sorts, alone}
			return nil
		}
		sorts.Reason = err.Error()
	}
	if sorts.Reason == "" && sorts.Time < alone.Time {
		sorts.Reason = notEnough
	}
	p.Ways = []query.Way{alone, sorts}
	return nil
}

// predictHMG predicts the time of the strategy for tables with these facts, or says why it cannot.
func (e *Engine) predictHMG(l *lowering, f *operator.Facts) (_ time.Duration, reason string, err error) {
	members := make([]planner.Member, len(e.Engines()))
	for i := range members {
		members[i].Number = i
	}
	if linked, _ := planner.Linked(members, l.engine.Wires); !linked {
		return 0, "the rates of the links between the devices are not known", nil
	}
	var rates []*planner.Rates
	cores := 0 // devices
	for _, on := range e.Engines() {
		if on.Device().Info().CPULike() {
			cores++
		}
		if cores > 1 {
			return 0, "several devices are the cores of the host", nil
		}
		r := planner.RatesFor(on.Device().Info())
		if r == nil {
			return 0, "no rates are known of " + on.Device().Info().Name, nil
		}
		rates = append(rates, r)
	}
	all := l.keys.Rows(relation.Left) + l.keys.Rows(relation.Right)
	share := min(all/uint64(len(rates))+1, primitive.MaxRows)
	sort, err := primitive.PlanSort(e.Ops.Tuning(), primitive.Sort{EndBit: max(1, l.keys.KeyBits()),
		Layout: primitive.Layout{Rows: share, KeyBytes: l.keys.KeyBytes()}})
	if err != nil {
		return 0, "", err
	}
	way := planner.Sorted{Passes: sort.Passes(), Pairs: l.Output != join.Count || !l.keys.Exact()}
	if !l.keys.Exact() {
		way.Compared = len(l.spec.LeftOn)
	}
	if l.Output == join.Rows {
		for side, table := range l.sides {
			for _, column := range l.Layout.Columns {
				if column.Side == table && column.Role != join.IndicatorColumn {
					way.Host[side]++
				}
			}
		}
	}
	return way.Time(f, rates, l.engine.Wires), "", nil
}
