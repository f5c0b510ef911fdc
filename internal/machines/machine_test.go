package machines

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/primitive"
)

// Machine is devices and the wires between them.
type Machine struct {
	Devices []Device
	Wires   Topology // of as many devices
}

// Device is a modelled device.
type Device struct {
	MemoryBytes uint64  // its limit; 0: the limit of the machine on which the model runs
	Speed       float64 // rows per second of its kernels, relative to the other devices
}

// Of returns a machine of equal devices with the memory of the machine on which the model runs.
func Of(wires Topology) *Machine {
	m := &Machine{Devices: make([]Device, wires.Devices()), Wires: wires}
	for i := range m.Devices {
		m.Devices[i].Speed = 1
	}
	return m
}

// Weights are the shares of the devices, by their speeds; nil if all are equally fast.
func (m *Machine) Weights() (weights []uint32) {
	const most = 1 << 16 // of the fastest
	slowest, fastest := math.Inf(1), 0.0
	for _, d := range m.Devices {
		slowest, fastest = min(slowest, d.Speed), max(fastest, d.Speed)
	}
	if slowest == fastest {
		return nil
	}
	for _, d := range m.Devices {
		weights = append(weights, uint32(math.Round(most*d.Speed/fastest)))
	}
	return weights
}

// Run runs body once for each device, as [peers.RunRanks] does, with the weights of the machine, and returns the
// traffic between ranks. The memory of the lanes is released when all ranks have ended.
//
// Errors: as for RunRanks; the traffic is nil then.
func (m *Machine) Run(ctx context.Context, body func(context.Context, *peers.Rank) error) (t *Traffic, err error) {
	lanes, closed, err := m.open(ctx)
	defer func() { err = errors.Join(err, closed()) }()
	if err != nil {
		return nil, err
	}
	links := peers.NewLinks(connect)
	defer func() { err = errors.Join(err, links.Close()) }()
	t = &Traffic{}
	err = peers.RunRanks(ctx, links, lanes, m.Weights(), func(ctx context.Context, r *peers.Rank) error {
		r.Comm = &recorder{Comm: r.Comm, to: t}
		return body(ctx, r)
	})
	if err != nil {
		return nil, err
	}
	t.sort()
	return t, nil
}

// open opens a logical device of the host for each modelled one, and returns a lane on each, and what closes them all,
// also after an error.
func (m *Machine) open(ctx context.Context) (lanes []*exec.Lane, closed func() error, err error) {
	options := host.Options{Workers: 1} // the ranks keep all cores busy
	for i, d := range m.Devices {
		options.Devices = append(options.Devices, host.Device{Name: strconv.Itoa(i), MemoryBytes: d.MemoryBytes})
	}
	of := host.New(options)
	var devices []*backend.Device
	closed = func() error {
		var errs []error
		for i, device := range devices {
			if i < len(lanes) {
				lanes[i].Memory.ReleaseAll()
			}
			errs = append(errs, device.Close())
		}
		return errors.Join(errs...)
	}
	for _, d := range options.Devices {
		driver, err := of.Open("host:" + d.Name)
		if err != nil {
			return nil, closed, err
		}
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		devices = append(devices, device)
		ops, err := primitive.New(device, nil)
		if err != nil {
			return nil, closed, err
		}
		lanes = append(lanes, exec.NewLane(ctx, ops, nil))
	}
	return lanes, closed, nil
}

// connect makes a link without verifying it. Links of package backend/link verify themselves first, which takes longer
// than all copies of a model over thousands of links.
func connect(_ context.Context, from, to *backend.Device) (peers.Link, error) {
	return link{from, to}, nil
}

// link copies through the memory of the process.
type link struct{ from, to *backend.Device }

// Copy implements [peers.Link].
func (l link) Copy(ctx context.Context, dst, src backend.Range) error {
	content := make([]byte, src.SizeBytes)
	if err := l.from.Download(ctx, content, src); err != nil {
		return err
	}
	point, err := l.to.Upload(ctx, dst, content)
	if err != nil {
		return err
	}
	return point.Wait(ctx)
}

// Close implements [peers.Link].
func (l link) Close() error { return nil }
