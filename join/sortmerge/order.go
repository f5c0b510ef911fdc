package sortmerge

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/primitive"
)

// unordered finds, in one pass over each column, the bits by which a sort has to order its keys: those in which keys differ, or none
// where they are sorted already.
func unordered(ctx context.Context, ops *primitive.Ops, profile *backend.Profile, keys ...resident.Column) ([]uint64, error) {
	temporary := resident.Memory{Context: ctx, Device: ops.Device()}
	defer temporary.ReleaseAll()
	plans, scratch := make([]primitive.VaryingBitsPlan, len(keys)), temporary.New(uint64(len(keys))*backend.PlanAlignment, "varying bits")
	if temporary.Err != nil {
		return nil, temporary.Err
	}
	list := backend.List{Profile: profile}
	list.Stage("varying bits")
	for i, k := range keys {
		var err error
		if plans[i], err = primitive.PlanVaryingBits(ops.Tuning(), k.Data.SizeBytes/uint64(k.Bytes), k.Bytes); err != nil {
			return nil, err
		}
		if err := ops.VaryingBits(&list, plans[i], k.Data, scratch.Range(uint64(i)*backend.PlanAlignment, plans[i].ScratchBytes)); err != nil {
			return nil, err
		}
	}
	if _, err := ops.Device().Submit(ctx, backend.Compute, &list); err != nil {
		return nil, err
	}
	found := make([]byte, scratch.SizeBytes())
	if err := ops.Device().Download(ctx, found, scratch.All()); err != nil {
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
