package measure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
)

// Timed is one run: by the clock of the host, from the call to the end of the device's work, and by the timestamps of
// the device, if it has them.
type Timed struct {
	Wall   time.Duration
	Stages []backend.StageTime
}

func (t Timed) onDevice() (sum time.Duration) {
	for _, s := range t.Stages {
		sum += s.Time
	}
	return sum
}

// Sample is what repeated runs took.
type Sample struct {
	Times      Summary // of all stages together, on the device; Wall if it has no timestamps
	DeviceTime bool    // the device has timestamps
	Wall       Summary
	Stages     []backend.StageTime // of the run whose time is the median
}

// SampleOf returns the zero Sample for no runs.
func SampleOf(runs []Timed) (s Sample) {
	var median Timed
	median, s.Times = Median(runs, Timed.onDevice)
	_, s.Wall = Median(runs, func(t Timed) time.Duration { return t.Wall })
	if s.Stages = median.Stages; len(s.Stages) == 0 {
		s.Times = s.Wall
	}
	s.DeviceTime = len(s.Stages) > 0
	return s
}

// Clock names the clock of Times: the timestamps of the device, or the clock of the host.
func (s *Sample) Clock() string {
	if s.DeviceTime {
		return "device"
	}
	return "host"
}

// Median returns the run whose time is the median (the lower one of two), so that all figures of a report are of one
// run, and the summary of all times. Both are zero for no runs.
func Median[R any](runs []R, took func(R) time.Duration) (median R, s Summary) {
	if len(runs) == 0 {
		return median, s
	}
	var times []time.Duration
	for _, r := range runs {
		times = append(times, took(r))
	}
	sorted := slices.SortedStableFunc(slices.Values(runs), func(a, b R) int { return cmp.Compare(took(a), took(b)) })
	return sorted[(len(sorted)-1)/2], Summarize(times)
}

// StagesOf returns the stages of times in seconds, in the order of their names.
func StagesOf(seconds map[string]float64) (stages []backend.StageTime) {
	for _, stage := range slices.Sorted(maps.Keys(seconds)) {
		stages = append(stages, backend.StageTime{Stage: stage, Time: time.Duration(math.Round(seconds[stage] * 1e9))})
	}
	return stages
}

// StagesText lists stages with their times.
func StagesText(stages []backend.StageTime) string {
	var texts []string
	for _, s := range stages {
		texts = append(texts, s.Stage+" "+text.Duration(s.Time))
	}
	return strings.Join(texts, ", ")
}

// StagesField lists stages for a file: name=nanoseconds, separated by semicolons.
func StagesField(stages []backend.StageTime) string {
	var texts []string
	for _, s := range stages {
		texts = append(texts, fmt.Sprintf("%s=%d", s.Stage, s.Time.Nanoseconds()))
	}
	return strings.Join(texts, ";")
}

// Verified are the fields of a file that say whether a result was verified, and otherwise why it was skipped.
func Verified(skipped error) (verified, reason string) {
	if skipped != nil {
		return "no", text.OneLine(skipped.Error())
	}
	return "yes", ""
}
