package exec

import (
	"sync"
	"time"
)

// Waiting is the phase in which a query waits for memory that others have.
const Waiting = "wait"

// Status is how far a query has come.
type Status struct {
	// Phase is what the query does now: "read left" (a build side that is a source, or the beginning of a probe side),
	// "read both" (until it is known which is shorter), "divide both" (into parts), "plan", "prove hashes" (of keys),
	// "wait" (for memory), "validate left", "load left" (the build side), "join", and "output" if rows that are joined
	// wait to be drawn. A join in parts, blocks or ranges names one of them, as "join, part 2 of 16": then Rows and
	// Total count the part, and the fields that follow describe the whole join.
	Phase string
	// Rows are done of Total rows of the phase: read in "read left"; checked in "validate left", where a row that is
	// loaded but not yet compared counts for a part; of the probe side in "join", of the output in "output". Total is 0
	// if unknown.
	Rows, Total uint64
	// Drawn are rows of the output that were drawn, of Output rows. Output is an estimate until all rows are joined,
	// and grows if there turn out to be more; 0 if unknown, before the join, and if rows are only counted.
	Drawn, Output uint64
	// Share is the part of the join that is done, 0 to 1, weighted by the predicted times and by the time that drawn
	// rows took; 0 if unknown. It falls if there turns out to be more work.
	Share float64
	// Elapsed is the time since the query was planned. Left is the time that the plan predicts for the rest of the
	// join, corrected by how long it took so far, and no less than rows that are left take if they are drawn as fast as
	// those before; negative if unknown, as in "wait" and "validate left".
	Elapsed, Left time.Duration
}

// Work is what a plan expects of a query. Without times, all rows count the same.
type Work struct {
	ProbeRows, OutputRows uint64        // 0: unknown
	Counts                bool          // output rows are only counted
	Build, Probe, Deliver time.Duration // of the build side, of all probe rows, and of all output rows
}

// Granule is how far the join of a granule of the probe side has come.
type Granule struct {
	Rows, Joined uint64 // of the probe side
	Output       uint64 // rows, of the whole granule; 0: unknown
}

// Progress reports the progress of a query. Rows are joined and delivered at the same time. Safe for concurrent use.
type Progress struct {
	report func(Status)
	now    func() time.Time
	began  time.Time

	mu            sync.Mutex // guards what follows, and keeps reports in order
	phase         string
	rows, total   uint64 // of a phase before the join
	work          Work
	working       time.Time // since when; the predictions do not cover the time before
	built         bool
	joined, drawn uint64
	found         uint64  // output rows of what is joined
	granule       Granule // under way
	drawing       time.Duration
	allJoined     bool
	all           uint64 // output rows, once all is joined
}

// NewProgress returns a Progress that calls report, one call at a time. report may be nil.
func NewProgress(report func(Status)) *Progress {
	if report == nil {
		report = func(Status) {}
	}
	p := &Progress{report: report, now: time.Now}
	p.began = p.now()
	return p
}

// Part returns the progress of a part of the query, which p reports, turned into the status of the whole, while the
// part is shown.
func (p *Progress) Part(shown func() bool, whole func(part Status) Status) *Progress {
	return NewProgress(func(s Status) {
		if shown() {
			p.report(whole(s))
		}
	})
}

// Start begins a phase before the join.
func (p *Progress) Start(phase string) { p.StartOf(phase, 0) }

// StartOf begins a phase before the join with total rows; 0: unknown.
func (p *Progress) StartOf(phase string, total uint64) {
	p.change(func() { p.phase, p.rows, p.total, p.working = phase, 0, total, p.now() })
}

// Done says how many rows of a phase before the join are done.
func (p *Progress) Done(rows uint64) { p.change(func() { p.rows = rows }) }

// Expect sets what the plan expects of the work that begins now.
func (p *Progress) Expect(w Work) { p.change(func() { p.work, p.working = w, p.now() }) }

// Join begins to join: the build side is done.
func (p *Progress) Join() {
	p.change(func() { p.built, p.phase = true, "join" })
}

// Joining says how far the granule under way has come.
func (p *Progress) Joining(g Granule) { p.change(func() { p.granule = g }) }

// Joined adds rows of the probe side to those that are joined, which have made found rows of output in all. -rows takes
// rows back that are to be joined again.
func (p *Progress) Joined(rows, found uint64) {
	p.change(func() { p.joined, p.found, p.granule = p.joined+rows, found, Granule{} })
}

// AllJoined says that nothing is left to be joined, and how many rows the output has.
func (p *Progress) AllJoined(outputRows uint64) {
	p.change(func() {
		p.phase, p.built, p.allJoined, p.all = "output", true, true, outputRows
		p.work.ProbeRows, p.granule = p.joined, Granule{}
	})
}

