package query

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
)

// Result is a running query. One goroutine may draw its output, once, while the query makes the next rows. The owner
// closes it.
type Result struct {
	Query  *Query
	Device backend.DeviceInfo // the device that runs the query

	checked func() error // waits for the check of the query

	lanes []*Lane // of each device; the first one runs Query
	team  Team

	flow *exec.Flow
	out  *exec.Output[*deliver.Piece]
	rows atomic.Uint64
	all  atomic.Bool // rows is the number of all

	granules, probed atomic.Uint64 // number of granules begun; rows of parts joined

	started time.Time
	matched time.Duration
	encode  atomic.Int64 // nanoseconds
	deliver atomic.Int64 // nanoseconds of downloads
	gather  atomic.Int64 // nanoseconds of gathers on the host
}

// Rows returns the number of output rows known so far. It is complete for a count, and once the output was drawn. If
// the probe side came in one granule, it is complete before that, except for rows without a partner.
func (r *Result) Rows() uint64 { return r.rows.Load() }

// Counted reports whether Rows is the number of all output rows: for a count, when the output was drawn, and often
// before.
func (r *Result) Counted() bool { return r.all.Load() }

// Close ends the query and releases its memory. Nothing can be drawn afterwards; a second Close does nothing.
func (r *Result) Close() {
	if !r.out.Close() {
		return
	}
	if r.Query.Release != nil {
		defer r.Query.Release()
	}
	if first := r.lanes[0]; first.kept {
		first.built.probed()
	}
}

// Schema returns the schema of the record batches.
func (r *Result) Schema() *arrow.Schema { return r.Query.Schema }

// Batches yields the output as record batches of at most BatchRows rows. The receiver releases each batch. Nothing
// follows an error. A join without output rows yields nothing.
func (r *Result) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if r.Query.Numbers || !r.Query.delivers(r.lanes[0].taken) {
			yield(nil, fmt.Errorf("%w: the join was not asked for rows", backend.ErrInvalidInput))
			return
		}
		ctx, drawn := exec.Track(exec.WithTrace(ctx, r.Query.Engine.Trace), "draw")
		defer drawn()
		for p, err := range r.pieces(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			start, span := time.Now(), exec.Begin(ctx, "complete batch")
			more := p.Batches(ctx, r.Query.Schema, r.Query.Engine.Allocator,
				func(batch arrow.RecordBatch, err error) bool {
					r.gather.Add(int64(time.Since(start)))
					span.End()
					more := yield(batch, err)
					start, span = time.Now(), exec.Begin(ctx, "complete batch")
					return more
				})
			p.Release()
			if !more {
				return
			}
		}
	}
}

// Pairs is a part of the output as row numbers: row LeftFirst + Left[i] of the left side pairs with row RightFirst +
// Right[i] of the right side. LeftFirst and RightFirst are 0 for joins of tables. If the probe side comes part by part,
// and may have more rows than 32 bits count, its first row is the first row of the current part.
type Pairs struct {
	Left, Right           []uint32
	LeftFirst, RightFirst uint64
}

// Pairs yields the pairs of row numbers, piece by piece, for a join that was asked for them. The receiver may keep a
// piece. Nothing follows an error.
func (r *Result) Pairs(ctx context.Context) iter.Seq2[Pairs, error] {
	return func(yield func(Pairs, error) bool) {
		if !r.Query.Numbers {
			yield(Pairs{}, fmt.Errorf("%w: the join was not asked for pairs", backend.ErrInvalidInput))
			return
		}
		for p, err := range r.pieces(ctx) {
			if err != nil {
				yield(Pairs{}, err)
				return
			}
			pairs := Pairs{p.Numbers[0], p.Numbers[1], p.First[0], p.First[1]}
			p.Release()
			if !yield(pairs, nil) {
				return
			}
		}
	}
}

// pieces yields the output piece by piece. The receiver releases each piece. If the receiver stops, the query ends.
func (r *Result) pieces(ctx context.Context) iter.Seq2[*deliver.Piece, error] {
	return func(yield func(*deliver.Piece, error) bool) {
		for p, err := range r.out.All(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			rows, start := uint64(p.Rows), time.Now()
			if !yield(p, nil) {
				return
			}
			r.Query.Progress.Drawn(rows, time.Since(start))
		}
	}
}

