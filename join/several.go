package join

import (
	"errors"
	"slices"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/query"
)

// A stream on several devices has the whole build side on each of them. Devices take the next part of the probe side as
// soon as they are free, so that a faster one takes more (HMG 3.3.3 divides the work likewise, but before it begins).

// partsPerDevice is how many parts there are at least for a device, where the number of rows is known: with fewer, some
// devices would wait for the last one.
const partsPerDevice = 4

// leastSharedRows is how many rows a part has at least among several devices.
const leastSharedRows = 1 << 18

// leastSharedTime is the predicted time of a join of tables on one device from which on several may be faster: a stream
// begins a little later.
const leastSharedTime = 5 * time.Millisecond

// severally tells whether a join of tables is worth to be run as a stream that several devices may join.
func (p *Plan) severally() bool {
	e, time, spec := p.engine, p.Alternatives[0].Time(), &p.Layout.Spec
	long := e.Together || time == 0 || time >= leastSharedTime
	return len(e.others) > 0 && long && p.Empty == "" && !p.Ordered && spec.Output == Rows && p.Layout.CheckStream() == nil
}

// shareRows bounds the rows of a part, so that all devices have something to do.
func (s *stream) shareRows() {
	devices := uint64(1 + len(s.engine.others))
	if devices == 1 || s.sourceRows < 0 || s.engine.GranuleRows > 0 || s.alone() {
		return
	}
	s.mostRows = min(s.mostRows, max(uint64(s.sourceRows)/(devices*partsPerDevice), leastSharedRows))
}

// alone reports whether only one device can run the stream.
func (s *stream) alone() bool {
	spec := &s.layout.Spec
	return len(s.engine.others) == 0 || s.none.ordered() || spec.How == NotIn && s.none.keys.Nulls(s.side) > 0
}

// together plans the query on the best of all devices together, of which planned is the plan for the first alone. l is
// the lowering with the first part, or with none.
//
// Devices are added from the fastest one on, as long as that is predicted to shorten the join. Each is planned for a
// share of the probe side in proportion to how fast it alone would be. Devices that share links to the host slow one
// another down, as far as the wires are known.
func (s *stream) together(planned *query.Query, l *lowering) (*query.Query, error) {
	want := l.want()
	countsRest := want.Count && want.Marks(operator.Build) && l.keys.Exact() // of which only bitmaps could tell
	if planned.Empty != "" || s.alone() || countsRest {
		return planned, nil
	}
	one := []member{memberOf(0, planned)}
	for i, e := range s.engine.others {
		q, err := s.planOn(e, planned.Spec, l, "", 1, 1)
		if errors.Is(err, backend.ErrDeviceMemory) || errors.Is(err, backend.ErrHostMemory) {
			continue
		}
		if err != nil {
			return nil, err
		}
		one = append(one, memberOf(1+i, q))
	}
	rates := !slices.ContainsFunc(one, func(m member) bool { return m.Time == 0 })
	if rates && !s.engine.Together {
		one = s.ordered(one)
	}
	best, least := planned, planned.Alternatives[0].Time()
	for n := 2; n <= len(one); n++ {
		all := n == len(one)
		if (s.engine.Together || !rates) && !all {
			continue
		}
		team, slowest, err := s.planTeam(planned.Spec, l, one[:n], rates, false)
		if errors.Is(err, backend.ErrDeviceMemory) || errors.Is(err, backend.ErrHostMemory) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if s.engine.Together || !rates || slowest < least {
			best, least = team, slowest
		}
	}
	return best, nil
}

// member is a device with what it is predicted to take alone; 0 if that is unknown.
type member struct {
	planner.Member
	engine *query.Engine
}

func memberOf(number int, q *query.Query) member {
	return member{planner.MemberOf(number, q.Alternatives[0].Plan, q.Rates), q.Engine}
}

