package backend

// openShared opens one allocation for each slot on both devices.
func (l *PeerLink) openShared() error {
	a, okA := l.From.driver.(SharedMemory)
	b, okB := l.To.driver.(SharedMemory)
	if !okA || !okB || l.From.info.Backend != l.To.info.Backend || l.From.info.UUID != l.To.info.UUID {
		return l.unsupported("not the same physical device and driver")
	}
	for i := range l.slots {
		s := &l.slots[i]
		block, err := a.AllocateShared(l.ChunkBytes)
		if err != nil {
			return err
		}
		s.near = l.From.adopt(block, l.label(i))
		opened, err := b.OpenShared(l.From.driver, block)
		if err != nil {
			return err
		}
		s.far = l.To.adopt(opened, l.label(i))
	}
	return nil
}
