package spirjoin

import (
	"context"

	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/ranks"
)

// Job is one rank of a job and its connection with the others; see [cluster.Job]. [cluster.Local] makes the ranks of a
// job of goroutines.
type Job = cluster.Job

// LostRank is the error of the ranks of a job that another one has ended; it wraps ErrCancelled.
type LostRank = cluster.Lost

// DistributedResult is this rank's part of a join over the ranks of a job. [ranks.Result] documents it in full:
// Batches(ctx), Pairs(ctx), Rows(), Schema(), Stats(), Explain() and Close() are as in [JoinResult]; Finish(ctx) ends
// the join on all ranks and returns [DistributedTotals]; Exchanged() counts what moved.
type DistributedResult = ranks.Result

// DistributedTotals are the numbers of all ranks at the end of a join, from DistributedResult.Finish.
type DistributedTotals = ranks.Totals

// JoinDistributed joins two tables of which each rank of a job has a share. left and right are the shares of this rank;
// the shares of a side follow one another in the order of the ranks. Rows with equal keys meet on one rank, or all rows
// of a small side go to all ranks. Each rank gets a part of the output. If spec asks for an
// order, the output of rank 0, then of rank 1, and so on, has it.
//
// It is collective: all ranks call it with equal specifications, each on an engine of its own, one join after the
// other. It returns when this rank has its first rows. Each rank then draws its part and calls Finish, which waits for
// all ranks; a result that is closed before ends the job. The caller closes the result; the sources must stay alive,
// and ctx must not end, until then. Under Options.MemoryLimitBytes a quarter is for rows on their way, and the join is
// planned for the rest.
//
// spec.MaxOutputRows limits the rows of all ranks together: Finish returns ErrLimit on all of them if there are more.
// Rows within a rank's own limit may have been drawn by then.
//
// An error of one rank ends the job: the other ranks return a *LostRank that names it. Errors: as for
// [Engine.JoinStream]; ErrInvalidInput if ranks differ in what they join; ErrUnsupported for StrategyHMG, and for pairs
// of shares that are not tables.
func (e *Engine) JoinDistributed(ctx context.Context, job Job, left, right Source, spec JoinSpec) (
	*DistributedResult, error) {
	return (&ranks.Engine{Joins: e.join}).Join(ctx, job, left, right, spec)
}

// JoinDistributedLayout is JoinDistributed with an existing layout. The layout may come from schemas with more columns
// than the sources, so that a caller can read only the columns in layout.Needed.
func (e *Engine) JoinDistributedLayout(ctx context.Context, job Job, layout *JoinLayout, left, right Source) (
	*DistributedResult, error) {
	return (&ranks.Engine{Joins: e.join}).JoinLayout(ctx, job, layout, left, right)
}
