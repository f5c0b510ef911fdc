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

// Result is a query under way. Its output is drawn once, by one goroutine, while the query makes what comes next; the
// owner closes it.
type Result struct {
	Query  *Query
	Device backend.DeviceInfo // that does the work

	taken *Alternative
	built *Built            // that was there before; nil where the query builds
	parts *exec.Pipe[*Part] // of the probe side, where it comes part by part

	flow  *exec.Flow
	out   *exec.Pipe[*deliver.Piece]
	first *deliver.Piece // was taken from the pipe before anybody drew
	drawn bool
	rows  atomic.Uint64
	all   atomic.Bool // rows is the number of all

	granules, probed atomic.Uint64 // granules that were begun, rows of parts that were joined

	lane    *exec.Lane // of this query alone; its profile
	started time.Time
	matched time.Duration
	encode  atomic.Int64 // nanoseconds
	deliver atomic.Int64 // nanoseconds of downloads and of fetching by the host
	closed  bool
}

// Rows is the number of output rows that are known: all of them for a count, when the output was drawn, and before
// where the probe side came in one granule, but for rows without a partner.
func (r *Result) Rows() uint64 { return r.rows.Load() }

// Counted reports whether Rows is the number of all output rows: for a count, when the output was drawn, and often
// before.
func (r *Result) Counted() bool { return r.all.Load() }

// Close ends the query and gives its memory back. Nothing can be drawn afterwards; a second Close does nothing.
func (r *Result) Close() {
	release := r.Query.Release
	if r.closed || release == nil {
		release = func() {}
	}
	defer release()
	r.closed = true
	if r.first != nil {
		r.first.Release()
		r.first = nil
	}
	r.flow.Stop()
	if r.built != nil {
		r.built.probed()
		r.built = nil
	}
}

// Schema is the schema of the record batches.
func (r *Result) Schema() *arrow.Schema { return r.Query.Schema }

// Batches yields the output as record batches of at most BatchRows rows. A batch is the receiver's, who releases it.
// After an error nothing follows. A join without rows yields nothing.
func (r *Result) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if r.Query.Numbers || r.taken.Output.Count {
			yield(nil, fmt.Errorf("%w: the join was not asked for rows", backend.ErrInvalidInput))
			return
		}
		for p, err := range r.pieces(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			start := time.Now()
			more := p.Batches(ctx, r.Query.Schema, r.Query.Engine.Allocator,
				func(batch arrow.RecordBatch, err error) bool {
					r.deliver.Add(int64(time.Since(start)))
					more := yield(batch, err)
					start = time.Now()
					return more
				})
			p.Release()
			if !more {
				return
			}
		}
	}
}

// Pairs is a piece of the output as row numbers: it pairs row LeftFirst + Left[i] of the left side with row RightFirst +
// Right[i] of the right one. Joins of tables count from row 0. Where the probe side comes batch by batch and may have
// more rows than 32 bits count, the first row is that of the part which the piece is of.
type Pairs struct {
	Left, Right           []uint32
	LeftFirst, RightFirst uint64
}

// Pairs yields the pairs of row numbers in pieces; for a join that was asked for them. A piece is the receiver's to
// keep. After an error nothing follows.
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

// pieces yields the output piece by piece. A piece is the receiver's, who releases it. When the receiver stops, the
// query ends.
func (r *Result) pieces(ctx context.Context) iter.Seq2[*deliver.Piece, error] {
	return func(yield func(*deliver.Piece, error) bool) {
		switch {
		case r.closed:
			yield(nil, fmt.Errorf("%w: the result of the join was closed", backend.ErrInvalidInput))
			return
		case r.drawn:
			yield(nil, fmt.Errorf("%w: the output of the join was drawn already", backend.ErrInvalidInput))
			return
		}
		r.drawn = true
		stop := context.AfterFunc(ctx, r.out.Abandon)
		defer stop()
		defer r.flow.Stop()
		progress := r.Query.Progress
		progress.Start("output", r.Rows())
		for p := r.next(); p != nil; p = r.next() {
			rows := uint64(p.Rows)
			if !yield(p, nil) {
				return
			}
			progress.Add(rows)
		}
		if ctx.Err() != nil {
			yield(nil, backend.ContextError(ctx))
		} else if err := r.flow.Wait(); err != nil {
			yield(nil, err)
		}
	}
}

