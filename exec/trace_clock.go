package exec

import (
	"math"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

// deviceClock maps device times to host times. If the driver can compare the clocks, it does so at the start and at the
// end, and times between are interpolated, because no two clocks run equally fast. Otherwise the clock is shifted so
// that all work began after it was submitted and ended before its end was seen:
//
//	submitted - start <= shift <= seen - end    for all work
//
// The shift is the middle of this interval, the error half its length.
type deviceClock struct {
	compared    []comparison
	least, most time.Duration // bounds of the shift, as a time since epoch
	epoch       time.Time     // of the bounds; zero: there are none
}

// comparison is one moment on both clocks.
type comparison struct {
	device    time.Duration
	host      time.Time
	deviation time.Duration
}

// compare compares the clocks, if the driver can.
func (d *tracedDevice) compare() {
	clock, ok := d.device.Driver().(backend.Clock)
	if !ok {
		return
	}
	device, host, deviation, ok := clock.Compare()
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clock.compared = append(d.clock.compared, comparison{device, host, deviation})
}

// bound notes what work says about the shift.
func (c *deviceClock) bound(w *backend.Work) {
	if !w.Timed {
		return
	}
	if c.epoch.IsZero() {
		c.epoch = w.Submitted
		c.least, c.most = -w.Start, w.Seen.Sub(c.epoch)-w.End
	}
	c.least = max(c.least, w.Submitted.Sub(c.epoch)-w.Start)
	c.most = min(c.most, w.Seen.Sub(c.epoch)-w.End)
}

// host returns the time of the host that is a time of the device.
func (c *deviceClock) host(device time.Duration) time.Time {
	n := len(c.compared)
	if n == 0 {
		return c.epoch.Add(c.least + (c.most-c.least)/2 + device)
	}
	first, last := &c.compared[0], &c.compared[n-1]
	since, scale := device-first.device, 1.0
	if span := last.device - first.device; span > 0 {
		scale = float64(last.host.Sub(first.host)) / float64(span)
	}
	return first.host.Add(since + time.Duration(math.Round((scale-1)*float64(since))))
}

// error bounds how far the times of the host are off. Where no shift fits all work, as the clocks differ in speed, it
// is by how much the bounds miss one another.
func (c *deviceClock) error() (off time.Duration) {
	if len(c.compared) == 0 {
		return (c.most - c.least).Abs() / 2
	}
	for _, at := range c.compared {
		off = max(off, at.deviation)
	}
	return off
}

// how says where the times come from.
func (c *deviceClock) how() string {
	switch {
	case len(c.compared) > 0:
		return "compared with the host's"
	case !c.epoch.IsZero():
		return "correlated by submission and end"
	}
	return "none"
}
