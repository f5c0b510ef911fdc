package query

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// Lane is a query on one device: it has the build side there and joins portions of the probe side, which its source
// gives. A query on several devices has a lane on each, which put their output into the same pipe ([Team]).
//
//	source ── portion ──► load ── granule ──► operator ── window ──► sinks ── piece ──► Result
type Lane struct {
	Query  *Query                                  // as planned for the device
	Leads  bool                                    // checks keys, and outputs rows of the probe side without a key
	Source func(context.Context) (*Portion, error) // gives the next portion; nil after the last one
	Rows   Rows                                    // which rows of a portion the lane loads, and joins

	result  *Result
	taken   *Alternative
	profile *backend.Profile // of this query alone
	built   *Built
	kept    bool       // the build side stays when the query ends
	joining *exec.Lane // of granules and output
	out     *output
	begun   atomic.Uint64 // granules
	brought atomic.Uint64 // rows of the probe side, in them
	flow    *exec.Flow    // the result's or, if the others go on when this lane fails, one of its own ([Lane.Separate])
}

// Rows decides which rows of a portion a lane loads at a time, and which rows it joins in their place.
type Rows interface {
	// Loads returns ranges of rows of a portion, and the number of rows that no lane needs to load.
	Loads(p *Portion, f *operator.Facts) (ranges [][2]int, skipped uint64)
	// Exchange gives loaded rows to other lanes, and returns the rows that the lane joins. If all rows stay, it returns
	// loaded itself; otherwise release frees the rows that it returns.
	Exchange(ctx context.Context, lane *exec.Lane, loaded *relation.Chunk) (joined *relation.Chunk, release func(),
		err error)
}

// ownRows is the Rows of a lane that joins what it loads.
type ownRows struct{}

// Loads returns the granules of the plan, without those of parts in which no row has a key that could match.
func (ownRows) Loads(p *Portion, f *operator.Facts) (ranges [][2]int, skipped uint64) {
	s := p.Scans[operator.Probe]
	bounds := s.granules(f.Granule, f.Brought(operator.Probe))
	for i := range bounds[1:] {
		from, to := bounds[i], bounds[i+1]
		if p.Part != nil && s.rowsIn(from, to) == 0 {
			skipped += uint64(to - from)
			continue
		}
		ranges = append(ranges, [2]int{from, to})
	}
	return ranges, skipped
}

// Exchange returns the rows as they are.
func (ownRows) Exchange(_ context.Context, _ *exec.Lane, loaded *relation.Chunk) (*relation.Chunk, func(), error) {
	return loaded, nil, nil
}

func (r *Result) newLane(q *Query) *Lane {
	q.Engine.Device().ResetPeak()
	return &Lane{Query: q, Leads: len(r.lanes) == 0, Rows: ownRows{}, result: r, taken: &q.Alternatives[0],
		profile: new(backend.Profile), flow: r.flow}
}

// Taken returns the alternative that the lane runs.
func (l *Lane) Taken() *Alternative { return l.taken }

// Built returns the build side, once its memory is acquired.
func (l *Lane) Built() *Built { return l.built }

// Flow returns the flow of the goroutines of the lane.
func (l *Lane) Flow() *exec.Flow { return l.flow }

// Separate gives the lane a flow of its own, so that it may fail while others go on. The end of the query ends it.
func (l *Lane) Separate() { l.flow = exec.NewFlow(l.result.flow.Context()) }

func (l *Lane) separate() bool { return l.flow != l.result.flow }

// Begun reports whether the lane has joined a granule.
func (l *Lane) Begun() bool { return l.begun.Load() > 0 }

// Probing reports whether the build side is there and keys that the lane checks are unique.
func (l *Lane) Probing() bool { return l.out != nil }

// Bring adds to the rows of the probe side that statistics name for the lane.
func (l *Lane) Bring(rows uint64) { l.brought.Add(rows) }

