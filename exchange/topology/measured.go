package topology

import (
	"fmt"
	"slices"
)

// Rates are bytes per second from host memory to a device, and back.
type Rates struct{ Up, Down float64 }

// Measured returns the links between host memory and devices. alone are the rates of each link on its own, together
// their sum while all links are busy. The links share one segment in each direction.
func Measured(alone []Rates, together Rates) Topology {
	t := Topology{Name: fmt.Sprintf("%d measured links", len(alone))}
	host := [2]int{t.segment(together.Up, "host reads"), t.segment(together.Down, "host writes")}
	for d, rates := range alone {
		up, down := t.segment(rates.Up, "link up %d", d), t.segment(rates.Down, "link down %d", d)
		t.Up, t.Down = append(t.Up, Path{host[0], up}), append(t.Down, Path{down, host[1]})
	}
	return t
}

// segment adds a segment and returns its number.
func (t *Topology) segment(bytesPerSecond float64, name string, a ...any) int {
	t.Segments = append(t.Segments, Segment{Name: fmt.Sprintf(name, a...), BytesPerSecond: bytesPerSecond})
	return len(t.Segments) - 1
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
	t.Segments, t.Peer = slices.Clone(t.Segments), nil
	out, in := make([]float64, len(links)), make([]float64, len(links))
	for from, row := range links {
		for to, link := range row {
			if from == to {
				continue
			}
			if link.BytesPerSecond <= 0 {
				return t
			}
			out[from], in[to] = max(out[from], link.BytesPerSecond), max(in[to], link.BytesPerSecond)
		}
	}
	var ends [][2]int // in, out
	for d := range links {
		ends = append(ends, [2]int{t.segment(in[d], "into %d", d), t.segment(out[d], "out of %d", d)})
	}
	for from, row := range links {
		paths := make([]Path, len(links))
		for to, link := range row {
			if from == to {
				continue
			}
			paths[to] = Path{ends[from][1], t.segment(link.BytesPerSecond, "link %d to %d", from, to), ends[to][0]}
			if link.ThroughHost && len(t.Down) > 0 && len(t.Up) > 0 {
				paths[to] = append(append(paths[to], t.Down[from]...), t.Up[to]...)
			}
		}
		t.Peer = append(t.Peer, paths)
	}
	return t
}
