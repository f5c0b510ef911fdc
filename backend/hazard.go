package backend

import "slices"

// hazardTracker decides where commands need order. It is pure: it sees the byte ranges that commands touch, in the order of
// submission, and answers with barriers and waits; it is the only place where either is decided.
//
// For every block it keeps a sorted list of disjoint segments, each with its last writer and, per queue, its last reader.
// A command depends on the last writer of what it touches, and, where it writes, on the readers since. A dependency on the
// same queue is met by a barrier, unless one was placed after the earlier command; a dependency on another queue is met by
// waiting for the point of the earlier command's batch, unless this queue waited for that point before. Commands that only
// accumulate need no order among each other.
//
// Example: [fill A] [read A -> write B] [read A -> write C] [write A]: the second command needs a barrier (A was written),
// the third none (the barrier covers it), the fourth one (A was read after the last barrier).
type hazardTracker struct {
	blocks   map[Block][]segment
	sequence [Roles]uint64        // number of the last command of each queue
	fence    [Roles]uint64        // number of the command before which the last barrier was placed
	waited   [Roles][Roles]uint64 // waited[a][b]: value of b that a has waited for

	suppress func() bool // test hook: when it returns true, a needed barrier or wait is left out
}

// use is a command's place: its number on its queue, from 1, and the point of its batch. The zero use is no command.
type use struct {
	sequence uint64
	point    uint64
}

// segment is what happened last to a byte range. Later uses of a queue imply its earlier ones.
type segment struct {
	lo, hi       uint64
	writer       use
	writerRole   Role
	accumulators [Roles]use // since the writer
	readers      [Roles]use // since the writer
}

// span is one byte range of a block that a command touches.
type span struct {
	block  Block
	lo, hi uint64
	access Access
}

func newHazardTracker() *hazardTracker {
	return &hazardTracker{blocks: make(map[Block][]segment)}
}

// need returns whether a command on role, in the batch that will signal point, needs a barrier before it and which points
// of other queues its batch must wait for (0: none), and records the command.
func (h *hazardTracker) need(role Role, point uint64, spans []span) (barrier bool, waits [Roles]uint64) {
	h.sequence[role]++
	now := use{sequence: h.sequence[role], point: point}
	depend := func(other Role, u use) {
		switch {
		case u.sequence == 0:
		case other == role:
			barrier = barrier || u.sequence >= h.fence[role]
		case u.point > h.waited[role][other]:
			waits[other] = max(waits[other], u.point)
		}
	}
	for _, s := range spans {
		segs := h.blocks[s.block]
		first, last := bounds(segs, s)
		for _, seg := range segs[first:last] {
			depend(seg.writerRole, seg.writer)
			for r := range Roles {
				if s.access != Accumulate {
					depend(r, seg.accumulators[r])
				}
				if s.access != Read {
					depend(r, seg.readers[r])
				}
			}
		}
	}
	if h.suppress != nil && (barrier || waits != [Roles]uint64{}) && h.suppress() {
		barrier, waits = false, [Roles]uint64{}
	}
	if barrier {
		h.fence[role] = now.sequence
	}
	for r := range Roles {
		h.waited[role][r] = max(h.waited[role][r], waits[r])
	}
	for _, s := range spans {
		h.record(role, now, s)
	}
	return barrier, waits
}

// bounds finds the segments [first, last) that the span touches.
func bounds(segs []segment, s span) (first, last int) {
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
func (h *hazardTracker) record(role Role, now use, s span) {
	segs := h.blocks[s.block]
	first, last := bounds(segs, s)
	old := segs[first:last]
	var cut []segment
	at := s.lo
	touch := func(g segment, lo, hi uint64) {
		g.lo, g.hi = lo, hi
		switch s.access {
		case Read:
			g.readers[role] = now
		case Accumulate:
			g.accumulators[role] = now
		default:
			g = segment{lo: lo, hi: hi, writer: now, writerRole: role}
		}
		if n := len(cut); n > 0 && cut[n-1].hi == g.lo && sameUse(cut[n-1], g) {
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
	h.blocks[s.block] = slices.Replace(segs, first, first+len(old), cut...)
}

func sameUse(a, b segment) bool {
	a.lo, a.hi, b.lo, b.hi = 0, 0, 0, 0
	return a == b
}

// forget drops a block that was freed.
func (h *hazardTracker) forget(b Block) { delete(h.blocks, b) }
