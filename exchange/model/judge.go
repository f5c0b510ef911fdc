package model

import (
	"time"

	"github.com/spirjoin/spirjoin/exchange/topology"
)

// Judgement is what traffic takes on a topology.
type Judgement struct {
	Movements []topology.Schedule // of the movements, each of which begins when the one before has ended
	Time      time.Duration       // of all
	Bound     time.Duration       // that the fullest segments need in all
	Segment   string              // the one that bounds movements for the longest time; "" if nothing moves
}

// Contention is how many times longer movements take than their fullest segments need; 1 if nothing moves.
func (j *Judgement) Contention() float64 {
	if j.Bound == 0 {
		return 1
	}
	return float64(j.Time) / float64(j.Bound)
}

// Judge schedules traffic on the wires of the machine. The puts between two ranks are one flow, as they follow one
// another; the flows of a movement begin at once.
//
// Not modelled: rounds, which move a few bytes, and kernels; also not that a radix partition goes on while its first
// rows move.
func (m *Machine) Judge(t *Traffic) *Judgement {
	j, bounds := &Judgement{}, make([]time.Duration, len(m.Wires.Segments))
	flows := make([][]topology.Flow, t.Movements)
	for i, p := range t.Puts {
		of := &flows[p.Movement]
		if same := i > 0 && samePair(p, t.Puts[i-1]); !same {
			*of = append(*of, topology.Flow{Path: m.Wires.Peer[p.From][p.To]})
		}
		flow := &(*of)[len(*of)-1]
		flow.Bytes += p.Bytes
		flow.Messages++
	}
	for _, of := range flows {
		s := m.Wires.Move(of)
		j.Movements = append(j.Movements, s)
		j.Time += s.Time
		if j.Bound += s.Bound; s.Bound > 0 {
			bounds[s.Bounds] += s.Bound
		}
	}
	longest := time.Duration(0)
	for segment, bound := range bounds {
		if bound > longest {
			longest, j.Segment = bound, m.Wires.Segments[segment].Name
		}
	}
	return j
}

func samePair(a, b Put) bool { return a.Movement == b.Movement && a.From == b.From && a.To == b.To }