// Stats are the measurements of a query.
type Stats struct {
	Device     string `json:"device"`
	Backend    string `json:"backend"`
	Driver     string `json:"driver"`
	Algorithm  string `json:"algorithm"`
	Strategy   string `json:"strategy,omitempty"` // by which several devices share the join: hmg
	LeftRows   uint64 `json:"left_rows"`
	RightRows  uint64 `json:"right_rows"`
	ProbeRows  uint64 `json:"-"`           // LeftRows or RightRows, whichever side probes; 0 if several tasks were joined
	OutputRows uint64 `json:"output_rows"` // number known so far; complete once the output was drawn
	Granules   uint64 `json:"granules"`    // number of granules of the probe side so far
	// Devices are those that join parts of the probe side, the first of which is Device; nil if that is the only one.
	Devices []DeviceStats `json:"devices,omitempty"`
	// Failures are the devices that have failed, whose parts the others have joined.
	Failures []DeviceFailure `json:"failures,omitempty"`
	// Without are devices of the engine that the join did without from the start, because they were lost before. Their
	// failure is among the Failures of an earlier join.
	Without []DeviceFailure `json:"without,omitempty"`
	// Wall time from the start of Run, after planning, to the first rows or, for counts, to the end.
	MatchSeconds float64 `json:"match_seconds"`
	// The part of it in which keys are encoded, and uploads of keys and payload submitted. The device may work
	// meanwhile.
	EncodeSeconds float64 `json:"encode_seconds"`
	// Time in which the host fetched columns by row number and completed record batches. The device may work meanwhile.
	GatherSeconds   float64            `json:"gather_seconds"`
	TotalSeconds    float64            `json:"total_seconds"`     // wall time from the start of Run to this call
	StageSeconds    map[string]float64 `json:"stage_seconds"`     // device time of finished work, by stage
	DevicePeakBytes uint64             `json:"device_peak_bytes"` // since the last Run on the device, for all its joins
	// The same for the buffers through which a GPU copies, without tables and batches; 0 on devices whose memory is
	// host memory.
	HostPeakBytes uint64             `json:"host_peak_bytes"`
	Prediction    []StagePrediction  `json:"prediction"`
	Alternatives  []AlternativeStats `json:"alternatives"` // the first one was chosen
	// Ways are those in which one device or several could run the query, of which the first one was chosen; nil if
	// there was one device, or its rates are not known.
	Ways []WayStats `json:"ways,omitempty"`
}

// WayStats are the prediction for one way to use the devices.
type WayStats struct {
	Way              string  `json:"way"`
	PredictedSeconds float64 `json:"predicted_seconds"` // 0 if it was not considered
	Reason           string  `json:"reason,omitempty"`  // why it was not considered, or not chosen
}

// DeviceStats are the measurements of one of several devices.
type DeviceStats struct {
	Device    string `json:"device"`
	Backend   string `json:"backend"`
	Algorithm string `json:"algorithm"`
	Granules  uint64 `json:"granules"`
	ProbeRows uint64 `json:"probe_rows"` // in them
}

// DeviceFailure is why a device has not joined to the end.
type DeviceFailure struct {
	Device string `json:"device"`
	Error  string `json:"error"`
}

// StagePrediction compares the predicted time of a stage with the measured one.
type StagePrediction struct {
	Stage            string  `json:"stage"`
	PredictedSeconds float64 `json:"predicted_seconds"` // 0 if no rates of the device are known
	ActualSeconds    float64 `json:"actual_seconds"`
}

// AlternativeStats are the predictions for one alternative.
type AlternativeStats struct {
	Algorithm        string  `json:"algorithm"`
	Columns          string  `json:"columns"` // where columns are gathered that the device can gather: host or device
	PredictedSeconds float64 `json:"predicted_seconds"`
	PeakBytes        uint64  `json:"device_peak_bytes"`
	Error            string  `json:"error,omitempty"` // why it cannot run
}

