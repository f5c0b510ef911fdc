package hash

import (
	"context"
	"errors"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join/resident"
)

// Count returns the number of rows that [Join] would make, 64 bits of it, and makes none. Payload is left where it is.
// Of the options it knows Unpartitioned and Unique.
//
// Errors: backend.ErrInvalidInput; backend.ErrLimit with Unpartitioned for too many rows; those of the device.
func Count(ctx context.Context, lane *exec.Lane, left, right resident.Relation, o Options) (rows uint64, err error) {
	if right.Rows < left.Rows {
		left, right = right, left
	}
	left.Payload, right.Payload = nil, nil
	j := &join{lane: lane.Nested(ctx), Options: Options{Unique: o.Unique, force: o.force}, counting: true}
	j.sides = [2]input{{Input: resident.NewInput(left, "left")}, {Input: resident.NewInput(right, "right")}}
	if err := j.begin(); err != nil || left.Rows == 0 {
		return 0, err
	}
	if o.Unpartitioned {
		duplicates := counted
		if o.Unique {
			duplicates = none
		}
		t, err := buildTable(ctx, lane, left, duplicates)
		if err != nil {
			return 0, err
		}
		defer t.Release()
		return t.Count(ctx, lane, right)
	}
	if rows, err = j.count(ctx); errors.Is(err, errNotNarrow) {
		o.force.wide = true
		return Count(ctx, lane, left, right, o)
	}
	return rows, err
}

// count is match without output.
func (j *join) count(ctx context.Context) (rows uint64, err error) {
	defer j.lane.Memory.ReleaseAll()
	if err := j.divide(ctx); err != nil {
		return 0, err
	}
	return j.countUnits(ctx)
}

// countUnits counts the output of units and of oversized partitions.
func (j *join) countUnits(ctx context.Context) (rows uint64, err error) {
	was := j.counting
	j.counting = true
	defer func() { j.counting = was }()
	peeled := uint64(0)
	if j.oversized > 0 {
		if peeled, err = j.peel(ctx); err != nil {
			return 0, err
		}
	}
	rows, err = j.out.Count(ctx)
	return rows + peeled, err
}
