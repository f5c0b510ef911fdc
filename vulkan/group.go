package vulkan

import (
	"errors"
	"slices"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

// A courier is a logical device over the physical devices of the two ends of a link (Vulkan 1.1, "Device Group
// Creation"): members 0 and 1, or only 0 where both ends are on one. Its memory is that of one member, which the
// buffers of all members are bound to. Command buffers run on member 0, because nothing else is asked for. So copies go
// from memory of their own device to that of its peer, the direction that Vulkan guarantees for at least one heap.

// peerCopyDst: commands of the local device copy to memory of the peer.
const peerCopyDst = 2

// OpenCourier implements [backend.PeerGroup].
func (d *driver) OpenCourier(to backend.Driver) (backend.Courier, error) {
	far, ok := to.(*driver)
	if !ok {
		return nil, d.cannotShare("the other end is no Vulkan device")
	}
	if err := d.enter("connect"); err != nil {
		return nil, err
	}
	defer d.leave()
	for _, end := range []*driver{d, far} {
		if err := end.canShare(opaqueFD); err != nil {
			return nil, err
		}
	}
	members := []*physical{d.p}
	if far.p.handle != d.p.handle {
		members = append(members, far.p)
	}
	var subset C.int32_t
	if C.sj_common_group(unsafe.Pointer(d.p.handle), unsafe.Pointer(far.p.handle), &subset) == 0 {
		return nil, d.cannotShare("the driver reports no device group with both devices")
	}
	if len(members) > 1 && subset == 0 {
		return nil, d.cannotShare("the device group allocates memory only on all of its devices at once")
	}
	p := *d.p // without what would take more than one physical device, or what copies do not need
	p.graphics, p.sparse, p.features = false, false, p.features&^C.SJ_HOST_QUERY_RESET
	b := d.backend
	b.mu.Lock()
	defer b.mu.Unlock()
	courier, err := open(b, &p, members...)
	if err != nil {
		return nil, err
	}
	b.drivers[courier] = struct{}{}
	return courier, nil
}

// AllocateFor implements [backend.Courier].
func (d *driver) AllocateFor(end backend.Driver, sizeBytes uint64) (backend.Block, error) {
	of, ok := end.(*driver)
	member := slices.IndexFunc(d.members, func(m *physical) bool { return ok && m.handle == of.p.handle })
	if member < 0 {
		return nil, d.misuse("allocate shared", "the device is not over that of the end")
	}
	made, err := d.allocateExportable(opaqueFD, uint32(member), sizeBytes)
	if err != nil || member == 0 {
		return made, err
	}
	heap := d.p.typeHeaps[made.(*block).storeType]
	if C.sj_peer_features(d.shim, C.uint32_t(heap), C.uint32_t(member))&peerCopyDst == 0 {
		return nil, errors.Join(d.cannotShare("commands of the one device cannot copy to memory of the other"), made.Free())
	}
	return made, nil
}
