package scaling

import (
	"time"

	"github.com/spirjoin/spirjoin/bench/endtoend"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/join"
)

// needs are the bytes of a join, however it is done.
type needs struct {
	inputRows  uint64 // of both sides
	tableBytes uint64 // keys and payload of these
	upBytes    uint64 // of what the devices need of them
	downBytes  uint64 // of the output
}

// needsOf returns the bytes that a join with outputRows output rows moves, if each byte crosses a link once. Keys go up
// and, if rows are output, the payload of at most outputRows rows. Pairs of row numbers, or rows, come down.
func needsOf(spec workload.PKFKSpec, output join.Output, outputRows uint64) (n needs) {
	rows := [2]uint64{uint64(spec.RRows), uint64(spec.SRows)}
	width := uint64(spec.KeyBytes) // of a row of the output
	for side, payload := range [2][]int{spec.RPayloads, spec.SPayloads} {
		rowBytes := uint64(0)
		for _, bytes := range payload {
			rowBytes += uint64(bytes)
		}
		width += rowBytes
		keyBytes := uint64(spec.KeyBytes) * rows[side]
		n.inputRows += rows[side]
		n.tableBytes += keyBytes + rowBytes*rows[side]
		n.upBytes += keyBytes
		if output == join.Rows {
			n.upBytes += rowBytes * min(rows[side], outputRows)
		}
	}
	switch output {
	case join.Rows:
		n.downBytes = width * outputRows
	case join.Pairs:
		n.downBytes = 2 * 4 * outputRows
	}
	return n
}

// bound is the time that the links of all devices together need at least for this, or, where a device has none, copies
// within host memory.
func (n *needs) bound(rates *endtoend.Rates) time.Duration {
	seconds := func(bytes uint64, rate float64) float64 { return float64(bytes) / rate }
	if rates.Up == 0 {
		return duration(seconds(n.upBytes+n.downBytes, max(rates.Host, rates.Device)))
	}
	longest := max(seconds(n.upBytes, rates.Up), seconds(n.downBytes, rates.Down))
	if n.downBytes > 0 {
		longest = max(longest, seconds(n.upBytes+n.downBytes, rates.Both))
	}
	return duration(longest)
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
