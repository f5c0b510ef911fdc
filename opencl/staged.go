//go:build opencl && linux

package opencl

/*
#include "shim.h"
*/
import "C"

import (
	"math/bits"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"

	"github.com/spirjoin/spirjoin/backend"
)

// A device with memory of its own reaches host-visible blocks by copies alone, from and to the memory that is mapped. A
// dispatch with an argument in such a block gets a shadow of that range in device memory instead. It is written before
// the dispatch, as a kernel need not write all of an output, and read back behind it if the kernel writes. The queue
// runs in order, so the next dispatch takes the same buffers for its shadows.

// scratch is a buffer of the device for shadows and for copies between two host-visible blocks.
type scratch struct {
	buffer *cl.MemObject
	size   uint64
}

// shadow is a range of a block, and where it lies in device memory. Arguments whose ranges overlap share one.
type shadow struct {
	of         *block
	begin, end uint64
	buffer     *cl.MemObject
}

// takeScratch returns scratch buffer number n of a queue, of at least a size. One that is too small is replaced, and
// released when the batch is enqueued, because earlier commands of the batch may use it.
func (t *timeline) takeScratch(n int, size uint64) (*cl.MemObject, error) {
	for len(t.scratch) <= n {
		t.scratch = append(t.scratch, scratch{})
	}
	s := &t.scratch[n]
	if s.size >= size {
		return s.buffer, nil
	}
	if s.buffer != nil {
		t.replaced = append(t.replaced, s.buffer)
	}
	*s = scratch{}
	grown := min(uint64(1)<<bits.Len64(size-1), t.d.info.Limits.MaxAllocationBytes)
	buffer, err := t.d.context.CreateEmptyBuffer(cl.MemReadWrite, int(grown))
	if err != nil {
		return nil, t.d.fail("submit", backend.ErrDeviceMemory, "%d bytes for a host-visible argument: %v", grown,
			asResult(err))
	}
	*s = scratch{buffer, grown}
	return buffer, nil
}

// dropReplaced releases replaced scratch buffers. OpenCL keeps them until enqueued commands that use them are done.
func (r *recording) dropReplaced() {
	for _, buffer := range r.replaced {
		buffer.Release()
	}
	r.replaced = r.replaced[:0]
}

// shadowsOf finds the shadows that a dispatch needs, and allocates them.
func (t *timeline) shadowsOf(args []place) ([]shadow, error) {
	var shadows []shadow
	for _, arg := range args {
		if arg.block == nil || !arg.block.staged() || arg.size == 0 {
			continue
		}
		s := shadow{of: arg.block, begin: arg.offset, end: arg.offset + arg.size}
		kept := shadows[:0]
		for _, other := range shadows { // those it overlaps become one with it
			if other.of == s.of && other.begin < s.end && s.begin < other.end {
				s.begin, s.end = min(s.begin, other.begin), max(s.end, other.end)
			} else {
				kept = append(kept, other)
			}
		}
		shadows = append(kept, s)
	}
	for i := range shadows {
		var err error
		if shadows[i].buffer, err = t.takeScratch(i, shadows[i].end-shadows[i].begin); err != nil {
			return nil, err
		}
	}
	return shadows, nil
}

// find returns the shadow that holds an argument.
func find(shadows []shadow, arg place) *shadow {
	for i := range shadows {
		if s := &shadows[i]; s.of == arg.block && s.begin <= arg.offset && arg.offset < s.end {
			return s
		}
	}
	return nil
}

// stage adds the copies of the shadows of a dispatch: to the device, or back.
func (t *timeline) stage(spec *backend.KernelSpec, args []place, shadows []shadow, back bool) {
	for i, arg := range args {
		s := find(shadows, arg)
		switch {
		case s == nil || arg.size == 0 || back && spec.Args[i].Access == backend.Read:
		case back:
			t.add(C.sjcl_command{kind: C.SJCL_READ, src: handle(s.buffer), src_offset: C.uint64_t(arg.offset - s.begin),
				dst: arg.block.at(), dst_offset: C.uint64_t(arg.offset), size: C.uint64_t(arg.size)})
		default:
			t.add(C.sjcl_command{kind: C.SJCL_WRITE, dst: handle(s.buffer), dst_offset: C.uint64_t(arg.offset - s.begin),
				src: arg.block.at(), src_offset: C.uint64_t(arg.offset), size: C.uint64_t(arg.size)})
		}
	}
}

// at is the mapped memory of a block.
func (b *block) at() unsafe.Pointer { return unsafe.Pointer(&b.memory[0]) }
