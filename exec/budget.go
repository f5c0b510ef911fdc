package exec

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// Need is an amount of memory of every kind, in bytes. Device memory includes what the arena rounds sizes up by.
type Need struct {
	Device             map[*backend.Device]uint64
	Pinned, Host, Disk uint64
}

// Budget divides memory among the queries of an engine. A query acquires all that it needs at once, in order of
// arrival, and never while it holds another grant: so none waits for one that waits, and none is passed by for ever.
// Whoever needs more afterwards grows its grant, which never waits. Safe for concurrent use.
type Budget struct {
	mu    sync.Mutex // also guards the grants
	total amounts
	free  amounts
	line  []*claim // that wait, in order of arrival
}

// Grant is a part of a budget. The owner releases it. Safe for concurrent use; a nil grant is no limit and has nothing.
type Grant struct {
	budget   *Budget
	flow     *Flow // of the owner; may be nil
	has      amounts
	used     amounts // charged by scopes
	released bool
}

// claim is a query that waits for its grant.
type claim struct {
	least, wish amounts
	grant       *Grant
	ready       chan struct{} // closed with the grant
}

// NewBudget returns a budget of total.
func NewBudget(total Need) *Budget {
	b := &Budget{total: total.amounts()}
	b.free = maps.Clone(b.total)
	return b
}

