package endtoend

import (
	"time"

	"github.com/spirjoin/spirjoin/bench/measure"
)

// Result is a measured way.
type Result struct {
	Run   Run             // whose wall time is the median, the lower one of two
	Times measure.Summary // wall times of all runs
	rates *Rates
}

func resultOf(runs []Run) *Result {
	median, times := measure.Median(runs, func(r Run) time.Duration { return r.Wall })
	return &Result{Run: median, Times: times}
}
