package topology

import (
	"fmt"
	"slices"
	"time"
)

// Wires are the rates that the topologies of this page are made of, in bytes per second for each direction, and the
// latencies of a message.
type Wires struct {
	Host    float64 // of the memory of each socket, for all transfers of one direction together
	Slot    float64 // of the slot of each device: PCIe
	Peer    float64 // of each device into and out of the others: NVLink, or a wire of a ring
	Bridge  float64 // from one half to the other: between sockets
	Network float64 // into and out of each node

	Latency, NetworkLatency time.Duration
}

// builder adds segments.
type builder struct{ Topology }

func (b *builder) segment(bytesPerSecond float64, latency time.Duration, name string, a ...any) int {
	b.Segments = append(b.Segments, Segment{fmt.Sprintf(name, a...), bytesPerSecond, latency})
	return len(b.Segments) - 1
}

// both adds a segment for each direction.
func (b *builder) both(bytesPerSecond float64, latency time.Duration, in, out string, a ...any) (ways [2]int) {
	return [2]int{b.segment(bytesPerSecond, latency, in, a...), b.segment(bytesPerSecond, latency, out, a...)}
}

// slots connects devices with the memory of their sockets, and returns both directions of the slot of each.
func (b *builder) slots(devices, sockets int, w Wires) (slots [][2]int) {
	var memory [][2]int
	for s := range sockets {
		memory = append(memory, b.both(w.Host, 0, "host %d reads", "host %d writes", s))
	}
	for d := range devices {
		slot := b.both(w.Slot, w.Latency, "slot up %d", "slot down %d", d)
		socket := memory[d*sockets/devices]
		b.Up, b.Down = append(b.Up, Path{socket[0], slot[0]}), append(b.Down, Path{slot[1], socket[1]})
		slots = append(slots, slot)
	}
	return slots
}

// peers sets the paths between all different devices.
func (b *builder) peers(devices int, path func(from, to int) Path) Topology {
	for from := range devices {
		paths := make([]Path, devices)
		for to := range devices {
			if from != to {
				paths[to] = path(from, to)
			}
		}
		b.Peer = append(b.Peer, paths)
	}
	return b.Topology
}

// Switch returns devices of one host whose wires meet in a switch: each has its whole rate to any other one (NVSwitch).
// The slots of all devices share the memory of the host.
func Switch(devices int, w Wires) Topology {
	b := builder{Topology: Topology{Name: fmt.Sprintf("switch of %d", devices)}}
	b.slots(devices, 1, w)
	var wires [][2]int // in, out
	for d := range devices {
		wires = append(wires, b.both(w.Peer, w.Latency, "in %d", "out %d", d))
	}
	return b.peers(devices, func(from, to int) Path { return Path{wires[from][1], wires[to][0]} })
}

// Tree returns devices in the slots of two sockets: between halves, bytes cross the bridge of the sockets, which all
// devices share.
func Tree(devices int, w Wires) Topology {
	b := builder{Topology: Topology{Name: fmt.Sprintf("PCIe tree of %d", devices)}}
	slots := b.slots(devices, 2, w)
	bridge := b.both(w.Bridge, w.Latency, "bridge 1 to 0", "bridge 0 to 1")
	return b.peers(devices, func(from, to int) Path {
		socket := to * 2 / devices
		if socket == from*2/devices {
			return Path{slots[from][1], slots[to][0]}
		}
		return Path{slots[from][1], bridge[socket], slots[to][0]}
	})
}

// Ring returns devices with wires to both neighbours. Bytes take the shorter way through the devices between, to the
// right if both are as long.
func Ring(devices int, w Wires) Topology {
	b := builder{Topology: Topology{Name: fmt.Sprintf("ring of %d", devices)}}
	b.slots(devices, 1, w)
	var wires [][2]int // from each device to the left, and to the right
	for d := range devices {
		wires = append(wires, b.both(w.Peer, w.Latency, "left of %d", "right of %d", d))
	}
	return b.peers(devices, func(from, to int) (path Path) {
		step, way := 1, 1
		if distance := (to - from + devices) % devices; 2*distance > devices {
			step, way = devices-1, 0
		}
		for at := from; at != to; at = (at + step) % devices {
			path = append(path, wires[at][way])
		}
		return path
	})
}

// Network returns nodes with a switch and a host memory each. Between nodes, all devices of a node share its network.
func Network(nodes, each int, w Wires) Topology {
	devices := nodes * each
	b := builder{Topology: Topology{Name: fmt.Sprintf("network of %d x %d", nodes, each)}}
	b.slots(devices, nodes, w)
	var wires, cards [][2]int // in, out
	for d := range devices {
		wires = append(wires, b.both(w.Peer, w.Latency, "in %d", "out %d", d))
	}
	for n := range nodes {
		cards = append(cards, b.both(w.Network, w.NetworkLatency/2, "node in %d", "node out %d", n))
	}
	return b.peers(devices, func(from, to int) Path {
		if from/each == to/each {
			return Path{wires[from][1], wires[to][0]}
		}
		return Path{wires[from][1], cards[from/each][1], cards[to/each][0], wires[to][0]}
	})
}

// Rates are bytes per second from host memory to a device, and back.
type Rates struct{ Up, Down float64 }

// Measured returns the links between host memory and devices. alone are the rates of each link on its own, together
// their sum while all links are busy. The links share one segment in each direction.
func Measured(alone []Rates, together Rates) Topology {
	b := builder{Topology: Topology{Name: fmt.Sprintf("%d measured links", len(alone))}}
	host := [2]int{b.segment(together.Up, 0, "host reads"), b.segment(together.Down, 0, "host writes")}
	for d, rates := range alone {
		up, down := b.segment(rates.Up, 0, "link up %d", d), b.segment(rates.Down, 0, "link down %d", d)
		b.Up, b.Down = append(b.Up, Path{host[0], up}), append(b.Down, Path{down, host[1]})
	}
	return b.Topology
}

// Link is what a copy from one device to another was measured to take.
type Link struct {
	BytesPerSecond float64
	ThroughHost    bool // bytes go to host memory and from there
}

// Linked returns the topology with the links from each device to each other one, as measured alone. A device sends to
// all others together, and receives from them, as fast as its fastest link does; what goes through host memory shares
// the links to the host. Without a rate between some two devices, no link is known.
func (t Topology) Linked(links [][]Link) Topology {
	b := builder{Topology: t}
	b.Segments, b.Peer = slices.Clone(t.Segments), nil
	out, in := make([]float64, len(links)), make([]float64, len(links))
	for from, row := range links {
		for to, link := range row {
			if from == to {
				continue
			}
			if link.BytesPerSecond <= 0 {
				return b.Topology
			}
			out[from], in[to] = max(out[from], link.BytesPerSecond), max(in[to], link.BytesPerSecond)
		}
	}
	var ends [][2]int // in, out
	for d := range links {
		ends = append(ends, [2]int{b.segment(in[d], 0, "into %d", d), b.segment(out[d], 0, "out of %d", d)})
	}
	return b.peers(len(links), func(from, to int) Path {
		link := links[from][to]
		path := Path{ends[from][1], b.segment(link.BytesPerSecond, 0, "link %d to %d", from, to), ends[to][0]}
		if link.ThroughHost && len(t.Down) > 0 && len(t.Up) > 0 {
			path = append(append(path, t.Down[from]...), t.Up[to]...)
		}
		return path
	})
}
