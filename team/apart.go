package team

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// apart is the team whose lanes each have the whole build side. Lanes take parts of the probe side as soon as they are
// free, so that a faster device takes more (HMG 3.3.3 divides the work likewise, but before it begins). Each keeps a
// part until all its output is delivered. If a device fails before any row of the parts that its lane holds was
// delivered, these go to the other lanes, and the join goes on without it.
//
//	parts ─────┬─► lane of device 0 ─► delivered
//	returned ──┤
//	     ▲     └─► lane of device 1 ─► lost: none of its part was delivered
//	     └────────────────┘
type apart struct {
	flow            *exec.Flow // of the result
	parts, returned *exec.Pipe[*query.Part]
	lanes           []*query.Lane

	mu    sync.Mutex // guards what follows
	out   int        // parts that are held or returned, and lanes that may take more from the source
	hands map[*query.Lane]*hand
}

// hand is the state of a lane: the parts of the probe side that it holds, and whether it goes on.
type hand struct {
	held   []*heldPart
	done   int   // parts
	failed error // nil if the lane goes on
	left   bool  // it takes no more from the source
}

// heldPart is a part that a lane holds.
type heldPart struct {
	*query.Part
	*deliver.Delivery
}

// mostReturned is the capacity of returned: more parts than lanes ever hold, so that none waits to be returned.
const mostReturned = 1 << 20

// newApart prepares lanes, each of which may fail by itself.
func newApart(flow *exec.Flow, lanes []*query.Lane, parts *exec.Pipe[*query.Part]) *apart {
	t := &apart{flow: flow, parts: parts, returned: exec.NewPipe[*query.Part](flow, mostReturned), lanes: lanes,
		out: len(lanes), hands: make(map[*query.Lane]*hand)}
	for _, l := range lanes {
		t.hands[l] = new(hand)
		l.Separate()
		l.Source = func(ctx context.Context) (*query.Portion, error) { return t.take(ctx, l) }
	}
	return t
}

// Join implements query.Team.
func (t *apart) Join(ctx context.Context, lanes []*query.Lane) error {
	if err := query.Acquire(ctx, lanes); err != nil {
		return err
	}
	var err error
	if lanes[0].Query.Spread {
		err = spread(ctx, lanes)
	} else {
		err = query.Each(lanes, "build", t.fail, func(ctx context.Context, _ int, l *query.Lane) error {
			return l.Build(ctx, nil)
		})
	}
	if err != nil {
		return err
	}
	return query.Each(t.Left(lanes), "join", t.fail,
		func(ctx context.Context, _ int, l *query.Lane) error { return l.Probe(ctx) })
}

// Finish implements query.Team.
func (t *apart) Finish(ctx context.Context, left []*query.Lane) error {
	first, finish := left[0], left[0].Finish
	if marks(first) {
		others := slices.DeleteFunc(slices.Clone(left[1:]), func(l *query.Lane) bool { return !l.Begun() })
		var err error
		if finish, err = first.MergeMarks(ctx, others); err != nil {
			return err
		}
	}
	return finish(ctx)
}

// take takes a part for a lane; nil after the last one, when no other lane could return one any more.
func (t *apart) take(ctx context.Context, l *query.Lane) (*query.Portion, error) {
	part, of, some, err := exec.TakeAny(ctx, [2]*exec.Pipe[*query.Part]{t.returned, t.parts})
	if some && of == 1 {
		l.Probed(part.Table.NumRows())
		t.add(1)
	}
	if err == nil && !some {
		t.leave(l)
		part, some, err = t.returned.Take(ctx)
	}
	if err != nil || !some {
		return nil, err
	}
	part.Table.Retain()
	held := &heldPart{Part: part}
	p := l.Portion(part, func() { t.done(l, held) })
	held.Delivery = p.Delivery
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hands[l].held = append(t.hands[l].held, held)
	return p, nil
}

// add changes out. At 0, no part will be returned any more.
func (t *apart) add(number int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out += number; t.out == 0 {
		t.returned.End()
	}
}

// leave says that a lane takes no more from the source.
func (t *apart) leave(l *query.Lane) {
	t.mu.Lock()
	left := t.hands[l].left
	t.hands[l].left = true
	t.mu.Unlock()
	if !left {
		t.add(-1)
	}
}

// done ends a part whose output is delivered.
func (t *apart) done(l *query.Lane, held *heldPart) {
	t.mu.Lock()
	h := t.hands[l]
	h.held = slices.DeleteFunc(h.held, func(other *heldPart) bool { return other == held })
	h.done++
	t.mu.Unlock()
	l.Bring(uint64(held.Table.NumRows()))
	held.Release()
	t.add(-1)
}

// Close releases the parts that lanes hold.
func (t *apart) Close() {
	for _, h := range t.hands {
		for _, held := range h.held {
			held.Release()
		}
		h.held = nil
	}
}

// fail handles the failure of a lane, whose flow has ended with err. It returns nil if the others go on without the
// lane and join the parts that it holds, otherwise an error, with which the join fails. A join that has failed fails
// all lanes.
func (t *apart) fail(l *query.Lane, err error) error {
	ofDevice := errors.Is(err, backend.ErrDeviceLost) || errors.Is(err, backend.ErrDeviceMemory)
	if !ofDevice || t.flow.Context().Err() != nil {
		return err
	}
	defer t.leave(l)
	t.mu.Lock()
	defer t.mu.Unlock()
	h, build := t.hands[l], l.Taken().Scans[operator.Build].Side
	delivered := slices.ContainsFunc(h.held, func(held *heldPart) bool { return held.Begun.Load() })
	switch {
	case len(t.left(t.lanes)) == 1, l.Query.Consumer != nil: // what the device has consumed is lost
		return err
	case l.Leads && !l.Probing() && l.Query.Unique != [2]*keys.Plan{}:
		return fmt.Errorf("%w; the device was to check that keys are unique", err)
	case h.done > 0 && marks(l):
		return fmt.Errorf("%w; which rows of the %s table have a partner in what the device had joined is lost with it",
			err, build)
	case delivered:
		return fmt.Errorf("%w; some rows of what the device was joining were output already", err)
	}
	returned := h.held
	h.failed, h.held = err, nil
	for i, held := range returned {
		l.TakeBack(held.Delivery)
		if err := t.returned.Put(t.flow.Context(), held.Part); err != nil { // which has released the part
			for _, rest := range returned[i+1:] {
				rest.Release()
			}
			return err
		}
	}
	return nil
}

// Left implements query.Team.
func (t *apart) Left(lanes []*query.Lane) []*query.Lane {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left(lanes)
}

// left is Left for callers that hold the lock.
func (t *apart) left(lanes []*query.Lane) []*query.Lane {
	return slices.DeleteFunc(slices.Clone(lanes), func(l *query.Lane) bool { return t.hands[l].failed != nil })
}

// Failures implements query.Team.
func (t *apart) Failures() (all []query.DeviceFailure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.lanes {
		if err := t.hands[l].failed; err != nil {
			all = append(all, query.DeviceFailure{Device: l.Query.Engine.Device().Info().Name, Error: err.Error()})
		}
	}
	return all
}
