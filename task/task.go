// Package task divides joins into tasks and runs them. A task is a join of two sources that is run without knowledge of
// other tasks. A policy makes the tasks. The scheduler has workers run them: while the output of one is drawn, the next
// ones begin. Their outputs, one after the other or merged in an order, are the output of the join.
//
//	join ── policy ──► task, task, ... ──► scheduler ──► run (package engine) ──► output
//
// The policies are parts of both sides by hashes of the keys ([parts]) and blocks of one side ([blocks]), of which
// [Divide] chooses one, and ranges of the keys of two tables ([DivideByRanges]), each of which runs on one device.
// docs/extending.md shows how to add a policy.
package task

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// Task is a join that is run without knowledge of other tasks: a whole join, or a part of one that was divided. [Whole]
// makes the first one from the specification, which never changes; a policy makes parts of it.
type Task struct {
	Layout *join.Layout // of the output
	join.Form
	Build   join.BuildSide // BuildAuto: the side with fewer rows or, if that is unknown, whichever ends first
	Sources [2]source.Source
	Depth   int // number of divisions that made it
	Shares
	Range *Range // the rows of both tables that the task joins; nil: all rows of the sources

	// The following fields describe a part of a join.
	name     string
	again    [2]bool     // sides whose rows were in earlier tasks
	from, to float64     // shares of the join that are done before and after the task; 0 if unknown
	ended    func()      // frees what the task needs; may be nil
	block    arrow.Table // the rows of one side, if that is a block of [blocks]; otherwise nil
}

// Shares are what the tasks of one join have in common.
type Shares struct {
	Quota    *deliver.Quota // of output rows
	Progress *exec.Progress
	Consumer deliver.Consumer // takes the rows on the devices; nil: they come to the host, or are counted
}

// Whole returns the task that is all of a join. If there is a consumer, it takes the rows.
func Whole(layout *join.Layout, left, right source.Source, consumer deliver.Consumer) *Task {
	t := &Task{Layout: layout, Form: layout.Form(), Build: layout.Spec.BuildSide,
		Sources: [2]source.Source{left, right}, Shares: newShares(&layout.Spec)}
	if t.Consumer = consumer; consumer != nil {
		t.Output = join.Consumed
	}
	return t
}

// newShares returns a new quota and a new progress.
func newShares(spec *join.Spec) Shares {
	most := spec.MaxOutputRows
	if most == 0 && spec.How == join.Cross && spec.Output != join.Count {
		most = join.CrossLimit
	}
	return Shares{Quota: &deliver.Quota{Most: most}, Progress: exec.NewProgress(spec.Progress)}
}

// Renewed returns the task for another run, with a new quota and a new progress.
func (t *Task) Renewed() *Task {
	anew := *t
	anew.Shares = newShares(&t.Layout.Spec)
	return &anew
}

// Building returns the task with a side as its build side.
func (t *Task) Building(side relation.Side) *Task {
	fixed := *t
	fixed.Build = [2]join.BuildSide{join.BuildLeft, join.BuildRight}[side]
	return &fixed
}

// Unordered returns the task with rows in any order.
func (t *Task) Unordered() *Task {
	fixed := *t
	fixed.Order = join.Unordered
	return &fixed
}

// numbered returns the task for parts of both sides, whose rows have numbers where that is needed.
func (t *Task) numbered() *Task {
	part := *t
	part.Layout, part.Form = t.Layout.Numbered(t.Form)
	return &part
}

// part returns a part of the task, at a depth of divisions.
func (t *Task) part(name string, depth int, left, right source.Source) *Task {
	part := *t
	part.name, part.Depth, part.Sources, part.ended = name, depth, [2]source.Source{left, right}, nil
	return &part
}

// share is the share of all rows that some of them are, of a number that may be an estimate.
func share(some, all int64) float64 { return min(1, float64(some)/float64(max(1, all))) }

// Title is the first line of the text of a plan.
func (t *Task) Title(leftRows, rightRows string) string {
	return fmt.Sprintf("%s join of %s x %s rows, output %s", t.How, leftRows, rightRows, t.Output)
}

// Tables reports whether both sources are tables.
func (t *Task) Tables() bool {
	return t.Sources[relation.Left].Table() != nil && t.Sources[relation.Right].Table() != nil
}

// CheckStream returns backend.ErrUnsupported if the task needs all rows of the probe side at once.
func (t *Task) CheckStream(build relation.Side) error { return t.Layout.CheckForm(t.Form, build) }

// BuildSide returns the side that is the build side. If it is not known, either may be it.
func (t *Task) BuildSide() (side relation.Side, known bool) {
	left, right := &t.Sources[relation.Left], &t.Sources[relation.Right]
	leftAble, rightAble := t.CheckStream(relation.Left) == nil, t.CheckStream(relation.Right) == nil
	takeRight := false
	switch {
	case t.Build != join.BuildAuto:
		takeRight = t.Build == join.BuildRight
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