// Drawn adds rows of the output to those that are drawn. took is the time that the receiver spent on them, without
// waiting.
func (p *Progress) Drawn(rows uint64, took time.Duration) {
	p.change(func() { p.drawn, p.drawing = p.drawn+rows, p.drawing+took })
}

// Report reports the state once more, after what [Progress.Part] asks shown or whole has changed.
func (p *Progress) Report() { p.change(func() {}) }

// change changes the state and reports it.
func (p *Progress) change(to func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to()
	p.report(p.status())
}

func (p *Progress) status() Status {
	s := Status{Phase: p.phase, Elapsed: p.now().Sub(p.began), Left: -1, Rows: p.rows, Total: p.total}
	output := p.output()
	switch {
	case p.allJoined:
		s.Rows, s.Total = p.drawn, p.all
	case p.built:
		s.Rows, s.Total = p.joined+p.granule.Joined, p.work.ProbeRows
	}
	s.Total = max(s.Total, min(s.Total, 1)*s.Rows) // an estimate may be too low
	if p.built && !p.work.Counts {
		s.Drawn, s.Output = p.drawn, output
	}
	done, all := p.done(output)
	if all == 0 || p.phase == Waiting || !p.built && p.total > 0 { // which is not work that is predicted
		return s
	}
	s.Share = done / all
	// What is done took some time. The plan counts like another tenth of the work that took what it predicts.
	plan := 0.0
	if p.predicted() {
		plan = all / 10
	}
	if done+plan > 0 && (done < all || p.allJoined) {
		took := p.now().Sub(p.working).Seconds()
		left := (all - done) * (took + plan) / (done + plan)
		s.Left = max(seconds(left), seconds(p.drawSeconds(output-p.drawn)))
	}
	return s
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// output is the expected number of output rows: counted for joined rows and for the granule under way, extrapolated for
// the rest at a rate from the plan and the joined rows. It is 0 if unknown.
func (p *Progress) output() uint64 {
	w := &p.work
	if p.allJoined {
		return max(p.all, p.drawn)
	}
	if w.ProbeRows == 0 {
		return 0
	}
	// The plan counts like another tenth of the rows.
	rate := (float64(p.found) + float64(w.OutputRows)/10) / (float64(p.joined) + float64(w.ProbeRows)/10)
	known, begun := p.found, p.joined
	if p.granule.Output > 0 {
		known, begun = known+p.granule.Output, begun+p.granule.Rows
	}
	return max(known+uint64(rate*float64(w.ProbeRows-min(begun, w.ProbeRows))), p.drawn)
}

// drawSeconds is how long rows take to be drawn, as fast as those before; 0 if there were none.
func (p *Progress) drawSeconds(rows uint64) float64 {
	return float64(rows) * p.drawing.Seconds() / float64(max(1, p.drawn))
}

// predicted tells whether the plan knows times.
func (p *Progress) predicted() bool { return p.work.Build+p.work.Probe+p.work.Deliver > 0 }

// done returns the work that is done, and all work, for a number of output rows: in predicted seconds or, where no
// times are known, in rows. All is 0 if the number of rows of the probe side is unknown.
func (p *Progress) done(output uint64) (done, all float64) {
	w := &p.work
	if w.ProbeRows == 0 && !p.allJoined {
		return 0, 0
	}
	build, probe, deliver := w.Build.Seconds(), w.Probe.Seconds(), p.deliverSeconds(output)
	if !p.predicted() {
		build, probe, deliver = 0, float64(w.ProbeRows), float64(output)
	}
	if w.Counts {
		deliver = 0
	}
	switch {
	case p.allJoined:
		done = build + probe
	case p.built:
		done = build + probe*shareOf(p.joined+p.granule.Joined, w.ProbeRows)
	}
	if p.allJoined && output == 0 {
		done += deliver
	}
	return done + deliver*shareOf(p.drawn, output), build + probe + deliver
}

// deliverSeconds is the time to deliver and draw all rows of output: as planned for as many rows, or longer if the
// reader is slower. The plan counts like another tenth of the rows.
func (p *Progress) deliverSeconds(output uint64) float64 {
	planned := p.work.Deliver.Seconds()
	if output == 0 {
		return planned
	}
	if p.work.OutputRows > 0 {
		planned *= float64(output) / float64(p.work.OutputRows)
	}
	return max(planned, (p.drawing.Seconds()+planned/10)/(shareOf(p.drawn, output)+0.1))
}

func shareOf(rows, all uint64) float64 { return float64(min(rows, all)) / float64(max(all, 1)) }
