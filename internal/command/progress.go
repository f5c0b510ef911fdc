package command

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/internal/text"
)

// Progress shows on one line of a terminal what a command does, how much of it is done, the time since the command
// began, and the time that is left where that is known:
//
//	5/5 join 3,200,000 of 6,001,215 rows, 2,900,000 of about 6,100,000 written, 53%, 1.2 s, about 1.0 s left
//
// It leaves no trace when it is closed. On anything but a terminal it shows nothing. The program that reads a pipe may
// write on the same terminal: the line then begins after a second, and ends when the pipe has its first bytes; beside a
// pager there is none.
type Progress struct {
	w       io.Writer // nil where there is no terminal
	columns func() int
	reader  func() pipeReader // of standard output
	onPhase func(string)
	began   time.Time
	quit    chan struct{}

	mu     sync.Mutex // guards what follows: the line is drawn from time to time
	state  progressState
	shown  int  // characters on the screen
	hidden bool // until the next report, because something else is printed
	beside pipeReader
	ended  bool // the pipe has bytes, which its reader may print here
}

// progressState describes a phase.
type progressState struct {
	spirjoin.JoinProgress
	step  int       // of joinSteps; 0: the command has one step
	unit  string    // of what is counted, with a space before it
	began time.Time // the phase
	at    time.Time // the last report
}

// drawInterval is the time between two pictures, and pipeDelay that before the first one beside a pipe.
const (
	drawInterval = 100 * time.Millisecond
	pipeDelay    = time.Second
)

// NewProgress begins a line on standard error, unless that is no terminal or the command is quiet. The caller closes
// it.
func (s *Session) NewProgress(quiet bool) *Progress {
	p := &Progress{onPhase: s.OnPhase, columns: s.StderrColumns, reader: s.reader,
		began: time.Now(), quit: make(chan struct{}), hidden: true}
	if s.StderrColumns() > 0 && !quiet {
		p.w, s.Stdout.before = s.Stderr, p.piped
		go p.redraw()
	}
	return p
}

func (p *Progress) redraw() {
	if p.reader() != noPipe {
		select {
		case <-p.quit:
			return
		case <-time.After(pipeDelay): // by then the shell has started the reader
		}
	}
	p.mu.Lock()
	p.beside = p.reader()
	p.mu.Unlock()
	ticker := time.NewTicker(drawInterval)
	defer ticker.Stop()
	for {
		select {
		case <-p.quit:
			return
		case now := <-ticker.C:
			p.mu.Lock()
			p.draw(now)
			p.mu.Unlock()
		}
	}
}

// Report shows done units of a phase, of total, which is 0 if unknown. The time left is the phase's.
func (p *Progress) Report(phase string, done, total uint64) {
	p.set(spirjoin.JoinProgress{Phase: phase, Rows: done, Total: total, Left: -1}, 0, "")
}

// joinSteps is the number of steps of a join: each file is opened, each table is read, and they are joined. A table
// that is joined as it is read has no reading step of its own. Share and time left refer to the current step.
const joinSteps = 5

// Opening tells how much of the file of a side was read to open it; 0 of 0 where it is not known.
func (p *Progress) Opening(side int, path string, doneBytes, totalBytes int64) {
	p.set(spirjoin.JoinProgress{Phase: "open " + path, Rows: uint64(doneBytes), Total: uint64(totalBytes), Left: -1},
		1+side, " bytes")
}

// Reading tells how many rows of a side were read, of total, which is not positive where it is not known.
func (p *Progress) Reading(side int, rows, total int64) {
	phase := "read " + [2]string{"left", "right"}[side]
	p.set(spirjoin.JoinProgress{Phase: phase, Rows: uint64(rows), Total: uint64(max(0, total)), Left: -1}, 3+side, " rows")
}

// Join has the shape of JoinSpec.Progress.
func (p *Progress) Join(state spirjoin.JoinProgress) { p.set(state, joinSteps, " rows") }

