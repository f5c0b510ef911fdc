package sortmerge

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranges"
)

// Options say how to join relations that are on a device. Whatever they are, the rows of the output are the same.
type Options struct {
	// Untransformed sorts row numbers with the keys and gathers payload from the caller's columns (GFUR, smj-um).
	// Otherwise payload columns are sorted themselves and gathered from there (GFTR, smj-om).
	Untransformed bool
	// OneByOne sorts one payload column at a time (GFTR algorithm 1), which takes less memory (GFTR table 2). Otherwise
	// up to three columns of one width are sorted together.
	OneByOne bool
	// MergeSort sorts by merging (RT 3.3.1), with one payload column at a time, instead of digit by digit.
	MergeSort bool
	// CountFirst counts the output of every unit before any is written. Otherwise output is written as it comes, into
	// room for OutputRows rows, and again where there is more of it. OutputRows 0 is as many rows as the side with more
	// of them has.
	CountFirst bool
	OutputRows uint64
	// Approve, if set, sees the number of output rows before memory beyond that for OutputRows is taken; its error ends
	// the join.
	Approve func(rows uint64) error
}

// Join joins relations that are on a device, whose keys are equally wide, by sorting both, or one or none where the
// keys of a side are sorted already, and merging them. Every pair of rows with equal keys is a row of the result, which
// has the key and all payload columns of both; the order of rows is open. The caller releases the result.
//
// Errors: backend.ErrInvalidInput, backend.ErrLimit for more rows than one relation can have, those of the device.
func Join(ctx context.Context, lane *exec.Lane, left, right resident.Relation, o Options) (*resident.Result, error) {
	for _, r := range [2]resident.Relation{left, right} {
		if err := r.Check("sort-merge join"); err != nil {
			return nil, err
		}
	}
	if left.Keys.Bytes != right.Keys.Bytes {
		return nil, &backend.OpError{Op: "sort-merge join", Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("keys of %d and of %d bytes", left.Keys.Bytes, right.Keys.Bytes)}
	}
	j := &join{Options: o, lane: lane.Nested(ctx)}
	defer j.lane.Memory.ReleaseAll()
	j.sides = [2]input{{Input: resident.NewInput(left, "left")}, {Input: resident.NewInput(right, "right")}}
	swapped := right.Rows < left.Rows
	if swapped {
		j.sides[few], j.sides[many] = j.sides[many], j.sides[few]
	}
	j.out = resident.Output{Lane: j.lane, Inputs: [2]*resident.Input{&j.sides[few].Input, &j.sides[many].Input},
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
		result.Swap()
	}
	return result, err
}

// join is a join under way.
type join struct {
	Options
	lane   *exec.Lane
	sides  [2]input
	config kernel.MergeJoinConfig
	walk   bool            // units are joined by [kernel.MergeWalk], for CPU cores
	units  *backend.Buffer // of work
	out    resident.Output
}

// input is one relation and what becomes of it.
type input struct {
	resident.Input
	bits uint64 // by which its keys have to be sorted; 0: they are
}

// match sorts both sides, merges them, and returns the number of output rows.
func (j *join) match(ctx context.Context) (rows uint64, err error) {
	few, many := j.sides[few].Keys, j.sides[many].Keys
	bits, err := ranges.Unordered(ctx, j.lane, few.Bytes, few.Data, many.Data)
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

// sort sorts the keys of a side with the next payload columns, or with row numbers. What is sorted already stays where
// it is, and matches tell its rows as they are.
func (j *join) sort(ctx context.Context, s *input) error {
	unsorted := s.bits != 0
	oneByOne := (j.OneByOne || j.MergeSort) && unsorted
	move := resident.Move{Stage: "sort", RowNumbers: j.Untransformed && unsorted, OneByOne: oneByOne}
	move.Plan = func(layout primitive.Layout) (t resident.Transformation, err error) {
		if j.MergeSort && unsorted {
			p, err := primitive.PlanMergeSort(j.lane.Tuning(), layout)
			t.Passes, t.ScratchBytes = p.Passes(), p.ScratchBytes
			t.Record = func(list *backend.List, scratch backend.Range, source primitive.Columns,
				buffers [2]primitive.Columns) error {
				return j.lane.MergeSort(list, p, scratch, source, buffers)
			}
			return t, err
		}
		p, err := primitive.PlanSort(j.lane.Tuning(),
			primitive.Sort{Layout: layout, EndBit: bits.Len64(s.bits), Varying: s.bits})
		t.Passes, t.ScratchBytes = p.Passes(), p.ScratchBytes
		t.Record = func(list *backend.List, scratch backend.Range, source primitive.Columns,
			buffers [2]primitive.Columns) error {
			return j.lane.Sort(list, p, scratch, source, buffers)
		}
		return t, err
	}
	return s.Transform(ctx, j.lane, move)
}

const (
	few  = 0
	many = 1
)
