package exec

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// Budget divides memory among the queries of an engine. A query acquires all that it needs at once, in order of
// arrival, and never while it holds another grant: so none waits for one that waits, and none is passed by for ever.
// Whoever needs more afterwards grows its grant, which never waits. Safe for concurrent use.
//
// One who has to read before it knows its need opens a grant and has it grow, waiting, until it has all
// ([Budget.Open]). Nobody waits for it but those behind it: one such grant is open at a time, and it is served before
// all who wait, so that the others, which have all they need, end and make room.
//
//	line    open: 3 of 8     A: 6          B: 1       8 bytes in all; C has 4, 1 is free
//	        ↑ C ends: 5 are free; the open grant grows to 8, is complete, ends; then A is served, then B
type Budget struct {
	mu     sync.Mutex // also guards the grants
	total  amounts
	free   amounts
	most   amounts // that grants had at a time
	shared map[any]*share
	line   []*claim // that wait, in order of arrival
	open   chan struct{}

	bounding sync.Mutex
	pools    []pool
}

// share is shared memory that some grants have.
type share struct {
	sizeBytes uint64
	grants    int
}

// claim is a grant that waits for what it needs.
type claim struct {
	need  amounts
	grant *Grant
	ready chan struct{} // closed with the need
}

// pool is memory of the host that is kept for later use, beyond what grants have of it.
type pool struct {
	of   resource
	trim func(mostBytes uint64) (sizeBytes uint64)
}

// NewBudget returns a budget of total, in which nothing is shared and Host is all memory of the host.
func NewBudget(total Need) *Budget {
	b := &Budget{total: total.limits(), most: make(amounts), shared: make(map[any]*share), open: make(chan struct{}, 1)}
	b.free = maps.Clone(b.total)
	return b
}

// Pool bounds memory of the host that is kept for reuse by what is free: whenever less is, trim is called to give back
// what is not in use until it is at most mostBytes, and returns how much it is then. It is all memory that was taken of
// a device, of which grants have a part or, with nil, memory that nobody uses. Call it before any grant.
func (b *Budget) Pool(of *backend.Device, trim func(mostBytes uint64) (sizeBytes uint64)) {
	b.pools = append(b.pools, pool{resource{kind: deviceMemory, device: of}, trim})
}

// bound has pools keep no more than what is free.
func (b *Budget) bound() {
	if len(b.pools) == 0 || b.total[hostTotal] == Unlimited {
		return
	}
	b.bounding.Lock() // so that what is free never grows old on the way
	defer b.bounding.Unlock()
	b.mu.Lock()
	free, granted := b.free[hostTotal], make([]uint64, len(b.pools))
	for i, p := range b.pools {
		granted[i] = b.total[p.of] - b.free[p.of]
	}
	b.mu.Unlock()
	for i, p := range b.pools {
		sizeBytes := p.trim(granted[i] + free)
		free -= min(free, sizeBytes-min(sizeBytes, granted[i]))
	}
}

// Acquire waits for its turn and for what it needs. Only the first in line is served.
//
// A flow has one grant at a time: ctx of a flow that has or waits for one, or that is started by such a flow, is
// ErrInvalidInput. A need beyond the whole budget is refused at once with ErrDeviceMemory, ErrHostMemory (pinned memory
// too) or ErrDiskSpace, and the need. When ctx ends: ErrCancelled or ErrTimedOut.
func (b *Budget) Acquire(ctx context.Context, need Need) (*Grant, error) {
	if ctx.Err() != nil {
		return nil, backend.ContextError(ctx)
	}
	c := &claim{need: need.amounts()}
	if err := b.possible(c.need); err != nil {
		return nil, err
	}
	flow := flowOf(ctx)
	if err := flow.claim(); err != nil {
		return nil, err
	}
	c.grant = &Grant{budget: b, flow: flow, used: make(map[*backend.Device]uint64)}
	if err := b.wait(ctx, c, false); err != nil {
		c.grant.Release() // of nothing, or of what came at the last moment; those behind are served
		return nil, err
	}
	return c.grant, nil
}

