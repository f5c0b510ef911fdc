package exec

import "sync"

// Progress tells how far a query is, phase by phase. Safe for concurrent use.
type Progress struct {
	report func(phase string, done, expected uint64)

	mu             sync.Mutex // guards what follows, and keeps reports in order
	phase          string
	done, expected uint64
}

// NewProgress returns progress that is told to report, one call at a time: done of expected rows of the phase, expected
// 0 where it is not known. nil tells nobody.
func NewProgress(report func(phase string, done, expected uint64)) *Progress {
	if report == nil {
		report = func(string, uint64, uint64) {}
	}
	return &Progress{report: report}
}

// Start begins a phase of so many rows, 0 where it is not known, and reports it.
func (p *Progress) Start(phase string, expected uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase, p.done, p.expected = phase, 0, expected
	p.report(phase, 0, expected)
}

// Add reports so many more rows of the phase.
func (p *Progress) Add(rows uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += rows
	p.report(p.phase, p.done, p.expected)
}
