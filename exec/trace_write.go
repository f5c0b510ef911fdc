package exec

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

// Processes of a trace: the host, then the devices in the order in which they were added. Each rank has numbers of its
// own, for processes and for threads.
const (
	hostProcess        = 1
	firstDeviceProcess = 2
	rankProcesses      = 1 << 6
	rankThreads        = 1 << 16
)

// traceEvent is an event of the Trace Event Format, with times in microseconds: phase "X" is complete, "M" names
// something.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Start    *float64       `json:"ts,omitempty"`
	Duration *float64       `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// deviceNote is what a trace says of a device.
type deviceNote struct {
	Process int     `json:"pid"`
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Driver  string  `json:"driver"`
	Clock   string  `json:"clock"`
	Error   float64 `json:"clock_error_us"`
}

// TracePart is what a process adds to a trace of several, as JSON; see [Trace.Part].
type TracePart struct {
	Start   time.Time
	Events  string // separated by commas
	Devices []deviceNote
}

// Part encodes the trace of a rank for [WriteTrace], with times since zero. Call it when the engines are closed: open
// spans end now. A rank of -1 is a process alone.
func (t *Trace) Part(rank int, zero time.Time) (TracePart, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := new(strings.Builder)
	out := &traceWriter{buffer: bufio.NewWriter(text), start: zero, now: time.Now()}
	first, of := 0, ""
	if rank >= 0 {
		first, of = rank*rankProcesses, fmt.Sprintf("rank %d: ", rank)
		out.threads = rank * rankThreads
	}
	out.process(first+hostProcess, of+"host", rowsOf(t.tracks, out.now))
	p := TracePart{Start: t.start, Devices: []deviceNote{}}
	for i, d := range t.devices {
		d.mu.Lock()
		info, process := d.device.Info(), first+firstDeviceProcess+i
		out.process(process, fmt.Sprintf("%s%s (%s)", of, info.Name, info.Backend), d.rows())
		p.Devices = append(p.Devices, deviceNote{process, info.ID, info.Name, info.Driver, d.clock.how(),
			microseconds(d.clock.error())})
		d.mu.Unlock()
	}
	err := cmp.Or(out.err, out.buffer.Flush())
	p.Events = text.String()
	return p, err
}

// WriteTrace writes the parts of all ranks as one trace, in the form of [Trace.Write]. The first part is that of rank
// 0, from whose start times count. Processes are named by rank. Errors: write errors of w.
func WriteTrace(w io.Writer, parts ...TracePart) error {
	devices, separator := []deviceNote{}, ""
	out := &traceWriter{buffer: bufio.NewWriter(w)}
	out.text(`{"displayTimeUnit":"ms","traceEvents":[`)
	for _, p := range parts {
		out.text(separator)
		out.text(p.Events)
		separator, devices = ",", append(devices, p.Devices...)
	}
	out.text("\n],\n\"otherData\":")
	out.json(map[string]any{"start": parts[0].Start.Format(time.RFC3339Nano), "devices": devices})
	out.text("}\n")
	return cmp.Or(out.err, out.buffer.Flush())
}

// Write writes the trace as a JSON object of the Trace Event Format, which Perfetto and chrome://tracing show. Process
// 1 is the host, with a thread for each goroutine of a flow; goroutines of one name that follow one another share a
// thread. The other processes are the devices, with a thread for each queue that did work. Times are microseconds since
// the start of the trace. For each device, otherData says how its clock was mapped to the host's, and the error. Call
// Write when the engines are closed: open spans end now. Errors: write errors of w.
func (t *Trace) Write(w io.Writer) error {
	p, err := t.Part(-1, t.start)
	return cmp.Or(err, WriteTrace(w, p))
}

// row is what a viewer shows in a line: tracks that follow one another.
type row struct {
	name   string
	end    time.Time
	tracks []*track
}

// rowsOf puts tracks into rows, in the order in which these begin. Tracks of one name that overlap get several rows,
// which are numbered.
func rowsOf(tracks []*track, now time.Time) (rows []*row) {
	tracks = slices.Clone(tracks)
	slices.SortStableFunc(tracks, func(a, b *track) int { return a.start.Compare(b.start) })
	named := make(map[string][]*row)
	for _, k := range tracks {
		of := named[k.row]
		i := slices.IndexFunc(of, func(r *row) bool { return !r.end.After(k.start) })
		if i < 0 {
			i = len(of)
			r := &row{name: k.row}
			if i > 0 {
				r.name = fmt.Sprintf("%s %d", k.row, i+1)
			}
			rows, of = append(rows, r), append(of, r)
			named[k.row] = of
		}
		if of[i].end = k.end; k.end.IsZero() {
			of[i].end = now
		}
		of[i].tracks = append(of[i].tracks, k)
	}
	return rows
}

// rows has the queues of a device in the order of their roles, and then the copies by the host. Work without times of
// the device lasts from its submission, or the end of the work before it, until it was seen to have ended.
func (d *tracedDevice) rows() (rows []*row) {
	var queues [2 * backend.Roles][]*track
	var last [backend.Roles]time.Time
	for i := range d.work {
		w := &d.work[i]
		at, queue := w.Role, w.Role.String()
		e := event{category: device, start: w.Submitted, end: w.Seen, bytes: w.Bytes, kernels: w.kernels}
		e.name = cmp.Or(w.Stage, strings.Join(w.kernels, ", "), queue)
		switch {
		case w.ByHost:
			at, queue = at+backend.Roles, queue+" by the host"
		case w.Timed:
			e.start, e.end = d.clock.host(w.Start), d.clock.host(w.End)
		default:
			e.bounds = true
			if last[w.Role].After(e.start) {
				e.start = last[w.Role]
			}
		}
		if !w.ByHost {
			last[w.Role] = e.end
		}
		queues[at] = append(queues[at], &track{row: queue, event: e})
	}
	for _, tracks := range queues {
		rows = append(rows, rowsOf(tracks, time.Time{})...)
	}
	return rows
}

// traceWriter writes events. Its error is the error of the first write that failed.
type traceWriter struct {
	buffer     *bufio.Writer
	start, now time.Time
	threads    int // written so far
	events     int
	err        error
}

// process writes a process, its threads, and what they did.
func (w *traceWriter) process(process int, name string, rows []*row) {
	w.name("process_name", process, 0, "name", name)
	w.name("process_sort_index", process, 0, "sort_index", process)
	for _, r := range rows {
		w.threads++
		w.name("thread_name", process, w.threads, "name", r.name)
		w.name("thread_sort_index", process, w.threads, "sort_index", w.threads)
		for _, k := range r.tracks {
			w.complete(process, &k.event)
			for i := range k.within {
				w.complete(process, &k.within[i])
			}
		}
	}
}

func (w *traceWriter) name(what string, process, thread int, key string, value any) {
	w.event(&traceEvent{Name: what, Phase: "M", Process: process, Thread: thread, Args: map[string]any{key: value}})
}

// complete writes an event of the thread that was written last.
func (w *traceWriter) complete(process int, e *event) {
	end := e.end
	if end.IsZero() {
		end = w.now
	}
	start, duration := microseconds(e.start.Sub(w.start)), microseconds(end.Sub(e.start))
	args := make(map[string]any)
	if e.rows > 0 {
		args["rows"] = e.rows
	}
	if e.bytes > 0 {
		args["bytes"] = e.bytes
	}
	if len(e.kernels) > 0 {
		args["kernels"] = strings.Join(e.kernels, ", ")
	}
	if e.bounds {
		args["times"] = "from submission to when it was seen to have ended"
	}
	w.event(&traceEvent{e.name, e.category, "X", &start, &duration, process, w.threads, args})
}

func (w *traceWriter) event(e *traceEvent) {
	separator := ",\n"
	if w.events == 0 {
		separator = "\n"
	}
	w.events++
	w.text(separator)
	w.json(e)
}

func (w *traceWriter) json(v any) {
	text, err := json.Marshal(v)
	w.err = cmp.Or(w.err, err)
	w.text(string(text))
}

func (w *traceWriter) text(text string) {
	_, err := w.buffer.WriteString(text)
	w.err = cmp.Or(w.err, err)
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
