package query

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
)

// handout hands the parts of the probe side out to strands that have the whole build side. Each keeps a part until all
// its output is delivered. If a device fails before any row of the parts that its strand holds was delivered, these go
// to the other strands, and the join goes on without it.
//
//	parts ─────┬─► strand of device 0 ─► delivered
//	returned ──┤
//	     ▲     └─► strand of device 1 ─► lost: none of its part was delivered
//	     └────────────────┘
type handout struct {
	parts, returned *exec.Pipe[*Part]

	mu  sync.Mutex // guards what follows, and what strands hold
	out int        // parts that are held or returned, and strands that may take more from the source
}

// heldOut is a part that a strand holds.
type heldOut struct {
	*Part
	*deliver.Delivery
}

// mostReturned is more than strands ever hold.
const mostReturned = 1 << 20

// handOut prepares strands that may fail each by itself.
func (r *Result) handOut() {
	r.handout = &handout{parts: r.parts, returned: exec.NewPipe[*Part](r.flow, mostReturned), out: len(r.strands)}
	for _, s := range r.strands {
		s.flow = exec.NewFlow(r.flow.Context())
	}
}

// take takes a part for a strand; nil after the last one, when no other strand could return one any more.
func (h *handout) take(ctx context.Context, s *strand) (*Part, *deliver.Delivery, error) {
	part, of, some, err := exec.TakeAny(ctx, [2]*exec.Pipe[*Part]{h.returned, h.parts})
	if some && of == 1 {
		s.probed.Add(uint64(part.Table.NumRows()))
		h.add(1)
	}
	if err == nil && !some {
		h.leave(s)
		part, some, err = h.returned.Take(ctx)
	}
	if err != nil || !some {
		return nil, nil, err
	}
	part.Table.Retain()
	held := &heldOut{Part: part}
	held.Delivery = deliver.NewDelivery(func() { h.done(s, held) })
	h.mu.Lock()
	defer h.mu.Unlock()
	s.held = append(s.held, held)
	return part, held.Delivery, nil
}

// add changes what is out. When nothing is, no part will be returned.
func (h *handout) add(number int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.out += number; h.out == 0 {
		h.returned.End()
	}
}

// leave says that a strand takes no more from the source.
func (h *handout) leave(s *strand) {
	if !s.left {
		s.left = true
		h.add(-1)
	}
}

// done ends a part whose output is delivered.
func (h *handout) done(s *strand, held *heldOut) {
	h.mu.Lock()
	s.held = slices.DeleteFunc(s.held, func(other *heldOut) bool { return other == held })
	s.done++
	h.mu.Unlock()
	s.brought.Add(uint64(held.Table.NumRows()))
	held.Release()
	h.add(-1)
}

// endHeld ends the flow of a strand, and releases the parts that it holds.
func (r *strand) endHeld() {
	if r.handout == nil {
		return
	}
	r.flow.Stop()
	for _, held := range r.held {
		held.Release()
	}
	r.held = nil
}

// fail handles the failure of a strand, whose flow has ended with err: nil says that the others join the parts that it
// holds, and go on without it. Once the join has failed, all strands end for that.
func (r *Result) fail(s *strand, err error) error {
	h := r.handout
	ofDevice := errors.Is(err, backend.ErrDeviceLost) || errors.Is(err, backend.ErrDeviceMemory)
	if h == nil || !ofDevice || r.flow.Context().Err() != nil {
		return err
	}
	defer h.leave(s)
	h.mu.Lock()
	defer h.mu.Unlock()
	build := r.taken.Scans[operator.Build].Side
	delivered := slices.ContainsFunc(s.held, func(held *heldOut) bool { return held.Begun.Load() })
	switch {
	case len(r.survivorsLocked()) == 1:
		return err
	case s.out == nil && len(s.proved()) > 0 && (r.Query.Unique[0] != nil || r.Query.Unique[1] != nil):
		return fmt.Errorf("%w; the device was to check that keys are unique", err)
	case s.done > 0 && r.taken.Output.Marks(operator.Build):
		return fmt.Errorf("%w; which rows of the %s table have a partner in what the device had joined is lost with it",
			err, build)
	case delivered:
		return fmt.Errorf("%w; some rows of what the device was joining were output already", err)
	}
	returned := s.held
	s.failed, s.held = err, nil
	for i, held := range returned {
		r.rows.Add(-held.Counted.Load())
		r.Query.Quota.Return(held.Counted.Load())
		r.granules.Add(-held.Granules.Load())
		s.begun.Add(-held.Granules.Load())
		r.Query.Progress.Joined(-held.Joined.Load(), r.Rows())
		if err := h.returned.Put(r.flow.Context(), held.Part); err != nil { // which has released the part
			for _, rest := range returned[i+1:] {
				rest.Release()
			}
			return err
		}
	}
	return nil
}

// survivors are the strands that have not failed.
func (r *Result) survivors() []*strand {
	if r.handout == nil {
		return r.strands
	}
	r.handout.mu.Lock()
	defer r.handout.mu.Unlock()
	return r.survivorsLocked()
}

// survivorsLocked is survivors for whoever has the lock of the handout.
func (r *Result) survivorsLocked() []*strand {
	return slices.DeleteFunc(slices.Clone(r.strands), func(s *strand) bool { return s.failed != nil })
}

// failures lists the devices that failed while the other strands went on, and why.
func (r *Result) failures() (all []DeviceFailure) {
	if r.handout == nil {
		return nil
	}
	r.handout.mu.Lock()
	defer r.handout.mu.Unlock()
	for _, s := range r.strands {
		if s.failed != nil {
			all = append(all, DeviceFailure{s.Query.Engine.Device().Info().Name, s.failed.Error()})
		}
	}
	return all
}
