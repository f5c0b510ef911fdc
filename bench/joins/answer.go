package joins

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
)

// Answer knows the rows of the output of a join, by their number and by the sum of their weights, without a join (see
// checker). The output has the key, and behind it the payload columns of R and of S, as far as the join returns them.
type Answer struct {
	all    checksum
	bytes  []int   // of the columns of the output
	sides  [2]bool // whose columns are in the output
	ends   [2]int  // in the output, of the payload of each side
	absent [2]bool // there may be rows without one of this side, whose payload is NULL then
}

// NewAnswer computes the answer of a kind of join of R, on the left, with S. The first column of each is the key, below
// 2^32; all columns are integers of 4 or 8 bytes without NULL. ErrInvalidInput for a kind that returns rows with and
// without a partner if a side has no payload column, which distinguishes them.
func NewAnswer(ctx context.Context, r, s arrow.Table, how string) (*Answer, error) {
	want, err := Want(how)
	if err != nil {
		return nil, err
	}
	check, err := newChecker(ctx, r, s)
	if err != nil {
		return nil, err
	}
	a := &Answer{bytes: []int{check.bytes[sideR][0]}}
	add := func(wanted bool, c checksum) {
		if wanted {
			a.all.rows, a.all.sum = a.all.rows+c.rows, a.all.sum+c.sum
		}
	}
	add(want.Pairs, check.pairs)
	for side, bytes := range check.bytes {
		add(want.Matched[side], check.matched[side])
		add(want.Rest[side], check.rest[side])
		a.absent[side] = want.Pairs && want.Rest[1-side]
		if a.absent[side] && len(bytes) < 2 {
			return nil, fmt.Errorf("%w: a %s join needs payload columns to be verified", backend.ErrInvalidInput, how)
		}
		if a.sides[side] = want.Pairs || want.Matched[side] || want.Rest[side]; a.sides[side] {
			a.bytes = append(a.bytes, bytes[1:]...)
		}
		a.ends[side] = len(a.bytes)
	}
	return a, nil
}

// Rows returns the number of rows.
func (a *Answer) Rows() uint64 { return a.all.rows }

// Begin begins the check of an output.
func (a *Answer) Begin() *Check { return &Check{answer: a} }

// Check sums the rows of an output that comes batch by batch. Used by one goroutine.
type Check struct {
	answer *Answer
	found  shared
}

// Add adds the rows of a batch. It returns ErrWrong if the batch does not have the columns of the output.
func (c *Check) Add(ctx context.Context, batch arrow.RecordBatch) error {
	a := c.answer
	if int(batch.NumCols()) != len(a.bytes) {
		return measure.Wrongf("%d columns, not %d", batch.NumCols(), len(a.bytes))
	}
	columns := make([]hostColumn, len(a.bytes))
	for i, bytes := range a.bytes {
		data := batch.Column(i).Data()
		if t, ok := data.DataType().(arrow.FixedWidthDataType); !ok || t.BitWidth() != 8*bytes {
			return measure.Wrongf("column %d has type %s, not integers of %d bytes", i, data.DataType(), bytes)
		}
		columns[i] = hostColumnOf(data.Buffers()[1].Bytes()[data.Offset()*bytes:][:data.Len()*bytes], bytes)
	}
	return workload.ForBlocks(ctx, batch.NumRows(), func(start, end int64) {
		weights := slices.Repeat([]uint64{1}, int(end-start))
		from := 1
		for side, to := range a.ends {
			if a.sides[side] {
				of := slices.Concat(columns[:1], columns[from:to])
				for i, h := range hashRows(side, of, int(start), int(end)) {
					if !a.absent[side] || batch.Column(from).IsValid(int(start)+i) {
						weights[i] *= h
					}
				}
			}
			from = to
		}
		block := checksum{rows: uint64(end - start)}
		for _, weight := range weights {
			block.sum += weight
		}
		c.found.add(block)
	})
}

// End returns ErrWrong if the rows differ from the rows of the join.
func (c *Check) End() error {
	switch found, all := c.found.get(), c.answer.all; {
	case found.rows != all.rows:
		return measure.Wrongf("%d rows, not %d", found.rows, all.rows)
	case found.sum != all.sum:
		return measure.Wrongf("the output rows differ from the rows of the join")
	}
	return nil
}
