package exec

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// Budget divides memory among the queries of an engine. A query acquires all that it needs at once, in order of
// arrival, and never while it holds another grant. So there is no deadlock, and no query starves. A query that needs
// more later grows its grant, which never waits. Safe for concurrent use.
//
// A query that must read its input before it knows its need opens a grant ([Budget.Open]) and lets it grow, waiting,
// until it has everything. Only one grant is open at a time, and it is served before all others that wait. It can wait
// only for grants that are complete, whose queries need nothing more and release their memory when they end.
//
//	line    open: 3 of 8     A: 6          B: 1       8 bytes in all; C has 4, 1 is free
//	        ↑ C ends: 5 are free; the open grant grows to 8, is complete, ends; then A is served, then B
type Budget struct {
	mu     sync.Mutex // also guards the grants
	total  amounts
	free   amounts
	most   amounts // peak of the granted amounts
	shared map[any]*share
	line   []*claim      // claims that wait, in order of arrival
	open   chan struct{} // holds an element while a grant is open
	// lenders have host memory that others may have ([Budget.Lend])
	lenders []*lender

	bounding sync.Mutex
	pools    []pool
}

// share is a piece of shared memory, and how many grants have it.
type share struct {
	sizeBytes uint64
	grants    int
}

// claim is the request of a grant that waits for memory.
type claim struct {
	need  amounts
	grant *Grant
	ready chan struct{} // closed when the grant has the need
}

// pool is host memory that is kept for reuse, in addition to what grants have of it.
type pool struct {
	of   resource
	trim func(mostBytes uint64) (sizeBytes uint64)
}

// NewBudget returns a budget with the limits of total; [Unlimited] is no limit. total.Host is the limit of all memory
// of the host. total.Shared is ignored.
func NewBudget(total Need) *Budget {
	b := &Budget{total: total.limits(), most: make(amounts), shared: make(map[any]*share), open: make(chan struct{}, 1)}
	b.free = maps.Clone(b.total)
	return b
}

// Pool registers host memory that is kept for reuse, so that it never exceeds the memory that is free. Whenever less is
// free, trim is called to release unused memory until at most mostBytes are kept, and returns how many bytes are still
// kept. For a device, the pool is all memory taken from that device, including the part that belongs to grants. For
// nil, it is unused memory. Call Pool before the first grant.
func (b *Budget) Pool(of *backend.Device, trim func(mostBytes uint64) (sizeBytes uint64)) {
	b.pools = append(b.pools, pool{resource{kind: deviceMemory, device: of}, trim})
}

// Reserve takes host memory out of the budget for good, for what is not a query's. Call it before the first grant. The
// error is ErrHostMemory if there is less.
func (b *Budget) Reserve(sizeBytes uint64) error {
	if b.total[hostTotal] == Unlimited {
		return nil
	}
	need := amounts{hostTotal: sizeBytes}
	if err := b.free.lack(need, b.total, "reserve memory"); err != nil {
		return err
	}
	b.free.subtract(need)
	b.total.subtract(need)
	return nil
}

// AllowDisk sets how much disk space there is. Call it before the first grant.
func (b *Budget) AllowDisk(sizeBytes uint64) {
	b.total[resource{kind: diskSpace}], b.free[resource{kind: diskSpace}] = sizeBytes, sizeBytes
}

