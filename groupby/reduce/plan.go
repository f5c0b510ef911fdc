package reduce

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
)

// Facts are what is known before rows are grouped.
type Facts struct {
	Rows     uint64 // of a chunk, at most
	KeyBytes int    // 4 or 8
	KeyBits  int    // the number of low bits of key codes that may be set; 0: all
	Payload  []int  // bytes of each payload column, 4 or 8
	Groups   uint64 // estimate; 0: unknown
	Tuning   primitive.Tuning

	Strategy   Strategy
	CannotDraw error // why the device does not draw; nil if it does
}

// Plan says how rows are grouped. It touches no device.
type Plan struct {
	Facts      Facts
	Reductions []Reduction

	force force
}

// NewPlan plans the reduction of groups. Errors wrap backend.ErrInvalidInput (facts or reductions that make no sense),
// backend.ErrLimit (more than [primitive.MaxRows] rows in a chunk), and with the strategy [Graphics]
// backend.ErrUnsupported (reductions that are not drawn, or Facts.CannotDraw).
func NewPlan(f Facts, reductions []Reduction) (*Plan, error) {
	if f.KeyBits == 0 {
		f.KeyBits = f.KeyBytes * 8
	}
	if f.KeyBytes != 4 && f.KeyBytes != 8 || f.KeyBits < 0 || f.KeyBits > f.KeyBytes*8 {
		return nil, &backend.OpError{Op: "plan group-by", Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("keys of %d bits in %d bytes", f.KeyBits, f.KeyBytes)}
	}
	for i := range reductions {
		if err := reductions[i].check(f.Payload); err != nil {
			return nil, err
		}
	}
	p := &Plan{Facts: f, Reductions: slices.Clone(reductions)}
	if f.Strategy == Graphics {
		if err := cmp.Or(f.CannotDraw, p.drawable()); err != nil {
			return nil, err
		}
	}
	return p, primitive.CheckRows("plan group-by", f.Rows)
}

// NeedBytes estimates the memory in which an operator that holds groups reduces rows, in addition to the rows.
func (p *Plan) NeedBytes(rows, groups uint64) uint64 {
	const copies = 3 // on the way through a partition, a sort or a merge
	rowBytes, stateBytes := uint64(p.Facts.KeyBytes), uint64(p.Facts.KeyBytes)
	for _, bytes := range p.Facts.Payload {
		rowBytes += uint64(bytes)
	}
	for i := range p.Reductions {
		stateBytes += 8 * uint64(p.Reductions[i].columns())
	}
	return copies * (rows*rowBytes + (rows+groups)*stateBytes)
}

// Open returns an operator. Its memory comes from the lane; Close releases it.
func (p *Plan) Open(ctx context.Context, lane *exec.Lane) *Operator {
	return &Operator{plan: p, lane: lane.Nested(ctx)}
}
