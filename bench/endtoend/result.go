package endtoend

import (
	"cmp"
	"slices"
	"time"
)

// Result is a measured way: one of its runs, and how many there were.
type Result struct {
	Run   Run // whose wall time is the median, the lower one of two
	Runs  int
	Min   time.Duration // wall time of the fastest run
	rates *Rates
}

// resultOf chooses the run to report, so that all its figures are of one run. There is at least one.
func resultOf(runs []Run) *Result {
	slices.SortStableFunc(runs, func(a, b Run) int { return cmp.Compare(a.Wall, b.Wall) })
	return &Result{Run: runs[(len(runs)-1)/2], Runs: len(runs), Min: runs[0].Wall}
}
