package query

import (
	"errors"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
)

// If rows with equal keys meet on one of several devices ([Spec.Scattered]), each needs memory for rows on their way.

const (
	// scatteredCopies are the copies of a granule beside the one that is joined: as it was loaded, and in the order of its
	// parts.
	scatteredCopies = 2
	// scatteredShare is the share of device memory, as its inverse, that these copies may take.
	scatteredShare = 4
)

// exchangedBytes is the device memory of the exchange of a build side: rows in pieces and as a whole, a piece as it was
// loaded and in the order of its parts, and the next one.
func exchangedBytes(f *operator.Facts) uint64 {
	rows := f.Rows[operator.Build] * f.RowBytes(operator.Build)
	need := 2*rows + 3*rows/planner.SpreadPieces
	return need + operator.Slack(need)
}

// sortedCopies is how many times a device has its share of both sides while they are sorted across devices: as it was
// loaded; sorted or parted; received; and in two buffers of a sort or merge.
const sortedCopies = 5

// sortedBytes is the device memory in which both sides are sorted.
func sortedBytes(f *operator.Facts) (need uint64) {
	for side, rows := range f.Rows {
		need += sortedCopies * rows * f.RowBytes(side)
	}
	return need + operator.Slack(need)
}

// fitScattered adds the memory of the exchange of the build side to an alternative.
func (q *Query) fitScattered(a *Alternative, limits planner.Limits) {
	need, what := exchangedBytes(&a.Facts), "exchange the build side"
	if q.Sorted {
		need, what = sortedBytes(&a.Facts), "sort both sides"
	}
	lacks := need > limits.DeviceMemoryBytes && need > a.PeakBytes
	a.PeakBytes = max(a.PeakBytes, need)
	if lacks && (a.Err == nil || errors.Is(a.Err, backend.ErrDeviceMemory)) {
		a.Err = &backend.OpError{Op: "plan join", Device: q.Engine.Device().Info().Name, Err: backend.ErrDeviceMemory,
			Detail: fmt.Sprintf("to %s takes %d bytes of the device, %d are free; raise device_memory to at least %s",
				what, need, limits.DeviceMemoryBytes, text.Limit(need+limits.HeldBytes))}
	}
}

// Replan plans the operator anew, for the rows of the build side that the lane has received. Memory beyond the first
// plan must be free.
func (b *Built) Replan(rows uint64) error {
	facts := b.held.Facts
	facts.Rows[operator.Build] = rows
	plan, err := b.held.Algorithm.Plan(&facts, b.held.Want)
	if err == nil {
		err = plan.Reject
	}
	if err != nil {
		return err
	}
	held := *b.held
	held.Plan, b.held = plan, &held
	device := b.Query.Engine.Device()
	received := rows * facts.RowBytes(operator.Build)
	received += operator.Slack(received) / 8 // their alignment, and the buffers of a probe side without rows
	need := plan.PeakBytes - min(plan.PeakBytes, received)
	if b.grant.Reserve(device, need) < need {
		return &backend.OpError{Op: "join", Device: device.Info().Name, Err: backend.ErrDeviceMemory, Detail: fmt.Sprintf(
			"%d rows of the build side have keys that meet here, planned were %d; raise device_memory", rows,
			b.taken.Facts.Rows[operator.Build])}
	}
	return nil
}