// bound trims the pools to the memory that is free.
func (b *Budget) bound() {
	if len(b.pools) == 0 || b.total[hostTotal] == Unlimited {
		return
	}
	b.bounding.Lock() // serializes trims, so that none works with a stale value of free
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

// Acquire waits for its turn and until need is free. Only the first in line is served. The caller releases the grant.
//
// A flow has one grant at a time: if ctx belongs to a flow that has or waits for one, or to a flow started by such a
// flow, the error is ErrInvalidInput. A need beyond the whole budget is refused at once with ErrDeviceMemory,
// ErrHostMemory (also for pinned memory) or ErrDiskSpace, which states the need. When ctx ends, the error is
// ErrCancelled or ErrTimedOut, which states what was awaited.
func (b *Budget) Acquire(ctx context.Context, need Need) (*Grant, error) {
	if ctx.Err() != nil {
		return nil, backend.ContextError(ctx)
	}
	c := &claim{need: need.amounts()}
	if err := b.possible(c.need); err != nil {
		return nil, err
	}
	flow := FlowOf(ctx)
	if err := flow.claim(); err != nil {
		return nil, err
	}
	c.grant = &Grant{budget: b, flow: flow, used: make(map[*backend.Device]uint64)}
	if err := b.wait(ctx, c, false); err != nil {
		c.grant.Release() // it may have been served just when ctx ended; the next in line are served
		return nil, err
	}
	return c.grant, nil
}

// Open waits for its turn, and until no other grant is open, and returns an empty grant. [Grant.Await] grows it until
// [Grant.Complete] or Release. A flow that was started by a flow with an open grant, for example to produce what the
// latter reads, may have a grant too. When ctx ends, the error is ErrCancelled or ErrTimedOut. The caller releases the
// grant.
func (b *Budget) Open(ctx context.Context) (*Grant, error) {
	if ctx.Err() != nil {
		return nil, backend.ContextError(ctx)
	}
	g := &Grant{budget: b, flow: FlowOf(ctx), used: make(map[*backend.Device]uint64), open: true}
	if g.turn = !g.flow.hasOpen(); g.turn {
		select {
		case b.open <- struct{}{}:
		default:
			select {
			case b.open <- struct{}{}:
			case <-ctx.Done():
				return nil, waited(ctx, "",
					"another stream reads its build side, or another join by ranges of keys is under way, one at a time; "+
						"without memory_limit they do not wait")
			}
		}
	}
	g.flow.setOpen(true)
	if err := b.wait(ctx, &claim{need: make(amounts), grant: g}, false); err != nil {
		g.Release()
		return nil, err
	}
	return g, nil
}

// Empty returns a grant of nothing, which can grow, and belongs to no flow. It never waits. The caller releases it.
func (b *Budget) Empty() *Grant {
	return &Grant{budget: b, has: make(amounts), used: make(map[*backend.Device]uint64)}
}

// possible returns an error if a need exceeds the whole budget.
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

// wait puts a claim at the end of the line, or at its head if first is set, and waits until it is served.
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
	default:
		b.recall()
	}
	select {
	case <-c.ready:
		b.bound()
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.line, c)
	if i < 0 { // it was served at the last moment
		return backend.ContextError(ctx)
	}
	r, detail := b.lacking(c)
	if detail == "" {
		r, detail = b.lacking(b.line[0])
		detail = fmt.Sprintf("%d came before, the first of whom waits: %s", i, detail)
	}
	b.line = slices.Delete(b.line, i, i+1)
	b.serve()
	return waited(ctx, r.name(), detail+", or close results and build sides, which hold memory")
}

// lacking says what a claim waits for; "" where it waits for those before it alone.
func (b *Budget) lacking(c *claim) (resource, string) {
	b.give(c.grant.has)
	defer b.take(c.grant.has)
	return b.free.lacking(b.cost(c.need), b.total)
}

// waited is the error of one who waited until ctx ended.
func waited(ctx context.Context, device, detail string) error {
	return &backend.OpError{Op: "wait for memory", Device: device, Err: backend.ContextError(ctx), Detail: detail}
}

// serve serves claims from the head of the line while there is enough memory. A grant that is served has what it
// claimed instead of what it had before.
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

// cost is what amounts take of the free memory. Shared memory that a grant already has costs nothing.
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

// Free returns the memory that is not granted now. Its Host field covers all host memory.
func (b *Budget) Free() Need {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.free.need()
}

// Most returns the peak of the granted memory of each kind, as [Budget.Free] returns it.
func (b *Budget) Most() Need {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.most.need()
}

// Held returns how much of the shared memory of a need is already granted.
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
