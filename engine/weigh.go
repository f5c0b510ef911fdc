package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/team"
)

// weighHMG takes the strategy hmg for a plan of whole tables if it is predicted to be faster; otherwise it notes it
// among the ways of the query. If several devices may share the join in another way, hmg must be faster than an equal
// share of the time of the first device.
func (p *Plan) weighHMG(l *lowering, lowered query.Spec) error {
	spec, one := &p.Layout.Spec, p.Alternatives[0].Time()
	asked := p.Forced || spec.BuildSide != join.BuildAuto || spec.Materialize != join.MaterializeAuto
	if len(p.engine.others) == 0 || asked || p.Empty != "" || l.How == join.Cross || l.Ordered() {
		return nil
	}
	sorts := query.Way{Name: fmt.Sprintf("hmg on %d devices", 1+len(p.engine.others))}
	q, err := p.predictHMG(l, lowered, &sorts)
	if err != nil {
		return err
	}
	alone := query.Way{Name: "one device", Time: one}
	if p.severally() {
		one /= time.Duration(1 + len(p.engine.others))
	}
	if sorts.Reason == "" && withRounds(sorts.Time) < one {
		p.Query, p.sorts, q.Ways = q, true, []query.Way{sorts, alone}
		return nil
	}
	if sorts.Reason == "" && sorts.Time < alone.Time {
		sorts.Reason = notEnough
	}
	p.Ways = []query.Way{alone, sorts}
	return nil
}

// predictHMG plans the strategy hmg and predicts its time, or gives the reason why it cannot.
func (p *Plan) predictHMG(l *lowering, lowered query.Spec, sorts *query.Way) (*query.Query, error) {
	var members []member
	if p.Alternatives[0].Time() < leastSharedTime {
		sorts.Reason = "one device takes less than " + text.Duration(leastSharedTime)
	}
	cores := 0 // devices
	for i, on := range p.engine.Engines() {
		members = append(members, member{planner.Member{Number: i}, on})
		info := on.Device().Info()
		if info.CPULike() {
			cores++
		}
		if planner.RatesFor(info) == nil {
			sorts.Reason = "no rates are known of " + info.Name
		}
	}
	if linked, _ := planner.Linked(predictions(members), p.engine.Wires); !linked {
		sorts.Reason = "the rates of the links between the devices are not known"
	} else if cores > 1 {
		sorts.Reason = "several devices are the cores of the host"
	}
	if sorts.Reason != "" {
		return nil, nil
	}
	first, err := p.engine.planSorted(l, lowered)
	if err != nil {
		sorts.Reason = err.Error()
		return nil, nil
	}
	host := time.Duration(0) // all devices share it
	for i, q := range append([]*query.Query{first}, first.Others...) {
		a := &q.Alternatives[0]
		work, err := sortWork(&a.Facts)
		if err != nil {
			return nil, err
		}
		members[i] = memberOf(i, q)
		members[i].Time += q.Rates.Time(&work)
		host += hostTime(a.Plan, q.Rates)
	}
	shares := slices.Repeat([]float64{1 / float64(len(members))}, len(members))
	sorts.Time = slices.Max(planner.Together(predictions(members), p.engine.Wires)) +
		host*time.Duration(len(members)-1)/time.Duration(len(members))
	sorts.Time = time.Duration(float64(sorts.Time) / team.Slack) // devices have room for more rows than are expected
	sorts.Time += p.engine.moving(first, p.Facts.Rows, members, shares)
	return first, nil
}

// hostTime is the part of the time of a plan in which the host makes codes of keys, and fetches columns.
func hostTime(p *operator.Plan, rates *planner.Rates) (total time.Duration) {
	for _, stage := range p.Stages {
		var work operator.Work
		for _, unit := range []operator.Unit{operator.EncodeRow, operator.TakeNear, operator.TakeFar} {
			work[unit] = stage.Work[unit]
		}
		total += rates.Time(&work)
	}
	return total
}

// sortWork is the work to sort the rows of both sides, beyond the work to divide them among devices.
func sortWork(f *operator.Facts) (w operator.Work, err error) {
	for side, rows := range f.Rows {
		sort, err := primitive.PlanSort(f.Tuning, primitive.Sort{EndBit: f.KeyBits,
			Layout: primitive.Layout{Rows: min(rows, primitive.MaxRows), KeyBytes: f.KeyBytes}})
		if err != nil {
			return w, err
		}
		passed := float64(uint64(sort.Passes()) * rows)
		w[operator.Launch] += 2 * float64(sort.Passes())
		w[operator.SortRow] += passed
		w[operator.PassByte] += passed * 2 * float64(f.RowBytes(side))
	}
	return w, nil
}
