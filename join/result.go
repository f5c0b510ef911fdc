package join

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/ranges"
)

// Result is a join whose matches have been found. Its output is drawn as often as wanted, by one goroutine at a time,
// until Close.
type Result struct {
	Plan   *Plan
	Device backend.DeviceInfo // that did the work
	Rows   uint64             // rows of the output: matching pairs

	taken    *Alternative
	fallback string           // why another one than the plan's first was taken
	matches  *ranges.Matches  // of alternatives that work piece by piece; nil of others
	joined   *resident.Result // of the others; nil where rows are only counted
	refused  bool             // there are more rows than are allowed

	lane    *exec.Lane // of this query alone
	started time.Time
	encode  time.Duration
	matched time.Duration
	deliver atomic.Int64 // nanoseconds of downloads and of fetching by the host
	closed  bool
}

// Close gives the device memory of the result back. Nothing can be drawn afterwards; a second Close does nothing.
func (r *Result) Close() {
	r.closed = true
	if r.matches != nil {
		r.matches.Release()
	}
	if r.joined != nil {
		r.joined.Release()
		r.joined = nil
	}
}

// Stats are the measurements of a join.
type Stats struct {
	Device     string `json:"device"`
	Backend    string `json:"backend"`
	Driver     string `json:"driver"`
	Algorithm  string `json:"algorithm"`
	LeftRows   uint64 `json:"left_rows"`
	RightRows  uint64 `json:"right_rows"`
	OutputRows uint64 `json:"output_rows"`
	// wall time from the start of Run, after planning, to the known number of pairs
	MatchSeconds float64 `json:"match_seconds"`
	// the part of it that encodes keys and submits the uploads of keys and payload; the device may work meanwhile
	EncodeSeconds   float64            `json:"encode_seconds"`
	TotalSeconds    float64            `json:"total_seconds"`     // wall time from the start of Run to this call
	StageSeconds    map[string]float64 `json:"stage_seconds"`     // device time by stage, of work that is done
	DevicePeakBytes uint64             `json:"device_peak_bytes"` // since the last Run on the device, of all its joins
	// the same for staging memory, without tables and batches
	HostPeakBytes uint64             `json:"host_peak_bytes"`
	Fallback      string             `json:"fallback,omitempty"` // why the algorithm is another one than was planned
	Prediction    []StagePrediction  `json:"prediction"`
	Alternatives  []AlternativeStats `json:"alternatives"` // the best first, that which was planned
}

// StagePrediction compares the plan with what came of it.
type StagePrediction struct {
	Stage            string  `json:"stage"`
	PredictedSeconds float64 `json:"predicted_seconds"` // 0 where no rates of the device are known
	ActualSeconds    float64 `json:"actual_seconds"`
}

// AlternativeStats are what was predicted of a way to join.
type AlternativeStats struct {
	Algorithm        string  `json:"algorithm"`
	Columns          string  `json:"columns"` // where those are put together that the device can gather: host or device
	PredictedSeconds float64 `json:"predicted_seconds"`
	PeakBytes        uint64  `json:"device_peak_bytes"`
	Error            string  `json:"error,omitempty"` // why it cannot run
}

