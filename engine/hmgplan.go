package engine

import (
	"fmt"
	"math"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/hmg"
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
	if len(p.engine.others) == 0 || asked || p.Empty != "" || checkHMG(spec) != nil {
		return nil
	}
	sorts := query.Way{Name: fmt.Sprintf("hmg on %d devices", 1+len(p.engine.others))}
	var err error
	if sorts.Time, sorts.Reason, err = p.engine.HMG().predict(l, &p.Facts); err != nil {
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

// predict predicts the time of the strategy for tables with these facts, or says why it cannot.
func (h *HMG) predict(l *lowering, f *operator.Facts) (_ time.Duration, reason string, err error) {
	members := make([]planner.Member, len(h.Engine.Engines()))
	for i := range members {
		members[i].Number = i
	}
	if linked, _ := planner.Linked(members, l.engine.Wires); !linked {
		return 0, "the rates of the links between the devices are not known", nil
	}
	var rates []*planner.Rates
	cores := 0 // devices
	for _, e := range h.Engine.Engines() {
		if e.Device().Info().CPULike() {
			cores++
		}
		if cores > 1 {
			return 0, "several devices are the cores of the host", nil
		}
		r := planner.RatesFor(e.Device().Info())
		if r == nil {
			return 0, "no rates are known of " + e.Device().Info().Name, nil
		}
		rates = append(rates, r)
	}
	var c hmg.Config
	d, rows := h.weakest(), [2]uint64{l.keys.Rows(relation.Left), l.keys.Rows(relation.Right)}
	if _, err := c.Fit(d, l.keys.KeyBytes(), rows); err != nil {
		return 0, "", err
	}
	if !c.InPlace(d.Count, rows) {
		return 0, "the tables do not fit the devices together, and no rate is known of dividing them", nil
	}
	capBytes := h.Engine.HostCapBytes()
	needBytes := relation.TableBytes(l.tables[:]...) + c.HostBytes(d, l.keys.KeyBytes(), rows)
	if capBytes != exec.Unlimited && needBytes > capBytes {
		return 0, "keys beside the tables take more than memory_limit", nil
	}
	sort, err := primitive.PlanSort(d.Tuning, primitive.Sort{EndBit: max(1, l.keys.KeyBits()),
		Layout: primitive.Layout{Rows: c.ChunkRows, KeyBytes: l.keys.KeyBytes()}})
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

// weakest describes the devices as the fit of a join needs them: their number, and the least memory of one.
func (h *HMG) weakest() hmg.Device {
	d := hmg.Device{Count: len(h.Engine.Engines()), CapBytes: math.MaxUint64, Tuning: h.Engine.Ops.Tuning()}
	for device, n := range h.lanes() {
		d.CapBytes = min(d.CapBytes, device.Options().DeviceMemoryBytes/n)
	}
	return d
}

// lanes is how many there are on each device.
func (h *HMG) lanes() map[*backend.Device]uint64 {
	lanes := make(map[*backend.Device]uint64)
	for _, e := range h.Engine.Engines() {
		lanes[e.Device()]++
	}
	return lanes
}
