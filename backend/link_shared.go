package backend

// openShared opens one allocation, which has all slots, on both devices.
func (l *PeerLink) openShared() error {
	owner, exports := l.From.driver.(SharedMemory)
	guest, imports := l.To.driver.(SharedMemory)
	switch {
	case !exports || !imports || l.From.info.Backend != l.To.info.Backend:
		return l.unsupported("the devices share no memory")
	case l.Path == SharedAllocation && l.From.info.UUID != l.To.info.UUID:
		return l.unsupported("not the same physical device and driver")
	}
	block, err := owner.AllocateShared(l.Path, l.ChunkBytes*uint64(len(l.slots)))
	if l.From.noteRefusal(err) != nil {
		return err
	}
	for i, near := range l.From.adopt(block, l.labels()...) {
		l.slots[i].near = near
	}
	shared, err := guest.OpenShared(l.From.driver, block)
	if l.To.noteRefusal(err) != nil {
		return err
	}
	for i, far := range l.To.adopt(shared, l.labels()...) {
		l.slots[i].far = far
	}
	return nil
}
