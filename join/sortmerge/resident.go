package sortmerge

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Options say how to join relations that are on a device. Whatever they are, the rows of the output are the same.
type Options struct {
	// Untransformed sorts row numbers with the keys and gathers payload from the caller's columns (GFUR, smj-um). Otherwise payload
	// columns are sorted themselves and gathered from there (GFTR, smj-om).
	Untransformed bool
	// OneByOne sorts one payload column at a time (GFTR algorithm 1), which takes less memory (GFTR table 2). Otherwise up to three
	// columns of one width are sorted together.
	OneByOne bool
	// MergeSort sorts by merging (RT 3.3.1), with one payload column at a time, instead of digit by digit.
	MergeSort bool
	// CountFirst counts the output of every unit before any is written. Otherwise output is written as it comes, into room for
	// OutputRows rows, and again where there is more of it. OutputRows 0 is as many rows as the side with more of them has.
	CountFirst bool
	OutputRows uint64
	// Approve, if set, sees the number of output rows before memory beyond that for OutputRows is taken; its error ends the join.
	Approve func(rows uint64) error
}

// Join joins relations that are on a device, whose keys are equally wide, by sorting both, or one or none where the keys of a side
// are sorted already, and merging them. Every pair of rows with equal keys is a row of the result, which has the key and all payload
// columns of both; the order of rows is open. The caller releases the result. profile receives the device time of each stage and may
// be nil.
//
// Errors: backend.ErrInvalidInput, backend.ErrLimit for more rows than one relation can have, those of the device.
func Join(ctx context.Context, ops *primitive.Ops, left, right resident.Relation, o Options, profile *backend.Profile) (*resident.Result, error) {
	for _, r := range [2]resident.Relation{left, right} {
		if err := r.Check("sort-merge join"); err != nil {
			return nil, err
		}
	}
	if left.Keys.Bytes != right.Keys.Bytes {
		return nil, &backend.OpError{Op: "sort-merge join", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf("keys of %d and of %d bytes", left.Keys.Bytes, right.Keys.Bytes)}
	}
	j := &join{Options: o, ops: ops, profile: profile, memory: resident.Memory{Context: ctx, Device: ops.Device()}}
	defer j.memory.ReleaseAll()
	j.sides = [2]side{{Side: resident.NewSide(left, "left")}, {Side: resident.NewSide(right, "right")}}
	swapped := right.Rows < left.Rows
	if swapped {
		j.sides[few], j.sides[many] = j.sides[many], j.sides[few]
	}
	j.out = resident.Output{Ops: ops, Profile: profile, Memory: &j.memory, Sides: [2]*resident.Side{&j.sides[few].Side, &j.sides[many].Side},
		CountFirst: o.CountFirst, Room: o.OutputRows, Approve: o.Approve,
		Record: j.record, RecordCount: j.recordCount}
	if j.out.Room == 0 {
		j.out.Room = j.sides[many].Rows
	}
	rows := uint64(0)
	if j.sides[few].Rows > 0 {
		var err error
		if rows, err = j.match(ctx); err != nil {
			return nil, err
		}
	}
	result, err := j.out.Result(ctx, rows, o.Untransformed, func(s int) error { return j.sort(ctx, &j.sides[s]) })
	if err == nil && swapped {
		result.Payload[Left], result.Payload[Right] = result.Payload[Right], result.Payload[Left]
	}
	return result, err
}

// The sides as a merge join sees them.
const (
	few  = 0 // the side with fewer rows, the left one of its kernels: pieces of it lie in shared memory
	many = 1 // whose rows are cut into tiles
)

// join is a join under way.
type join struct {
	Options
	ops     *primitive.Ops
	profile *backend.Profile
	memory  resident.Memory
	sides   [2]side
	config  kernel.MergeJoinConfig
	walk    bool            // units are joined by [kernel.MergeWalk], for CPU cores
	units   *backend.Buffer // of work
	out     resident.Output
}

// side is one relation and what becomes of it.
type side struct {
	resident.Side
	bits uint64 // by which its keys have to be sorted; 0: they are
}

// match sorts both sides, merges them, and returns the number of output rows.
func (j *join) match(ctx context.Context) (rows uint64, err error) {
	bits, err := unordered(ctx, j.ops, j.profile, j.sides[few].Keys, j.sides[many].Keys)
	if err != nil {
		return 0, err
	}
	for i := range j.sides {
		j.sides[i].bits = bits[i]
		if err := j.sort(ctx, &j.sides[i]); err != nil {
			return 0, err
		}
	}
	if err := j.cut(ctx); err != nil {
		return 0, err
	}
	return j.out.Write(ctx)
}

// sort sorts the keys of a side with the next payload columns, or with row numbers. What is sorted already stays where it is, and
// matches tell its rows as they are.
func (j *join) sort(ctx context.Context, s *side) error {
	unsorted := s.bits != 0
	return s.Transform(ctx, j.ops, &j.memory, j.profile, "sort", j.Untransformed && unsorted, (j.OneByOne || j.MergeSort) && unsorted,
		func(layout primitive.Layout) (t resident.Transformation, err error) {
			if j.MergeSort && unsorted {
				p, err := primitive.PlanMergeSort(j.ops.Tuning(), layout)
				t.Passes, t.ScratchBytes = p.Passes(), p.ScratchBytes
				t.Record = func(list *backend.List, scratch backend.Range, source primitive.Columns, buffers [2]primitive.Columns) error {
					return j.ops.MergeSort(list, p, scratch, source, buffers)
				}
				return t, err
			}
			p, err := primitive.PlanSort(j.ops.Tuning(), primitive.Sort{Layout: layout, EndBit: bits.Len64(s.bits), Varying: s.bits})
			t.Passes, t.ScratchBytes = p.Passes(), p.ScratchBytes
			t.Record = func(list *backend.List, scratch backend.Range, source primitive.Columns, buffers [2]primitive.Columns) error {
				return j.ops.Sort(list, p, scratch, source, buffers)
			}
			return t, err
		})
}
