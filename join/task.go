package join

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// task is what an engine runs without knowing of other tasks: a join, or a part of one that was divided. It is made
// once, from the specification, which never changes, and by whoever divides the join.
type task struct {
	layout *Layout // of the output
	how    How     // what the task decides: a full join in blocks is a left join of blocks, then a right anti join
	output Output
	order  Order
	build  BuildSide // BuildAuto: the side with fewer rows or, if that is unknown, whichever ends first
	depth  int       // number of divisions that made it
	shares
}

// shares are what the tasks of one join have in common.
type shares struct {
	quota    *deliver.Quota // of output rows
	progress *exec.Progress
}

// task returns the whole join.
func (l *Layout) task() *task {
	spec := &l.Spec
	return &task{layout: l, how: spec.How, output: spec.Output, order: spec.Order, build: spec.BuildSide,
		shares: spec.shares()}
}

// shares returns a new quota and a new progress.
func (s *Spec) shares() shares {
	most := s.MaxOutputRows
	if most == 0 && s.How == Cross && s.Output != Count {
		most = CrossLimit
	}
	return shares{&deliver.Quota{Most: most}, exec.NewProgress(s.Progress)}
}

// renewed returns the task for another run, whose rows and progress count anew.
func (t *task) renewed() *task {
	anew := *t
	anew.shares = t.layout.Spec.shares()
	return &anew
}

// building returns the task with a side as its build side.
func (t *task) building(side relation.Side) *task {
	fixed := *t
	fixed.build = [2]BuildSide{BuildLeft, BuildRight}[side]
	return &fixed
}

// at returns the task of a division of some depth.
func (t *task) at(depth int) *task {
	part := *t
	part.depth = depth
	return &part
}

// unordered returns the task with rows in any order.
func (t *task) unordered() *task {
	fixed := *t
	fixed.order = Unordered
	return &fixed
}

// ordered tells whether rows come in an order.
func (t *task) ordered() bool { return t.order != Unordered && t.output != Count }

// streamBuildSide is the side of two sources that is the build side. If it is not known, either may be it.
func (t *task) streamBuildSide(sources [2]source.Source) (side relation.Side, known bool) {
	left, right := &sources[relation.Left], &sources[relation.Right]
	leftAble, rightAble := t.checkStream(relation.Left) == nil, t.checkStream(relation.Right) == nil
	takeRight := false
	switch {
	case t.build != BuildAuto:
		takeRight = t.build == BuildRight
	case leftAble != rightAble:
		takeRight = rightAble
	case left.Rows >= 0 && right.Rows >= 0:
		takeRight = right.Rows < left.Rows
	case left.Table() != nil || right.Table() != nil:
		takeRight = left.Table() == nil
	default:
		return relation.Left, false
	}
	if takeRight {
		return relation.Right, true
	}
	return relation.Left, true
}

// CheckStream returns backend.ErrUnsupported if a join with this build side needs all rows of the probe side at once.
// BuildAuto is the left side.
func (l *Layout) CheckStream(build BuildSide) error {
	return l.task().checkStream(sideOf(build))
}

// CheckDivided returns backend.ErrUnsupported if a join with this build side cannot divide both sides.
func (l *Layout) CheckDivided(build BuildSide) error {
	return l.task().unordered().checkStream(sideOf(build))
}

// sideOf is the table that is the build side; the left one if any may be.
func sideOf(build BuildSide) relation.Side {
	if build == BuildRight {
		return relation.Right
	}
	return relation.Left
}

// checkStream is CheckStream for a task.
func (t *task) checkStream(build relation.Side) error {
	spec, probe := &t.layout.Spec, 1-build
	detail, ordered := "", [...]relation.Side{LeftOrder: relation.Left, RightOrder: relation.Right}
	switch {
	case spec.Strategy == StrategyHMG:
		detail = "the strategy hmg sorts both tables; read both whole"
	case t.how == NotIn && probe == relation.Right:
		detail = "a not-in join needs all rows of the right side first; make it the build side"
	case t.output == Ranges:
		detail = "key ranges need two tables; read both sources whole"
	case spec.Validate.Unique(probe):
		detail = fmt.Sprintf("the keys of the %s side are checked for uniqueness only if it is the build side; leave out "+
			"validate or read the source whole", probe)
	case t.ordered() && t.how.Pairs() && ordered[t.order] == build:
		detail = fmt.Sprintf("rows come in the order of the side that is read part by part; for that of the %s side, make "+
			"the %s side the build side, or read both whole", build, probe)
	default:
		return nil
	}
	return &backend.OpError{Op: "join stream", Err: backend.ErrUnsupported, Detail: detail}
}