// TakeBack takes back what was counted of a part that another lane will join.
func (l *Lane) TakeBack(d *deliver.Delivery) {
	r := l.result
	r.rows.Add(-d.Counted.Load())
	r.Query.Quota.Return(d.Counted.Load())
	r.granules.Add(-d.Granules.Load())
	l.begun.Add(-d.Granules.Load())
	r.Query.Progress.Joined(-d.Joined.Load(), r.Rows())
}

// close releases all memory.
func (l *Lane) close() {
	if l.separate() {
		l.flow.Stop()
	}
	if l.out != nil {
		l.out.close()
	}
	if l.joining != nil {
		l.joining.Memory.ReleaseAll()
	}
	if l.built != nil && !l.kept {
		l.built.Close()
	}
}

// Each runs a step of several lanes at once, each in its flow, and returns the first error. failed decides whether the
// error of a lane, which has ended, ends the join; nil: it does.
func Each(lanes []*Lane, name string, failed func(*Lane, error) error,
	step func(context.Context, int, *Lane) error) error {
	errs := make([]error, len(lanes))
	var all sync.WaitGroup
	for i, l := range lanes {
		all.Go(func() {
			if err := l.run(name, func(ctx context.Context) error { return step(ctx, i, l) }); err != nil {
				if failed != nil {
					err = failed(l, err)
				}
				if errs[i] = err; err != nil {
					l.result.flow.Fail(err)
				}
			}
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}

// run runs a step in the flow of the lane. If it fails and the flow is the lane's own, the flow has ended, and the
// error is the first one in it.
func (l *Lane) run(name string, step func(context.Context) error) (err error) {
	ended := make(chan struct{})
	l.flow.Go(name, func(ctx context.Context) error {
		defer close(ended)
		err = exec.Protect(name, func() error { return step(ctx) })
		return err
	})
	<-ended
	if err != nil && l.separate() {
		return l.flow.Wait()
	}
	return err
}

// Acquire acquires the memory of several lanes at once.
func Acquire(ctx context.Context, lanes []*Lane) (err error) {
	lanes[0].Query.Progress.Start(exec.Waiting)
	builts, need := make([]*Built, len(lanes)), exec.Need{}
	for i, l := range lanes {
		if err == nil {
			builts[i], err = l.Query.prepare(ctx, l.taken)
		}
		if err == nil {
			need.Add(l.Query.need(builts[i].held))
		}
	}
	if err == nil {
		err = builts[0].acquire(ctx, need)
	}
	if err != nil {
		for _, b := range builts {
			b.giveUp()
		}
		return err
	}
	for i, l := range lanes {
		builts[i].grant = builts[0].grant
		builts[i].open(ctx, l.profile)
		l.built = builts[i]
	}
	return nil
}

// Build checks keys that must be unique, and builds from rows that load returns; nil: from all rows of the build side.
func (l *Lane) Build(ctx context.Context, load func(context.Context) (*relation.Chunk, error)) error {
	if load == nil {
		load = l.built.load
	}
	var proved []*Scan
	if l.Leads { // for all
		proved = l.taken.Scans[:]
	}
	return l.built.fill(ctx, proved, &l.result.encode, load)
}

// Finish outputs the rows of the build side that depend on all granules of the lane.
func (l *Lane) Finish(ctx context.Context) error { return l.finish(ctx, l.out.pairs) }

func (l *Lane) finish(ctx context.Context, sink operator.Sink) error {
	if l.begun.Load() == 0 { // Finish needs at least one Probe
		if err := l.probeNothing(ctx); err != nil {
			return err
		}
	}
	return l.built.op.Finish(ctx, sink)
}

// finishKeyless outputs rows of tables without a key. Parts of a probe side have theirs in their order.
func (l *Lane) finishKeyless(ctx context.Context) error {
	for side, s := range l.taken.Scans {
		if side == operator.Probe && l.Query.Parts {
			continue
		}
		if err := l.alone(ctx, s, side); err != nil {
			return err
		}
	}
	return nil
}

// end ends the output of the lane, and releases a build side that does not stay.
func (l *Lane) end(ctx context.Context) error {
	if !l.kept {
		l.built.release() // what remains is the output
	}
	return l.out.end(ctx)
}
