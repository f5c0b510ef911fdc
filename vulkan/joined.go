package vulkan

import (
	"errors"
	"slices"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/vulkan/cuda"
)

/*
#include "shim.h"
*/
import "C"

// JoinPeers implements [backend.PeerMemory] for NVIDIA's driver: CUDA allocates device-local blocks from now on, with
// access for the GPUs of peers that it reaches, and copies between such blocks without exchange memory. Exchange memory
// carries 80 GB/s between two GPUs, because each byte is copied three times and passes between two drivers. A block
// that CUDA cannot allocate is Vulkan's.
func (d *driver) JoinPeers(peers []backend.Driver) error {
	if !d.p.nvidia {
		return &backend.OpError{Op: "join", Device: d.info.Name, Err: backend.ErrUnsupported,
			Detail: "CUDA copies only between devices of NVIDIA's driver"}
	}
	if err := d.canShare(opaqueFD); err != nil {
		return err
	}
	if err := d.enter("join"); err != nil {
		return err
	}
	defer d.leave()
	own, err := cuda.Open(d.info.UUID)
	if err != nil {
		return err
	}
	joined := []*cuda.GPU{own}
	for _, peer := range peers {
		other, ok := peer.(*driver)
		if !ok || !other.p.nvidia || other.info.UUID == d.info.UUID {
			continue
		}
		gpu, err := cuda.Open(other.info.UUID)
		switch {
		case err != nil: // that GPU is hidden from CUDA
		case gpu.Reaches(own) && own.Reaches(gpu):
			joined = append(joined, gpu)
		default:
			gpu.Close()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, gpu := range joined {
		if slices.ContainsFunc(d.joined, gpu.Is) {
			gpu.Close()
			continue
		}
		d.joined = append(d.joined, gpu)
	}
	return nil
}

// leavePeers gives up the contexts of GPUs. No block is left.
func (d *driver) leavePeers() {
	for _, gpu := range d.joined {
		gpu.Close()
	}
	d.joined = nil
}

// allocateJoined allocates a block that CUDA copies directly from and to; false where that is not possible, or no other
// device was joined.
func (d *driver) allocateJoined(sizeBytes uint64) (*block, bool) {
	d.mu.Lock()
	joined := slices.Clone(d.joined)
	d.mu.Unlock()
	if len(joined) == 0 || sizeBytes == 0 || sizeBytes > d.info.Limits.BlockBytes(backend.DeviceLocal) {
		return nil, false
	}
	b, err := d.allocateByCUDA(sizeBytes, joined...)
	return b, err == nil
}

// allocateByCUDA allocates memory of this device's GPU by CUDA and opens it as a block of sizeBytes. The Vulkan device
// of another GPU would accept its file descriptors as well, but map other memory; so the GPU is that with the device's
// own UUID, and the descriptors do not leave this function. The device must have been entered.
func (d *driver) allocateByCUDA(sizeBytes uint64, access ...*cuda.GPU) (*block, error) {
	memory, err := cuda.Allocate(d.info.UUID, sizeBytes, d.partBytes, access...)
	if err != nil {
		return nil, err
	}
	b := &block{d: d, memory: backend.DeviceLocal, sizeBytes: memory.SizeBytes, cuda: memory,
		sparse: len(memory.Parts) > 1}
	if b.sparse && d.binds == nil {
		return nil, errors.Join(d.misuse("allocate", "%d bytes in one allocation", sizeBytes), memory.Free())
	}
	var exported error
	err = b.create(opaqueFD, ^uint32(0), func(b *block) (r result) {
		r, exported = b.importParts()
		return r
	})
	if err = errors.Join(exported, err); err != nil {
		b.abandon()
		return nil, err
	}
	b.sizeBytes = sizeBytes
	d.keep(b)
	return b, nil
}

// importParts opens the memory that CUDA allocated: the store of the block, or its parts if it is sparse.
func (b *block) importParts() (result, error) {
	if b.storeSize != b.cuda.SizeBytes {
		return outOfMemory, nil
	}
	b.parts = nil
	for i, p := range b.cuda.Parts {
		fd, err := b.cuda.Export(i)
		if err != nil {
			return outOfMemory, err
		}
		dedicated := b.dedicated(opaqueFD)
		if b.sparse {
			dedicated = 0
		}
		var memory C.uint64_t
		r := b.d.importFD(opaqueFD, fd, p.SizeBytes, b.storeType, dedicated, &memory)
		if r != success {
			return r, nil
		}
		if !b.sparse {
			b.store = handleOf[vk.DeviceMemory](memory)
			return success, nil
		}
		b.parts = append(b.parts, part{offset: p.OffsetBytes, size: p.SizeBytes, memory: uint64(memory)})
	}
	return success, nil
}
