package link

import "github.com/spirjoin/spirjoin/backend"

// openShared opens one allocation, which has all slots, on both devices.
//
// [DMABuf] takes VK_EXT_external_memory_dma_buf on both devices: AMD, Intel, some drivers of NVIDIA, but not on an
// H200. The far device says which of its memory types fits (vkGetMemoryFdPropertiesKHR). Buffers are not handed over to
// a foreign queue family: the host waits between the two devices, and the pattern decides. It has not yet run between
// two physical devices; TestDMABuf and TestDMABufBetweenDevices in package vulkan try the devices of a machine.
func (l *Link) openShared() error {
	owner, exports := l.From.Driver().(backend.SharedMemory)
	guest, imports := l.To.Driver().(backend.SharedMemory)
	switch {
	case !exports || !imports || l.From.Info().Backend != l.To.Info().Backend:
		return l.unsupported("the devices share no memory")
	case l.Path == SharedAllocation && l.From.Info().UUID != l.To.Info().UUID:
		return l.unsupported("not the same physical device and driver")
	}
	block, err := owner.AllocateShared(l.ChunkBytes*uint64(len(l.slots)), l.Path == DMABuf)
	if l.From.NoteRefusal(err) != nil {
		return err
	}
	for i, near := range l.From.Adopt(block, l.labels()...) {
		l.slots[i].near = near
	}
	shared, err := guest.OpenShared(l.From.Driver(), block)
	if l.To.NoteRefusal(err) != nil {
		return err
	}
	for i, far := range l.To.Adopt(shared, l.labels()...) {
		l.slots[i].far = far
	}
	return nil
}
