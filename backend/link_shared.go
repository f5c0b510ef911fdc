package backend

// openShared opens one allocation, which has all slots, on both devices.
func (l *PeerLink) openShared() error {
	owner, ok := l.From.driver.(SharedMemory)
	switch {
	case !ok || l.From.info.Backend != l.To.info.Backend:
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
	opened, err := l.opened(l.To, l.From.driver, block)
	for i, far := range opened {
		l.slots[i].far = far
	}
	return err
}

// opened opens memory of all slots, which is a block of another driver, on a device.
func (l *PeerLink) opened(d *Device, owner Driver, block Block) ([]*Buffer, error) {
	guest, ok := d.driver.(SharedMemory)
	if !ok {
		return nil, l.unsupported("the devices share no memory")
	}
	shared, err := guest.OpenShared(owner, block)
	if d.noteRefusal(err) != nil {
		return nil, err
	}
	return d.adopt(shared, l.labels()...), nil
}
