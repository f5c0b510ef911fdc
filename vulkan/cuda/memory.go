package cuda

import (
	"errors"
	"slices"
)

/*
#include "shim.h"
*/
import "C"

// Memory is memory of a GPU: one range of addresses over one or more allocations. It holds the context of that GPU by
// itself.
type Memory struct {
	SizeBytes uint64 // as allocated
	Parts     []Part // in the order of their addresses, without gaps

	gpu     *GPU
	address C.uint64_t
	access  []C.int // ordinals of GPUs
}

// Part is one allocation.
type Part struct {
	OffsetBytes, SizeBytes uint64

	handle C.uint64_t
	mapped bool
}

// Allocate returns at least sizeBytes of the memory of the GPU with a UUID, in allocations of at most partBytes, which
// the GPUs of access can read and write. Errors: ErrDeviceMemory, and ErrUnsupported if one of these GPUs cannot access
// it, or an allocation is larger than partBytes.
func Allocate(uuid string, sizeBytes, partBytes uint64, access ...*GPU) (*Memory, error) {
	g, err := Open(uuid)
	if err != nil {
		return nil, err
	}
	m := &Memory{gpu: g}
	err = m.grant(access)
	if err == nil {
		err = m.create(sizeBytes, partBytes)
	}
	if err == nil {
		err = m.mapParts()
	}
	if err != nil {
		return nil, errors.Join(err, m.Free())
	}
	return m, nil
}

func (m *Memory) grant(access []*GPU) error {
	for _, a := range access {
		if !a.Reaches(m.gpu) {
			return unsupported("allocate CUDA memory", "GPU %d cannot access the memory of GPU %d", int(a.ordinal),
				int(m.gpu.ordinal))
		}
		m.access = append(m.access, a.ordinal)
	}
	return nil
}

// create makes the allocations.
func (m *Memory) create(sizeBytes, partBytes uint64) error {
	var granule C.uint64_t
	if err := check(C.sjc_granule(m.gpu.context, m.gpu.ordinal, &granule), "allocate CUDA memory"); err != nil {
		return err
	}
	unit := uint64(granule)
	partBytes = partBytes / unit * unit
	if partBytes == 0 {
		return unsupported("allocate CUDA memory", "an allocation has %d bytes or more", unit)
	}
	m.SizeBytes = (sizeBytes + unit - 1) / unit * unit
	for at := uint64(0); at < m.SizeBytes; at += partBytes {
		p := Part{OffsetBytes: at, SizeBytes: min(partBytes, m.SizeBytes-at)}
		if err := check(C.sjc_create(m.gpu.context, m.gpu.ordinal, C.uint64_t(p.SizeBytes), &p.handle),
			"allocate CUDA memory"); err != nil {
			return err
		}
		m.Parts = append(m.Parts, p)
	}
	return nil
}

func (m *Memory) mapParts() error {
	if err := check(C.sjc_reserve(m.gpu.context, C.uint64_t(m.SizeBytes), &m.address), "map CUDA memory"); err != nil {
		return err
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if err := check(C.sjc_map(m.gpu.context, p.handle, m.at(p.OffsetBytes), C.uint64_t(p.SizeBytes), &m.access[0],
			C.uint32_t(len(m.access))), "map CUDA memory"); err != nil {
			return err
		}
		p.mapped = true
	}
	return nil
}

func (m *Memory) at(offsetBytes uint64) C.uint64_t { return m.address + C.uint64_t(offsetBytes) }

// ReachedBy reports whether the memory is mapped for a GPU.
func (m *Memory) ReachedBy(g *GPU) bool { return slices.Contains(m.access, g.ordinal) }

// Export returns a new file descriptor of a part.
func (m *Memory) Export(part int) (fd int, err error) {
	var out C.int
	err = check(C.sjc_export(m.gpu.context, m.Parts[part].handle, &out), "export CUDA memory")
	return int(out), err
}

// Free frees the memory, which nothing may be using. Importers keep theirs.
func (m *Memory) Free() error {
	var errs []error
	free := func(r C.int32_t) { errs = append(errs, check(r, "free CUDA memory")) }
	for _, p := range m.Parts {
		if p.mapped {
			free(C.sjc_unmap(m.gpu.context, m.at(p.OffsetBytes), C.uint64_t(p.SizeBytes)))
		}
		free(C.sjc_release(m.gpu.context, p.handle))
	}
	if m.address != 0 {
		free(C.sjc_unreserve(m.gpu.context, m.address, C.uint64_t(m.SizeBytes)))
	}
	m.gpu.Close()
	return errors.Join(errs...)
}
