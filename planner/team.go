package planner

import (
	"math"
	"time"

	"github.com/spirjoin/spirjoin/exchange/topology"
	"github.com/spirjoin/spirjoin/operator"
)

// Member is a device that may join together with others, and what it is predicted to take for some work on its own.
type Member struct {
	Number int           // of the device among those of the wires
	Time   time.Duration // in all
	Up     time.Duration // of that, over its link from host memory
	Down   time.Duration // of that, over its link to host memory
}

// MemberOf returns a device with what it takes for a plan. Without rates that is 0.
func MemberOf(number int, p *operator.Plan, rates *Rates) Member {
	m := Member{Number: number, Time: p.Time()}
	if rates != nil {
		for _, stage := range p.Stages {
			m.Up += time.Duration(stage.Work[operator.UploadByte] * rates.ns[operator.UploadByte])
			m.Down += time.Duration(stage.Work[operator.DownloadByte] * rates.ns[operator.DownloadByte])
		}
	}
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
