package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
)

// Scope owns device-local buffers and images of one device that are released together. After an error it allocates
// nothing more, so that a single check of Err before the first use suffices. Buffers are charged to the grant of the
// scope with the size that they take in the arena, images with their memory; if the grant is exhausted, it grows, or
// the allocation fails. Used by one goroutine at a time.
type Scope struct {
	ctx    context.Context // bounds allocations, which may wait for memory to be released
	device *backend.Device
	grant  *Grant // may be nil
	err    error
	held   []*backend.Buffer
	images []*backend.Image
}

// NewScope returns an empty scope. Allocations fail when ctx ends. grant may be nil; then nothing is charged.
func NewScope(ctx context.Context, device *backend.Device, grant *Grant) *Scope {
	return &Scope{ctx: ctx, device: device, grant: grant}
}

// Child returns an empty scope with the device and the grant of this one, for temporaries or for a result. It is
// released separately.
func (s *Scope) Child(ctx context.Context) *Scope { return NewScope(ctx, s.device, s.grant) }

// New allocates a buffer, which the scope owns. It returns nil for 0 bytes and after an error.
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

// NewImage makes an image, which the scope owns, with undefined content. It returns nil after an error. Errors: as for
// [backend.Device.NewImage]; ErrDeviceMemory if the grant cannot grow.
func (s *Scope) NewImage(spec backend.ImageSpec, label string) *backend.Image {
	if s.err != nil {
		return nil
	}
	sizeBytes, err := s.device.ImageBytes(spec)
	if err != nil {
		s.err = fmt.Errorf("%q: %w", label, err)
		return nil
	}
	if s.err = s.grant.charge(s.device, sizeBytes, label); s.err != nil {
		return nil
	}
	var i *backend.Image
	if i, s.err = s.device.NewImage(s.ctx, spec, label); s.err != nil {
		s.grant.credit(s.device, sizeBytes)
		return nil
	}
	s.images = append(s.images, i)
	return i
}

// ReleaseImages releases some images early. It ignores nil and images of other scopes.
func (s *Scope) ReleaseImages(images ...*backend.Image) {
	for _, i := range images {
		if at := slices.Index(s.images, i); i != nil && at >= 0 {
			s.images = slices.Delete(s.images, at, at+1)
			s.freeImage(i)
		}
	}
}

// Import makes host memory of the caller a buffer of the scope, without a copy ([backend.Device.Import]). It is not
// charged: the owner of the memory accounts for it. The scope releases the buffer when the device no longer uses it, so
// that the memory is the caller's again.
func (s *Scope) Import(memory []byte, label string) (*backend.Buffer, error) {
	b, err := s.device.Import(s.ctx, memory, label)
	if err == nil {
		s.held = append(s.held, b)
	}
	return b, err
}

// Reserve grows the grant until sizeBytes are unused, as far as memory is free, and returns the number of unused bytes.
// It never waits.
func (s *Scope) Reserve(sizeBytes uint64) (unusedBytes uint64) {
	return s.grant.Reserve(s.device, sizeBytes)
}

// Err returns the first error of an allocation, with the label of its buffer: a device error, or ErrDeviceMemory if the
// grant cannot grow.
func (s *Scope) Err() error { return s.err }

// Release releases some buffers early. It ignores nil and buffers of other scopes.
func (s *Scope) Release(buffers ...*backend.Buffer) {
	for _, b := range buffers {
		if s.drop(b) {
			s.free(b)
		}
	}
}

// Move transfers buffers to another scope, whose grant is charged from then on for those that are not imported. It
// ignores nil and buffers of other scopes. A buffer that exceeds that grant is released, and the error is in the other
// scope.
func (s *Scope) Move(to *Scope, buffers ...*backend.Buffer) {
	for _, b := range buffers {
		if !s.drop(b) {
			continue
		}
		if s.grant != to.grant && b.Memory() != backend.Imported {
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

// ReleaseAll releases all buffers and images and clears the error. The scope can then be used again.
func (s *Scope) ReleaseAll() {
	for _, b := range s.held {
		s.free(b)
	}
	for _, i := range s.images {
		s.freeImage(i)
	}
	s.held, s.images, s.err = nil, nil, nil
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
	if b.Memory() == backend.Imported {
		_ = s.device.WaitBuffer(context.WithoutCancel(s.ctx), b) // a device that fails uses no memory
		b.Release()
		return
	}
	sizeBytes := b.SizeBytes()
	b.Release()
	s.grant.credit(s.device, backend.Aligned(sizeBytes))
}

func (s *Scope) freeImage(i *backend.Image) {
	i.Release()
	s.grant.credit(s.device, i.SizeBytes())
}
