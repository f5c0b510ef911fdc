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
}

// Close gives the device memory of the result back.
func (r *Result) Close() { r.matches.Release() }

// Stats are the measurements of a join.
type Stats struct {
	Device          string             `json:"device"`
	Backend         string             `json:"backend"`
	Driver          string             `json:"driver"`
	Algorithm       string             `json:"algorithm"`
	LeftRows        uint64             `json:"left_rows"`
	RightRows       uint64             `json:"right_rows"`
	OutputRows      uint64             `json:"output_rows"`
	MatchSeconds    float64            `json:"match_seconds"`  // wall time from the start to the known number of pairs
	EncodeSeconds   float64            `json:"encode_seconds"` // of it, encoding and uploading keys
	TotalSeconds    float64            `json:"total_seconds"`  // wall time from the start to this call
	StageSeconds    map[string]float64 `json:"stage_seconds"`  // device time by stage
	DevicePeakBytes uint64             `json:"device_peak_bytes"`
	HostPeakBytes   uint64             `json:"host_peak_bytes"` // of memory shared with the device: staging
}

// Stats returns what was measured so far.
func (r *Result) Stats() Stats {
	device := r.Plan.engine.Ops.Device()
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

func (r *Result) wrongOutput(want Output) error {
	return fmt.Errorf("%w: the join was asked for %s, not for %s", backend.ErrInvalidInput, r.Plan.Spec.Output, want)
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
	if o := r.Plan.Spec.Output; o != Ranges && o != Pairs {
		return KeyRanges{}, r.wrongOutput(Ranges)
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
	if r.Plan.Spec.Output != Pairs {
		return func(yield func(PairBatch, error) bool) { yield(PairBatch{}, r.wrongOutput(Pairs)) }
	}
	return func(yield func(PairBatch, error) bool) {
		for p := range r.pieces(ctx) {
			if !yield(p.pairs, p.err) {
				return
			}
		}
	}
}
