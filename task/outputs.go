package task

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
)

// Output is the output of a join that is under way. [query.Result] describes the methods.
type Output interface {
	Schema() *arrow.Schema
	Rows() uint64
	Counted() bool
	Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error]
	Pairs(ctx context.Context) iter.Seq2[query.Pairs, error]
	Stats() query.Stats
	Explain() string
	Plan() string // Explain without what was measured
	Close()
	// Tasks returns the scheduler whose tasks make the output; nil if it is the output of one task.
	Tasks() *Scheduler
}

// Schema returns the schema of the record batches.
func (s *Scheduler) Schema() *arrow.Schema { return s.whole.Layout.Schema }

// Batches yields the output of all tasks, if it is rows.
func (s *Scheduler) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	if s.whole.Output != join.Rows {
		return notRows
	}
	return s.rowBatches(ctx)
}

// notRows is the output of a join whose output is something else.
func notRows(yield func(arrow.RecordBatch, error) bool) {
	yield(nil, fmt.Errorf("%w: the join was not asked for rows", backend.ErrInvalidInput))
}

// Pairs yields the pairs of row numbers of all tasks.
func (s *Scheduler) Pairs(ctx context.Context) iter.Seq2[query.Pairs, error] {
	switch {
	case s.whole.Output != join.Pairs:
		return notPairs
	case s.part.Output == join.Pairs: // others have them as columns
		return drawAs(ctx, s, func(d *drawn) query.Pairs { return d.pairs })
	}
	return PairsOf(s.rowBatches(ctx))
}

// Explain says how the join was divided, and what the last task that began to be drawn does.
func (s *Scheduler) Explain() string {
	title, of := s.texts()
	return title + of.Explain()
}

// Plan returns Explain without what was measured.
func (s *Scheduler) Plan() string {
	title, of := s.texts()
	return title + of.Plan()
}

// texts are which devices were lost and how the join was divided, and the task to explain.
func (s *Scheduler) texts() (title string, of Output) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.workers {
		if w.lost != nil {
			title += fmt.Sprintf("failed       %s: %v; other devices ran its tasks\n", w.stats.Device, w.lost)
		}
	}
	return fmt.Sprintf("%s%s; of %s:\n", title, s.how, s.last.name), s.last.output
}

// Tasks returns the scheduler.
func (s *Scheduler) Tasks() *Scheduler { return s }

// Parts returns the number of parts by hashes of keys, and the size of their file; 0 if there are none.
func (s *Scheduler) Parts() (number int, diskBytes uint64) {
	p, ok := s.policy.(*parts)
	switch {
	case !ok:
		return 0, 0
	case p.file == nil: // they are in memory
		return p.divider.Parts, 0
	}
	return p.divider.Parts, p.file.SizeBytes()
}

// Close ends the tasks under way and frees what they need.
func (s *Scheduler) Close() {
	if !s.out.Close() {
		return
	}
	if s.merge != nil {
		s.merge.Close()
	}
	s.policy.Close()
}

// rowBatches yields the output of all tasks in its order, pairs of row numbers as columns.
func (s *Scheduler) rowBatches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	all := drawAs(ctx, s, func(d *drawn) arrow.RecordBatch { return d.batch })
	if s.merge != nil {
		return s.merge.Batches(ctx, all)
	}
	return all
}

// Rows returns the number of output rows so far.
func (s *Scheduler) Rows() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := s.before.OutputRows
	for _, r := range s.under {
		if r.passes {
			rows += r.output.Rows()
		}
	}
	return rows
}

// Counted reports whether Rows is the number of all output rows.
func (s *Scheduler) Counted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	counted := s.ended && len(s.again) == 0
	for _, r := range s.under {
		counted = counted && r.passes && r.output.Counted()
	}
	return counted
}

