package join

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
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
	if devices == 1 || s.sourceRows < 0 || s.engine.GranuleRows > 0 || s.alone() != "" {
		return
	}
	s.mostRows = min(s.mostRows, max(uint64(s.sourceRows)/(devices*partsPerDevice), leastSharedRows))
}

// alone returns why only one device can run the stream; "" if several can.
func (s *stream) alone() (reason string) {
	spec, want := &s.layout.Spec, s.none.want()
	switch {
	case len(s.engine.others) == 0:
		return "there is no other"
	case s.none.ordered():
		return "an order of the output is requested"
	case want.Count && want.Marks(operator.Build) && s.none.keys.Exact():
		return "rows of the build side without a partner are only counted"
	case spec.How == NotIn && s.none.keys.Nulls(s.side) > 0:
		return "there is no output"
	}
	return ""
}

// together plans the query on the best of all devices together, of which planned is the plan for the first alone. l is
// the lowering with the first part, or with none.
//
// Devices are added from the fastest one on, as long as that is predicted to shorten the join. Each is planned for a
// share of the probe side in proportion to how fast it alone would be.
func (s *stream) together(planned *query.Query, l *lowering) (*query.Query, error) {
	if planned.Empty != "" || s.alone() != "" {
		return planned, nil
	}
	one := []member{{engine: s.engine.Engine, time: planned.Alternatives[0].Time()}}
	for _, e := range s.engine.others {
		q, err := s.planOn(e, planned.Spec, l, 1, 1)
		if errors.Is(err, backend.ErrDeviceMemory) || errors.Is(err, backend.ErrHostMemory) {
			continue
		}
		if err != nil {
			return nil, err
		}
		one = append(one, member{engine: e, time: q.Alternatives[0].Time()})
	}
	rates := !slices.ContainsFunc(one, func(m member) bool { return m.time == 0 })
	if rates && !s.engine.Together {
		slices.SortStableFunc(one[1:], func(a, b member) int { return cmp.Compare(a.time, b.time) })
	}
	best, least := planned, planned.Alternatives[0].Time()
	for n := 2; n <= len(one); n++ {
		all := n == len(one)
		if (s.engine.Together || !rates) && !all {
			continue
		}
		team, slowest, err := s.planTeam(planned.Spec, l, one[:n], rates)
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

// member is a device with the time that it is predicted to take alone; 0 if that is unknown.
type member struct {
	engine *query.Engine
	time   time.Duration
}

// planTeam plans the query for several devices, and returns the longest time that one of them takes.
func (s *stream) planTeam(spec query.Spec, l *lowering, members []member, rates bool) (
	team *query.Query, slowest time.Duration, err error) {
	speeds, all := make([]float64, len(members)), 0.0
	for i, m := range members {
		if speeds[i] = 1; rates {
			speeds[i] = 1 / m.time.Seconds()
		}
		all += speeds[i]
	}
	for i, m := range members {
		q, err := s.planOn(m.engine, spec, l, speeds[i]/all, len(members))
		if err != nil {
			return nil, 0, err
		}
		slowest = max(slowest, q.Alternatives[0].Time())
		if i == 0 {
			team = q
		} else {
			team.Others = append(team.Others, q)
		}
	}
	return team, slowest, nil
}

// planOn plans the query on a device for a share of the probe side, as one of several.
func (s *stream) planOn(e *query.Engine, spec query.Spec, l *lowering, share float64, devices int) (*query.Query, error) {
	own := *l
	own.several = devices > 1
	spec.Trees, spec.Among = own.trees(e), uint64(devices)
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
	return planGranules(e, spec)
}
