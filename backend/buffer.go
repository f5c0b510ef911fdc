package backend

import "sync/atomic"

// Buffer is a range of device memory, made by [Device.Allocate] or [Device.Import] and owned by the code that made it.
// Release it exactly once. It may be released while submitted work still uses it: its memory is returned when that work
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

// Label is the name of the buffer in errors, memory accounts and traces.
func (b *Buffer) Label() string { return b.label }

// SizeBytes is the requested size, rounded up to a multiple of 4.
func (b *Buffer) SizeBytes() uint64 { return b.sizeBytes }

// Memory is the kind of memory of the buffer.
func (b *Buffer) Memory() Memory { return b.memory }

// Range returns a part of the buffer. A range outside the buffer is refused at submission.
func (b *Buffer) Range(offsetBytes, sizeBytes uint64) Range { return Range{b, offsetBytes, sizeBytes} }

// All returns the whole buffer; for a nil buffer, the absent argument.
func (b *Buffer) All() Range {
	if b == nil {
		return Range{}
	}
	return Range{b, 0, b.sizeBytes}
}

// AlignedAt reports whether the argument of a kernel may begin at this offset.
func (b *Buffer) AlignedAt(offsetBytes uint64) bool {
	return (b.offsetBytes+offsetBytes)%b.device.info.Limits.ArgumentAlignment == 0
}

// Bytes returns the mapped buffer, or nil if the host cannot access it. The caller synchronizes its accesses with
// submitted work by [Point.Wait] or [Device.WaitBuffer].
func (b *Buffer) Bytes() []byte {
	mapped := b.block.Bytes()
	if mapped == nil {
		return nil
	}
	return mapped[b.offsetBytes : b.offsetBytes+b.sizeBytes : b.offsetBytes+b.sizeBytes]
}

// Release releases the buffer. Safe on nil; a second release of the same buffer is an error that [Device.Close]
// reports.
func (b *Buffer) Release() {
	if b == nil {
		return
	}
	b.device.release(b)
}

// WhenFreed calls f once the device no longer uses the memory of an imported buffer, nor of any other buffer that
// shares the import; if the device cannot free it, f is never called. f is called with locks held and must not use the
// device. The buffer must not have been released.
func (b *Buffer) WhenFreed(f func()) {
	b.device.mu.Lock()
	defer b.device.mu.Unlock()
	b.lease.freed = append(b.lease.freed, f)
}

func (b *Buffer) holding() (label string, sizeBytes uint64, l *lease, released *atomic.Bool) {
	return b.label, b.sizeBytes, b.lease, &b.released
}