// Open waits for its turn, and until no other grant is open, and returns a grant of nothing that [Grant.Await] lets
// grow, until [Grant.Complete] or Release. A flow that a flow with an open grant has started, as one that makes what
// that one reads, may have one too. ErrCancelled or ErrTimedOut when ctx ends.
func (b *Budget) Open(ctx context.Context) (*Grant, error) {
	g := &Grant{budget: b, flow: flowOf(ctx), used: make(map[*backend.Device]uint64), open: true}
	if !g.flow.hasOpen() {
		select {
		case b.open <- struct{}{}:
			g.turn = true
		case <-ctx.Done():
			return nil, backend.ContextError(ctx)
		}
	}
	g.flow.setOpen(true)
	if err := b.wait(ctx, &claim{need: make(amounts), grant: g}, false); err != nil {
		g.Release()
		return nil, err
	}
	return g, nil
}

// possible is the error of a need beyond the whole budget.
func (b *Budget) possible(need amounts) error {
	all := make(amounts)
	for r, bytes := range need {
		if r.kind == sharedMemory {
			r = hostTotal
		}
		all[r] += bytes
	}
	return b.total.lack(all, b.total, "acquire")
}

// wait puts a claim in line, or before all, and waits until it is served.
func (b *Budget) wait(ctx context.Context, c *claim, first bool) error {
	c.ready = make(chan struct{})
	b.mu.Lock()
	if first {
		b.line = slices.Insert(b.line, 0, c)
	} else {
		b.line = append(b.line, c)
	}
	b.serve()
	b.mu.Unlock()
	select {
	case <-c.ready:
		b.bound()
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.line, c); i >= 0 {
		b.line = slices.Delete(b.line, i, i+1)
		b.serve()
	}
	return backend.ContextError(ctx)
}

// serve gives those who are first in line what they wait for, instead of what they have.
func (b *Budget) serve() {
	for len(b.line) > 0 {
		c := b.line[0]
		b.give(c.grant.has)
		if !b.free.covers(b.cost(c.need)) {
			b.take(c.grant.has)
			return
		}
		c.grant.has = c.need
		b.take(c.grant.has)
		b.line = b.line[1:]
		close(c.ready)
	}
}

// cost is what amounts take of what is free: of shared memory what no grant has.
func (b *Budget) cost(a amounts) amounts {
	cost := make(amounts)
	for r, bytes := range a {
		switch {
		case r.kind != sharedMemory:
			cost[r] += bytes
		case b.shared[r.shared] == nil:
			cost[hostTotal] += bytes
		}
	}
	return cost
}

func (b *Budget) take(a amounts) {
	b.free.subtract(b.cost(a))
	for r, bytes := range a {
		if r.kind != sharedMemory {
			b.most[r] = max(b.most[r], b.total[r]-b.free[r])
			continue
		}
		if b.shared[r.shared] == nil {
			b.shared[r.shared] = &share{sizeBytes: bytes}
		}
		b.shared[r.shared].grants++
	}
	b.most[hostTotal] = max(b.most[hostTotal], b.total[hostTotal]-b.free[hostTotal])
}

func (b *Budget) give(a amounts) {
	for r, bytes := range a {
		if r.kind != sharedMemory {
			b.free[r] += bytes
			continue
		}
		s := b.shared[r.shared]
		if s.grants--; s.grants == 0 {
			delete(b.shared, r.shared)
			b.free[hostTotal] += s.sizeBytes
		}
	}
}

// Free returns what nobody has now, Host of all memory of the host.
func (b *Budget) Free() Need {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.free.need()
}

// Most returns how much grants have had at a time, at most, of each kind.
func (b *Budget) Most() Need {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.most.need()
}

// Held is how much of the shared memory of a need some grant has.
func (b *Budget) Held(need Need) (sizeBytes uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for what := range need.Shared {
		if s := b.shared[what]; s != nil {
			sizeBytes += s.sizeBytes
		}
	}
	return sizeBytes
}
