package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Allocate returns a buffer of at least sizeBytes (0 gives an empty one) with undefined content, aligned for kernel
// arguments. If the cap or the device has no room, it waits for released memory that is still in use, and then fails
// with ErrDeviceMemory or ErrHostMemory, which names the request, the memory in use and the option that changes the
// limit. If ctx ends during that wait, the error is ErrCancelled or ErrTimedOut.
func (d *Device) Allocate(ctx context.Context, memory Memory, sizeBytes uint64, label string) (*Buffer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if memory > HostVisible {
		return nil, &OpError{Op: "allocate", Device: d.info.Name, Err: ErrInvalidInput,
			Detail: "imported memory comes from Import"}
	}
	a := &d.arenas[memory]
	var block Block
	var offset uint64
	err := d.allocating(ctx, a, label, func() (err error) {
		block, offset, err = a.take(sizeBytes)
		return err
	})
	if err != nil {
		return nil, err
	}
	b := &Buffer{device: d, label: label, sizeBytes: (sizeBytes + 3) / 4 * 4, memory: memory, block: block,
		offsetBytes: offset}
	b.lease = &lease{owners: 1, free: func() { a.give(block, offset, b.sizeBytes) }}
	d.live[b] = struct{}{}
	return b, nil
}

// allocating tries to take memory of an arena until it succeeds or nothing is left to wait for. d.mu is held.
func (d *Device) allocating(ctx context.Context, a *arena, label string, take func() error) error {
	d.settle()
	for {
		if d.failed != nil {
			return d.failed
		}
		err := take()
		if err == nil {
			return nil
		}
		if len(d.pending) > 0 {
			if err := d.waitPending(ctx); err != nil {
				return fmt.Errorf("%q on %s: %w", label, d.info.Name, err)
			}
			continue
		}
		before := a.blockBytes
		if trimErr := a.trim(0); trimErr != nil {
			return errors.Join(err, trimErr)
		}
		if a.blockBytes < before {
			continue
		}
		d.setFailed(err)
		return fmt.Errorf("%q on %s: %w", label, d.info.Name, err)
	}
}

// waitPending waits, with the lock given up, until the first of what was released is free.
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
	InUse, Peak, Blocks uint64
}

// MemoryUse returns the account of device-local or host-visible memory; ResetPeak resets Peak.
func (d *Device) MemoryUse(memory Memory) MemoryUse {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	a := &d.arenas[memory]
	return MemoryUse{a.usedBytes, a.peakBytes, a.blockBytes}
}

// Trim bounds the blocks of device-local memory: it returns unused blocks to the driver until all together have at most
// mostBytes, and returns what they have then. From now on a new block beyond mostBytes is allocated only if no other
// has room. Close reports what the driver failed to free.
func (d *Device) Trim(mostBytes uint64) (blockBytes uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	a := &d.arenas[DeviceLocal]
	a.softBytes = mostBytes
	if err := a.trim(mostBytes); err != nil {
		d.setFailed(err)
		d.misuse = append(d.misuse, err.Error())
	}
	return a.blockBytes
}

// ResetPeak sets the peak of both kinds of memory to the current use.
func (d *Device) ResetPeak() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for m := range d.arenas {
		d.arenas[m].peakBytes = d.arenas[m].usedBytes
	}
}

// freeAll gives all memory back to the driver and reports what was not released as it should have been.
func (d *Device) freeAll() (errs []error) {
	d.uploads.release()
	d.downloads.release()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == nil {
		d.failed = &OpError{Op: "use", Device: d.info.Name, Err: ErrInvalidInput, Detail: "the device was closed"}
	}
	var problems []string
	for h := range d.live {
		label, sizeBytes, l, released := h.holding()
		problems = append(problems, fmt.Sprintf("%q (%d bytes)", label, sizeBytes))
		released.Store(true)
		d.giveUp(l)
	}
	clear(d.live)
	d.settle()
	for m := range d.arenas {
		errs = append(errs, d.arenas[m].trim(0))
	}
	slices.Sort(problems)
	if problems = append(problems, d.misuse...); len(problems) > 0 {
		errs = append(errs, &OpError{Op: "close", Device: d.info.Name, Err: ErrInvalidInput,
			Detail: "buffers not released properly: " + strings.Join(problems, ", ")})
	}
	return errs
}
