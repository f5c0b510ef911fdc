//go:build opencl && linux

package opencl

/*
#include "shim.h"
*/
import "C"

import (
	_ "embed"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/opencl/kernels"
)

// findSubgroups chooses the text that gives kernels the subgroup operations of a device, which OpenCL C 1.2 lacks. A
// device must have all operations and let a kernel require its subgroup size, because a compiler that is free to choose
// may choose differently for each kernel. The first opening of the device proves that the operations work.
func (p *physical) findSubgroups(told *properties) {
	i := &p.info
	size := uint32(1)
	switch {
	case told.nvidiaMajor >= 7 && told.nvidiaWarp == 32:
		size = 32
		p.prelude, p.language = kernels.NVIDIASubgroups(), "CL1.2"
	case told.has("cl_khr_subgroups", "cl_khr_subgroup_ballot", "cl_khr_subgroup_shuffle",
		"cl_khr_subgroup_non_uniform_vote", "cl_intel_required_subgroup_size"):
		if size = requiredSubgroup(told.subgroupSizes); size == 1 {
			break
		}
		p.prelude, p.language = kernels.KhronosSubgroups(size), "CL2.0"
		if i.APIVersion >= "3" {
			p.language = "CL3.0"
		}
	}
	i.Subgroups = p.prelude != ""
	i.SubgroupSize, i.MinSubgroupSize, i.MaxSubgroupSize = size, size, size
}

// requiredSubgroup chooses one of the sizes that a device offers: 16, which all Intel GPUs have and which gives each
// invocation twice the registers of 32; else the largest that kernels are written for; 1 if there is none.
func requiredSubgroup(sizes []uint64) uint32 {
	best := uint64(1)
	for _, size := range sizes {
		if size == 16 {
			return 16
		}
		if size >= leastSubgroup && size <= mostSubgroup {
			best = max(best, size)
		}
	}
	return uint32(best)
}

// withoutSubgroups says that a device has no subgroup operations.
func (d *driver) withoutSubgroups(reason error) {
	i := &d.info
	i.Subgroups, i.SubgroupSize, i.MinSubgroupSize, i.MaxSubgroupSize = false, 1, 1, 1
	i.Features = append(slices.Clone(i.Features), "wrong subgroup operations: "+reason.Error())
}

// Subgroups that kernels are written for, in invocations.
const leastSubgroup, mostSubgroup = 4, 128

// proofWorkgroups are run by the proof, of proofWorkgroup invocations each.
const (
	proofWorkgroup  = 256
	proofWorkgroups = 8
	proofResults    = 20 // words for each invocation and round, as in the kernel
)

//go:embed subgroup_proof.cl
var proofSource string

// prove runs each operation of the prelude and compares what it returns. The error says what is wrong.
func (d *driver) prove() error {
	spec := &backend.KernelSpec{Name: "subgroup_proof", Constants: []backend.Constant{{Name: "workgroup"}}}
	p := &program{d: d, spec: spec}
	defer p.release()
	err := p.build(d.text(proofSource), d.options(spec, backend.Config{"workgroup": proofWorkgroup}))
	if err != nil {
		return err
	}
	if _, err := p.finish(); err != nil {
		return asResult(err)
	}
	got := make([]uint32, proofWorkgroup*proofWorkgroups*2*proofResults)
	out, err := d.context.CreateEmptyBuffer(cl.MemReadWrite, 4*len(got))
	if err != nil {
		return asResult(err)
	}
	defer out.Release()
	if err := p.kernel.SetArgBuffer(0, out); err != nil {
		return asResult(err)
	}
	queue := d.lines[backend.Compute].queue
	ran, err := queue.EnqueueNDRangeKernel(p.kernel, nil, []int{proofWorkgroup * proofWorkgroups}, []int{proofWorkgroup},
		nil)
	if err != nil {
		return asResult(err)
	}
	defer ran.Release()
	read, err := queue.EnqueueReadBuffer(out, true, 0, 4*len(got), unsafe.Pointer(&got[0]), nil)
	if err != nil {
		return asResult(err)
	}
	read.Release()
	return checkProof(got, d.info.MinSubgroupSize, d.info.MaxSubgroupSize)
}

// checkProof compares the results of subgroup_proof.cl with a plain computation.
func checkProof(got []uint32, least, most uint32) error {
	size := got[0]
	if size < least || size > most || bits.OnesCount32(size) != 1 {
		return fmt.Errorf("subgroups have %d invocations, not %d to %d", size, least, most)
	}
	values := make([]uint32, size)
	for first := uint32(0); first < uint32(len(got))/(2*proofResults); first += size {
		for lane := range values {
			values[lane] = (first + uint32(lane)) * 2654435769
		}
		for round := range uint32(2) {
			for lane, want := range proofOf(values, first%proofWorkgroup/size) {
				at := ((first+uint32(lane))*2 + round) * proofResults
				if is := [proofResults]uint32(got[at:]); is != want {
					for i := range is {
						if is[i] != want[i] {
							return fmt.Errorf("result %d of the proof is %#x, not %#x (invocation %d, round %d)", i, is[i],
								want[i], first+uint32(lane), round)
						}
					}
				}
			}
			for lane := range values {
				for range lane % 7 {
					values[lane] = values[lane]*1664525 + 1013904223
				}
			}
		}
	}
	return nil
}

// proofOf returns the results of each invocation of a subgroup.
func proofOf(values []uint32, subgroup uint32) [][proofResults]uint32 {
	size := uint32(len(values))
	var ballot [4]uint32
	var count, low, high, sum, greatest, none uint32
	for lane, value := range values {
		if value>>27&3 == 1 {
			ballot[lane/32] |= 1 << (lane % 32)
			if count == 0 {
				low = uint32(lane)
			}
			high = uint32(lane)
			count++
		}
		if value == 0 {
			none = 1
		}
		sum += value
		greatest = max(greatest, value)
	}
	results := make([][proofResults]uint32, size)
	var before, sumBefore, greatestBefore uint32
	for i, value := range values {
		lane := uint32(i)
		elected, below := uint32(0), uint32(1)<<min(lane, 31)-1
		if lane == 0 {
			elected = 1
		}
		if lane >= 32 {
			below = ^uint32(0)
		}
		results[i] = [proofResults]uint32{size, lane, subgroup, proofWorkgroup / size, elected, none, 1 - none, ballot[0],
			count, before, low, high, below, values[(lane*5+3)&(size-1)], values[lane^2], values[1], sum, sumBefore, greatest,
			greatestBefore}
		if value>>27&3 == 1 {
			before++
		}
		sumBefore += value
		greatestBefore = max(greatestBefore, value)
	}
	return results
}
