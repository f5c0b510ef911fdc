// Package planner chooses the algorithm of a join: each algorithm plans under facts about both sides (package
// operator), measured rates of the device turn its work into predicted time, and the plans are ranked. Its functions
// are pure and touch no device.
//
// If no rates are known for a device, the decision tree of GFTR 5.4 ranks the algorithms instead ([Tree]).
package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

// Limits bound the memory of a join.
type Limits struct {
	DeviceMemoryBytes uint64 // available to this join, all buffers together; 0: no limit
	HeldBytes         uint64 // held by other joins, for the advice on how much device_memory would be enough
	BlockBytes        uint64 // maximum of one buffer; 0: no limit
}

// leastWindow and leastGranule are rows below which dividing further saves nothing worth its launches. Where nothing else
// fits, a 16th of them will do.
const (
	leastWindow  = 1 << 16
	leastGranule = 1 << 16
)

// leastAhead is the least number of probe rows in a granule that is chosen so that the next one is loaded, and the last
// one delivered, meanwhile. Smaller granules would cost more in launches than they save at the beginning and at the end.
const leastAhead = 1 << 22

// Choose plans a join with each of the algorithms and returns the plans, the best first, and those that cannot run
// last, with a reason: backend.ErrDeviceMemory or ErrLimit. Of algorithms that are equivalent under these facts only
// the first is kept. Plans have predicted times if rates is not nil.
//
// If memory is short, an algorithm plans with smaller windows or granules: it halves f.Window or f.Granule repeatedly.
// Facts of the plan has the result. An error means that the facts are invalid.
func Choose(f operator.Facts, want operator.Want, algorithms []operator.Algorithm, rates *Rates, limits Limits) (
	[]*operator.Plan, error) {
	if f.CacheBytes = 0; rates != nil {
		f.CacheBytes = rates.CacheBytes
	}
	plans, errs := make([]*operator.Plan, len(algorithms)), make([]error, len(algorithms))
	plan := func(i int) {
		if only, is := algorithms[i].(operator.ByName); is && len(algorithms) > 1 {
			plans[i] = &operator.Plan{Algorithm: algorithms[i], Facts: f, Want: want, Reject: &backend.OpError{Op: "plan join",
				Err: backend.ErrUnsupported, Detail: only.ByName()}}
			return
		}
		errs[i] = exec.Protect("plan", func() (err error) {
			plans[i], err = limits.plan(f, want, algorithms[i], rates)
			return err
		})
	}
	var group sync.WaitGroup // of large sides that hardly fit there are thousands of plans
	for i := range algorithms {
		if f.Rows[operator.Probe] >= leastAhead {
			group.Go(func() { plan(i) })
		} else {
			plan(i)
		}
	}
	group.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	var all []*operator.Plan
	for _, p := range plans {
		if !slices.ContainsFunc(all, func(other *operator.Plan) bool { return same(p, other) }) {
			all = append(all, p)
		}
	}
	Sort(all, rates != nil)
	return all, nil
}

// plan plans with an algorithm.
func (l *Limits) plan(f operator.Facts, want operator.Want, a operator.Algorithm, rates *Rates) (
	*operator.Plan, error) {
	p, err := l.fit(f, want, a, rates)
	if err != nil || rates == nil {
		return p, err
	}
	rates.Predict(p)
	whole, err := a.Plan(&f, want)
	if err != nil {
		return nil, err
	}
	rates.Predict(whole)
	p.ExtraTime = p.Time() - whole.Time()
	return p, nil
}

// same says that two plans do the same.
func same(a, b *operator.Plan) bool {
	return a.PeakBytes == b.PeakBytes && slices.Equal(a.Stages, b.Stages) && (a.Reject == nil) == (b.Reject == nil)
}

// Sort puts the best plan first, by predicted time or, without times, by [Tree], and those that cannot run last.
func Sort(all []*operator.Plan, timed bool) {
	rejected := func(p *operator.Plan) int {
		if p.Reject != nil {
			return 1
		}
		return 0
	}
	rank := func(p *operator.Plan) int {
		name, _, _ := strings.Cut(p.Algorithm.Name(), " ")
		tree := Tree(&p.Facts)
		if i := slices.Index(tree, name); i >= 0 {
			return i
		}
		return len(tree) // the figure does not know it
	}
	slices.SortStableFunc(all, func(a, b *operator.Plan) int {
		if c := cmp.Compare(rejected(a), rejected(b)); c != 0 {
			return c
		}
		if c := cmp.Compare(a.Time(), b.Time()); timed && c != 0 {
			return c
		}
		return cmp.Compare(rank(a), rank(b))
	})
}