// ordered returns members in the order in which they are to be added.
func (s *stream) ordered(members []member) (ordered []member) {
	for _, i := range planner.Order(predictions(members), s.engine.Wires) {
		ordered = append(ordered, members[i])
	}
	return ordered
}

func predictions(members []member) (all []planner.Member) {
	for _, m := range members {
		all = append(all, m.Member)
	}
	return all
}

// planTeam plans the query for several devices, and returns the longest time that one of them takes.
func (s *stream) planTeam(spec query.Spec, l *lowering, members []member, rates, scattered bool) (
	team *query.Query, slowest time.Duration, err error) {
	speeds, all := make([]float64, len(members)), 0.0
	for i, time := range planner.Together(predictions(members), s.engine.Wires) {
		if speeds[i] = 1; rates {
			speeds[i] = 1 / time.Seconds()
		}
		all += speeds[i]
	}
	shares := make([]member, len(members))
	for i, m := range members {
		place := ""
		if spec.Scattered = scattered; scattered && i > 0 { // rows that move have the same columns everywhere
			place = team.Alternatives[0].Place
		}
		q, err := s.planOn(m.engine, spec, l, place, speeds[i]/all, len(members))
		if err != nil {
			return nil, 0, err
		}
		shares[i] = memberOf(m.Number, q)
		if i == 0 {
			team = q
		} else {
			team.Others = append(team.Others, q)
		}
	}
	return team, slices.Max(planner.Together(predictions(shares), s.engine.Wires)), nil
}

// planOn plans the query on a device for a share of the probe side, as one of several, with columns put together in a
// place; "": where that is best.
func (s *stream) planOn(e *query.Engine, spec query.Spec, l *lowering, place string, share float64, devices int) (
	*query.Query, error) {
	own := *l
	own.several = devices > 1 && !spec.Scattered
	spec.Trees, spec.Among = own.trees(e), uint64(devices)
	if place != "" {
		spec.Trees = slices.DeleteFunc(spec.Trees, func(tree query.Join) bool { return tree.Place != place })
	}
	if e != s.engine.Engine { // the first device has what there is once
		spec.Grant, spec.Release, spec.PartsBytes, spec.WaitingBytes = nil, nil, 0, 0
	}
	if spec.PartsBytes > 0 {
		spec.PartsBytes *= uint64(devices)
	}
	f := &spec.Facts
	scale := func(rows uint64) uint64 { return uint64(share*float64(rows)) + 1 }
	f.Rows[operator.Probe], f.OutputRows = scale(f.Rows[operator.Probe]), scale(f.OutputRows)
	if f.MostRows > 0 {
		f.MostRows = scale(f.MostRows)
	}
	if spec.Scattered {
		f.Rows[operator.Build] = uint64(query.ScatteredSlack*share*float64(f.Rows[operator.Build])) + 1
		f.Stays = true // a device may receive more granules than planned
		f.Sorted = [2]bool{}
	}
	return planGranules(e, spec)
}

// hottestShare is how many rows of the share of a device one key of the build side may have.
const hottestShare = 0.2

// scattered plans the query on all devices, on which rows of both sides with equal keys meet, where planned, the plan
// with the whole build side, cannot run because of err. Where the other plan cannot either, it returns planned and err.
func (s *stream) scattered(planned *query.Query, err error, spec query.Spec, l *lowering) (*query.Query, error) {
	want := l.want()
	// Rows of one key meet on one device, which must have room for them.
	hot := spec.Facts.Hottest[operator.Build]*float64(1+len(s.engine.others)) > hottestShare
	if s.alone() || hot && !s.engine.Scatter || s.layout.Spec.How == Cross || !l.keys.Exact() && want.Marks(operator.Probe) {
		return planned, err
	}
	var all []member
	for i, e := range s.engine.Engines() {
		all = append(all, member{planner.Member{Number: i}, e})
	}
	team, _, scatteredErr := s.planTeam(spec, l, all, false, true)
	if scatteredErr != nil {
		return planned, err
	}
	return team, nil
}
