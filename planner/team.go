package planner

import (
	"math"
	"slices"
	"time"

	"github.com/spirjoin/spirjoin/exchange/topology"
	"github.com/spirjoin/spirjoin/operator"
)

// Member is a device that may join together with others, and what it is predicted to take for some work on its own.
type Member struct {
	Number int           // of the device in the wires
	Time   time.Duration // in all
	Up     time.Duration // of that, over its link from host memory
	Down   time.Duration // of that, over its link to host memory
	Build  BuildLoad
}

// BuildLoad is what of the times of a member it takes to load the build side.
type BuildLoad struct{ Time, Up time.Duration }

// MemberOf returns a device with what it takes for a plan, whose tables t loads. Without rates that is 0.
func MemberOf(number int, p *operator.Plan, t *Transfer, rates *Rates) Member {
	m := Member{Number: number, Time: p.Time()}
	if rates == nil {
		return m
	}
	over := func(w *operator.Work, link operator.Unit) time.Duration {
		return time.Duration(w[link] * rates.Ns[link])
	}
	for i := range p.Stages {
		m.Up += over(&p.Stages[i].Work, operator.UploadByte)
		m.Down += over(&p.Stages[i].Work, operator.DownloadByte)
	}
	load := t.Load(&p.Facts, operator.Build)
	m.Build = BuildLoad{rates.Time(&load), over(&load, operator.UploadByte)}
	return m
}

// Together returns what members take while the links of all are in use: those that share segments of the wires are
// slower. Where wires are not known, nothing is shared.
func Together(members []Member, wires *topology.Topology) []time.Duration {
	times := make([]time.Duration, len(members))
	for i, m := range members {
		times[i] = m.Time
	}
	if wires == nil {
		return times
	}
	wait := func(links []topology.Path, alone func(*Member) time.Duration) {
		if len(links) == 0 {
			return
		}
		paths := make([]topology.Path, len(members))
		for i, m := range members {
			paths[i] = links[m.Number]
		}
		for i, slower := range wires.Together(paths) {
			times[i] += time.Duration((slower - 1) * float64(alone(&members[i])))
		}
	}
	wait(wires.Up, func(m *Member) time.Duration { return m.Up })
	wait(wires.Down, func(m *Member) time.Duration { return m.Down })
	return times
}

// SpreadPieces is in how many pieces a build side is loaded that moves between devices: one is loaded while the last
// one moves.
const SpreadPieces = 8

// Spread returns what members take of which each loads an equal part of the build side and copies it to the others,
// where all of it takes sizeBytes of a device. The links between all members must be known ([Linked]).
func Spread(members []Member, sizeBytes uint64, wires *topology.Topology) []time.Duration {
	n := len(members)
	loads, rest := make([]Member, n), make([]Member, n)
	for i, m := range members {
		part := BuildLoad{m.Build.Time / time.Duration(n), m.Build.Up / time.Duration(n)}
		loads[i] = Member{Number: m.Number, Time: part.Time, Up: part.Up}
		rest[i] = Member{Number: m.Number, Time: m.Time - m.Build.Time, Up: m.Up - m.Build.Up, Down: m.Down}
	}
	loaded := slices.Max(Together(loads, wires))
	moved := move(members, wires, func(int, int) float64 { return float64(sizeBytes) / float64(n) })
	times := Together(rest, wires)
	for i := range times {
		times[i] += max(loaded, moved) + min(loaded, moved)/SpreadPieces
	}
	return times
}

// Scatter returns the time to move rows of sizeBytes between members. Before and after, each member has its share of
// the rows, before by loading and after by key; shares add up to 1. The links between all members must be known
// ([Linked]).
func Scatter(members []Member, shares []float64, sizeBytes uint64, wires *topology.Topology) time.Duration {
	return move(members, wires, func(from, to int) float64 { return float64(sizeBytes) * shares[from] * shares[to] })
}

// Linked reports whether the links between devices are known. apart says that these links share no segment with the
// links between devices and host memory.
func Linked(members []Member, wires *topology.Topology) (linked, apart bool) {
	if wires == nil || len(wires.Peer) == 0 {
		return false, false
	}
	host := make(map[int]bool) // segments
	for _, path := range slices.Concat(wires.Up, wires.Down) {
		for _, segment := range path {
			host[segment] = true
		}
	}
	for _, from := range members {
		for _, to := range members {
			if slices.ContainsFunc(wires.Peer[from.Number][to.Number], func(segment int) bool { return host[segment] }) {
				return true, false
			}
		}
	}
	return true, true
}

// move is how long it takes until each member has sent sizeBytes to each other member.
func move(members []Member, wires *topology.Topology, sizeBytes func(from, to int) float64) time.Duration {
	var flows []topology.Flow
	for i, from := range members {
		for j, to := range members {
			if i != j {
				flows = append(flows, topology.Flow{Path: wires.Peer[from.Number][to.Number],
					Bytes: uint64(sizeBytes(i, j))})
			}
		}
	}
	return slices.Max(append(wires.Move(flows), 0))
}

// Order returns the order in which members, as their numbers in the slice, are to be added to a team: the first of them
// is in any team, and each of the others follows those with which it makes the fastest team. Without wires that is from
// the fastest one on. With wires, a device whose links are its own comes before one as fast that shares them.
func Order(members []Member, wires *topology.Topology) (order []int) {
	var team []Member
	taken := make([]bool, len(members))
	for range members {
		next, most := -1, math.Inf(-1)
		for i, m := range members {
			if taken[i] {
				continue
			}
			if speed := speed(Together(append(team, m), wires)); speed > most {
				next, most = i, speed
			}
			if len(team) == 0 {
				break
			}
		}
		taken[next], order, team = true, append(order, next), append(team, members[next])
	}
	return order
}

// speed is how often devices do the work in a second, of which each takes so long for all.
func speed(times []time.Duration) (total float64) {
	for _, t := range times {
		total += 1 / t.Seconds()
	}
	return total
}