// Stats returns the measurements of all tasks so far, summed, and of the division. What is no sum describes the task
// that was begun last.
func (s *Scheduler) Stats() query.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := s.before
	sum.StageSeconds, sum.Failures = maps.Clone(sum.StageSeconds), slices.Clone(sum.Failures)
	for _, r := range s.under {
		if r.passes {
			sum = r.addTo(&sum)
		}
	}
	if !s.inOrder {
		sum.MatchSeconds, sum.TotalSeconds = s.until.Seconds(), time.Since(s.began).Seconds()
	}
	if len(s.workers) > 1 {
		sum.Device, sum.Backend, sum.DevicePeakBytes = s.workers[0].stats.Device, s.workers[0].stats.Backend, 0
		for _, w := range s.workers {
			sum.Devices, sum.DevicePeakBytes = append(sum.Devices, w.stats), sum.DevicePeakBytes+w.peakBytes
			if w.lost != nil {
				sum.Failures = append(sum.Failures, query.DeviceFailure{Device: w.stats.Device, Error: w.lost.Error()})
			}
		}
	}
	return sum
}

// count counts a task whose output was passed on.
func (s *Scheduler) count(w *worker, r *running) {
	of := r.output.Stats()
	w.stats.Algorithm = of.Algorithm
	w.stats.Granules += of.Granules
	w.stats.ProbeRows += of.ProbeRows
	w.peakBytes = max(w.peakBytes, of.DevicePeakBytes)
	s.before, s.share = r.addTo(&s.before), s.share+r.to-r.from
}

// skip counts rows that no task has.
func (s *Scheduler) skip(leftRows, rightRows int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before.LeftRows += uint64(leftRows)
	s.before.RightRows += uint64(rightRows)
}

// addTo returns the measurements of the task and others together, without rows of sides that earlier tasks have counted.
func (r *running) addTo(of *query.Stats) query.Stats {
	sum := r.output.Stats()
	for side, rows := range []*uint64{&sum.LeftRows, &sum.RightRows} {
		if r.again[side] {
			*rows = 0
		}
	}
	sum.LeftRows, sum.RightRows = sum.LeftRows+of.LeftRows, sum.RightRows+of.RightRows
	sum.OutputRows, sum.Granules = sum.OutputRows+of.OutputRows, sum.Granules+of.Granules
	sum.Failures = append(slices.Clone(of.Failures), sum.Failures...)
	sum.MatchSeconds += of.MatchSeconds
	sum.EncodeSeconds += of.EncodeSeconds
	sum.GatherSeconds += of.GatherSeconds
	sum.TotalSeconds += of.TotalSeconds
	sum.DevicePeakBytes = max(sum.DevicePeakBytes, of.DevicePeakBytes)
	sum.HostPeakBytes = max(sum.HostPeakBytes, of.HostPeakBytes)
	for stage, seconds := range of.StageSeconds {
		sum.StageSeconds[stage] += seconds
	}
	return sum
}

// shows reports whether the progress of a task is reported as the join's: the first one's is.
func (s *Scheduler) shows(r *running) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.under) > 0 && s.under[0] == r
}

// ofWhole turns the progress of a task into the progress of the whole join. Phase and its rows stay the task's; output
// rows, share and time become the join's.
func (s *Scheduler) ofWhole(r *running, of exec.Status) exec.Status {
	s.mu.Lock()
	from, before := max(s.share, r.from), s.before.OutputRows
	s.mu.Unlock()
	from = min(from, 1-(r.to-r.from)) // a late report of a task that was counted
	to := from + r.to - r.from
	of.Phase += ", " + r.name
	of.Share, of.Elapsed, of.Left = from+of.Share*(to-from), time.Since(s.began), -1
	if of.Output > 0 && to > 0 {
		of.Output = max(of.Output, uint64(float64(before+of.Output)/to))
	}
	of.Drawn += before
	if of.Share > 0 {
		of.Left = time.Duration(float64(of.Elapsed) * (1 - of.Share) / of.Share)
	} else {
		of.Total = 0 // otherwise the share of the phase would be taken for the join's
	}
	return of
}
