package join

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/sortmerge"
)

// Result is a join whose matches have been found. Its output is drawn as often as wanted, by one goroutine at a time, until Close.
type Result struct {
	Plan   *Plan
	Device backend.DeviceInfo // that did the work
	Rows   uint64             // rows of the output: matching pairs

	matches *sortmerge.Matches
	profile backend.Profile
	started time.Time
	encode  time.Duration
	matched time.Duration
	closed  bool
}

// Close gives the device memory of the result back. Nothing can be drawn afterwards; a second Close does nothing.
func (r *Result) Close() {
	r.closed = true
	r.matches.Release()
}

// Stats are the measurements of a join.
type Stats struct {
	Device          string             `json:"device"`
	Backend         string             `json:"backend"`
	Driver          string             `json:"driver"`
	Algorithm       string             `json:"algorithm"`
	LeftRows        uint64             `json:"left_rows"`
	RightRows       uint64             `json:"right_rows"`
	OutputRows      uint64             `json:"output_rows"`
	MatchSeconds    float64            `json:"match_seconds"`     // wall time from the start of Run, after planning, to the known number of pairs
	EncodeSeconds   float64            `json:"encode_seconds"`    // of it, encoding keys and submitting their upload; the device may sort meanwhile
	TotalSeconds    float64            `json:"total_seconds"`     // wall time from the start of Run to this call
	StageSeconds    map[string]float64 `json:"stage_seconds"`     // device time by stage, of work that is done
	DevicePeakBytes uint64             `json:"device_peak_bytes"` // since the last Run on the device, of all its joins
	HostPeakBytes   uint64             `json:"host_peak_bytes"`   // the same of staging memory; tables and batches are not in it
}

// Stats returns what was measured so far.
func (r *Result) Stats() Stats {
	device := r.Plan.engine.Ops.Device() // whose MemoryUse books the work that is done, so it comes before the stages
	s := Stats{
		Device: r.Device.Name, Backend: r.Device.Backend, Driver: r.Device.Driver, Algorithm: "sort-merge",
		LeftRows: uint64(r.Plan.tables[0].NumRows()), RightRows: uint64(r.Plan.tables[1].NumRows()), OutputRows: r.Rows,
		MatchSeconds: r.matched.Seconds(), EncodeSeconds: r.encode.Seconds(), TotalSeconds: time.Since(r.started).Seconds(),
		StageSeconds:    make(map[string]float64),
		DevicePeakBytes: device.MemoryUse(backend.DeviceLocal).Peak, HostPeakBytes: device.MemoryUse(backend.HostVisible).Peak,
	}
	for _, stage := range r.profile.Stages() {
		s.StageSeconds[stage.Stage] = stage.Time.Seconds()
	}
	return s
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
	Ranges    []sortmerge.KeyRange
	LeftRows  []uint32 // row numbers of the left table in order of the key, without rows that have no key
	RightRows []uint32
}

// KeyRanges returns the matching key ranges; for a join that was asked for Ranges or Pairs.
func (r *Result) KeyRanges(ctx context.Context) (KeyRanges, error) {
	if err := r.checkDraw(Ranges); err != nil {
		return KeyRanges{}, err
	}
	ranges, left, right, err := r.matches.Ranges(ctx)
	return KeyRanges{ranges, left, right}, err
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
		for p := range r.pieces(ctx) {
			if !yield(p.pairs, p.err) {
				return
			}
		}
	}
}
