package topology

// Segment is what bytes of several paths share: one direction of a wire or of a bridge, or a memory.
type Segment struct {
	Name           string
	BytesPerSecond float64
}

// Path is the segments that bytes take, as their numbers. An empty path takes no time.
type Path []int

// Topology is devices and the paths between them. Devices are numbered from 0. What is not known is absent.
type Topology struct {
	Name     string
	Segments []Segment
	Up       []Path   // from host memory to each device
	Down     []Path   // from each device to host memory
	Peer     [][]Path // from each device to each
}

// Devices returns the number of devices.
func (t *Topology) Devices() int { return max(len(t.Up), len(t.Peer)) }

// Of returns the topology of some of the devices, by their numbers, with the segments of all. It must be valid.
func (t *Topology) Of(devices []int) *Topology {
	pick := func(paths []Path) (picked []Path) {
		for _, device := range devices {
			if len(paths) > 0 {
				picked = append(picked, paths[device])
			}
		}
		return picked
	}
	of := *t
	of.Up, of.Down, of.Peer = pick(t.Up), pick(t.Down), nil
	for _, device := range devices {
		if len(t.Peer) > 0 {
			of.Peer = append(of.Peer, pick(t.Peer[device]))
		}
	}
	return &of
}