// Stats returns what was measured so far.
func (r *Result) Stats() Stats {
	device := r.Plan.engine.Ops.Device() // whose MemoryUse books the work that is done, so it comes before the stages
	s := Stats{
		Device: r.Device.Name, Backend: r.Device.Backend, Driver: r.Device.Driver, Algorithm: r.taken.Name(),
		Fallback: r.fallback,
		LeftRows: uint64(r.Plan.tables[0].NumRows()), RightRows: uint64(r.Plan.tables[1].NumRows()), OutputRows: r.Rows,
		MatchSeconds: r.matched.Seconds(), EncodeSeconds: r.encode.Seconds(),
		TotalSeconds:    time.Since(r.started).Seconds(),
		StageSeconds:    make(map[string]float64),
		DevicePeakBytes: device.MemoryUse(backend.DeviceLocal).Peak,
		HostPeakBytes:   device.MemoryUse(backend.HostVisible).Peak,
	}
	for _, stage := range r.lane.Profile.Stages() {
		s.StageSeconds[stage.Stage] = stage.Time.Seconds()
	}
	measured := r.measured()
	for _, stage := range r.taken.Stages {
		s.Prediction = append(s.Prediction,
			StagePrediction{stage.Name, stage.Time.Seconds(), measured[stage.Name].Seconds()})
	}
	for i := range r.Plan.Alternatives {
		a := &r.Plan.Alternatives[i]
		stats := AlternativeStats{Algorithm: a.Name(), Columns: a.Place.String(), PredictedSeconds: a.Time.Seconds(),
			PeakBytes: a.PeakBytes}
		if a.Err != nil {
			stats.Error = a.Err.Error()
		}
		s.Alternatives = append(s.Alternatives, stats)
	}
	return s
}

// Explain is the text of the plan, with what was measured so far beside what was predicted.
func (r *Result) Explain() string {
	var b strings.Builder
	b.WriteString(r.Plan.String())
	if r.fallback != "" {
		fmt.Fprintf(&b, "instead      %s: %s\n", r.taken.text(), r.fallback)
	}
	measured := r.measured()
	total := [2]time.Duration{}
	for _, stage := range r.taken.Stages {
		fmt.Fprintf(&b, "  %-10s %10s predicted, %10s measured\n", stage.Name, text.Duration(stage.Time),
			text.Duration(measured[stage.Name]))
		total[0] += stage.Time
		total[1] += measured[stage.Name]
	}
	fmt.Fprintf(&b, "  %-10s %10s predicted, %10s measured\n", "all", text.Duration(total[0]), text.Duration(total[1]))
	fmt.Fprintf(&b, "  %-10s %10d predicted, %10d in fact\n", "rows", r.taken.facts.OutputRows, r.Rows)
	return b.String()
}

// checkDraw refuses to draw an output that the join was not asked for, or that is gone.
func (r *Result) checkDraw(want Output) error {
	switch has := r.Plan.Spec.Output; {
	case has != want && !(has == Pairs && want == Ranges):
		return fmt.Errorf("%w: the join was asked for %s, not for %s", backend.ErrInvalidInput, has, want)
	case r.closed:
		return fmt.Errorf("%w: the result of the join was closed", backend.ErrInvalidInput)
	}
	return nil
}

// KeyRanges are matching key ranges in ascending order of the key: every row LeftRows[LeftBegin:LeftBegin+LeftCount] of
// the left table pairs with every row RightRows[RightBegin:RightBegin+RightCount] of the right one.
type KeyRanges struct {
	Ranges    []ranges.KeyRange
	LeftRows  []uint32 // row numbers of the left table in order of the key, without rows that have no key
	RightRows []uint32
}

// KeyRanges returns the matching key ranges; for a join that was asked for Ranges or Pairs.
func (r *Result) KeyRanges(ctx context.Context) (KeyRanges, error) {
	if err := r.checkDraw(Ranges); err != nil {
		return KeyRanges{}, err
	}
	found, left, right, err := r.matches.Ranges(ctx)
	return KeyRanges{found, left, right}, err
}

// PairBatch is a piece of the output as row numbers of the tables: row i pairs Left[i] with Right[i].
type PairBatch struct {
	Left, Right []uint32
}

// Pairs yields the pairs of row numbers in pieces; for a join that was asked for Pairs. The order is not specified. A
// piece is the receiver's to keep. After an error nothing follows.
func (r *Result) Pairs(ctx context.Context) iter.Seq2[PairBatch, error] {
	return func(yield func(PairBatch, error) bool) {
		if err := r.checkDraw(Pairs); err != nil {
			yield(PairBatch{}, err)
			return
		}
		for p, err := range r.pieces(ctx) {
			if err != nil {
				yield(PairBatch{}, err)
				return
			}
			if !yield(p.pairs, nil) {
				return
			}
		}
	}
}
