package backend

import "context"

// PeerGroup is implemented by drivers whose physical devices may form groups: one logical device can be opened over all
// devices of a group.
type PeerGroup interface {
	// OpenCourier opens a logical device over the physical devices of this driver and of another, which may be the
	// same. ErrUnsupported if they are in no common group.
	OpenCourier(to Driver) (Courier, error)
}

// Courier is a logical device over the physical devices of two drivers that copies from memory on the first to memory
// on the second.
type Courier interface {
	Driver
	// AllocateFor allocates device-local memory on the physical device of one of the two, which may open it with
	// [SharedMemory].
	AllocateFor(end Driver, sizeBytes uint64) (Block, error)
}

// openGroup opens the courier and has it allocate the memory of all slots on either side.
func (l *PeerLink) openGroup() error {
	group, ok := l.From.driver.(PeerGroup)
	if !ok || l.From.info.Backend != l.To.info.Backend {
		return l.unsupported("the devices are in no common device group")
	}
	courier, err := group.OpenCourier(l.To.driver)
	if err != nil {
		return err
	}
	c := &groupCarrier{points: make([]Point, len(l.slots)),
		device: NewDevice(courier, DeviceOptions{WaitLimit: min(l.From.options.WaitLimit, l.To.options.WaitLimit)})}
	l.carrier = c
	var near, far []*Buffer
	if c.near, near, err = l.openFor(l.From, c.device, courier); err != nil {
		return err
	}
	for i, b := range near {
		l.slots[i].near = b
	}
	c.far, far, err = l.openFor(l.To, c.device, courier)
	for i, b := range far {
		l.slots[i].far = b
	}
	return err
}

// openFor returns the slots of one end as the courier and as that end see them.
func (l *PeerLink) openFor(end, courierDevice *Device, courier Courier) (carried, seen []*Buffer, err error) {
	block, err := courier.AllocateFor(end.driver, l.ChunkBytes*uint64(len(l.slots)))
	if err != nil {
		return nil, nil, err
	}
	carried = courierDevice.adopt(block, l.labels()...)
	seen, err = l.opened(end, courier, block)
	return carried, seen, err
}

// groupCarrier has the courier copy. The host orders its copies with the queues of the two ends.
type groupCarrier struct {
	device    *Device
	near, far []*Buffer // by slot
	points    []Point   // of the last copy of each slot
}

func (c *groupCarrier) carry(ctx context.Context, slot int, n uint64) error {
	var list List
	list.Copy(c.far[slot].Range(0, n), c.near[slot].Range(0, n))
	point, err := c.device.Submit(ctx, Download, &list)
	if err == nil {
		c.points[slot] = point
	}
	return err
}

func (c *groupCarrier) wait(ctx context.Context, slot int) error { return c.points[slot].Wait(ctx) }

// close closes the courier. What it still does goes to its own references of the memory.
func (c *groupCarrier) close() (done bool, err error) {
	for _, list := range [][]*Buffer{c.near, c.far} {
		for _, b := range list {
			b.Release()
		}
	}
	return true, c.device.Close()
}
