package ranges

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
)

// Unordered finds, in one pass over each key column, the bits by which a sort must order its keys: those in which keys
// differ, or none if they are already sorted. Keys have keyBytes bytes each; a column has at least one.
func Unordered(ctx context.Context, lane *exec.Lane, keyBytes int, keys ...backend.Range) ([]uint64, error) {
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	scratch := temporary.New(uint64(len(keys))*backend.PlanAlignment, "varying bits")
	if err := temporary.Err(); err != nil {
		return nil, err
	}
	plans := make([]primitive.VaryingBitsPlan, len(keys))
	list := lane.List("varying bits")
	for i, k := range keys {
		var err error
		rows := k.SizeBytes / uint64(keyBytes)
		if plans[i], err = primitive.PlanVaryingBits(lane.Tuning(), rows, keyBytes); err != nil {
			return nil, err
		}
		part := scratch.Range(uint64(i)*backend.PlanAlignment, plans[i].ScratchBytes)
		if err := lane.VaryingBits(list, plans[i], k, part); err != nil {
			return nil, err
		}
	}
	found := make([]byte, scratch.SizeBytes())
	if err := lane.Fetch(ctx, list, backend.Transfer{Device: scratch.All(), Host: found}); err != nil {
		return nil, err
	}
	bits := make([]uint64, len(keys))
	for i := range keys {
		varying, descents := plans[i].Found(found[i*backend.PlanAlignment:])
		if descents > 0 {
			bits[i] = varying
		}
	}
	return bits, nil
}
