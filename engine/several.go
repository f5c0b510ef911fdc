package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/team"
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

// severally reports whether a join of tables is run as a stream, which several devices may join.
func (p *Plan) severally() bool {
	e, time := p.engine, p.Alternatives[0].Time()
	long := e.Together || time == 0 || time >= leastSharedTime
	return len(e.others) > 0 && long && p.Empty == "" && !p.Ordered && p.Layout.Spec.Output == join.Rows &&
		p.Layout.CheckStream(p.Layout.Spec.BuildSide) == nil
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
	return len(s.engine.others) == 0 || s.task.Ordered() || s.task.How == join.NotIn && s.none.keys.Nulls(s.side) > 0
}

// together plans the query on the best of all devices together, of which planned is the plan for the first alone. l is
// the lowering with the first part, or with none.
//
// Devices are added from the fastest one on, as long as that is predicted to shorten the join. Each is planned for a
// share of the probe side in proportion to how fast it alone would be. Devices that share links to the host slow one
// another down, as far as the wires are known. With the links between the devices, rows may meet by their keys instead.
func (s *stream) together(planned *query.Query, l *lowering) (*query.Query, error) {
	want := l.want()
	countsRest := want.Count && want.Marks(operator.Build) && l.keys.Exact() // of which only bitmaps could tell
	if planned.Empty != "" || s.alone() || countsRest {
		return planned, nil
	}
	one := []member{memberOf(0, planned)}
	for i, e := range s.engine.others {
		q, err := s.planOn(e, planned.Spec, l, "", 1, 1)
		if backend.OutOfMemory(err) {
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
	alone := candidate{query: planned, time: planned.Alternatives[0].Time()}
	var whole candidate
	for n := 2; n <= len(one); n++ {
		all := n == len(one)
		if (s.engine.Together || !rates) && !all {
			continue
		}
		t, err := s.planTeam(planned.Spec, l, one[:n], rates, false)
		if backend.OutOfMemory(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if whole.query == nil || t.time < whole.time {
			whole = t
		}
	}
	if s.engine.Together || !rates {
		return cmp.Or(whole.query, planned), nil
	}
	fastest := alone
	if whole.query != nil && whole.time < alone.time {
		fastest = whole
	}
	met, reason, err := s.planMet(planned, l, one, fastest)
	if err != nil {
		return nil, err
	}
	return best(reason, alone, whole, met), nil
}

// planMet plans the query for members on which rows meet by their keys: for as many as the fastest team without that
// has, and for all. If this is not considered, the candidate has no query, and there is a reason.
func (s *stream) planMet(planned *query.Query, l *lowering, members []member, fastest candidate) (
	met candidate, reason string, err error) {
	if reason := s.whyApart(planned, l); reason != "" {
		return met, reason, nil
	}
	reason = "a device lacks memory"
	for _, n := range slices.Compact([]int{max(2, fastest.size()), len(members)}) {
		if n < 2 || n > len(members) {
			continue
		}
		some := members[:n]
		if moving := s.engine.moving(planned, planned.Facts.Rows, some, s.shares(some, true)); moving >= fastest.time {
			reason = "to move them takes " + text.Duration(moving) // need not be planned
			continue
		}
		t, err := s.planTeam(planned.Spec, l, some, true, true)
		if backend.OutOfMemory(err) {
			continue
		}
		if err != nil {
			return met, "", err
		}
		if met.query == nil || t.time < met.time {
			met = t
		}
	}
	if met.query != nil {
		reason = ""
	}
	return met, reason, nil
}

// candidate is the query planned for some devices together, and the longest time that one of them takes.
type candidate struct {
	query *query.Query // of the first device; nil if there is none
	time  time.Duration
}

func (t *candidate) size() int {
	if t.query == nil {
		return 0
	}
	return 1 + len(t.query.Others)
}

// way is what explain texts call it.
func (t *candidate) way() query.Way {
	name := "one device"
	switch n := t.size(); {
	case n == 1:
	case t.query.Scattered:
		name = fmt.Sprintf("rows meet by their keys on %d devices", n)
	case t.query.Spread:
		name = fmt.Sprintf("whole build side on each of %d devices, from one another", n)
	default:
		name = fmt.Sprintf("whole build side on each of %d devices", n)
	}
	return query.Way{Name: name, Time: t.time}
}

// withRounds returns the time by which work that needs an exchange among devices is compared with work that needs none,
// a fifth more than predicted: the rounds of an exchange have no rate, and if a device fails, the others cannot go on.
func withRounds(predicted time.Duration) time.Duration { return predicted * 6 / 5 }

const notEnough = "not enough less for the rounds of an exchange"

// counts is the time by which the candidate is compared with others.
func (t *candidate) counts() time.Duration {
	if t.query.Scattered {
		return withRounds(t.time)
	}
	return t.time
}

// best returns the fastest of some teams, with all of them as its ways. reason is why rows were not considered to meet.
func best(reason string, teams ...candidate) *query.Query {
	teams = slices.DeleteFunc(teams, func(t candidate) bool { return t.query == nil })
	slices.SortStableFunc(teams, func(a, b candidate) int { return cmp.Compare(a.counts(), b.counts()) })
	q := teams[0].query
	for _, t := range teams {
		way := t.way()
		if t.time < teams[0].time {
			way.Reason = notEnough
		}
		q.Ways = append(q.Ways, way)
	}
	if reason != "" {
		q.Ways = append(q.Ways, query.Way{Name: "rows meet by their keys", Reason: reason})
	}
	return q
}

// member is a device with the time that it is predicted to take alone; 0 if that is unknown.
type member struct {
	planner.Member
	engine *query.Engine
}

func memberOf(number int, q *query.Query) member {
	a := &q.Alternatives[0]
	return member{planner.MemberOf(number, a.Plan, &a.Transfer, q.Rates), q.Engine}
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

// shares are the members' shares of the work, in proportion to the speed of each while all work; equal without rates.
func (s *stream) shares(members []member, rates bool) []float64 {
	shares, all := make([]float64, len(members)), 0.0
	for i, time := range planner.Together(predictions(members), s.engine.Wires) {
		if shares[i] = 1; rates {
			shares[i] = 1 / time.Seconds()
		}
		all += shares[i]
	}
	for i := range shares {
		shares[i] /= all
	}
	return shares
}

// planAll plans a query for some devices. Rows that move have the same columns everywhere, so they are put together in
// the place where that is best for the first device; "": wherever it is best.
func planAll(devices int, plan func(device int, place string) (*query.Query, error)) (*query.Query, error) {
	first, err := plan(0, "")
	for i := 1; i < devices && err == nil; i++ {
		var other *query.Query
		other, err = plan(i, first.Alternatives[0].Place)
		first.Others = append(first.Others, other)
	}
	if err != nil {
		return nil, err
	}
	return first, nil
}

// treesIn returns the trees with columns put together in a place; "": all of them.
func treesIn(place string, trees []query.Join) []query.Join {
	return slices.DeleteFunc(trees, func(tree query.Join) bool { return place != "" && tree.Place != place })
}

// planTeam plans the query for several devices, on which rows meet by their keys, or which all have the whole build
// side.
func (s *stream) planTeam(spec query.Spec, l *lowering, members []member, rates, scattered bool) (
	t candidate, err error) {
	shares, planned := s.shares(members, rates), make([]member, len(members))
	spec.Scattered = scattered
	t.query, err = planAll(len(members), func(i int, place string) (*query.Query, error) {
		if !scattered {
			place = ""
		}
		q, err := s.planOn(members[i].engine, spec, l, place, shares[i], len(members))
		if err == nil {
			planned[i] = memberOf(members[i].Number, q)
		}
		return q, err
	})
	if err != nil {
		return candidate{}, err
	}
	wires, all := s.engine.Wires, predictions(planned)
	linked, apart := planner.Linked(all, wires)
	t.time = slices.Max(planner.Together(all, wires))
	switch f := &t.query.Alternatives[0].Facts; {
	case scattered && linked:
		t.time += s.engine.moving(t.query, spec.Facts.Rows, planned, shares)
	case scattered || !team.MaySpread(t.query):
	case t.query.Engine.Spread:
		t.query.Spread = true
	case !rates || !linked:
		t.query.Spread = team.Direct(t.query)
	case apart:
		time := slices.Max(planner.Spread(all, f.Rows[operator.Build]*f.RowBytes(operator.Build), wires))
		if t.query.Spread = time < t.time; t.query.Spread {
			t.time = time
		}
	}
	return t, nil
}

// moving is the predicted time in which rows move that meet by their keys, with the columns of a plan.
func (e *Engine) moving(of *query.Query, rows [2]uint64, members []member, shares []float64) time.Duration {
	sizeBytes, f := uint64(0), &of.Alternatives[0].Facts
	for side, n := range rows {
		sizeBytes += n * f.RowBytes(side)
	}
	return planner.Scatter(predictions(members), shares, sizeBytes, e.Wires)
}

// planOn plans the query on a device for a share of the probe side, as one of several, with columns put together in a
// place; "": where that is best.
func (s *stream) planOn(e *query.Engine, spec query.Spec, l *lowering, place string, share float64, devices int) (
	*query.Query, error) {
	own := *l
	own.several = devices > 1 && !spec.Scattered
	spec.Trees, spec.Among = treesIn(place, own.trees(e)), uint64(devices)
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
		f.Rows[operator.Build] = uint64(team.Slack*share*float64(f.Rows[operator.Build])) + 1
		f.Stays = true // a device may receive more granules than planned
		f.Sorted = [2]bool{}
	}
	return planGranules(e, spec)
}

// hottestShare is the part of a device's share of the build side that one key may have.
const hottestShare = 0.2

// cannotMeet returns why rows with equal keys cannot meet on one of the devices; "" if they can.
func (s *stream) cannotMeet(f *operator.Facts, l *lowering) string {
	want := l.want()
	switch {
	case s.task.How == join.Cross:
		return "there are no keys"
	case !l.keys.Exact() && want.Marks(operator.Probe):
		return "texts of keys do not move"
	case f.Hottest[operator.Build]*float64(1+len(s.engine.others)) > hottestShare && !s.engine.Scatter:
		return "too many rows have one key, for which one device must have room"
	}
	return ""
}

// whyApart returns why rows are not considered to meet where each device has room for the build side; "" if they are.
func (s *stream) whyApart(planned *query.Query, l *lowering) string {
	f := &planned.Alternatives[0].Facts
	all := make([]planner.Member, 1+len(s.engine.others))
	for i := range all {
		all[i].Number = i
	}
	if linked, _ := planner.Linked(all, s.engine.Wires); !linked {
		return "the rates of the links between the devices are not known"
	}
	if f.Rows[operator.Build]*f.RowBytes(operator.Build) < team.LeastSpreadBytes {
		return "the build side is small"
	}
	return s.cannotMeet(f, l)
}

// scattered plans the query on all devices with rows that meet by their keys, if planned, the plan with the whole build
// side on each device, cannot run because of err. If this plan cannot run either, it returns planned and err. Devices
// first get equal shares, which tell how fast each of them is.
func (s *stream) scattered(planned *query.Query, err error, spec query.Spec, l *lowering) (*query.Query, error) {
	if s.alone() || s.cannotMeet(&spec.Facts, l) != "" {
		return planned, err
	}
	var all []member
	for i, e := range s.engine.Engines() {
		all = append(all, member{planner.Member{Number: i}, e})
	}
	equal, scatteredErr := s.planTeam(spec, l, all, false, true)
	if scatteredErr != nil {
		return planned, err
	}
	for i, q := range append([]*query.Query{equal.query}, equal.query.Others...) {
		all[i] = memberOf(i, q)
	}
	if slices.ContainsFunc(all, func(m member) bool { return m.Time == 0 }) {
		return equal.query, nil
	}
	if bySpeed, err := s.planTeam(spec, l, all, true, true); err == nil && bySpeed.time < equal.time {
		return bySpeed.query, nil
	}
	return equal.query, nil
}
