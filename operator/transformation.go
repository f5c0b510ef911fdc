package operator

import (
	"context"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Transformation is a stable partition or sort, planned for a layout. Its result is in buffer Passes%2 or, without
// passes, in the source.
type Transformation struct {
	Passes       int
	ScratchBytes uint64
	Record       Recorder
}

// Recorder records a transformation of source whose passes alternate between two buffers.
type Recorder func(list *backend.List, scratch backend.Range, source primitive.Columns,
	buffers [2]primitive.Columns) error

// SortBy returns a planner of sorts by those bits of the key that are set in varying; if none is, the rows stay in place.
func SortBy(ops *primitive.Ops, varying uint64) func(primitive.Layout) (Transformation, error) {
	return func(layout primitive.Layout) (t Transformation, err error) {
		p, err := primitive.PlanSort(ops.Tuning(),
			primitive.Sort{Layout: layout, EndBit: bits.Len64(varying), Varying: varying})
		t.Passes, t.ScratchBytes = p.Passes(), p.ScratchBytes
		t.Record = func(list *backend.List, scratch backend.Range, source primitive.Columns,
			buffers [2]primitive.Columns) error {
			return ops.Sort(list, p, scratch, source, buffers)
		}
		return t, err
	}
}

// PartitionBy returns a planner of partitions of any layout by the digit of by. The first one that is recorded stores in
// starts, if that is present, where partitions begin.
func PartitionBy(ops *primitive.Ops, by primitive.Partition, starts backend.Range) func(primitive.Layout) (Transformation,
	error) {
	return func(layout primitive.Layout) (t Transformation, err error) {
		by.Layout = layout
		p, err := primitive.PlanPartition(ops.Tuning(), by)
		t.Passes, t.ScratchBytes = 2-p.Result(), p.ScratchBytes
		t.Record = func(list *backend.List, scratch backend.Range, source primitive.Columns,
			buffers [2]primitive.Columns) error {
			to := starts
			starts = backend.Range{}
			return ops.Partition(list, p, to, scratch, source, buffers)
		}
		return t, err
	}
}

// Varying says how the keys of a column differ.
type Varying struct {
	Bits   uint64 // in which keys differ
	Common uint64 // the other bits, as all keys have them
	Sorted bool   // keys ascend
}

// Unsorted returns the bits by which a sort must order the keys: none if they are in order.
func (v *Varying) Unsorted() uint64 {
	if v.Sorted {
		return 0
	}
	return v.Bits
}

// FindVarying looks in one pass over a column how its keys differ; no keys are sorted. stage is the stage of the
// profile. Errors: allocation and device errors.
func FindVarying(ctx context.Context, lane *exec.Lane, stage string, keys relation.Values) (v Varying, err error) {
	if keys.Data.SizeBytes == 0 {
		return Varying{Sorted: true}, nil
	}
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	scratch := temporary.New(backend.PlanAlignment, "varying bits")
	if err := temporary.Err(); err != nil {
		return v, err
	}
	p, err := primitive.PlanVaryingBits(lane.Tuning(), keys.Data.SizeBytes/uint64(keys.Bytes), keys.Bytes)
	if err != nil {
		return v, err
	}
	list := lane.List(stage)
	if err := lane.VaryingBits(list, p, keys.Data, scratch.Range(0, p.ScratchBytes)); err != nil {
		return v, err
	}
	found := make([]byte, scratch.SizeBytes())
	if err := lane.Fetch(ctx, list, backend.Transfer{Device: scratch.All(), Host: found}); err != nil {
		return v, err
	}
	varying, descents := p.Found(found)
	v = Varying{Bits: varying, Sorted: descents == 0}
	if keys.Bytes == 8 {
		v.Common = backend.Longs(found)[0]
	} else {
		v.Common = uint64(backend.Words(found)[0])
	}
	v.Common &^= varying
	return v, nil
}