// Enter begins a phase of unknown length.
func (p *Progress) Enter(phase string) { p.Report(phase, 0, 0) }

func (p *Progress) set(to spirjoin.JoinProgress, step int, unit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, began := time.Now(), p.state.began
	if p.hidden || to.Phase != p.state.Phase {
		if began = now; p.onPhase != nil {
			p.onPhase(to.Phase)
		}
	}
	p.state, p.hidden = progressState{to, step, unit, began, now}, false
}

// piped ends the line before the first bytes of standard output, unless their reader writes elsewhere.
func (p *Progress) piped() {
	p.ClearLine()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// ClearLine takes the line off the screen, so that something else can be printed.
func (p *Progress) ClearLine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hidden = true; p.shown > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", max(0, min(p.shown, p.columns()-1))))
		p.shown = 0
	}
}

// Close ends the line, which leaves no trace.
func (p *Progress) Close() {
	p.ClearLine()
	close(p.quit)
}

// draw replaces the line on the screen.
func (p *Progress) draw(now time.Time) {
	if p.hidden || p.beside == pager || p.beside == onTerminal && p.ended {
		return
	}
	columns := p.columns() // which may have changed
	line := p.state.line(now, p.began, columns-1)
	if width := utf8.RuneCountInString(line); width >= columns {
		line = string([]rune(line)[:max(0, columns-1)])
	}
	width := utf8.RuneCountInString(line)
	fmt.Fprintf(p.w, "\r%s%s", line, strings.Repeat(" ", max(0, min(p.shown, columns-1)-width)))
	p.shown = width
}

// line describes the state at a time, in the longest form that fits columns, if one does. No form ends within a number.
func (s *progressState) line(now, began time.Time, columns int) (line string) {
	step := ""
	if s.step > 0 {
		step = fmt.Sprintf("%d/%d ", s.step, joinSteps)
	}
	rest := s.rest(now, began)
	forms := append(s.counts(), "")
	for i, counts := range forms {
		forms[i] = step + s.Phase + counts + rest
	}
	share, _, _ := strings.Cut(strings.TrimPrefix(rest, ", "), ", ") // or the time, if there is no share
	for _, line = range append(forms, step+s.Phase+", "+share, step+s.Phase) {
		if utf8.RuneCountInString(line) <= columns {
			break
		}
	}
	return line
}

// counts says how much is done, in several forms, the longest first.
func (s *progressState) counts() []string {
	done := ""
	switch {
	case s.Total > 0:
		done = fmt.Sprintf(" %s of %s%s", text.Count(s.Rows), text.Count(s.Total), s.unit)
	case s.Rows > 0:
		done = fmt.Sprintf(" %s%s", text.Count(s.Rows), s.unit)
	}
	if s.Phase != "join" || s.Drawn == 0 {
		return []string{done}
	}
	written, all := text.Count(s.Drawn), ""
	if s.Output > 0 {
		all = " of about " + text.Count(s.Output)
	}
	return []string{done + ", " + written + all + " written", done + ", " + written + " written",
		" " + written + " rows written", done}
}

// rest is the part of the line with share and times. A time left that has passed is unknown.
func (s *progressState) rest(now, began time.Time) (rest string) {
	share, left := s.Share, s.Left
	if s.Total > 0 {
		if left < 0 { // of the phase, as fast as it went so far
			share = float64(min(s.Rows, s.Total)) / float64(s.Total)
			if s.Rows > 0 {
				left = time.Duration(float64(s.at.Sub(s.began)) * (1 - share) / share)
			}
		}
		rest = fmt.Sprintf(", %d%%", int(share*100))
	}
	rest += ", " + seconds(now.Sub(began))
	if left < 0 {
		return rest
	}
	if left -= now.Sub(s.at); left < drawInterval/2 && share < 1 {
		return rest + ", time left unknown"
	}
	return rest + fmt.Sprintf(", about %s left", seconds(max(0, left)))
}

// seconds is a time as people follow it: to a tenth of a second, or from a minute on to a second.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