// next takes the next piece; nil where there is none.
func (r *Result) next() *deliver.Piece {
	p := r.first
	if r.first = nil; p == nil {
		p, _, _ = r.out.Take(r.flow.Context())
	}
	return p
}

// Stats are the measurements of a query.
type Stats struct {
	Device     string `json:"device"`
	Backend    string `json:"backend"`
	Driver     string `json:"driver"`
	Algorithm  string `json:"algorithm"`
	LeftRows   uint64 `json:"left_rows"`
	RightRows  uint64 `json:"right_rows"`
	OutputRows uint64 `json:"output_rows"` // that are known; all, when the output was drawn
	Granules   uint64 `json:"granules"`    // parts that the probe side came in, so far
	// wall time from the start of Run, after planning, to the first rows or, for counts, to the end
	MatchSeconds float64 `json:"match_seconds"`
	// the part of it that encodes keys and submits the uploads of keys and payload; the device may work meanwhile
	EncodeSeconds   float64            `json:"encode_seconds"`
	TotalSeconds    float64            `json:"total_seconds"`     // wall time from the start of Run to this call
	StageSeconds    map[string]float64 `json:"stage_seconds"`     // device time by stage, of work that is done
	DevicePeakBytes uint64             `json:"device_peak_bytes"` // since the last Run on the device, of all its joins
	// the same for the buffers through which a GPU copies; 0 on devices whose memory is host memory. Tables and batches
	// are not in it.
	HostPeakBytes uint64             `json:"host_peak_bytes"`
	Prediction    []StagePrediction  `json:"prediction"`
	Alternatives  []AlternativeStats `json:"alternatives"` // the best first, that which was taken
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
	device := r.Query.Engine.Device() // whose MemoryUse books the work that is done, so it comes before the stages
	s := Stats{
		Device: r.Device.Name, Backend: r.Device.Backend, Driver: r.Device.Driver,
		Algorithm: r.taken.Algorithm.Name(), OutputRows: r.Rows(), Granules: r.granules.Load(),
		MatchSeconds: r.matched.Seconds(), EncodeSeconds: time.Duration(r.encode.Load()).Seconds(),
		TotalSeconds:    time.Since(r.started).Seconds(),
		StageSeconds:    make(map[string]float64),
		DevicePeakBytes: device.MemoryUse(backend.DeviceLocal).Peak,
		HostPeakBytes:   device.MemoryUse(backend.HostVisible).Peak,
	}
	for _, scan := range r.taken.Scans {
		*[]*uint64{&s.LeftRows, &s.RightRows}[scan.Side] = uint64(scan.Table.NumRows())
	}
	if r.parts != nil {
		*[]*uint64{&s.LeftRows, &s.RightRows}[r.taken.Scans[operator.Probe].Side] = r.probed.Load()
	}
	for _, stage := range r.lane.Profile.Stages() {
		s.StageSeconds[stage.Stage] = stage.Time.Seconds()
	}
	measured := r.measured()
	for _, stage := range r.taken.Stages {
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
	return s
}

// measured is the time of each stage of the plan, of work that is done: of the device, and for loading and delivering
// of the host.
func (r *Result) measured() map[string]time.Duration {
	times := map[string]time.Duration{operator.Load: time.Duration(r.encode.Load()),
		operator.Deliver: time.Duration(r.deliver.Load())}
	for _, stage := range r.lane.Profile.Stages() {
		times[planner.StageOf(stage.Stage)] += stage.Time
	}
	return times
}

// Explain is the text of the plan, with what was measured so far beside what was predicted.
func (r *Result) Explain() string {
	var b strings.Builder
	b.WriteString(r.Query.String())
	measured := r.measured()
	total := [2]time.Duration{}
	for _, stage := range r.taken.Stages {
		fmt.Fprintf(&b, "  %-10s %10s predicted, %10s measured\n", stage.Name, text.Duration(stage.Time),
			text.Duration(measured[stage.Name]))
		total[0] += stage.Time
		total[1] += measured[stage.Name]
	}
	fmt.Fprintf(&b, "  %-10s %10s predicted, %10s measured\n", "all", text.Duration(total[0]), text.Duration(total[1]))
	fmt.Fprintf(&b, "  %-10s %10s predicted, %10s in fact\n", "rows", text.Count(r.Query.predictedRows()),
		text.Count(r.Rows()))
	return b.String()
}
