package query

import (
	"context"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
)

// advance is the sink of a granule that reports how far its join has come. Rows of the probe side count as joined as
// their output is made: of a granule of 1,000 rows with 5,000 pairs, 200 are joined with the first window of 1,000.
type advance struct {
	operator.Sink
	result *Result
	tests  bool   // pairs are candidates, of which the sink takes some
	rows   uint64 // of the probe side
	before uint64 // output rows of the query before this granule

	counted, put uint64 // pairs
}

// Count passes the number of rows on, which tells how much output there will be.
func (a *advance) Count(ctx context.Context, rows uint64) error {
	a.counted += rows
	if err := a.Sink.Count(ctx, rows); err != nil {
		return err
	}
	a.report(0)
	return nil
}

// Put reports the rows of a window, and passes it on.
func (a *advance) Put(ctx context.Context, w *operator.Window) error {
	a.report(w.Rows)
	return a.Sink.Put(ctx, w)
}

// report reports that further pairs were made.
func (a *advance) report(rows uint64) {
	output := a.result.Rows() - a.before
	if a.tests { // the output of those tested so far
		output = uint64(float64(output) * float64(a.counted) / float64(max(1, a.put)))
	}
	a.put += rows
	share := float64(min(a.put, a.counted)) / float64(max(1, a.counted))
	a.result.Query.Progress.Joining(exec.Granule{Rows: a.rows, Joined: uint64(share * float64(a.rows)), Output: output})
}
