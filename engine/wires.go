package engine

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/topology"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

const (
	wireBytes = 16 << 20 // of a copy that measures a link
	wireRuns  = 3        // of which the fastest counts
)

// MeasureWires measures the links between host memory and the devices, each alone and all at once, and sets Wires, if
// there are several devices and each has memory of its own. It takes 16 MiB of pinned memory and of device memory for
// each device. Call it before the first query. Errors: device errors; ErrCancelled.
func (e *Engine) MeasureWires(ctx context.Context) error {
	for _, on := range e.Engines() {
		if len(e.others) == 0 || on.Device().Info().Unified {
			return nil
		}
	}
	var wires []*wire
	defer func() {
		for _, w := range wires {
			w.release()
		}
	}()
	for _, on := range e.Engines() {
		w, err := newWire(ctx, on)
		if err != nil {
			return err
		}
		wires = append(wires, w)
	}
	var alone []topology.Rates
	for i := range wires {
		rates, err := wireRates(ctx, wires[i:i+1])
		if err != nil {
			return err
		}
		alone = append(alone, rates)
	}
	together, err := wireRates(ctx, wires)
	if err != nil {
		return err
	}
	measured := topology.Measured(alone, together)
	e.Wires = &measured
	return nil
}

// knowLinks adds the rates of the links between the devices to Wires, measured when they were made.
func (e *Engine) knowLinks() {
	engines := e.Engines()
	links := make([][]topology.Link, len(engines))
	for i, from := range engines {
		links[i] = make([]topology.Link, len(engines))
		for j, to := range engines {
			if i != j {
				rate, direct := e.Links().Rate(from.Device(), to.Device())
				links[i][j] = topology.Link{BytesPerSecond: rate, ThroughHost: !direct}
			}
		}
	}
	var wires topology.Topology
	if e.Wires != nil {
		wires = *e.Wires
	}
	if wires = wires.Linked(links); len(wires.Peer) > 0 {
		e.Wires = &wires
	}
}

// wire is memory at both ends of a link between the host and a device.
type wire struct {
	device *backend.Device
	pinned *relation.PinnedAllocator
	host   []byte
	buffer *backend.Buffer
}

// newWire allocates the memory, which the caller releases.
func newWire(ctx context.Context, on *query.Engine) (*wire, error) {
	buffer, err := on.Device().Allocate(ctx, backend.DeviceLocal, wireBytes, "rate of a link")
	if err != nil {
		return nil, err
	}
	w := &wire{device: on.Device(), pinned: relation.NewPinnedAllocator(on.Device(), 2*wireBytes), buffer: buffer}
	w.host = w.pinned.Allocate(wireBytes)
	return w, nil
}

func (w *wire) release() {
	w.buffer.Release()
	w.pinned.Free(w.host)
	w.pinned.Close()
}

func (w *wire) up(ctx context.Context) error {
	point, err := w.device.Upload(ctx, w.buffer.All(), w.host)
	if err != nil {
		return err
	}
	return point.Wait(ctx)
}

func (w *wire) down(ctx context.Context) error { return w.device.Download(ctx, w.host, w.buffer.All()) }

// wireRates measures links that are used at once, first up, as their buffers hold nothing yet.
func wireRates(ctx context.Context, wires []*wire) (rates topology.Rates, err error) {
	measure := func(copied func(*wire, context.Context) error) (perSecond float64, err error) {
		for range wireRuns {
			var all errgroup.Group
			begun := time.Now()
			for _, w := range wires {
				all.Go(func() error { return copied(w, ctx) })
			}
			if err := all.Wait(); err != nil {
				return 0, err
			}
			perSecond = max(perSecond, float64(len(wires)*wireBytes)/time.Since(begun).Seconds())
		}
		return perSecond, nil
	}
	if rates.Up, err = measure((*wire).up); err != nil {
		return rates, err
	}
	rates.Down, err = measure((*wire).down)
	return rates, err
}
