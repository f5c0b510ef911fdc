package join

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// Form is which rows a join, or a part of one, outputs, and how. Parts of a join may have other forms than the whole.
type Form struct {
	How    How
	Output Output
	Order  Order
}

// Form returns the form that the specification asks for.
func (l *Layout) Form() Form { return Form{l.Spec.How, l.Spec.Output, l.Spec.Order} }

// Ordered reports whether rows come in an order.
func (f Form) Ordered() bool { return f.Order != Unordered && !f.Undelivered() }

// Undelivered reports whether no row comes to the host.
func (f Form) Undelivered() bool { return f.Output == Count || f.Output == Consumed }

// CheckStream returns backend.ErrUnsupported if a join with this build side needs all rows of the probe side at once.
// BuildAuto is the left side.
func (l *Layout) CheckStream(build BuildSide) error {
	return l.CheckForm(l.Form(), build.Side())
}

// CheckDivided returns backend.ErrUnsupported if a join with this build side cannot divide both sides, whose parts come
// in any order.
func (l *Layout) CheckDivided(build BuildSide) error {
	f := l.Form()
	f.Order = Unordered
	return l.CheckForm(f, build.Side())
}

// CheckForm is CheckStream for another form of the output.
func (l *Layout) CheckForm(f Form, build relation.Side) error {
	spec, probe := &l.Spec, 1-build
	detail, ordered := "", [...]relation.Side{LeftOrder: relation.Left, RightOrder: relation.Right}
	switch {
	case spec.Strategy == StrategyHMG:
		detail = "the strategy hmg needs both tables; read both whole"
	case f.How == NotIn && probe == relation.Right:
		detail = "a not-in join needs all rows of the right side first; make it the build side"
	case spec.Validate.Unique(probe):
		detail = fmt.Sprintf("the keys of the %s side are checked for uniqueness only if it is the build side; leave out "+
			"validate or read the source whole", probe)
	case f.Ordered() && f.How.Pairs() && ordered[f.Order] == build:
		detail = fmt.Sprintf("rows come in the order of the side that is read part by part; for that of the %s side, make "+
			"the %s side the build side, or read both whole", build, probe)
	default:
		return nil
	}
	return &backend.OpError{Op: "join stream", Err: backend.ErrUnsupported, Detail: detail}
}
