package offheap

import "math/bits"

// Trim returns unused memory to the system until at most mostBytes of it are kept: slabs without a block first, then
// the pages of free granules in others. It returns how many bytes are still kept.
func (p *Pool) Trim(mostBytes uint64) (idleBytes uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.slabs) - 1; i >= 0 && uint64(p.idle) > mostBytes; i-- {
		if s := p.slabs[i]; s.free == s.granules() {
			p.drop(s)
		}
	}
	idleBytes = uint64(p.idle)
	for _, s := range p.slabs {
		if s.free < s.granules() {
			idleBytes += uint64(s.idle()) * granuleBytes
		}
	}
	for i := len(p.slabs) - 1; i >= 0 && idleBytes > mostBytes; i-- {
		if s := p.slabs[i]; s.free < s.granules() {
			idleBytes -= uint64(s.discard()) * granuleBytes
		}
	}
	return idleBytes
}

// touch says that granules are used. The first use of a large page makes all of it resident.
func (s *slab) touch(at, n int) {
	for w := at / 64; w*64 < at+n; w++ {
		if s.resident[w] == 0 {
			s.resident[w] = ^uint64(0)
		}
		s.resident[w] |= s.used[w]
	}
}

// idle is the number of free granules that may have pages.
func (s *slab) idle() (granules int) {
	for w, used := range s.used {
		granules += bits.OnesCount64(s.resident[w] &^ used)
	}
	return granules
}

// discard returns the pages of free granules to the system, and their number.
func (s *slab) discard() (granules int) {
	for at := 0; at < s.granules(); {
		n := 0
		for at+n < s.granules() && (s.resident[(at+n)/64]&^s.used[(at+n)/64])>>((at+n)%64)&1 == 1 {
			n++
		}
		if n > 0 && discard(s.memory[at*granuleBytes:][:n*granuleBytes]) {
			granules += n
			for i := at; i < at+n; i++ {
				s.resident[i/64] &^= 1 << (i % 64)
			}
		}
		at += n + 1
	}
	return granules
}
