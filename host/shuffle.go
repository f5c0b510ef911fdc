package host

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

const (
	shuffleWindow  = 256 // commands of a queue among which the next one is drawn
	shuffleStray   = 4   // one in this many commands is drawn from all, the others from those that somebody waits for
	shuffleAny     = 4   // one in this many is any of its queue, the others the latest submitted
	pollsPerStride = 16  // calls of Completed that let one command run, so that polling ends
)

// shuffler runs a driver's commands one after the other in an adversarial order that a seed decides, so that a missing
// barrier or wait shows as a wrong result.
//
// What may run next is exactly what the contract allows: per queue, every command up to the next barrier with
// unfinished work before it, across batches whose waits have passed. Nothing runs before it is needed: commands run
// only when somebody waits for a point. They are drawn from the batches up to that point and those that these wait for
// in turn: mostly the latest runnable command of a queue, now and then any of any queue. So a batch without a wait
// is held back, a reader that does not wait for its writer runs first, and commands without a barrier between them
// run backwards more often than not. The groups of a dispatch run in random order.
//
// The order depends only on the seed and the sequence of calls: a single goroutine that uses the driver sees the same
// order in every run.
type shuffler struct {
	driver  *Driver
	random  *rand.Rand
	demands map[*backend.QueuePoint]struct{} // points that somebody waits for
	polls   int                              // calls of Completed
	stride  bool                             // a call of Completed waits for one command
}

// place is a command that may run.
type place struct {
	role  backend.Role
	batch *batch
	index int
}

func newShuffler(d *Driver, seed uint64) *shuffler {
	return &shuffler{driver: d, random: rand.New(rand.NewPCG(seed, uint64(d.index))),
		demands: make(map[*backend.QueuePoint]struct{})}
}

// demandLocked records that somebody waits for a point; the function that it returns ends the demand and is called with
// the lock held.
func (s *shuffler) demandLocked(role backend.Role, value uint64) (end func()) {
	p := &backend.QueuePoint{Role: role, Value: value}
	s.demands[p] = struct{}{}
	s.driver.changed.Broadcast()
	return func() { delete(s.demands, p) }
}

// pollLocked is called by Completed.
func (s *shuffler) pollLocked() {
	s.polls++
	if s.polls%pollsPerStride != 0 {
		return
	}
	s.stride = true
	s.driver.changed.Broadcast()
	for s.stride && !s.driver.stopped.Load() {
		s.driver.changed.Wait()
	}
}

// serve runs commands while somebody waits.
func (s *shuffler) serve() {
	d := s.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	for !d.stopped.Load() {
		p, ok := s.drawLocked()
		if !ok {
			if s.stride {
				s.stride = false
				d.changed.Broadcast()
			}
			d.changed.Wait()
			continue
		}
		o := &p.batch.ops[p.index]
		if len(p.batch.times) == 0 {
			p.batch.times = append(p.batch.times, time.Since(d.epoch))
		}
		if err := d.guarded(p.batch, func() error { return s.run(o) }); err != nil {
			d.loseLocked(err)
		}
		if d.stopped.Load() {
			return
		}
		if o.kind == backend.Mark {
			p.batch.times = append(p.batch.times, time.Since(d.epoch))
		}
		p.batch.done[p.index] = true
		p.batch.left--
		s.stride = false
		s.settleLocked()
		d.changed.Broadcast()
	}
}

// run executes one command, the groups of a dispatch in the order of a random affine permutation.
func (s *shuffler) run(o *op) error {
	n := o.units()
	if o.kind != backend.Dispatch || n < 2 {
		return s.driver.runUnits(o, 0, n)
	}
	factor := s.random.Uint64N(n-1) + 1
	for gcd(factor, n) != 1 {
		factor = s.random.Uint64N(n-1) + 1
	}
	shift := s.random.Uint64N(n)
	for i := uint64(0); i < n && !s.driver.stopped.Load(); i++ {
		group := (factor*i + shift) % n // below 2^64, as n is below 2^32
		if err := s.driver.runUnits(o, group, group+1); err != nil {
			return err
		}
	}
	return nil
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// settleLocked signals the batches that are done.
func (s *shuffler) settleLocked() {
	d := s.driver
	for again := true; again; {
		again = false
		for role := range backend.Roles {
			pending := d.lines[role].pending
			if len(pending) == 0 || pending[0].left > 0 || pending[0].hang || !d.passed(pending[0].waits) {
				continue
			}
			b := pending[0]
			b.times = append(b.times, time.Since(d.epoch))
			if len(b.times) == 1 {
				b.times = append(b.times, b.times[0])
			}
			slices.Sort(b.times)
			d.completeLocked(role, b)
			again = true
		}
	}
}

// drawLocked picks the command to run next; ok is false when none is needed or none may run.
func (s *shuffler) drawLocked() (next place, ok bool) {
	s.settleLocked() // of batches without commands
	need := s.needLocked()
	var all, needed [][]place // of the queues that have any
	for role := range backend.Roles {
		ready := s.ready(role)
		if len(ready) == 0 {
			continue
		}
		all = append(all, ready)
		n := 0
		for n < len(ready) && ready[n].batch.signal <= need[role] {
			n++
		}
		if n > 0 {
			needed = append(needed, ready[:n])
		}
	}
	from := needed
	switch {
	case len(needed) == 0 && !(s.stride && len(all) > 0):
		return place{}, false
	case len(needed) == 0 || s.random.IntN(shuffleStray) == 0:
		from = all
	}
	queue := from[s.random.IntN(len(from))]
	if s.random.IntN(shuffleAny) == 0 {
		return queue[s.random.IntN(len(queue))], true
	}
	return queue[len(queue)-1], true
}

// needLocked returns the points that somebody waits for, directly or through the waits of batches.
func (s *shuffler) needLocked() (need [backend.Roles]uint64) {
	for p := range s.demands {
		need[p.Role] = max(need[p.Role], p.Value)
	}
	for again := true; again; {
		again = false
		for role := range s.driver.lines {
			for _, b := range s.driver.lines[role].pending {
				if b.signal > need[role] {
					break
				}
				for _, w := range b.waits {
					if w.Value > need[w.Role] {
						need[w.Role] = w.Value
						again = true
					}
				}
			}
		}
	}
	return need
}

// ready lists the commands of a queue that may run now.
func (s *shuffler) ready(role backend.Role) (places []place) {
	unfinished := false
	for _, b := range s.driver.lines[role].pending {
		if b.hang || !s.driver.passed(b.waits) {
			return places
		}
		for i := range b.ops {
			if b.ops[i].barrier && unfinished || len(places) == shuffleWindow {
				return places
			}
			if !b.done[i] {
				unfinished = true
				places = append(places, place{role, b, i})
			}
		}
	}
	return places
}
