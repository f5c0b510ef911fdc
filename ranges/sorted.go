// Package ranges finds the matches of two key columns on one device as ranges: both sides are radix sorted by key with
// their row numbers, a binary range search finds the matching key ranges (HMG 3.3.3), and pairs of row numbers are
// expanded from the ranges, as many at a time as memory allows. Hot keys and many-to-many matches cost no more than
// others.
//
// A side is sorted once ([Sort]) and kept for as long as it is needed, so that it can be matched with the other side
// granule by granule, as [Operator] does.
package ranges

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// Sorted is the keys of one side in ascending order.
type Sorted struct {
	Rows     uint64
	KeyBytes int
	Keys     backend.Range
	IDs      backend.Range // their 32-bit row numbers; absent if these are the positions in the order
}

// Numbers says which row numbers move with the keys in a sort.
type Numbers struct {
	// None says that only the keys are sorted, for counts; their rows are not known afterwards.
	None bool
	// Given are the 32-bit row numbers of the keys; absent if row i of the column is row i of the side.
	Given backend.Range
}

// Sort sorts the keys of a chunk, by the bits in which they differ, with row numbers. Keys that are already sorted stay
// in place: then Sorted.Keys is the column of the chunk, and no row numbers are generated. Other memory is allocated
// from the lane, which the caller nests. name identifies the side in the names of stages.
//
// Errors: device errors.
func Sort(ctx context.Context, lane *exec.Lane, c *relation.Chunk, name string, numbers Numbers) (*Sorted, error) {
	s := &Sorted{Rows: c.Rows, KeyBytes: c.Keys.Bytes, Keys: c.Keys.Data, IDs: numbers.Given}
	if c.Rows == 0 {
		return s, nil
	}
	varying, err := operator.FindVarying(ctx, lane, "varying bits", c.Keys)
	if err != nil || varying.Unsorted() == 0 {
		return s, err
	}
	keys := relation.Chunk{Rows: c.Rows, Keys: c.Keys}
	if numbers.Given.Buffer != nil {
		keys.Payload = []relation.Values{{Data: numbers.Given, Bytes: 4}}
	}
	in := operator.NewInput(lane, &keys, name)
	made := !numbers.None && numbers.Given.Buffer == nil
	err = in.Transform(ctx, operator.Move{Stage: "sort", RowNumbers: made, Plan: operator.SortBy(lane.Ops, varying.Bits)})
	s.Keys, s.IDs = in.Ordered, in.IDs
	if len(in.Moved) > 0 {
		s.IDs = in.Moved[0]
	}
	return s, err
}
