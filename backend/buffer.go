package backend

import "sync/atomic"

// Buffer is a range of device memory, made by [Device.Allocate] or [Device.Import] and owned by whoever made it.
// Release it exactly once. Releasing it while submitted work still uses it is fine: its memory returns when that work
// is done.
type Buffer struct {
	device      *Device
	label       string
	sizeBytes   uint64 // a multiple of 4
	memory      Memory
	block       Block
	offsetBytes uint64
	lease       *lease
	released    atomic.Bool
}

// Label is the name that the buffer carries in errors, accounts and traces.
func (b *Buffer) Label() string { return b.label }

// SizeBytes is the size that was asked for, rounded up to a multiple of 4.
func (b *Buffer) SizeBytes() uint64 { return b.sizeBytes }

// Memory is the kind of memory that the buffer lies in.
func (b *Buffer) Memory() Memory { return b.memory }

// Range is a part of the buffer. A range outside the buffer is refused at submission.
func (b *Buffer) Range(offsetBytes, sizeBytes uint64) Range { return Range{b, offsetBytes, sizeBytes} }

// All is the whole buffer; of a nil buffer it is the absent argument.
func (b *Buffer) All() Range {
	if b == nil {
		return Range{}
	}
	return Range{b, 0, b.sizeBytes}
}

// Bytes is the mapped buffer, or nil where the host cannot see it. The caller orders its accesses with submitted work
// by [Point.Wait] or [Device.WaitBuffer].
func (b *Buffer) Bytes() []byte {
	mapped := b.block.Bytes()
	if mapped == nil {
		return nil
	}
	return mapped[b.offsetBytes : b.offsetBytes+b.sizeBytes : b.offsetBytes+b.sizeBytes]
}

// Release gives the memory back. Safe on nil; a second release of the same buffer is an error that [Device.Close]
// reports.
func (b *Buffer) Release() {
	if b == nil {
		return
	}
	b.device.release(b)
}

// WhenFreed has f called once the device has let go of the memory of an imported buffer, and with it of all that share
// the import; never when it cannot. f is called with locks held and must not use the device. The buffer was not
// released.
func (b *Buffer) WhenFreed(f func()) {
	b.device.mu.Lock()
	defer b.device.mu.Unlock()
	b.lease.freed = append(b.lease.freed, f)
}

func (b *Buffer) holding() (label string, sizeBytes uint64, l *lease, released *atomic.Bool) {
	return b.label, b.sizeBytes, b.lease, &b.released
}
