// Package machines describes machines that are not there, for tests: devices and the wires between them. Its own tests
// run the exchange among devices (package exchange/peers) on machines of 16 and 64 devices, with limits of memory and
// speeds.
//
// The ranks run for real, on logical devices of the host, and rows really move (Machine.Run), so results are compared
// with an oracle, and the traffic that is judged is the traffic of the real code. Time is modelled: Machine.Judge
// schedules the recorded puts on the segments of a topology.
//
//	ranks on host devices ─► rows, compared by tests
//	        │
//	        └─ puts ─► Traffic ─► Judge (topology) ─► time, bound, fullest segment
package machines

import (
	"fmt"
	"time"

	"github.com/spirjoin/spirjoin/exchange/topology"
)

// Wires are the rates that the topologies of this package are made of, in bytes per second for each direction, and the
// latencies of a message.
type Wires struct {
	Host    float64 // of the memory of each socket, for all transfers of one direction together
	Slot    float64 // of the slot of each device: PCIe
	Peer    float64 // of each device into and out of the others: NVLink, or a wire of a ring
	Bridge  float64 // from one half to the other: between sockets
	Network float64 // into and out of each node

	Latency, NetworkLatency time.Duration
}

// builder adds segments and paths.
type builder struct{ Topology }

// segment adds a segment and returns its number.
func (b *builder) segment(bytesPerSecond float64, latency time.Duration, name string, a ...any) int {
	b.Segments = append(b.Segments, topology.Segment{Name: fmt.Sprintf(name, a...), BytesPerSecond: bytesPerSecond})
	b.Latency = append(b.Latency, latency)
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
		b.Up, b.Down = append(b.Up, topology.Path{socket[0], slot[0]}), append(b.Down, topology.Path{slot[1], socket[1]})
		slots = append(slots, slot)
	}
	return slots
}

// peers sets the paths between all different devices.
func (b *builder) peers(devices int, path func(from, to int) topology.Path) Topology {
	for from := range devices {
		paths := make([]topology.Path, devices)
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
	var b builder
	b.Name = fmt.Sprintf("switch of %d", devices)
	b.slots(devices, 1, w)
	var wires [][2]int // in, out
	for d := range devices {
		wires = append(wires, b.both(w.Peer, w.Latency, "in %d", "out %d", d))
	}
	return b.peers(devices, func(from, to int) topology.Path { return topology.Path{wires[from][1], wires[to][0]} })
}

// Tree returns devices in the slots of two sockets: between halves, bytes cross the bridge of the sockets, which all
// devices share.
func Tree(devices int, w Wires) Topology {
	var b builder
	b.Name = fmt.Sprintf("PCIe tree of %d", devices)
	slots := b.slots(devices, 2, w)
	bridge := b.both(w.Bridge, w.Latency, "bridge 1 to 0", "bridge 0 to 1")
	return b.peers(devices, func(from, to int) topology.Path {
		socket := to * 2 / devices
		if socket == from*2/devices {
			return topology.Path{slots[from][1], slots[to][0]}
		}
		return topology.Path{slots[from][1], bridge[socket], slots[to][0]}
	})
}

// Ring returns devices with wires to both neighbours. Bytes take the shorter way through the devices between, to the
// right if both are as long.
func Ring(devices int, w Wires) Topology {
	var b builder
	b.Name = fmt.Sprintf("ring of %d", devices)
	b.slots(devices, 1, w)
	var wires [][2]int // from each device to the left, and to the right
	for d := range devices {
		wires = append(wires, b.both(w.Peer, w.Latency, "left of %d", "right of %d", d))
	}
	return b.peers(devices, func(from, to int) (path topology.Path) {
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
	var b builder
	b.Name = fmt.Sprintf("network of %d x %d", nodes, each)
	b.slots(devices, nodes, w)
	var wires, cards [][2]int // in, out
	for d := range devices {
		wires = append(wires, b.both(w.Peer, w.Latency, "in %d", "out %d", d))
	}
	for n := range nodes {
		cards = append(cards, b.both(w.Network, w.NetworkLatency/2, "node in %d", "node out %d", n))
	}
	return b.peers(devices, func(from, to int) topology.Path {
		if from/each == to/each {
			return topology.Path{wires[from][1], wires[to][0]}
		}
		return topology.Path{wires[from][1], cards[from/each][1], cards[to/each][0], wires[to][0]}
	})
}
