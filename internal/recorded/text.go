package recorded

import (
	"fmt"
	"strings"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// Recorder writes the events of a device as text, with the names of the kernel catalogue. Safe for concurrent use.
//
// A list is a line "submit", with the role of the queue unless that is compute, and a line for each command:
//
//	scan_tiles[in_bits=32 ...] groups=2 values=16384<counts> tile_prefix=- >sums=16388@256<offsets 2> | rows=4096 ...
//
// An argument is its bytes, its offset unless that is 0, and its buffer; an absent one is -. A buffer is named by its
// label. Several with the same label are numbered in order of appearance. The access of the kernel precedes an
// argument, because barriers depend on it: nothing for read, > for write, <> for both, + for accumulate.
type Recorder struct {
	mu      sync.Mutex
	text    strings.Builder
	buffers map[*backend.Buffer]string
	labels  map[string]int
}

// Record records the events of a device from now on, until stop is called.
func Record(device *backend.Device) (r *Recorder, stop func()) {
	r = &Recorder{buffers: make(map[*backend.Buffer]string), labels: make(map[string]int)}
	device.Observe(r.event)
	return r, func() { device.Observe(nil) }
}

// Name names a buffer, before its first use, when its label is not enough.
func (r *Recorder) Name(name string, b *backend.Buffer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buffers[b] = name
}

// Notef adds a line of text.
func (r *Recorder) Notef(format string, a ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.text, format+"\n", a...)
}

// String returns the record so far.
func (r *Recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func (r *Recorder) event(e backend.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case backend.Submitted:
		r.text.WriteString("submit" + role(e.Role) + "\n")
		for i := range e.Commands {
			r.command(&e.Commands[i])
		}
	case backend.Waited:
		if e.Range.Buffer != nil {
			fmt.Fprintf(&r.text, "wait %s\n", r.place(e.Range))
		} else {
			fmt.Fprintf(&r.text, "wait%s\n", role(e.Role))
		}
	case backend.Uploaded:
		fmt.Fprintf(&r.text, "upload %s\n", r.place(e.Range))
	case backend.Downloaded:
		fmt.Fprintf(&r.text, "download %s\n", r.place(e.Range))
	}
}

func role(role backend.Role) string {
	if role == backend.Compute {
		return ""
	}
	return " " + role.String()
}

func (r *Recorder) command(c *backend.Command) {
	switch c.Kind {
	case backend.Mark:
		fmt.Fprintf(&r.text, "  stage %s\n", c.Label)
	case backend.Fill:
		fmt.Fprintf(&r.text, "  fill %s value=%d\n", r.place(c.Dst), c.Value)
	case backend.Copy:
		fmt.Fprintf(&r.text, "  copy %s from %s\n", r.place(c.Dst), r.place(c.Src))
	case backend.Dispatch:
		r.dispatch(c)
	case backend.Pass:
		fmt.Fprintf(&r.text, "  pass %s\n", c.Label)
	}
}

// accessMarks are the prefixes of arguments, by backend.Access.
var accessMarks = [...]string{backend.Read: "", backend.Write: ">", backend.ReadWrite: "<>", backend.Accumulate: "+"}

func (r *Recorder) dispatch(c *backend.Command) {
	spec := c.Kernel.Spec
	fmt.Fprintf(&r.text, "  %s[%s] groups=%d", spec.Name, c.Kernel.Config, c.EndGroup-c.FirstGroup)
	for i, arg := range c.Args {
		fmt.Fprintf(&r.text, " %s%s=%s", accessMarks[spec.Args[i].Access], spec.Args[i].Name, r.place(arg))
	}
	r.text.WriteString(" |")
	for i, value := range c.Params {
		fmt.Fprintf(&r.text, " %s=%d", spec.Params[i], value)
	}
	r.text.WriteByte('\n')
}

// place formats a range of a buffer.
func (r *Recorder) place(p backend.Range) string {
	if p.Buffer == nil {
		return "-"
	}
	name, ok := r.buffers[p.Buffer]
	if !ok {
		label := p.Buffer.Label()
		r.labels[label]++
		if name = label; r.labels[label] > 1 {
			name = fmt.Sprintf("%s %d", label, r.labels[label])
		}
		r.buffers[p.Buffer] = name
	}
	if p.OffsetBytes > 0 {
		return fmt.Sprintf("%d@%d<%s>", p.SizeBytes, p.OffsetBytes, name)
	}
	return fmt.Sprintf("%d<%s>", p.SizeBytes, name)
}
