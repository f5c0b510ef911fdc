package exec

import (
	"context"
	"fmt"
	"maps"

	"github.com/spirjoin/spirjoin/backend"
)

// Grant is memory that a budget has given to a query. The owner releases it. Safe for concurrent use; a nil grant has
// nothing and does not limit anything.
type Grant struct {
	budget   *Budget
	flow     *Flow // of the owner; may be nil
	has      amounts
	used     map[*backend.Device]uint64 // bytes charged by scopes
	open     bool
	turn     bool // it holds the element of Budget.open
	released bool
}

// Has returns the current size of the grant; Host is all memory of the host except shared memory.
func (g *Grant) Has() Need {
	if g == nil {
		return Need{}
	}
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	return g.has.need()
}

// Await changes the size of an open grant to need, the total needed so far, and waits for what is missing, before all
// others that wait. What is no longer needed is returned. A need beyond the whole budget is refused as by
// [Budget.Acquire]. ErrInvalidInput if the grant is not open.
func (g *Grant) Await(ctx context.Context, need Need) error {
	if ctx.Err() != nil {
		return backend.ContextError(ctx)
	}
	g.budget.mu.Lock()
	open := g.open
	g.budget.mu.Unlock()
	if !open {
		return &backend.OpError{Op: "await", Err: backend.ErrInvalidInput,
			Detail: "the grant is complete, it can only grow"}
	}
	c := &claim{need: need.amounts(), grant: g}
	if err := g.budget.possible(c.need); err != nil {
		return err
	}
	return g.budget.wait(ctx, c, true)
}

// Complete ends the growth of an open grant: from now on it is like others, and the only one that its flow may have.
// Errors: as for [Budget.Acquire]; on an error the owner releases the grant. On a grant that is not open, Complete does
// nothing.
func (g *Grant) Complete() error {
	if g == nil {
		return nil
	}
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	if !g.open {
		return nil
	}
	g.close()
	err := g.flow.claim()
	if err != nil {
		g.flow = nil // its claim belongs to another grant
	}
	return err
}

// close ends the open state, so that another grant may be opened.
func (g *Grant) close() {
	if g.turn {
		<-g.budget.open
	}
	g.flow.setOpen(false)
	g.open, g.turn = false, false
}

// Grow adds by to the grant, all of it or nothing, if it is free, even while others wait for memory. It never waits. If
// too little is free, it returns an error as [Budget.Acquire] does; the owner then divides its work, spills, or fails.
func (g *Grant) Grow(by Need) error {
	if g == nil {
		return nil
	}
	g.budget.mu.Lock()
	err := g.grow(by.amounts())
	g.budget.mu.Unlock()
	if err == nil {
		g.budget.bound()
	}
	return err
}

// Reserve grows the grant until sizeBytes of device memory are unused, as far as memory is free, and returns the number
// of unused bytes. It never waits. A nil grant always has sizeBytes.
func (g *Grant) Reserve(on *backend.Device, sizeBytes uint64) (unusedBytes uint64) {
	if g == nil {
		return sizeBytes
	}
	g.budget.mu.Lock()
	r := resource{kind: deviceMemory, device: on}
	unusedBytes = g.has[r] - min(g.has[r], g.used[on])
	byBytes := sizeBytes - min(sizeBytes, unusedBytes)
	for of := range onDevice(on, byBytes) {
		byBytes = min(byBytes, g.budget.free[of])
	}
	err := g.grow(onDevice(on, byBytes))
	g.budget.mu.Unlock()
	if err != nil { // the grant was released
		return 0
	}
	if byBytes > 0 {
		g.budget.bound()
	}
	return unusedBytes + byBytes
}

// ReserveHost grows the grant by free host memory, at most sizeBytes, and returns by how much. It never waits. For a
// nil grant it returns sizeBytes.
func (g *Grant) ReserveHost(sizeBytes uint64) (byBytes uint64) {
	if g == nil {
		return sizeBytes
	}
	byBytes = min(sizeBytes, g.budget.Free().Host)
	if g.Grow(Need{Host: byBytes}) != nil { // others were faster
		return 0
	}
	return byBytes
}

func (g *Grant) grow(by amounts) error {
	if g.released {
		return &backend.OpError{Op: "reserve", Err: backend.ErrInvalidInput, Detail: "the grant was released"}
	}
	for r := range by { // shared memory that the grant has already costs nothing
		if _, has := g.has[r]; has && r.kind == sharedMemory {
			delete(by, r)
		}
	}
	if err := g.budget.free.lack(g.budget.cost(by), g.budget.total, "reserve"); err != nil {
		return err
	}
	g.budget.take(by)
	g.has.add(by)
	return nil
}

// Shrink returns what the grant has beyond a need, except for memory that scopes use.
func (g *Grant) Shrink(to Need) {
	if g == nil {
		return
	}
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	if !g.released {
		g.shrink(to)
	}
}

// GiveHost returns memory of the host, as far as the grant has so much.
func (g *Grant) GiveHost(sizeBytes uint64) {
	if g == nil {
		return
	}
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	g.give(amounts{hostTotal: min(sizeBytes, g.has[hostTotal])})
}

// GiveUnused returns the memory of devices that no scope uses.
func (g *Grant) GiveUnused() {
	if g == nil {
		return
	}
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	for r, bytes := range maps.Clone(g.has) {
		if r.kind == deviceMemory {
			g.give(onDevice(r.device, bytes-min(bytes, g.used[r.device])))
		}
	}
}

func (g *Grant) give(some amounts) {
	if g.released {
		return
	}
	g.budget.give(some)
	g.has.subtract(some)
	g.budget.serve()
}

func (g *Grant) shrink(to Need) {
	devices := maps.Clone(g.used)
	for d, bytes := range to.Device {
		devices[d] = max(devices[d], bytes)
	}
	to.Device = devices
	left := to.amounts()
	for r, bytes := range left {
		left[r] = min(bytes, g.has[r])
	}
	g.budget.give(g.has)
	g.has = left
	g.budget.take(g.has)
	g.budget.serve()
}

// Release returns the memory to the budget. Memory that scopes still hold is returned when they release it. Safe on
// nil; a second Release does nothing.
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
	if g.open {
		g.close()
	} else {
		g.flow.unclaim()
	}
	g.shrink(Need{})
}

// charge counts memory of a device as used, and grows the grant if too little of it is unused.
func (g *Grant) charge(on *backend.Device, sizeBytes uint64, label string) error {
	if g == nil {
		return nil
	}
	grown, err := g.chargeGrown(on, sizeBytes)
	if err != nil {
		return fmt.Errorf("%q: %w", label, err)
	}
	if grown {
		g.budget.bound()
	}
	return nil
}

func (g *Grant) chargeGrown(on *backend.Device, sizeBytes uint64) (grown bool, err error) {
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	unused := g.has[resource{kind: deviceMemory, device: on}] - g.used[on]
	if grown = g.released || sizeBytes > unused; grown {
		if err := g.grow(onDevice(on, sizeBytes-unused)); err != nil {
			return false, err
		}
	}
	g.used[on] += sizeBytes
	return grown, nil
}

// credit undoes a charge. Once the grant is released, the memory returns to the budget.
func (g *Grant) credit(on *backend.Device, sizeBytes uint64) {
	if g == nil {
		return
	}
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	g.used[on] -= sizeBytes
	if g.released {
		g.shrink(Need{})
	}
}
