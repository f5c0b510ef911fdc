package groupby

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// Host memory of a group-by counts towards the memory limit if it grows with the rows or the groups. It is charged
// before it is taken, and a group-by never waits for it:
//
//	groups   codes, states, rows of least and greatest texts, numbered texts   as long as the groups
//	work     converted columns, states of the cores of strips, words on their way to the device, code tables, the group
//	         of each row
//	stream   two parts, tables that wait for a merge or are being made
//	output   two record batches, which have fewer rows if memory is short
//
// Without room to number texts, keys are hashed; without room for strips, rows are grouped by the kernels. Everything
// else is an error, after which a stream divides its groups if it may.

// memory returns a grant of nothing that grows by what is charged; nil without a limit. The caller releases it.
func (e *Engine) memory() *exec.Grant {
	if e.HostCapBytes() == exec.Unlimited {
		return nil
	}
	return e.Budget().Empty()
}

// roomIn tells whether a grant can grow, and makes it grow, or shrink; see [keys.PlanGroups].
func roomIn(grant *exec.Grant) func(byBytes int64) bool {
	return func(byBytes int64) bool {
		if byBytes < 0 {
			grant.GiveHost(uint64(-byBytes))
			return true
		}
		return grant.Grow(exec.Need{Host: uint64(byBytes)}) == nil
	}
}

// charge adds host memory to a grant until back is called. Errors: ErrHostMemory.
func charge(grant *exec.Grant, sizeBytes uint64) (back func(), err error) {
	if err := grant.Grow(exec.Need{Host: sizeBytes}); err != nil {
		return func() {}, err
	}
	return func() { grant.GiveHost(sizeBytes) }, nil
}

// chargeColumn adds the memory of a column to a grant.
func chargeColumn(grant *exec.Grant, column arrow.Array) error {
	if grant == nil {
		return nil
	}
	chunked := arrow.NewChunked(column.DataType(), []arrow.Array{column})
	defer chunked.Release()
	return grant.Grow(exec.Need{Host: relation.ColumnBytes(chunked)})
}

// extend returns b with by more bytes, of any value. What it takes is charged to the groups, at least the double if b
// moves.
func (g *groups) extend(b []byte, by int) ([]byte, error) {
	need := len(b) + by
	if need <= cap(b) {
		return b[:need], nil
	}
	room := max(need, 2*len(b))
	if err := g.memory.Grow(exec.Need{Host: uint64(room)}); err != nil {
		return nil, err
	}
	larger := make([]byte, need, room)
	copy(larger, b)
	g.memory.GiveHost(uint64(cap(b)))
	return larger, nil
}

const (
	outputShare     = 16 // of the memory limit are the output batches, of which there are two
	outputsAtOnce   = 2
	leastOutputRows = 1 << 10 // whose memory does not count
)

// outputRows is how many rows a batch of output has, at most most. What it takes is charged to held.
func (r *Result) outputRows(held *exec.Grant, hostCapBytes uint64, most int) int {
	if held == nil {
		return most
	}
	rowBytes := relation.RowBytes(r.Layout.Schema.Fields()...)
	want := min(outputsAtOnce*rowBytes*uint64(most), hostCapBytes/outputShare)
	return min(most, max(leastOutputRows, int(held.ReserveHost(want)/outputsAtOnce/rowBytes)))
}
