package backend

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// lease is memory that submitted work may still use when its owners, buffers or images, have released it. It is freed
// with the last use after the last release. Guarded by device.mu.
type lease struct {
	owners int
	uses   [Roles]uint64 // last point of each queue that uses it
	free   func()        // called once, with device.mu held
	freed  []func()      // called after it, where it succeeded
}

// holding is what a lease is owned by.
type holding interface {
	holding() (label string, sizeBytes uint64, l *lease, released *atomic.Bool)
}

// leaseOf is the lease, with one owner, of a block or image that is freed by itself.
func (d *Device) leaseOf(block interface{ Free() error }, label string) *lease {
	l := &lease{owners: 1}
	l.free = func() {
		d.hazards.forget(block)
		if err := block.Free(); err != nil {
			d.misuse = append(d.misuse, fmt.Sprintf("freeing %q: %v", label, err))
			return
		}
		for _, f := range l.freed {
			f()
		}
	}
	return l
}

// hold adds an owner, perhaps to a lease that the last one has given up.
func (d *Device) hold(l *lease) {
	if l.owners++; l.owners == 1 {
		d.pending = slices.DeleteFunc(d.pending, func(p *lease) bool { return p == l })
	}
}

// giveUp ends an ownership.
func (d *Device) giveUp(l *lease) {
	if l.owners--; l.owners == 0 {
		d.pending = append(d.pending, l)
	}
}

// release ends the ownership of a buffer or image, once.
func (d *Device) release(h holding) {
	label, _, l, released := h.holding()
	d.mu.Lock()
	defer d.mu.Unlock()
	if released.Swap(true) {
		d.misuse = append(d.misuse, fmt.Sprintf("%q released twice", label))
		return
	}
	delete(d.live, h)
	d.giveUp(l)
	d.settle()
}

// reclaim frees the leases without an owner whose last use has passed.
func (d *Device) reclaim() {
	d.pending = slices.DeleteFunc(d.pending, func(l *lease) bool {
		for r := range Roles {
			if l.uses[r] > d.completed[r] && d.failed == nil {
				return false
			}
		}
		l.free()
		return true
	})
}
