package sortmerge

import (
	"context"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
)

// OM is the merge join as a plan.
type OM struct{ OneByOne, CountFirst bool }

// Name is the name in GFTR 5.1.
func (a OM) Name() string {
	if a.OneByOne {
		return "smj-om one by one"
	}
	return "smj-om"
}

// Plan books what it takes.
func (a OM) Plan(f *operator.Facts, want operator.Want) (*operator.Plan, error) {
	p := &operator.Plan{Algorithm: a, Facts: *f, Want: want}
	return p, costOM(p, a.OneByOne, a.CountFirst)
}

// Open is that of another tree.
func (OM) Open(context.Context, *exec.Lane, *operator.Plan) operator.Operator { return nil }

// UM is the range search as a plan.
type UM struct{}

// Name is "smj-um".
func (UM) Name() string { return "smj-um" }

// Plan books what it takes.
func (a UM) Plan(f *operator.Facts, want operator.Want) (*operator.Plan, error) {
	p := &operator.Plan{Algorithm: a, Facts: *f, Want: want}
	return p, costUM(p)
}

// Open is that of another tree.
func (UM) Open(context.Context, *exec.Lane, *operator.Plan) operator.Operator { return nil }
