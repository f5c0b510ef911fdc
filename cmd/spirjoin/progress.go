package main

import (
	"io"
	"math"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows the phases of a command on a terminal: a bar where the amount of work is known, a spinner where it is
// not. It leaves no trace when it is closed. On anything but a terminal it shows nothing.
type progress struct {
	w       io.Writer // nil where there is no terminal
	columns int
	onPhase func(string)
	quit    chan struct{}

	mu    sync.Mutex // guards what follows: the spinner turns by itself
	phase string
	total uint64
	bar   *progressbar.ProgressBar
}

// spinInterval is the time between two pictures of a spinner.
const spinInterval = 100 * time.Millisecond

func (s *session) newProgress(quiet bool) *progress {
	p := &progress{onPhase: s.onPhase, columns: s.stderrColumns, quit: make(chan struct{})}
	if s.stderrColumns > 0 && !quiet {
		p.w = s.stderr
		go p.spin()
	}
	return p
}

func (p *progress) spin() {
	ticker := time.NewTicker(spinInterval)
	defer ticker.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-ticker.C:
			p.mu.Lock()
			if p.bar != nil && p.total == 0 {
				_ = p.bar.Add(1)
			}
			p.mu.Unlock()
		}
	}
}

// report has the shape of JoinSpec.Progress: done of total units of a phase, total 0 where it is not known.
func (p *progress) report(phase string, done, total uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if phase != p.phase && p.onPhase != nil {
		p.onPhase(phase)
	}
	if phase != p.phase || total != p.total {
		p.clear()
		p.phase, p.total = phase, total
		p.show()
	}
	if p.bar != nil && total > 0 {
		_ = p.bar.Set64(int64(min(done, total, math.MaxInt64)))
	}
}

// enter begins a phase of unknown length.
func (p *progress) enter(phase string) { p.report(phase, 0, 0) }

// clearLine takes the bar off the screen, so that something else can be printed.
func (p *progress) clearLine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.phase = ""
}

func (p *progress) close() {
	p.clearLine()
	close(p.quit)
}

func (p *progress) show() {
	if p.w == nil {
		return
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(p.phase), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(max(10, min(40, p.columns-60))),
	}
	if p.total == 0 {
		options = append(options, progressbar.OptionSetSpinnerChangeInterval(0), progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(true))
		p.bar = progressbar.NewOptions64(-1, options...)
		return
	}
	options = append(options, progressbar.OptionThrottle(spinInterval), progressbar.OptionShowCount(), progressbar.OptionSetRenderBlankState(true))
	p.bar = progressbar.NewOptions64(int64(min(p.total, math.MaxInt64)), options...)
}

func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
