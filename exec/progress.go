package exec

import (
	"sync"
	"time"
)

// Status is how far a query has come.
type Status struct {
	// Phase is what the query does now: "read left" (a build side that is a source), "plan", "wait" (for memory),
	// "validate left", "load left" (the build side), "join", and "output" if rows that are joined wait to be drawn.
	Phase string
	// Rows are done of Total rows of the phase: of the probe side in "join", of the output in "output". Total is 0 if
	// unknown.
	Rows, Total uint64
	// Share is the part of all work that is done, 0 to 1, weighted by the predicted times; 0 if unknown.
	Share float64
	// Elapsed is the time since the query was planned, and Left the time that the plan predicts for the rest, corrected
	// by how long the work took so far; negative if unknown.
	Elapsed, Left time.Duration
}

// Work is what a plan expects of a query. Without times, all rows count the same.
type Work struct {
	ProbeRows, OutputRows uint64        // 0: unknown
	Build, Probe, Deliver time.Duration // of the build side, of all probe rows, and of all output rows
}

// Progress reports the progress of a query. Rows are joined and delivered at the same time. Safe for concurrent use.
type Progress struct {
	report func(Status)
	now    func() time.Time
	began  time.Time

	mu            sync.Mutex // guards what follows, and keeps reports in order
	phase         string
	work          Work
	working       time.Time // since when
	built         bool
	joined, drawn uint64
	allJoined     bool
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

// Start begins a phase before the join.
func (p *Progress) Start(phase string) { p.change(func() { p.phase = phase }) }

// Expect sets what the plan expects of the work that begins now.
func (p *Progress) Expect(w Work) { p.change(func() { p.work, p.working = w, p.now() }) }

// Join begins to join: the build side is done.
func (p *Progress) Join() {
	p.change(func() { p.built, p.phase = true, "join" })
}

// Joined adds rows of the probe side to those that are joined.
func (p *Progress) Joined(rows uint64) { p.change(func() { p.joined += rows }) }

// AllJoined says that nothing is left to be joined, and how many rows the output has.
func (p *Progress) AllJoined(outputRows uint64) {
	p.change(func() {
		p.phase, p.built, p.allJoined = "output", true, true
		p.work.ProbeRows, p.work.OutputRows = p.joined, outputRows
	})
}

// Drawn adds rows of the output to those that are drawn.
func (p *Progress) Drawn(rows uint64) { p.change(func() { p.drawn += rows }) }

// change changes the state and reports it.
func (p *Progress) change(to func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to()
	p.report(p.status())
}

func (p *Progress) status() Status {
	s := Status{Phase: p.phase, Elapsed: p.now().Sub(p.began), Left: -1}
	switch {
	case p.allJoined:
		s.Rows, s.Total = p.drawn, p.work.OutputRows
	case p.built:
		s.Rows, s.Total = p.joined, p.work.ProbeRows
	}
	s.Total = max(s.Total, min(s.Total, 1)*s.Rows) // an estimate may be too low
	done, all := p.done()
	if all == 0 {
		return s
	}
	s.Share = done / all
	// What is done took some time. The plan counts like another tenth of the work that took what it predicts.
	plan := 0.0
	if p.predicted() {
		plan = all / 10
	}
	if done+plan > 0 {
		took := p.now().Sub(p.working).Seconds()
		s.Left = time.Duration((all - done) * (took + plan) / (done + plan) * float64(time.Second))
	}
	return s
}

// predicted tells whether the plan knows times.
func (p *Progress) predicted() bool { return p.work.Build+p.work.Probe+p.work.Deliver > 0 }

// done returns the work that is done, and all work: in predicted seconds or, where no times are known, in rows. All is
// 0 if the number of rows of the probe side is unknown.
func (p *Progress) done() (done, all float64) {
	w := &p.work
	if w.ProbeRows == 0 && !p.allJoined {
		return 0, 0
	}
	build, probe, deliver := w.Build.Seconds(), w.Probe.Seconds(), w.Deliver.Seconds()
	if !p.predicted() {
		build, probe, deliver = 0, float64(w.ProbeRows), float64(w.OutputRows)
	}
	switch {
	case p.allJoined:
		done = build + probe
	case p.built:
		done = build + probe*shareOf(p.joined, w.ProbeRows)
	}
	if p.allJoined && w.OutputRows == 0 {
		done += deliver
	}
	return done + deliver*shareOf(p.drawn, w.OutputRows), build + probe + deliver
}

func shareOf(rows, all uint64) float64 { return float64(min(rows, all)) / float64(max(all, 1)) }
