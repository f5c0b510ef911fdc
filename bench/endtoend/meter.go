package endtoend

import (
	"sync/atomic"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/cputime"
	"github.com/spirjoin/spirjoin/tableio"
)

// Meter measures what a run moves and how long that takes, on one device or on several. Only one is at work on a device
// at a time.
type Meter struct {
	devices       []*backend.Device
	reads, writes tableio.Busy
	transfers     backend.Profile
	up, down      atomic.Uint64
	begun         time.Duration // CPU time of the process
}

// NewMeter begins to measure. The caller ends it with Stop.
func NewMeter(devices ...*backend.Device) *Meter {
	m := &Meter{devices: devices, begun: cputime.Now()}
	for _, device := range devices {
		inPlace := device.Info().InHostMemory()
		device.Observe(func(e backend.Event) { m.observe(e, inPlace) })
		device.ProfileTransfers(&m.transfers)
	}
	return m
}

// Stop ends the measurement.
func (m *Meter) Stop() {
	for _, device := range m.devices {
		device.Observe(nil)
		device.ProfileTransfers(nil)
	}
}

// observe counts transfers, and imported memory that kernels read or write, which crosses the link too. Where there is
// no link, kernels read it in place; what they write is a copy.
func (m *Meter) observe(e backend.Event, inPlace bool) {
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
				if access != backend.Write && !inPlace {
					m.up.Add(r.SizeBytes)
				}
				if access != backend.Read {
					m.down.Add(r.SizeBytes)
				}
			})
		}
	}
}

// CPU returns the CPU time of the process since the start; 0 if the system does not say.
func (m *Meter) CPU() time.Duration { return cputime.Now() - m.begun }

// Report fills in what was read and written, and what all devices together transferred. The times of transfers are sums
// over the devices, which must have done all work.
func (m *Meter) Report(r *Run) {
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
