package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// Allocate returns an undefined buffer of at least sizeBytes (0 gives an empty one), aligned for kernel arguments. Where
// the cap or the device has no room it waits for released memory still in use; then ErrDeviceMemory or ErrHostMemory,
// naming what was asked for, what is in use and the option that changes the limit. ErrCancelled or ErrTimedOut when ctx
// ends that wait.
func (d *Device) Allocate(ctx context.Context, memory Memory, sizeBytes uint64, label string) (*Buffer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if memory > HostVisible {
		return nil, &OpError{Op: "allocate", Device: d.info.Name, Err: ErrInvalidInput, Detail: "imported memory comes from Import"}
	}
	d.settle()
	a := &d.arenas[memory]
	for {
		if d.failed != nil {
			return nil, d.failed
		}
		block, offset, err := a.take(sizeBytes)
		if err == nil {
			b := &Buffer{device: d, label: label, sizeBytes: (sizeBytes + 3) / 4 * 4, memory: memory, block: block, offsetBytes: offset}
			d.live[b] = struct{}{}
			return b, nil
		}
		if len(d.pending) > 0 {
			if err := d.waitPending(ctx); err != nil {
				return nil, fmt.Errorf("%q on %s: %w", label, d.info.Name, err)
			}
			continue
		}
		before := a.blockBytes
		if trimErr := a.trim(); trimErr != nil {
			return nil, errors.Join(err, trimErr)
		}
		if a.blockBytes < before {
			continue
		}
		d.setFailed(err)
		return nil, fmt.Errorf("%q on %s: %w", label, d.info.Name, err)
	}
}

// Import makes host memory of the caller visible to the device without a copy; it stays the caller's and must stay in
// place until the buffer is released and its last use has passed. ErrUnsupported where the device cannot import it as it
// lies; ErrInvalidInput where it overlaps an import that was not released, because work on the two would have no order. [Device.Upload] and [Device.Download] recognise slices of imported memory and copy them directly.
func (d *Device) Import(ctx context.Context, memory []byte, label string) (*Buffer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.failed == nil {
		other := d.overlapping(memory)
		if other == nil {
			break
		}
		if !other.released.Load() {
			return nil, &OpError{Op: "import", Device: d.info.Name, Err: ErrInvalidInput, Detail: fmt.Sprintf(
				"%d bytes for %q overlap %q", len(memory), label, other.label)}
		}
		if err := d.waitPending(ctx); err != nil {
			return nil, err
		}
	}
	if d.failed != nil {
		return nil, d.failed
	}
	block, err := d.driver.ImportHost(memory)
	if err != nil {
		d.setFailed(err)
		return nil, err
	}
	b := &Buffer{device: d, label: label, sizeBytes: uint64(len(memory)) / 4 * 4, memory: Imported, block: block}
	d.live[b] = struct{}{}
	d.imported = append(d.imported, b)
	return b, nil
}

// overlapping returns an imported buffer that shares bytes with memory, or nil.
func (d *Device) overlapping(memory []byte) *Buffer {
	d.settle()
	lo := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	for _, b := range d.imported {
		bytes := b.block.Bytes()
		from := uintptr(unsafe.Pointer(unsafe.SliceData(bytes)))
		if lo < from+uintptr(len(bytes)) && from < lo+uintptr(len(memory)) {
			return b
		}
	}
	return nil
}

// reclaim returns the ranges of released buffers whose last use has passed.
func (d *Device) reclaim(completed [Roles]uint64) {
	d.pending = slices.DeleteFunc(d.pending, func(b *Buffer) bool {
		for r := range Roles {
			if b.uses[r] > completed[r] && d.failed == nil {
				return false
			}
		}
		if b.memory != Imported {
			d.arenas[b.memory].give(b.block, b.offsetBytes, b.sizeBytes)
			return true
		}
		d.imported = slices.DeleteFunc(d.imported, func(i *Buffer) bool { return i == b })
		d.hazards.forget(b.block)
		if err := b.block.Free(); err != nil {
			d.misuse = append(d.misuse, fmt.Sprintf("freeing %q: %v", b.label, err))
		}
		return true
	})
}

// waitPending waits, with the lock given up, until the first released buffer is free.
func (d *Device) waitPending(ctx context.Context) error {
	uses := d.pending[0].uses
	d.mu.Unlock()
	err := d.waitUses(ctx, &uses)
	d.mu.Lock()
	d.setFailed(err)
	d.settle()
	return err
}

func (d *Device) waitUses(ctx context.Context, uses *[Roles]uint64) error {
	for r, value := range uses {
		if value == 0 {
			continue
		}
		if err := d.driver.Wait(ctx, Role(r), value, d.options.WaitLimit); err != nil {
			return err
		}
	}
	return nil
}

// MemoryUse is the account of one kind of memory, in bytes.
type MemoryUse struct {
	InUse, Peak, Blocks, Cap uint64
}

// MemoryUse returns the account of device-local or host-visible memory; ResetPeak starts Peak anew.
func (d *Device) MemoryUse(memory Memory) MemoryUse {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	a := &d.arenas[memory]
	return MemoryUse{a.usedBytes, a.peakBytes, a.blockBytes, a.capBytes}
}

// ResetPeak sets the peak of both kinds of memory to what is in use now.
func (d *Device) ResetPeak() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for m := range d.arenas {
		d.arenas[m].peakBytes = d.arenas[m].usedBytes
	}
}

// freeAll gives all memory back to the driver and reports what was not released as it should have been.
func (d *Device) freeAll() (errs []error) {
	for r := range d.staging {
		d.staging[r].release()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == nil {
		d.failed = &OpError{Op: "use", Device: d.info.Name, Err: ErrInvalidInput, Detail: "the device was closed"}
	}
	var problems []string
	for b := range d.live {
		problems = append(problems, fmt.Sprintf("%q (%d bytes)", b.label, b.sizeBytes))
		b.released.Store(true)
		d.pending = append(d.pending, b)
	}
	clear(d.live)
	d.settle()
	for m := range d.arenas {
		errs = append(errs, d.arenas[m].trim())
	}
	slices.Sort(problems)
	if problems = append(problems, d.misuse...); len(problems) > 0 {
		errs = append(errs, &OpError{Op: "close", Device: d.info.Name, Err: ErrInvalidInput, Detail: "buffers not released properly: " + strings.Join(problems, ", ")})
	}
	return errs
}
