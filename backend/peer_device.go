package backend

import "context"

// This file is what links between devices (package backend/link) need of a device, beyond what algorithms do.

// Adopt makes buffers of equal size of a block that came from elsewhere, one for each label. The last release frees the
// block.
func (d *Device) Adopt(block Block, labels ...string) []*Buffer {
	d.mu.Lock()
	defer d.mu.Unlock()
	buffers, sizeBytes := make([]*Buffer, len(labels)), block.SizeBytes()/uint64(len(labels))/4*4
	lease := d.leaseOf(block, labels[0])
	lease.owners = len(labels)
	for i, label := range labels {
		buffers[i] = &Buffer{device: d, label: label, sizeBytes: sizeBytes, memory: Imported, block: block,
			offsetBytes: uint64(i) * sizeBytes, lease: lease}
		d.live[buffers[i]] = struct{}{}
	}
	return buffers
}

// AllocateApart allocates memory that is not under the cap, as the exchange memory of links is not: a query that needs
// the link may have all memory under it.
func (d *Device) AllocateApart(sizeBytes uint64, label string) (*Buffer, error) {
	block, err := d.allocateBlock(sizeBytes, DeviceLocal)
	if err != nil {
		return nil, err
	}
	b := d.Adopt(block, label)[0]
	b.sizeBytes = sizeBytes
	return b, nil
}

// SetUnjoined notes why memory of the device is not copied directly to and from other devices; nil: it may be.
func (d *Device) SetUnjoined(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unjoined = err
}

// Unjoined returns what SetUnjoined noted.
func (d *Device) Unjoined() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unjoined
}

// AwaitRange waits until no submitted work conflicts with an access to a range from outside of the queues.
func (d *Device) AwaitRange(ctx context.Context, what string, r Range, access Access) error {
	d.mu.Lock()
	failed, problem := d.failed, r.problem(d, what, 4)
	block, offset := r.Block()
	points := d.hazards.points(&span{resource: block, lo: offset, hi: offset + r.SizeBytes, access: access})
	d.mu.Unlock()
	switch {
	case failed != nil:
		return failed
	case problem != "":
		return &OpError{Op: "peer copy", Device: d.info.Name, Err: ErrInvalidInput, Detail: problem}
	}
	for role, value := range points {
		if err := d.wait(ctx, QueuePoint{Role(role), value}); err != nil {
			return err
		}
	}
	return nil
}

// Idle reports whether all work that was submitted with a buffer is done.
func (d *Device) Idle(b *Buffer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	for r := range Roles {
		if b.lease.uses[r] > d.completed[r] {
			return false
		}
	}
	return true
}

// Received tells observers that a range was written from outside of the queues.
func (d *Device) Received(r Range) { d.notify(Event{Kind: Received, Range: r}) }
