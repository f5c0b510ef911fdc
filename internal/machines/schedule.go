package machines

import (
	"slices"
	"time"

	"github.com/spirjoin/spirjoin/exchange/topology"
)

// Topology is a topology with the latency of a message on each segment.
type Topology struct {
	topology.Topology
	Latency []time.Duration // by segment
}

// Flow is bytes that are sent in messages, one after the other.
type Flow struct {
	Path     topology.Path
	Bytes    uint64
	Messages int
}

// Schedule is how flows move that begin at once.
type Schedule struct {
	Time   time.Duration   // until the last one has arrived
	Flows  []time.Duration // until each has
	Loads  []uint64        // bytes that each segment carries
	Bound  time.Duration   // what the fullest segment needs at least for its bytes; no order of moves is faster
	Bounds int             // the number of that segment; -1 if nothing moves
}

// Contention is how many times longer the flows take than the fullest segment needs; 1 if nothing moves.
func (s *Schedule) Contention() float64 { return contention(s.Time, s.Bound) }

func contention(took, bound time.Duration) float64 {
	if bound == 0 {
		return 1
	}
	return float64(took) / float64(bound)
}

// Move schedules flows that begin at once. Each message adds the latency of its path, because nothing overlaps it within
// a flow.
func (t *Topology) Move(flows []Flow) Schedule {
	s := Schedule{Loads: make([]uint64, len(t.Segments)), Bounds: -1}
	var moving []topology.Flow
	for _, f := range flows {
		moving = append(moving, topology.Flow{Path: f.Path, Bytes: f.Bytes})
		for _, segment := range f.Path {
			s.Loads[segment] += f.Bytes
		}
	}
	for segment, bytes := range s.Loads {
		needs := time.Duration(float64(bytes) / t.Segments[segment].BytesPerSecond * float64(time.Second))
		if needs > s.Bound {
			s.Bound, s.Bounds = needs, segment
		}
	}
	s.Flows = t.Topology.Move(moving)
	for i, f := range flows {
		for _, segment := range f.Path {
			s.Flows[i] += time.Duration(f.Messages) * t.Latency[segment]
		}
	}
	if len(flows) > 0 {
		s.Time = slices.Max(s.Flows)
	}
	return s
}
