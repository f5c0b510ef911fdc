package topology

import (
	"math"
	"time"
)

// Flow is bytes that take a path.
type Flow struct {
	Path  Path
	Bytes uint64
}

// mostIdle bounds how long the bandwidth of an ended flow may lie idle, as a share of the time so far. Thousands of
// flows end one by one; rates are not recomputed for each.
const mostIdle = 1. / 200

// Move returns the time until each of several flows has arrived that begin at once and share the segments fairly
// ([Topology.Fair]). When a flow ends, the others share its bandwidth, after 0.5% of the time so far at the latest.
func (t *Topology) Move(flows []Flow) []time.Duration {
	arrived := make([]time.Duration, len(flows))
	var moving []int // numbers of flows
	var paths []Path // of these
	left := make([]float64, len(flows))
	for i, f := range flows {
		if left[i] = float64(f.Bytes); f.Bytes > 0 && len(f.Path) > 0 {
			moving, paths = append(moving, i), append(paths, f.Path)
		}
	}
	now := 0.0 // in seconds
	for len(moving) > 0 {
		rates := t.Fair(paths)
		step := math.Inf(1)
		for i, flow := range moving {
			step = min(step, left[flow]/rates[i])
		}
		step = max(step, now*mostIdle)
		going := 0
		for i, flow := range moving {
			if needs := left[flow] / rates[i]; needs <= step*(1+1e-9) {
				arrived[flow] = time.Duration((now + needs) * float64(time.Second))
				continue
			}
			left[flow] -= step * rates[i]
			moving[going], paths[going] = flow, paths[i]
			going++
		}
		now, moving, paths = now+step, moving[:going], paths[:going]
	}
	return arrived
}

// Fair returns the rate of each path in bytes per second if all are used at once: the rates of which the least is as
// large as the segments allow, then the second least, and so on. This is what links with fair arbiters come to, and
// senders that adapt to congestion (Bertsekas, Gallager: Data Networks, 6.5.2, progressive filling). The rate of an
// empty path is infinite.
//
// All rates grow alike until a segment is full; the paths through it keep theirs, and the others grow on.
//
// Example: paths through a, through a and b, and through b, where a has 10 GB/s and b 12, get 5, 5 and 7.
func (t *Topology) Fair(paths []Path) []float64 {
	rates, users := make([]float64, len(paths)), make([][]int, len(t.Segments))
	for i, path := range paths {
		rates[i] = math.Inf(1)
		for _, segment := range path {
			users[segment] = append(users[segment], i)
		}
	}
	free, growing := make([]float64, len(t.Segments)), make([]int, len(t.Segments))
	for s := range t.Segments {
		free[s], growing[s] = t.Segments[s].BytesPerSecond, len(users[s])
	}
	for {
		full, least := -1, math.Inf(1)
		for s := range t.Segments {
			if rate := free[s] / float64(growing[s]); growing[s] > 0 && rate < least {
				full, least = s, rate
			}
		}
		if full < 0 {
			return rates
		}
		for _, i := range users[full] {
			if !math.IsInf(rates[i], 1) {
				continue
			}
			rates[i] = least
			for _, s := range paths[i] {
				free[s] = max(0, free[s]-least)
				growing[s]--
			}
		}
	}
}

// Together returns how many times slower each path is if all are used at once than if it is used alone: 1 if it shares
// nothing, 4 if four share a segment as fast as each.
func (t *Topology) Together(paths []Path) []float64 {
	slower := t.Fair(paths)
	for i, path := range paths {
		if slower[i] = t.Fair([]Path{path})[0] / slower[i]; len(path) == 0 {
			slower[i] = 1
		}
	}
	return slower
}
