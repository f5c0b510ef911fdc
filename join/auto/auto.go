// Package auto joins two relations that are on one device by the algorithm that join/plan predicts to be fastest.
package auto

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/join/plan"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/join/sortmerge"
)

// Join plans from a sample of both sides and joins; see [hash.Join] for what comes of it. taken is the alternative that
// did the work.
//
// Errors: those of the algorithms; backend.ErrDeviceMemory with the least need where no alternative fits the device.
func Join(
	ctx context.Context, lane *exec.Lane, left, right resident.Relation,
) (result *resident.Result, taken plan.Alternative, err error) {
	facts, err := Facts(ctx, lane, left, right)
	if err != nil {
		return nil, taken, err
	}
	device := lane.Device()
	rates, err := plan.RatesFor(device.Info())
	if err != nil {
		return nil, taken, err
	}
	facts.HeldBytes = device.MemoryUse(backend.DeviceLocal).InUse
	all, err := plan.Choose(facts, rates, lane.Tuning(), LimitsOf(device))
	if err != nil {
		return nil, taken, err
	}
	if taken = all[0]; taken.Reject != nil {
		return nil, taken, Least(all).Reject
	}
	result, err = Run(ctx, lane, &taken, left, right, Options{Room: facts.Room()})
	return result, taken, err
}

// LimitsOf are the limits of a device.
func LimitsOf(device *backend.Device) plan.Limits {
	return plan.Limits{DeviceMemoryBytes: device.Options().DeviceMemoryBytes,
		BlockBytes: device.Info().Limits.MaxBlockBytes}
}

// Least returns the alternative that needs the least device memory.
func Least(all []plan.Alternative) plan.Alternative {
	return slices.MinFunc(all, func(a, b plan.Alternative) int { return cmp.Compare(a.PeakBytes, b.PeakBytes) })
}

// Options are for what a plan expects of the output.
type Options struct {
	Room uint64 // output rows for which there is room before it knows how many there are
	// called with the exact row count before output memory grows; an error aborts the join; nil approves all
	Approve func(total uint64) error
}

// Run joins as an alternative says.
func Run(
	ctx context.Context, lane *exec.Lane, a *plan.Alternative, left, right resident.Relation, o Options,
) (*resident.Result, error) {
	switch a.Algorithm {
	case plan.SMJOM, plan.SMJUM:
		return sortmerge.Join(ctx, lane, left, right, sortmerge.Options{
			Untransformed: a.Algorithm == plan.SMJUM, OneByOne: a.OneByOne, OutputRows: o.Room, Approve: o.Approve,
		})
	case plan.PHJOM, plan.PHJUM, plan.HJ:
		return hash.Join(ctx, lane, left, right, hash.Options{
			Untransformed: a.Algorithm == plan.PHJUM, Unpartitioned: a.Algorithm == plan.HJ, OneByOne: a.OneByOne,
			OutputRows: o.Room, Approve: o.Approve,
		})
	}
	return nil, fmt.Errorf("%w: algorithm %s is no way to join relations", backend.ErrInvalidInput, a.Algorithm)
}

// Count returns the number of rows that an alternative for counts would find: phj-om or hj. Payload is left where it
// is.
func Count(ctx context.Context, lane *exec.Lane, a *plan.Alternative, left, right resident.Relation) (uint64, error) {
	return hash.Count(ctx, lane, left, right, hash.Options{Unpartitioned: a.Algorithm == plan.HJ})
}
