package exec

import (
	"context"
	"fmt"
	"maps"

	"github.com/spirjoin/spirjoin/backend"
)

// Grant is a part of a budget. The owner releases it. Safe for concurrent use; a nil grant is no limit and has nothing.
type Grant struct {
	budget   *Budget
	flow     *Flow // of the owner; may be nil
	has      amounts
	used     map[*backend.Device]uint64 // charged by scopes
	open     bool
	turn     bool // it is open, and no other grant may be
	released bool
}

// Has returns what the grant is of now, Host of all memory of the host but shared one.
func (g *Grant) Has() Need {
	if g == nil {
		return Need{}
	}
	g.budget.mu.Lock()
	defer g.budget.mu.Unlock()
	return g.has.need()
}

// Await makes an open grant one of what is needed by now, all in all, and waits for what it lacks, before others who
// wait. What is not needed any more is given back. A need beyond the whole budget is refused as by [Budget.Acquire].
// ErrInvalidInput where the grant is not open.
func (g *Grant) Await(ctx context.Context, need Need) error {
	if ctx.Err() != nil {
		return backend.ContextError(ctx)
	}
	g.budget.mu.Lock()
	open := g.open
	g.budget.mu.Unlock()
	if !open {
		return &backend.OpError{Op: "await", Err: backend.ErrInvalidInput, Detail: "the grant is complete, it can only grow"}
	}
	c := &claim{need: need.amounts(), grant: g}
	if err := g.budget.possible(c.need); err != nil {
		return err
	}
	return g.budget.wait(ctx, c, true)
}

// Complete says that an open grant has all that is needed: from now on it is as others, and the one that its flow may
// have. Errors are those of [Budget.Acquire]; the owner releases the grant then. Another grant stays as it is.
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
		g.flow = nil // whose grant is another one
	}
	return err
}

// close says that the grant is not open.
func (g *Grant) close() {
	if g.turn {
		<-g.budget.open
	}
	g.flow.setOpen(false)
	g.open, g.turn = false, false
}

// Grow adds to the grant what is free, all of it or nothing, also while others wait for it. It never waits. Where too
// little is free, the errors are those of [Budget.Acquire]: the owner divides its work, spills, or fails.
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

// Reserve grows the grant until sizeBytes of device memory are unused, as far as memory is free, and returns how much
// is unused then. It never waits. A nil grant has so much.
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
	if err != nil { // it was released
		return 0
	}
	if byBytes > 0 {
		g.budget.bound()
	}
	return unusedBytes + byBytes
}

// ReserveHost grows the grant by memory of the host that is free, at most sizeBytes, and returns by how much. It never
// waits. A nil grant has so much.
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
		return &backend.OpError{Op: "grow", Err: backend.ErrInvalidInput, Detail: "the grant was released"}
	}
	for r := range by { // what it has already costs nothing
		if _, has := g.has[r]; has && r.kind == sharedMemory {
			delete(by, r)
		}
	}
	if err := g.budget.free.lack(g.budget.cost(by), g.budget.total, "grow"); err != nil {
		return err
	}
	g.budget.take(by)
	g.has.add(by)
	return nil
}

// Shrink gives back what the grant has beyond a need, but for what scopes use.
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
	if g.open {
		g.close()
	} else {
		g.flow.unclaim()
	}
	g.shrink(Need{})
}

// charge counts memory of a device as used, and grows the grant where that exceeds it.
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

// credit takes back what was charged.
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
