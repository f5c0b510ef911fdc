package backend

// openShared opens one allocation, which has all slots, on both devices.
func (l *PeerLink) openShared() error {
	a, okA := l.From.driver.(SharedMemory)
	b, okB := l.To.driver.(SharedMemory)
	if !okA || !okB || l.From.info.Backend != l.To.info.Backend || l.From.info.UUID != l.To.info.UUID {
		return l.unsupported("not the same physical device and driver")
	}
	block, err := a.AllocateShared(l.ChunkBytes * uint64(len(l.slots)))
	if l.From.noteRefusal(err) != nil {
		return err
	}
	labels := make([]string, len(l.slots))
	for i := range labels {
		labels[i] = l.label(i)
	}
	for i, near := range l.From.adopt(block, labels...) {
		l.slots[i].near = near
	}
	opened, err := b.OpenShared(l.From.driver, block)
	if l.To.noteRefusal(err) != nil {
		return err
	}
	for i, far := range l.To.adopt(opened, labels...) {
		l.slots[i].far = far
	}
	return nil
}
