package query

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
)

// strand is the work of a query on one device: it has the whole build side there, and joins the parts of the probe side
// that it takes. Strands take from the same pipe, each as soon as it is free, and put their output into the same one.
//
//	parts ─┬─► strand of device 0: built, operator ─┬─► pieces of output
//	       └─► strand of device 1: built, operator ─┘
type strand struct {
	*Result
	Query   *Query // as planned for the device
	taken   *Alternative
	profile *backend.Profile // of this query alone
	built   *Built
	joining *exec.Lane // of granules and output
	out     *output
	begun   atomic.Uint64 // granules
	brought atomic.Uint64 // rows of the probe side, in them
	rank    *rank         // nil unless rows meet by their keys
	flow    *exec.Flow    // the result's or, if the others go on when this strand fails, one of its own

	// The following fields serve strands that get parts from a handout, whose lock guards them.
	held   []*heldOut
	done   int   // parts
	failed error // nil if it goes on
	left   bool  // it takes no more from the source; only the strand itself uses it
}

func (r *Result) newStrand(q *Query) *strand {
	q.Engine.Device().ResetPeak()
	return &strand{Result: r, Query: q, taken: &q.Alternatives[0], profile: new(backend.Profile),
		flow: r.flow}
}

// close releases all memory.
func (r *strand) close() {
	r.endHeld()
	if r.out != nil {
		r.out.close()
	}
	if r.joining != nil {
		r.joining.Memory.ReleaseAll()
	}
	if r.built != nil && r.Result.built == nil {
		r.built.Close()
	}
}

// each runs a step of several strands at once, and returns the first error. failed decides whether the error of a
// strand, which has ended, ends the join; nil: it does.
func (r *Result) each(ctx context.Context, strands []*strand, name string, failed func(*strand, error) error,
	step func(context.Context, int, *strand) error) error {
	if r.handout == nil && len(strands) == 1 {
		return step(ctx, 0, strands[0])
	}
	errs := make([]error, len(strands))
	var all sync.WaitGroup
	for i, s := range strands {
		all.Go(func() {
			if err := s.run(name, func(ctx context.Context) error { return step(ctx, i, s) }); err != nil {
				if failed != nil {
					err = failed(s, err)
				}
				if errs[i] = err; err != nil {
					r.flow.Fail(err)
				}
			}
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}

// run runs a step in the flow of the strand. If it fails, and the flow is its own, that has ended then; the error is
// the first one in it.
func (r *strand) run(name string, step func(context.Context) error) (err error) {
	ended := make(chan struct{})
	r.flow.Go(name, func(ctx context.Context) error {
		defer close(ended)
		err = exec.Protect(name, func() error { return step(ctx) })
		return err
	})
	<-ended
	if err != nil && r.flow != r.Result.flow {
		return r.flow.Wait()
	}
	return err
}

// acquire acquires the memory of all strands at once.
func (r *Result) acquire(ctx context.Context) (err error) {
	r.Query.Progress.Start(exec.Waiting)
	builts, need := make([]*Built, len(r.strands)), exec.Need{}
	for i, s := range r.strands {
		if err == nil {
			builts[i], err = s.Query.prepare(ctx, s.taken)
		}
		if err == nil {
			need.Add(s.Query.need(builts[i].held))
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
	for i, s := range r.strands {
		builts[i].grant = builts[0].grant
		builts[i].open(ctx, s.profile)
		s.built = builts[i]
	}
	return nil
}

// apart joins on each device with the whole build side. Keys that must be unique are checked before.
func (r *Result) apart(ctx context.Context) error {
	switch {
	case r.Query.Spread:
		if err := r.spread(ctx); err != nil {
			return err
		}
	case r.built == nil:
		if err := r.each(ctx, r.strands, "build", r.fail, func(ctx context.Context, _ int, s *strand) error {
			return s.built.fill(ctx, s.proved(), &r.encode, nil)
		}); err != nil {
			return err
		}
	}
	return r.each(ctx, r.survivors(), "join", r.fail,
		func(ctx context.Context, _ int, s *strand) error { return s.probe(ctx) })
}

// proved are the scans whose keys the strand checks: the first one does it for all.
func (r *strand) proved() []*Scan {
	if r == r.strands[0] {
		return r.taken.Scans[:]
	}
	return nil
}

// finish outputs what depends on the whole probe side: rows of the build side with or without a partner, of which each
// strand knows only those that it has met, and rows of tables without a key.
func (r *Result) finish(ctx context.Context) error {
	first := r.survivors()[0]
	sink := first.out.pairs
	if others := r.others(); len(r.strands) > 1 && first.taken.Output.Marks(operator.Build) {
		switch {
		case first.out.filter == nil && r.Query.Scattered:
			if err := r.each(ctx, others, "finish", nil, func(ctx context.Context, _ int, s *strand) error {
				return s.finishOwn(ctx, s.out.pairs)
			}); err != nil {
				return err
			}
		case first.out.filter != nil:
			for _, s := range others {
				if err := first.out.filter.Merge(ctx, s.out.filter); err != nil {
					return err
				}
			}
		default:
			lonely, err := r.lonely(ctx, others)
			if err != nil {
				return err
			}
			sink = first.deciding(lonely)
		}
	}
	if err := first.finishOwn(ctx, sink); err != nil {
		return err
	}
	for side, s := range first.taken.Scans {
		if side == operator.Probe && r.parts != nil {
			continue
		}
		if err := first.alone(ctx, s, side); err != nil {
			return err
		}
	}
	return nil
}

// finishOwn outputs the rows of the build side that depend on all granules of the strand.
func (r *strand) finishOwn(ctx context.Context, sink operator.Sink) error {
	if r.begun.Load() == 0 { // Finish needs at least one Probe
		if err := r.probeNothing(ctx); err != nil {
			return err
		}
	}
	return r.built.op.Finish(ctx, sink)
}

// others are the strands beside the first one that have joined something.
func (r *Result) others() (others []*strand) {
	for _, s := range r.survivors()[1:] {
		if s.begun.Load() > 0 || r.Query.Scattered {
			others = append(others, s)
		}
	}
	return others
}
