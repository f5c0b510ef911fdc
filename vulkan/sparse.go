package vulkan

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

// A block that is larger than one allocation may be is one buffer, with one range of device addresses, over several
// allocations (sparse binding, Vulkan 1.2, chapter "Sparse Resources"). The buffer is bound once, as a whole, before
// anything uses it, and never changes: no layer above knows of its parts, and a kernel reads across their borders.

// part is one of the allocations of a sparse block: size bytes at offset of the buffer.
type part struct {
	offset, size uint64
	memory       uint64 // VkDeviceMemory; 0: not allocated
}

// planParts cuts the memory that a buffer needs into allocations of limitBytes, the last one smaller; offsets, and
// sizes but the last, are multiples of the alignment, which is at most limitBytes.
func planParts(needBytes, alignment, limitBytes uint64) (parts []part) {
	limitBytes = limitBytes / alignment * alignment
	for at := uint64(0); at < needBytes; at += limitBytes {
		parts = append(parts, part{offset: at, size: min(limitBytes, needBytes-at)})
	}
	return parts
}

// fillParts allocates the memory of each part. When one fails, those before it keep theirs until freeParts.
func fillParts(parts []part, allocate func(sizeBytes uint64) (memory uint64, r result)) result {
	for i := range parts {
		var r result
		if parts[i].memory, r = allocate(parts[i].size); r != success {
			return r
		}
	}
	return success
}

func freeParts(parts []part, free func(memory uint64)) {
	for i := range parts {
		if parts[i].memory != 0 {
			free(parts[i].memory)
			parts[i].memory = 0
		}
	}
}

// planSparse chooses the queue that binds memory to sparse buffers; false where no queue does. It is by preference a
// queue that no role uses, so that binding waits for no other work, of a family in use; families for video and the like
// are left alone.
func planSparse(families []family, plan [backend.Roles]queueSlot) (slot queueSlot, ok bool) {
	used := usedFamilies(plan[:]...)
	// A family of graphics alone comes last: on some devices it has less of what kernels need.
	slices.SortStableFunc(used,
		func(a, b queueSlot) int { return onlyGraphics(plan, a.family) - onlyGraphics(plan, b.family) })
	binds := func(index uint32) bool {
		f := families[index]
		return f.flags&queueSparse != 0 && f.flags&^(queueGraphics|queueCompute|queueOnlyTransfers) == 0
	}
	for _, u := range used {
		if binds(u.family) && u.index < families[u.family].count {
			return u, true
		}
	}
	for i, f := range families {
		inUse := slices.ContainsFunc(used, func(u queueSlot) bool { return u.family == uint32(i) })
		if !inUse && f.count > 0 && binds(uint32(i)) {
			return queueSlot{uint32(i), 0}, true
		}
	}
	for _, role := range []backend.Role{backend.Upload, backend.Download, backend.Compute, backend.Graphics} {
		if plan[role] != absent && binds(plan[role].family) {
			return plan[role], true
		}
	}
	return queueSlot{}, false
}

// onlyGraphics is 1 for a family that no role but graphics uses.
func onlyGraphics(plan [backend.Roles]queueSlot, family uint32) int {
	if slices.ContainsFunc(plan[:backend.Graphics], func(s queueSlot) bool { return s.family == family }) {
		return 0
	}
	return 1
}

// bindLimit is how long an allocation waits until its memory is bound.
const bindLimit = 10 * time.Second

// bindParts binds the parts to the buffer and waits until that is done. One binding is in progress at a time. When the
// wait times out, the binding may still complete: the block is then freed when its device is closed.
func (b *block) bindParts() error {
	d := b.d
	parts := make([]C.sj_part, len(b.parts))
	for i, p := range b.parts {
		parts[i] = C.sj_part{offset_bytes: C.uint64_t(p.offset), size_bytes: C.uint64_t(p.size),
			memory: C.uint64_t(p.memory)}
	}
	d.binding.Lock()
	defer d.binding.Unlock()
	t := d.binds
	value := t.last() + 1
	if err := t.reach(value - 1); err != nil {
		return err
	}
	t.queue.mu.Lock()
	r := result(C.sj_bind_sparse(d.shim, unsafe.Pointer(t.queue.handle), raw(b.buffer), &parts[0],
		C.uint32_t(len(parts)), raw(t.semaphore), C.uint64_t(value)))
	t.queue.mu.Unlock()
	if err := b.failed(r, "binding"); err != nil {
		return err
	}
	t.mu.Lock()
	t.submitted = value
	t.mu.Unlock()
	err := t.reach(value)
	b.unbound = errors.Is(err, backend.ErrTimedOut)
	return err
}

// reach waits at most bindLimit until the timeline has reached a value.
func (t *timeline) reach(value uint64) error {
	reached, err := t.await(value, bindLimit)
	if err == nil && !reached {
		err = &backend.OpError{Op: "allocate", Device: t.d.info.Name, Err: backend.ErrTimedOut,
			Detail: fmt.Sprintf("memory was not bound after %v", bindLimit)}
	}
	return err
}

// allocateParts gets the memory of a sparse block.
func (b *block) allocateParts() result {
	return fillParts(b.parts, func(sizeBytes uint64) (uint64, result) {
		var memory C.uint64_t
		r := result(C.sj_allocate(b.d.shim, C.uint64_t(sizeBytes), C.uint32_t(b.storeType), 0, &memory))
		return uint64(memory), r
	})
}

func (b *block) freeParts() {
	freeParts(b.parts, func(memory uint64) {
		vk.FreeMemory(b.d.device, handleOf[vk.DeviceMemory](C.uint64_t(memory)), nil)
	})
}
