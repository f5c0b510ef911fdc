package exec

import "sync"

// Progress reports the progress of a query, phase by phase. Safe for concurrent use.
type Progress struct {
	report func(phase string, done, expected uint64)

	mu             sync.Mutex // guards what follows, and keeps reports in order
	phase          string
	done, expected uint64
}

// NewProgress returns a Progress that calls report, one call at a time, with the done and expected rows of the phase;
// expected is 0 if unknown. report may be nil.
func NewProgress(report func(phase string, done, expected uint64)) *Progress {
	if report == nil {
		report = func(string, uint64, uint64) {}
	}
	return &Progress{report: report}
}

// Start begins a phase with this expected number of rows, 0 if unknown, and reports it.
func (p *Progress) Start(phase string, expected uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase, p.done, p.expected = phase, 0, expected
	p.report(phase, 0, expected)
}

// Add adds rows to those done in the phase, and reports it.
func (p *Progress) Add(rows uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += rows
	p.report(p.phase, p.done, p.expected)
}
