package peers

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// Partitioner decides which rows go to which rank. Ranks measure, tell one another, and decide; if the numbers do not
// suffice, they measure again. A partitioner belongs to one rank and serves one exchange. Chunks of one exchange, such
// as both sides of a join, are divided alike: rows with equal keys meet on one rank, where the partitioner is by key.
type Partitioner interface {
	agreement
	// Apply returns the rows of a chunk in the order of their parts, in memory of Measure or of the chunk.
	Apply(chunk int) *Parts
}

// agreement is rounds in which ranks come to know the same.
type agreement interface {
	// Measure returns what this rank says about its chunks. Moved rows are in memory of the lane.
	Measure(ctx context.Context, lane *exec.Lane, chunks []*relation.Chunk) ([]byte, error)
	// Decide takes what all ranks said, by rank, and reports whether they must measure again. It is a pure function of
	// what was said so far, so that all ranks decide alike.
	Decide(said [][]byte) (again bool, err error)
}

// no rank owns parts that stay where they are: they are moved before or afterwards.
const nobody = -1

// Parts are the rows of one rank, part after part, and what all ranks know of the parts of the others.
type Parts struct {
	relation.Chunk
	Rows   [][]uint64 // of each part, by rank
	Owners []int      // of each part: a rank, or none
	// Groups are the first parts of groups of neighbours with one owner, which receives the rows of a group rank by
	// rank. Absent if all parts of an owner are a group.
	Groups []int
	// apart places the received rows of each group where a kernel can read them, at a multiple of [runRows]; columns
	// are then longer than their rows. Otherwise there are no gaps.
	apart bool
}

// runRows is a number of rows whose values of 4 or 8 bytes are aligned for arguments of kernels.
const runRows = backend.PlanAlignment / 4

// Exchange moves the rows of chunks to the ranks that a partitioner names, and returns for each chunk what this rank
// received, in memory of its lane. All ranks call it, with the same number of chunks, whose columns have the same
// widths on all ranks. The chunks stay as they are. While it runs, a rank has each row up to three times: in the chunk,
// in the order of the parts, and where it was received.
//
// Errors: *TooLarge on all ranks if one has too little memory, and then nothing stays allocated; ErrInvalidInput if
// ranks disagree; errors of the partitioner, the links and the devices; ErrCancelled.
func (r *Rank) Exchange(ctx context.Context, by Partitioner, chunks ...*relation.Chunk) (received []*Received,
	err error) {
	for _, c := range chunks {
		if err := c.Check("exchange"); err != nil {
			return nil, err
		}
	}
	step := r.Lane.Nested(ctx)
	defer step.Memory.ReleaseAll()
	if err := r.agree(ctx, step, by, chunks); err != nil {
		return nil, err
	}
	for i := range chunks {
		of, err := r.move(ctx, by.Apply(i))
		if err != nil {
			relation.ReleaseAll(received)
			return nil, err
		}
		received = append(received, of)
	}
	return received, nil
}

// agree measures and decides until all is known.
func (r *Rank) agree(ctx context.Context, lane *exec.Lane, by agreement, chunks []*relation.Chunk) error {
	for {
		again, err := r.measure(ctx, lane, by, chunks)
		if err != nil || !again {
			return err
		}
	}
}

// measure measures once and decides.
func (r *Rank) measure(ctx context.Context, lane *exec.Lane, by agreement, chunks []*relation.Chunk) (again bool,
	err error) {
	mine, err := by.Measure(ctx, lane, chunks)
	said, err := r.gatherUnless(ctx, "measure", mine, err)
	if err != nil {
		return false, err
	}
	return by.Decide(said)
}
