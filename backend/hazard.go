package backend

import (
	"math/bits"
	"slices"
)

// hazardTracker decides where commands need order. It is pure: it sees what commands touch, in the order of
// submission, and answers with barriers and waits; it is the only place where either is decided.
//
// A command touches ranges of resources: bytes of a block, or layers of an image. For every resource the tracker keeps
// a sorted list of disjoint segments, each with its last writer and, per queue, its last reader. A command depends on
// the last writer of what it touches, and, where it writes, on the readers since. A dependency on the same queue is
// met by a barrier, unless one was placed after the earlier command; a dependency on another queue is met by waiting
// for the point of the earlier command's batch, unless this queue waited for that point before. Commands that only
// accumulate need no order among each other. A command that uses layers of an image in another way than the command
// before counts as their writer, whatever it does: the driver rearranges them.
//
// Example: [fill A] [read A -> write B] [read A -> write C] [write A]: the second command needs a barrier (A was
// written), the third none (the barrier covers it), the fourth one (A was read after the last barrier).
type hazardTracker struct {
	segments map[any][]segment
	last     [Roles]use           // of each queue
	fence    [Roles]use           // the command before which the last barrier was placed
	waited   [Roles][Roles]uint64 // waited[a][b]: value of b that a has waited for
	cut      []segment            // scratch of record

	suppress func() bool // test hook: when it returns true, a needed barrier or wait is left out
}

// use is a command's place on its queue: the point of its batch, and its number in the batch in the low useBits. Later
// commands of a queue have larger uses; the zero use is no command.
type use uint64

const useBits = 24

func (u use) point() uint64 { return uint64(u >> useBits) }

// roleSet has a bit for each role.
type roleSet uint8

// segment is what happened last to a range. Later uses of a queue imply its earlier ones.
type segment struct {
	lo, hi       uint64
	writer       use
	writerRole   Role
	usage        Usage
	reading      roleSet // that have an entry in readers
	accumulating roleSet
	readers      [Roles]use // since the writer
	accumulators [Roles]use // since the writer
}

// span is a range of a resource that a command touches.
type span struct {
	resource any // a Block or an ImageBlock: its address in the process is its identity
	lo, hi   uint64
	access   Access
	usage    Usage // of layers of an image
}

// on is what a span does to a segment: a change of usage is a write.
func (s *span) on(g *segment) Access {
	if s.usage != g.usage {
		return Write
	}
	return s.access
}

func newHazardTracker() *hazardTracker {
	return &hazardTracker{segments: make(map[any][]segment)}
}

// need returns whether a command on role, in the batch that will signal point, needs a barrier before it and which
// points of other queues its batch must wait for (0: none), and records the command.
func (h *hazardTracker) need(role Role, point uint64, spans []span) (barrier bool, waits [Roles]uint64) {
	now := max(use(point<<useBits), h.last[role]+1)
	h.last[role] = now
	depend := func(other Role, u use) {
		if other == role {
			barrier = barrier || u >= h.fence[role]
		} else if p := u.point(); p > h.waited[role][other] {
			waits[other] = max(waits[other], p)
		}
	}
	for i := range spans {
		h.before(&spans[i], depend)
	}
	if h.suppress != nil && (barrier || waits != [Roles]uint64{}) && h.suppress() {
		barrier, waits = false, [Roles]uint64{}
	}
	if barrier {
		h.fence[role] = now
	}
	for r := range Roles {
		h.waited[role][r] = max(h.waited[role][r], waits[r])
	}
	for i := range spans {
		h.record(role, now, &spans[i])
	}
	return barrier, waits
}

// before visits the last commands that one with a span must come after.
func (h *hazardTracker) before(s *span, visit func(Role, use)) {
	segs := h.segments[s.resource]
	first, last := bounds(segs, s)
	for k := first; k < last; k++ {
		g := &segs[k]
		access := s.on(g)
		if g.writer != 0 {
			visit(g.writerRole, g.writer)
		}
		if access != Accumulate {
			for set := g.accumulating; set != 0; set &= set - 1 {
				r := bits.TrailingZeros8(uint8(set))
				visit(Role(r), g.accumulators[r])
			}
		}
		if access != Read {
			for set := g.reading; set != 0; set &= set - 1 {
				r := bits.TrailingZeros8(uint8(set))
				visit(Role(r), g.readers[r])
			}
		}
	}
}

// points returns the points of all queues that must have passed before a range is used from outside of them.
func (h *hazardTracker) points(s *span) (points [Roles]uint64) {
	h.before(s, func(r Role, u use) { points[r] = max(points[r], u.point()) })
	return points
}

// changes lists the layers that spans, which were not recorded yet, use in another way than before.
func (h *hazardTracker) changes(spans []span) (changes []UsageChange) {
	for i := range spans {
		s := &spans[i]
		image, ok := s.resource.(ImageBlock)
		if !ok {
			continue
		}
		at := s.lo
		add := func(from Usage, end uint64) {
			if from != s.usage && at < end {
				changes = append(changes, UsageChange{image, uint32(at), uint32(end), from, s.usage})
			}
			at = end
		}
		segs := h.segments[s.resource]
		first, last := bounds(segs, s)
		for _, g := range segs[first:last] {
			add(0, max(at, g.lo))
			add(g.usage, min(g.hi, s.hi))
		}
		add(0, s.hi)
	}
	return changes
}

// bounds finds the segments [first, last) that the span touches.
func bounds(segs []segment, s *span) (first, last int) {
	first, _ = slices.BinarySearchFunc(segs, s.lo, func(g segment, lo uint64) int {
		if g.hi <= lo {
			return -1
		}
		return 1
	})
	last = first
	for last < len(segs) && segs[last].lo < s.hi {
		last++
	}
	return first, last
}

// record notes the access: it cuts segments at the edges of the span, fills the gaps, and joins equal neighbours again.
func (h *hazardTracker) record(role Role, now use, s *span) {
	segs := h.segments[s.resource]
	first, last := bounds(segs, s)
	old := segs[first:last]
	cut := h.cut[:0]
	at := s.lo
	touch := func(g segment, lo, hi uint64) {
		switch s.on(&g) {
		case Read:
			g.readers[role] = now
			g.reading |= 1 << role
		case Accumulate:
			g.accumulators[role] = now
			g.accumulating |= 1 << role
		default:
			g = segment{writer: now, writerRole: role, usage: s.usage}
		}
		g.lo, g.hi = lo, hi
		if n := len(cut); n > 0 && cut[n-1].hi == g.lo && sameUse(&cut[n-1], &g) {
			cut[n-1].hi = g.hi
			return
		}
		cut = append(cut, g)
	}
	for _, g := range old {
		if g.lo < s.lo {
			left := g
			left.hi = s.lo
			cut = append(cut, left)
		}
		if at < g.lo {
			touch(segment{}, at, g.lo)
		}
		lo, hi := max(g.lo, s.lo), min(g.hi, s.hi)
		touch(g, lo, hi)
		at = hi
		if g.hi > s.hi {
			right := g
			right.lo = s.hi
			cut = append(cut, right)
		}
	}
	if at < s.hi {
		touch(segment{}, at, s.hi)
	}
	h.cut = cut
	h.segments[s.resource] = slices.Replace(segs, first, first+len(old), cut...)
}

func sameUse(a, b *segment) bool {
	return a.writer == b.writer && a.writerRole == b.writerRole && a.usage == b.usage &&
		a.readers == b.readers && a.accumulators == b.accumulators
}

// forget drops a resource that was freed.
func (h *hazardTracker) forget(resource any) { delete(h.segments, resource) }