// fit returns the fastest plan of an algorithm that keeps to the limits, or that with the least need, rejected: of each
// granule, beginning with the whole probe side, the largest window that fits, up to the first granule that needs none.
// With Facts.Ahead, it begins with granules so small that transfers overlap, where memory allows; a count comes in
// granules only if it has to.
// Without rates the first is the best.
func (l *Limits) fit(f operator.Facts, want operator.Want, a operator.Algorithm, rates *Rates) (*operator.Plan, error) {
	var least *operator.Plan
	if f.Ahead = f.Ahead && (!want.Count || f.Granule > 0); f.Ahead { // a count has nothing to deliver
		ahead := f
		if ahead.Granule == 0 {
			ahead.Granule = max(leastAhead, f.Rows[operator.Build]/4)
		}
		if f.Rows[operator.Probe] >= 2*ahead.Granule {
			if p, err := l.divide(ahead, want, a, rates, 1, &least); err != nil || p != nil {
				return p, err
			}
		}
		f.Ahead = false
	}
	for _, part := range []uint64{1, 16} {
		if p, err := l.divide(f, want, a, rates, part, &least); err != nil || p != nil {
			return p, err
		}
	}
	name, own := a.Name(), least.PeakBytes
	if l.DeviceMemoryBytes > 0 && own > l.DeviceMemoryBytes {
		least.Reject = reject("%s needs %d bytes of device memory, %d are free; raise device_memory to at least %s",
			name, own, l.DeviceMemoryBytes, text.Limit(own+l.HeldBytes))
	} else {
		least.Reject = reject("%s needs %d bytes in one buffer, the device allows %d; join fewer rows at a time", name,
			least.MostBytes, l.BlockBytes)
	}
	return least, nil
}

// divide is fit with windows and granules down to a part of the least; nil where nothing fits. least is the plan with
// the least need so far.
func (l *Limits) divide(f operator.Facts, want operator.Want, a operator.Algorithm, rates *Rates, part uint64,
	least **operator.Plan) (best *operator.Plan, err error) {
	begin := f.Window
	for {
		p, err := l.window(f, want, a, leastWindow/part, least)
		if err != nil || p != nil && p.Reject != nil {
			return p, err
		}
		if rates.Predict(p); p != nil && (best == nil || p.Time() < best.Time()) {
			best = p
		}
		if p != nil && p.Facts.Window == begin {
			break
		}
		rows := f.Rows[operator.Probe]
		if f.Granule > 0 {
			rows = min(rows, f.Granule)
		}
		if f.Granule = (rows/2 + 64) &^ 63; f.Granule < max(leastGranule, (*least).LeastGranule)/part {
			break
		}
	}
	return best, nil
}

// window returns the plan with the largest window that keeps to the limits; nil where none does. least is the plan with
// the least need so far.
func (l *Limits) window(f operator.Facts, want operator.Want, a operator.Algorithm, fewest uint64,
	least **operator.Plan) (*operator.Plan, error) {
	for {
		p, err := a.Plan(&f, want)
		if err != nil || p.Reject != nil {
			return p, err
		}
		room := Output(p)
		if room <= primitive.MaxRows && l.hold(p) {
			return p, nil
		}
		if *least == nil || p.PeakBytes < (*least).PeakBytes {
			*least = p
		}
		if f.Window = min(room/2, primitive.MaxRows); want.Count || f.Window < fewest {
			return nil, nil
		}
	}
}

func (l *Limits) hold(p *operator.Plan) bool {
	return (l.DeviceMemoryBytes == 0 || p.PeakBytes <= l.DeviceMemoryBytes) &&
		(l.BlockBytes == 0 || p.MostBytes <= l.BlockBytes)
}

// Output is the number of output rows that a plan has room for at a time.
func Output(p *operator.Plan) (rows uint64) {
	if p.Want.Pairs && !p.Want.Count {
		rows = p.Facts.Room()
	}
	for side := range p.Facts.Rows {
		rows = max(rows, p.AloneRoom(side))
	}
	return rows
}

func reject(format string, args ...any) error {
	return &backend.OpError{Op: "plan join", Err: backend.ErrDeviceMemory, Detail: fmt.Sprintf(format, args...)}
}

// StageOf returns the stage to which a step of a join, named as in a profile, belongs.
func StageOf(step string) string {
	switch first, _, _ := strings.Cut(step, " "); {
	case step == "gather keys":
		return operator.Match
	case first == "gather", first == "compact", first == "unpack":
		return operator.Gather
	case first == "number":
		return operator.Load
	case slices.Contains([]string{"partition", "sort", "varying", "statistics", "build"}, first):
		return operator.Transform
	}
	return operator.Match
}
