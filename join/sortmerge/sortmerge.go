// Package sortmerge joins by sorting both sides by key and merging them (GFTR 4.2, RT 3.3). The build side is sorted
// once; each granule of the probe side is sorted and merged with all of it.
package sortmerge

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/ranges"
)

// Algorithm is a sort-merge join: one of the values below.
type Algorithm struct {
	name string
	// untransformed sorts row numbers with the keys, and gathers payload from the columns of the chunks (GFUR).
	// Otherwise payload columns are sorted themselves and gathered from there (GFTR).
	untransformed bool
	// oneByOne sorts one payload column at a time, as GFTR algorithm 1 does. Otherwise columns of one width are sorted
	// together, as many as a sort moves.
	oneByOne   bool
	mergeSort  bool // sorts by merging (RT 3.3.1), one payload column at a time, instead of digit by digit
	countFirst bool // counts the output of every unit before any is written
}

// The sort-merge joins by their names in GFTR 5.1, with variants.
var (
	OM           = Algorithm{name: "smj-om"}
	OMSingle     = Algorithm{name: "smj-om one by one", oneByOne: true} // takes less memory (GFTR table 2)
	UM           = Algorithm{name: "smj-um", untransformed: true}
	OMMerge      = Algorithm{name: "smj-om-merge", mergeSort: true}  // for comparison: radix sorts are faster
	OMCountFirst = Algorithm{name: "smj-om-count", countFirst: true} // for comparison
)

// Name implements [operator.Algorithm].
func (a Algorithm) Name() string { return a.name }

// decision is what a plan decides: how sorted sides are merged, and what stays of them.
type decision struct {
	config kernel.MergeJoinConfig // the shape of a unit
	walk   bool                   // units are joined by [kernel.MergeWalk], for CPU cores
	keep   [2]bool                // moved columns of a side are of use more than once
}

// Plan implements [operator.Algorithm].
func (a Algorithm) Plan(f *operator.Facts, want operator.Want) (*operator.Plan, error) {
	p := &operator.Plan{Algorithm: a, Facts: *f, Want: want}
	if err := f.Check(a.name, &want); err != nil {
		return nil, err
	}
	keyBits := uint32(f.KeyBytes * 8)
	tuned := f.Tuning.Config("merge_join", backend.Config{"key_bits": keyBits})
	d := decision{config: kernel.MergeJoin.With(tuned), walk: tuned["walk"] == 1}
	d.config.KeyBits = keyBits
	d.keep = [2]bool{operator.Build: f.Kept() || want.Rest[operator.Build], operator.Probe: want.Rest[operator.Probe]}
	p.Detail = d
	return p, a.cost(p)
}

// Open implements [operator.Algorithm]. Counts need no columns: all algorithms count by ranges.
func (a Algorithm) Open(ctx context.Context, lane *exec.Lane, p *operator.Plan) operator.Operator {
	if a.untransformed || p.Want.Count {
		o := ranges.Open(ctx, lane, p.Want)
		o.Once = !p.Facts.Kept()
		return o
	}
	return &merge{Algorithm: a, decision: p.Detail.(decision), facts: p.Facts, want: p.Want, lane: lane.Nested(ctx)}
}
