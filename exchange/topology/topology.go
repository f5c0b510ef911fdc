package topology

import (
	"errors"
	"fmt"
	"math"
)

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

// Validate returns all faults of a topology: paths of segments that do not exist, segments without a rate, and paths
// that not all devices have.
func (t *Topology) Validate() error {
	var faults []error
	fault := func(format string, a ...any) { faults = append(faults, fmt.Errorf("topology: "+format, a...)) }
	for i, s := range t.Segments {
		if !(s.BytesPerSecond > 0) || math.IsInf(s.BytesPerSecond, 1) {
			fault("segment %d (%s) has %g bytes per second", i, s.Name, s.BytesPerSecond)
		}
	}
	check := func(what string, paths []Path) {
		if n := len(paths); n > 0 && n != t.Devices() {
			fault("%s: %d paths for %d devices", what, n, t.Devices())
		}
		for device, path := range paths {
			for _, s := range path {
				if s < 0 || s >= len(t.Segments) {
					fault("%s, device %d: there is no segment %d", what, device, s)
				}
			}
		}
	}
	check("up", t.Up)
	check("down", t.Down)
	if n := len(t.Peer); n > 0 && n != t.Devices() {
		fault("paths from %d of %d devices", n, t.Devices())
	}
	for from, paths := range t.Peer {
		check(fmt.Sprintf("from device %d", from), paths)
	}
	return errors.Join(faults...)
}
