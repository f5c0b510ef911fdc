package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
)

// Scope owns device-local buffers of one device that are released together. After an error it allocates nothing more,
// so that Err is checked once, before the first use. Buffers are charged to the grant of the scope as what they take in
// the arena; a grant that is exhausted grows, or the allocation fails. Used by one goroutine at a time.
type Scope struct {
	ctx    context.Context // of allocations, which may wait for released memory
	device *backend.Device
	grant  *Grant // may be nil
	err    error
	held   []*backend.Buffer
}

// NewScope returns an empty scope. Allocations end with an error when ctx does. nil charges nobody.
func NewScope(ctx context.Context, device *backend.Device, grant *Grant) *Scope {
	return &Scope{ctx: ctx, device: device, grant: grant}
}

// Child returns an empty scope with the device and the grant of this one, for temporaries or for a result. It is
// released on its own.
func (s *Scope) Child(ctx context.Context) *Scope { return NewScope(ctx, s.device, s.grant) }

// New allocates a buffer; nil for 0 bytes and after an error.
func (s *Scope) New(sizeBytes uint64, label string) *backend.Buffer {
	if s.err != nil || sizeBytes == 0 {
		return nil
	}
	if s.err = s.grant.charge(s.device, backend.Aligned(sizeBytes), label); s.err != nil {
		return nil
	}
	var b *backend.Buffer
	if b, s.err = s.device.Allocate(s.ctx, backend.DeviceLocal, sizeBytes, label); s.err != nil {
		s.grant.credit(s.device, backend.Aligned(sizeBytes))
		return nil
	}
	s.held = append(s.held, b)
	return b
}

// Reserve grows the grant until sizeBytes are unused, as far as memory is free, and returns how much is unused then. It
// never waits.
func (s *Scope) Reserve(sizeBytes uint64) (unusedBytes uint64) { return s.grant.Reserve(s.device, sizeBytes) }

// Err is the first error of an allocation, with the label of its buffer: that of the device, or ErrDeviceMemory where
// the grant cannot grow.
func (s *Scope) Err() error { return s.err }

// Release releases buffers before the others; nil and those that are not of this scope stay.
func (s *Scope) Release(buffers ...*backend.Buffer) {
	for _, b := range buffers {
		if s.drop(b) {
			s.free(b)
		}
	}
}

// Move hands buffers over to another scope, whose grant is charged for them from now on; nil and those that are not of
// this scope stay. A buffer that exceeds that grant is released, and the other scope has the error.
func (s *Scope) Move(to *Scope, buffers ...*backend.Buffer) {
	for _, b := range buffers {
		if !s.drop(b) {
			continue
		}
		if s.grant != to.grant {
			if err := to.grant.charge(s.device, backend.Aligned(b.SizeBytes()), b.Label()); err != nil {
				to.err = errors.Join(to.err, err)
				s.free(b)
				continue
			}
			s.grant.credit(s.device, backend.Aligned(b.SizeBytes()))
		}
		to.held = append(to.held, b)
	}
}

// ReleaseAll releases all buffers. The scope is empty and can be used again.
func (s *Scope) ReleaseAll() {
	for _, b := range s.held {
		s.free(b)
	}
	s.held, s.err = nil, nil
}

func (s *Scope) drop(b *backend.Buffer) (held bool) {
	i := slices.Index(s.held, b)
	if b == nil || i < 0 {
		return false
	}
	s.held = slices.Delete(s.held, i, i+1)
	return true
}

func (s *Scope) free(b *backend.Buffer) {
	sizeBytes := b.SizeBytes()
	b.Release()
	s.grant.credit(s.device, backend.Aligned(sizeBytes))
}