// Acquire waits for its turn and for least, and takes as much of wish as is free then. Only the first in line is
// served.
//
// A flow has one grant at a time: ctx of a flow that has or waits for one, or that is started by such a flow, is
// ErrInvalidInput. A need beyond the whole budget is refused at once with ErrDeviceMemory, ErrHostMemory (pinned memory
// too) or ErrDiskSpace, and the need. When ctx ends: ErrCancelled or ErrTimedOut.
func (b *Budget) Acquire(ctx context.Context, least, wish Need) (*Grant, error) {
	if ctx.Err() != nil {
		return nil, backend.ContextError(ctx)
	}
	c := &claim{least: least.amounts(), wish: wish.amounts(), ready: make(chan struct{})}
	if err := b.total.lack(c.least, "acquire", "the budget has %d"); err != nil {
		return nil, err
	}
	flow := flowOf(ctx)
	if err := flow.claim(); err != nil {
		return nil, err
	}
	c.grant = &Grant{budget: b, flow: flow, has: make(amounts), used: make(amounts)}
	b.mu.Lock()
	b.line = append(b.line, c)
	b.serve()
	b.mu.Unlock()
	select {
	case <-c.ready:
		return c.grant, nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	if i := slices.Index(b.line, c); i >= 0 {
		b.line = slices.Delete(b.line, i, i+1)
	}
	b.mu.Unlock()
	c.grant.Release() // of nothing, or of what came at the last moment; those behind are served
	return nil, backend.ContextError(ctx)
}

// Free returns what nobody has now.
func (b *Budget) Free() Need {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.free.need()
}

// serve gives those who are first in line what they wait for.
func (b *Budget) serve() {
	for len(b.line) > 0 && b.free.covers(b.line[0].least) {
		c := b.line[0]
		b.line = b.line[1:]
		for r, least := range c.least {
			c.grant.has[r] = least
		}
		for r, wish := range c.wish {
			c.grant.has[r] = max(c.least[r], min(wish, b.free[r]))
		}
		b.free.subtract(c.grant.has)
		close(c.ready)
	}
}

// Has returns what the grant is of now.
func (g *Grant) Has() Need {
	if g == nil {
		return Need{}
	}
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	return g.has.need()
}

// need is the inverse of [Need.amounts].
func (a amounts) need() Need {
	need := Need{Device: make(map[*backend.Device]uint64)}
	for r, bytes := range a {
		switch r.kind {
		case deviceMemory:
			need.Device[r.device] = bytes
		case pinnedMemory:
			need.Pinned = bytes
		case hostMemory:
			need.Host = bytes
		case diskSpace:
			need.Disk = bytes
		}
	}
	return need
}

// Grow adds to the grant what is free, all of it or nothing, also while others wait for it. It never waits. Where too
// little is free, the errors are those of [Budget.Acquire]: the owner divides its work, spills, or fails.
func (g *Grant) Grow(by Need) error {
	if g == nil {
		return nil
	}
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	return g.grow(by.amounts())
}

// Reserve grows the grant until sizeBytes of device memory are unused, as far as memory is free, and returns how much is
// unused then. It never waits. A nil grant has so much.
func (g *Grant) Reserve(on *backend.Device, sizeBytes uint64) (unusedBytes uint64) {
	if g == nil {
		return sizeBytes
	}
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	r := resource{kind: deviceMemory, device: on}
	unusedBytes = g.has[r] - min(g.has[r], g.used[r])
	by := amounts{r: min(sizeBytes-min(sizeBytes, unusedBytes), g.budget.free[r])}
	if err := g.grow(by); err != nil { // it was released
		return 0
	}
	return unusedBytes + by[r]
}

func (g *Grant) grow(by amounts) error {
	if g.released {
		return &backend.OpError{Op: "grow", Err: backend.ErrInvalidInput, Detail: "the grant was released"}
	}
	if err := g.budget.free.lack(by, "grow", "%d free"); err != nil {
		return err
	}
	g.budget.free.subtract(by)
	g.has.add(by)
	return nil
}

// Release gives the memory back. What scopes hold of it follows when they release it. Safe on nil; a second Release
// does nothing.
func (g *Grant) Release() {
	if g == nil {
		return
	}
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	if g.released {
		return
	}
	g.released = true
	g.flow.unclaim()
	g.budget.free.add(g.has)
	g.budget.free.subtract(g.used)
	g.budget.serve()
}

// charge counts memory of a device as used, and grows the grant where that exceeds it.
func (g *Grant) charge(on *backend.Device, sizeBytes uint64, label string) error {
	if g == nil {
		return nil
	}
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	r := resource{deviceMemory, on}
	if free := g.has[r] - g.used[r]; g.released || sizeBytes > free {
		if err := g.grow(amounts{r: sizeBytes - free}); err != nil {
			return fmt.Errorf("%q: %w", label, err)
		}
	}
	g.used[r] += sizeBytes
	return nil
}

// credit takes back what was charged.
func (g *Grant) credit(on *backend.Device, sizeBytes uint64) {
	if g == nil {
		return
	}
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	r := resource{deviceMemory, on}
	g.used[r] -= sizeBytes
	if g.released {
		g.budget.free[r] += sizeBytes
		g.budget.serve()
	}
}

// kind is a kind of memory.
type kind uint8

const (
	deviceMemory kind = iota
	pinnedMemory
	hostMemory
	diskSpace
)

func (k kind) String() string {
	return [...]string{"device memory", "pinned memory", "host memory", "disk space"}[k]
}

func (k kind) sentinel() error {
	return [...]error{backend.ErrDeviceMemory, backend.ErrHostMemory, backend.ErrHostMemory, backend.ErrDiskSpace}[k]
}

// resource is memory of a kind, for device memory that of one device.
type resource struct {
	kind   kind
	device *backend.Device // nil of other kinds
}

// amounts are bytes of each resource.
type amounts map[resource]uint64

func (n Need) amounts() amounts {
	a := amounts{{kind: pinnedMemory}: n.Pinned, {kind: hostMemory}: n.Host, {kind: diskSpace}: n.Disk}
	for d, bytes := range n.Device {
		a[resource{deviceMemory, d}] = bytes
	}
	return a
}

func (a amounts) covers(need amounts) bool {
	for r, bytes := range need {
		if bytes > a[r] {
			return false
		}
	}
	return true
}

func (a amounts) add(more amounts) {
	for r, bytes := range more {
		a[r] += bytes
	}
}

func (a amounts) subtract(less amounts) {
	for r, bytes := range less {
		a[r] -= bytes
	}
}

// lack is the error of a need that a does not cover; has words how much there is.
func (a amounts) lack(need amounts, op, has string) error {
	if a.covers(need) {
		return nil
	}
	order := slices.SortedFunc(maps.Keys(need), func(x, y resource) int {
		if x.kind != y.kind {
			return int(x.kind) - int(y.kind)
		}
		return strings.Compare(x.name(), y.name())
	})
	r := order[slices.IndexFunc(order, func(r resource) bool { return need[r] > a[r] })]
	detail := fmt.Sprintf("%d bytes of %v needed, "+has, need[r], r.kind, a[r])
	return &backend.OpError{Op: op, Device: r.name(), Err: r.kind.sentinel(), Detail: detail}
}

func (r resource) name() string {
	if r.device == nil {
		return ""
	}
	return r.device.Info().Name
}