// Stats returns the measurements so far.
func (r *Result) Stats() Stats {
	first := r.lanes[0]
	s := Stats{
		Device: r.Device.Name, Backend: r.Device.Backend, Driver: r.Device.Driver,
		Algorithm: first.taken.Algorithm.Name(), Strategy: r.Query.Strategy, OutputRows: r.Rows(), Granules: r.granules.Load(),
		MatchSeconds: r.matched.Seconds(), EncodeSeconds: time.Duration(r.encode.Load()).Seconds(),
		GatherSeconds: time.Duration(r.gather.Load()).Seconds(),
		TotalSeconds:  time.Since(r.started).Seconds(),
		StageSeconds:  make(map[string]float64),
	}
	for _, lane := range r.lanes { // MemoryUse records finished work in the profile, so it is called before Stages
		device := lane.Query.Engine.Device()
		s.DevicePeakBytes += device.MemoryUse(backend.DeviceLocal).Peak
		s.HostPeakBytes += device.MemoryUse(backend.HostVisible).Peak
	}
	for _, lane := range r.lanes {
		if len(r.lanes) > 1 {
			info := lane.Query.Engine.Device().Info()
			s.Devices = append(s.Devices, DeviceStats{Device: info.Name, Backend: info.Backend,
				Algorithm: lane.taken.Algorithm.Name(), Granules: lane.begun.Load(), ProbeRows: lane.brought.Load()})
		}
	}
	s.Failures = r.team.Failures()
	for _, scan := range first.taken.Scans {
		*[]*uint64{&s.LeftRows, &s.RightRows}[scan.Side] = scan.all()
	}
	if r.Query.Parts {
		*[]*uint64{&s.LeftRows, &s.RightRows}[first.taken.Scans[operator.Probe].Side] = r.probed.Load()
	}
	s.ProbeRows = [...]uint64{s.LeftRows, s.RightRows}[first.taken.Scans[operator.Probe].Side]
	for _, lane := range r.lanes {
		for _, stage := range lane.profile.Stages() {
			s.StageSeconds[stage.Stage] += stage.Time.Seconds()
		}
	}
	measured := r.measured()
	for _, stage := range r.lanes[0].taken.Stages {
		s.Prediction = append(s.Prediction,
			StagePrediction{stage.Name, stage.Time.Seconds(), measured[stage.Name].Seconds()})
	}
	for i := range r.Query.Alternatives {
		a := &r.Query.Alternatives[i]
		stats := AlternativeStats{Algorithm: a.Algorithm.Name(), Columns: a.Place, PredictedSeconds: a.Time().Seconds(),
			PeakBytes: a.PeakBytes}
		if a.Err != nil {
			stats.Error = a.Err.Error()
		}
		s.Alternatives = append(s.Alternatives, stats)
	}
	for _, w := range r.Query.Ways {
		s.Ways = append(s.Ways, WayStats{w.Name, w.Time.Seconds(), w.Reason})
	}
	return s
}

// measured returns the measured time of each stage of the plan, for finished work: host time of loading and delivery,
// device time of all others.
func (r *Result) measured() map[string]time.Duration {
	times := map[string]time.Duration{operator.Load: time.Duration(r.encode.Load()),
		operator.Deliver: time.Duration(r.deliver.Load() + r.gather.Load())}
	for _, lane := range r.lanes {
		for _, stage := range lane.profile.Stages() {
			times[planner.StageOf(stage.Stage)] += stage.Time
		}
	}
	return times
}

// Explain returns the explain text of the plan, with predicted and measured times so far.
func (r *Result) Explain() string {
	var b strings.Builder
	b.WriteString(r.Query.String())
	for _, f := range r.team.Failures() {
		fmt.Fprintf(&b, "failed       %s: %s; other devices joined its parts\n", f.Device, f.Error)
	}
	measured := r.measured()
	total := [2]time.Duration{}
	for _, stage := range r.lanes[0].taken.Stages {
		fmt.Fprintf(&b, "  %-10s %10s predicted, %10s measured\n", stage.Name, text.Duration(stage.Time),
			text.Duration(measured[stage.Name]))
		total[0] += stage.Time
		total[1] += measured[stage.Name]
	}
	fmt.Fprintf(&b, "  %-10s %10s predicted, %10s measured\n", "all", text.Duration(total[0]), text.Duration(total[1]))
	fmt.Fprintf(&b, "  %-10s %10s predicted, %10s in fact\n", "rows", text.Count(r.Query.allRows()),
		text.Count(r.Rows()))
	return b.String()
}
