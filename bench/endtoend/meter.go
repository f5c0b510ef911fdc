package endtoend

import (
	"sync/atomic"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/tableio"
)

// meter measures what a run moves and how long that takes. Only one is at work on a device at a time.
type meter struct {
	device        *backend.Device
	reads, writes tableio.Busy
	transfers     backend.Profile
	up, down      atomic.Uint64
	begun         time.Duration // CPU time of the process
}

func newMeter(device *backend.Device) *meter {
	m := &meter{device: device, begun: cpuTime()}
	device.Observe(m.observe)
	device.ProfileTransfers(&m.transfers)
	return m
}

func (m *meter) stop() {
	m.device.Observe(nil)
	m.device.ProfileTransfers(nil)
}

// observe counts transfers, and imported memory that kernels read or write, which crosses the link too. Where there is
// no link, kernels read it in place; what they write is a copy.
func (m *meter) observe(e backend.Event) {
	switch e.Kind {
	case backend.Uploaded:
		m.up.Add(e.Range.SizeBytes)
	case backend.Downloaded:
		m.down.Add(e.Range.SizeBytes)
	case backend.Submitted:
		for i := range e.Commands {
			e.Commands[i].Accesses(func(r backend.Range, access backend.Access) {
				if r.Buffer.Memory() != backend.Imported {
					return
				}
				if access != backend.Write && !m.device.Info().InHostMemory() {
					m.up.Add(r.SizeBytes)
				}
				if access != backend.Read {
					m.down.Add(r.SizeBytes)
				}
			})
		}
	}
}

// cpu returns the CPU time since the start.
func (m *meter) cpu() time.Duration { return cpuTime() - m.begun }

// report fills in what was measured.
func (m *meter) report(r *Run) {
	r.Read, r.Write = m.reads.Time(), m.writes.Time()
	r.UpBytes, r.DownBytes = m.up.Load(), m.down.Load()
	for _, stage := range m.transfers.Stages() {
		if stage.Stage == backend.Upload.String() {
			r.Upload += stage.Time
		} else {
			r.Download += stage.Time
		}
	}
}
