// Package scaling measures how joins scale: over several devices, and with tables beyond the memory of a device or of
// the host. It repeats figures 14 to 19 of HMG and figure 14 of RT. Tables are in host memory, and so is what joins
// return. Each answer is verified before it is timed.
package scaling

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/endtoend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

// Options are what both kinds of sweeps have.
type Options struct {
	Figures           []Figure
	Cell              string // only cells whose position on the axis contains it
	Scale             int    // rows are divided by 2 to this power; negative: by the default of CPUs, on a CPU only
	Outputs           []Output
	DeviceMemoryBytes uint64 // of each device; 0: the default
	Repeat            int
	Warm              time.Duration
	CSV               string      // path of a file for the results; empty: none
	Command           string      // recorded in the file
	Trace             *exec.Trace // of what devices and goroutines do; nil: none
}

// scaled chooses the scale that is not given. ErrInvalidInput if no figure has the cell that is asked for.
func (o *Options) scaled(info *backend.DeviceInfo, cpuScale int) error {
	o.Scale = measure.ScaleOn(info, o.Scale, cpuScale)
	var places []string
	for _, f := range o.Figures {
		for _, c := range f.Cells {
			places = append(places, f.Axis(c.Scaled(o.Scale)))
		}
	}
	return measure.CheckCell(o.Cell, places)
}

var measureRates = endtoend.MeasureRates // tests have rates without measuring them

// cells are the scaled cells of a figure that the options ask for.
func (o *Options) cells(f Figure) (cells []Cell) {
	for _, c := range f.Cells {
		if c = c.Scaled(o.Scale); strings.Contains(f.Axis(c), o.Cell) {
			cells = append(cells, c)
		}
	}
	return cells
}

// Open opens the device of that name with a limit of its memory, 0 for the default, and returns its primitives. The
// caller closes the device.
type Open func(ctx context.Context, name string, deviceMemoryBytes uint64) (*primitive.Ops, error)

// device is an open device, and the memory of the batches that come from it.
type device struct {
	ops       *primitive.Ops
	allocator memory.Allocator
	untrace   func() // ends the trace of the device
}

func (o Open) device(ctx context.Context, name string, deviceMemoryBytes, memoryLimitBytes uint64) (*device, error) {
	ops, err := o(ctx, name, deviceMemoryBytes)
	if err != nil {
		return nil, err
	}
	return &device{ops, relation.AllocatorFor(ops.Device(), memoryLimitBytes), func() {}}, nil
}

func (d *device) info() *backend.DeviceInfo { return d.ops.Device().Info() }

func (d *device) close() error {
	if pinned, ok := d.allocator.(*relation.PinnedAllocator); ok {
		pinned.Close()
	}
	d.untrace()
	return d.ops.Device().Close()
}

func closeAll(devices []*device) error {
	var errs []error
	for _, d := range devices {
		errs = append(errs, d.close())
	}
	return errors.Join(errs...)
}

// engineOn returns an engine on devices, all of which take part in every join that several can run.
func engineOn(devices []*device, memoryLimitBytes uint64) *engine.Engine {
	var members []query.Member
	for _, d := range devices {
		members = append(members, query.Member{Ops: d.ops, Allocator: d.allocator})
	}
	engine := engine.NewEngine(members[0].Ops, members[0].Allocator, memoryLimitBytes, members[1:]...)
	engine.Together = len(devices) > 1
	return engine
}

// measured measures contenders on the tables of a bed, which these devices import. If one cannot, its line says so.
func (o *Options) measured(ctx context.Context, b *bed, contenders []*contender, pinned []*device, what string,
	out measure.Output) ([]Result, error) {
	for i, d := range pinned {
		lacking, unpin := b.memory.pin(ctx, d.ops.Device())
		defer unpin()
		if lacking > 0 {
			out.Println(fmt.Sprintf("device %d imports all but %s of the tables, which the host copies", i+1,
				text.Bytes(lacking)))
		}
	}
	return b.measure(ctx, contenders, o, func(step string) { out.Enter(step + " " + what) })
}
