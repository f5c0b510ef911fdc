package exec

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

// Trace records when queues of devices, and the goroutines of flows, did what, on the clock of the host: see
// [Trace.Write]. Several engines may share one. What it records stays in memory until it is written, about 300 bytes
// for each event. Safe for concurrent use; a nil Trace records nothing.
type Trace struct {
	start time.Time

	mu      sync.Mutex // guards what follows
	devices []*tracedDevice
	tracks  []*track
}

// NewTrace returns a trace that begins now.
func NewTrace() *Trace { return &Trace{start: time.Now()} }

// track is an event with all that happened within it: the life of a goroutine, or work of a device.
type track struct {
	trace *Trace
	row   string // the name of the row of a viewer where it is, if no other track is there at the time
	event
	within []event // disjoint or nested, in the order in which they end
}

// event is something that took from one time to another, or goes on if it has no end.
type event struct {
	name, category string
	start, end     time.Time
	rows, bytes    uint64   // 0: not told
	kernels        []string // that a device ran
	bounds         bool     // start and end are bounds, because the device has no times
}

// Categories of events.
const (
	working = "host"
	waiting = "wait"
	device  = "device"
)

type traceKey struct{}
type trackKey struct{}

// WithTrace returns a context whose flows record in a trace; nil adds nothing.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, t)
}

// traceOf returns the trace of a context, or nil.
func traceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// Track begins a track for the goroutine that calls it, unless ctx has one or no trace, and returns a context with it.
// The caller calls end in the same goroutine.
func Track(ctx context.Context, name string) (_ context.Context, end func()) {
	t := traceOf(ctx)
	if t == nil || trackOf(ctx) != nil {
		return ctx, func() {}
	}
	return t.track(ctx, name)
}

func trackOf(ctx context.Context) *track {
	k, _ := ctx.Value(trackKey{}).(*track)
	return k
}

// track begins a track in any case.
func (t *Trace) track(ctx context.Context, name string) (_ context.Context, end func()) {
	k := &track{trace: t, row: name, event: event{name: name, category: working, start: time.Now()}}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tracks = append(t.tracks, k)
	return context.WithValue(ctx, trackKey{}, k), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		k.end = time.Now()
	}
}

// Add records what was done from one time to another, in a track of its own. Safe on nil.
func (t *Trace) Add(name string, from, to time.Time) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tracks = append(t.tracks, &track{row: name, event: event{name: name, category: working, start: from, end: to}})
}

// Span is an event that goes on in the track of a goroutine. Nil, where there is no trace, is a valid Span.
type Span struct {
	track *track
	event
}

// Begin begins an event in the track of a context, whose goroutine calls End. Events nest. Without a track it costs a
// look into the context, and the span is nil.
func Begin(ctx context.Context, name string) *Span { return begin(ctx, name, working) }

// BeginWait is Begin of an event in which the goroutine waits for others.
func BeginWait(ctx context.Context, name string) *Span { return begin(ctx, name, waiting) }

func begin(ctx context.Context, name, category string) *Span {
	k := trackOf(ctx)
	if k == nil {
		return nil
	}
	return &Span{k, event{name: name, category: category, start: time.Now()}}
}

// Rows notes how many rows the event has to do with, and returns the span.
func (s *Span) Rows(rows uint64) *Span {
	if s != nil {
		s.rows = rows
	}
	return s
}

// End ends the event.
func (s *Span) End() {
	if s == nil {
		return
	}
	s.end = time.Now()
	s.track.trace.mu.Lock()
	defer s.track.trace.mu.Unlock()
	s.track.within = append(s.track.within, s.event)
}

// tracedDevice is a device with the work that it did, still in its own time.
type tracedDevice struct {
	device *backend.Device
	mu     sync.Mutex // guards what follows; separate, because the observer must not wait for goroutines
	clock  deviceClock
	work   []deviceWork
}

// deviceWork is backend.Work without the commands, of which only the names of kernels are kept.
type deviceWork struct {
	backend.Work
	kernels []string
}

// Device records the work of a device from now on. The caller calls end before the device is closed, when its work is
// done. Safe on nil.
func (t *Trace) Device(of *backend.Device) (end func()) {
	if t == nil {
		return func() {}
	}
	d := &tracedDevice{device: of}
	d.compare()
	of.ObserveWork(d.observe)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.devices = append(t.devices, d)
	return func() {
		of.MemoryUse(backend.DeviceLocal) // collects the work that is done
		of.ObserveWork(nil)
		d.compare()
	}
}

func (d *tracedDevice) observe(w backend.Work) {
	kernels := kernelsOf(w.Commands)
	w.Commands = nil
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clock.bound(&w)
	d.work = append(d.work, deviceWork{w, kernels})
}

// kernelsOf lists the kernels of commands, each once, in the order of their first use.
func kernelsOf(commands []backend.Command) (names []string) {
	for i := range commands {
		c := &commands[i]
		name := c.Label // of a pass
		if c.Kind == backend.Dispatch {
			name = c.Kernel.Spec.Name
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
