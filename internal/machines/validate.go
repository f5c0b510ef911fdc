package machines

import (
	"errors"
	"fmt"
	"math"

	"github.com/spirjoin/spirjoin/exchange/topology"
)

// Validate returns all faults of a topology: paths of segments that do not exist, segments without a rate, and paths
// that not all devices have.
func Validate(t *topology.Topology) error {
	var faults []error
	fault := func(format string, a ...any) { faults = append(faults, fmt.Errorf("topology: "+format, a...)) }
	for i, s := range t.Segments {
		if !(s.BytesPerSecond > 0) || math.IsInf(s.BytesPerSecond, 1) {
			fault("segment %d (%s) has %g bytes per second", i, s.Name, s.BytesPerSecond)
		}
	}
	check := func(what string, paths []topology.Path) {
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
