// Package measure has what all benchmarks share: repeated runs and their summary, the errors for a wrong result and for
// a case that does not fit, the lists of figures, the tables that a run prints, and the file of its results.
package measure

import (
	"slices"
	"time"
)

// Summary summarizes repeated times. Spread is the distance between the quartiles.
type Summary struct {
	Runs                     int
	Median, Min, Max, Spread time.Duration
}

// Summarize returns the zero Summary for no times.
func Summarize(times []time.Duration) Summary {
	if len(times) == 0 {
		return Summary{}
	}
	sorted := slices.Sorted(slices.Values(times))
	return Summary{Runs: len(sorted), Median: quantile(sorted, 0.5), Min: sorted[0], Max: sorted[len(sorted)-1],
		Spread: quantile(sorted, 0.75) - quantile(sorted, 0.25)}
}

// quantile interpolates between the two times beside a share of them, which are sorted.
func quantile(sorted []time.Duration, share float64) time.Duration {
	at := share * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + time.Duration((at-float64(low))*float64(sorted[high]-sorted[low]))
}

// Nanoseconds are the median, the least, the greatest time and the spread.
func (s *Summary) Nanoseconds() (numbers []uint64) {
	for _, t := range []time.Duration{s.Median, s.Min, s.Max, s.Spread} {
		numbers = append(numbers, uint64(t.Nanoseconds()))
	}
	return numbers
}

// warmUp calls run until this much time has passed, because an idle GPU runs at a fraction of its clock. The first error
// ends it.
func warmUp(long time.Duration, run func() error) error {
	for start := time.Now(); time.Since(start) < long; {
		if err := run(); err != nil {
			return err
		}
	}
	return nil
}
