// Package kerneltest has test cases and a benchmark of each kernel. A test case is a dispatch with random arguments and
// the expected contents of every output, computed by naive code. A benchmark is one dispatch to measure. A kernel
// registers both in the file of its name. Arguments stand in the same structs that callers of kernels fill.
package kerneltest

import (
	"context"
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
)

const (
	marker     = 0xa5 // every byte of an output before the dispatch
	guardBytes = 256  // behind each output; must keep the marker

	untouched   = marker * (1<<64 - 1) / 255 // a 64-bit value that is not written
	untouched32 = marker * (1<<32 - 1) / 255
)

// Dispatch is one dispatch of a kernel in a complete configuration: the contents of the arguments and the parameters,
// in the order of the catalogue, nil for an absent argument, and the workgroups FirstGroup to EndGroup-1.
type Dispatch struct {
	Spec                 *backend.KernelSpec
	Config               backend.Config
	Args                 [][]byte
	Params               []uint32
	FirstGroup, EndGroup uint32
}

// RunReference runs the reference in place.
func (d *Dispatch) RunReference() {
	run := d.Spec.Reference(d.Config)(d.Args, d.Params)
	for group := d.FirstGroup; group < d.EndGroup; group++ {
		run(group)
	}
}

// RunOn runs the dispatch on a device, the second half of its workgroups before the first, and returns copies of the
// arguments. It leaves d.Args unchanged.
func (d *Dispatch) RunOn(ctx context.Context, device *backend.Device) ([][]byte, error) {
	k, err := device.Kernel(d.Spec, d.Config)
	if err != nil {
		return nil, err
	}
	args, after := make([]backend.Range, len(d.Args)), make([][]byte, len(d.Args))
	for i, arg := range d.Args {
		if arg == nil {
			continue
		}
		b, err := device.Allocate(ctx, backend.DeviceLocal, uint64(len(arg)), d.Spec.Args[i].Name)
		if err != nil {
			return nil, err
		}
		defer b.Release()
		args[i] = b.All()
		if _, err := device.Upload(ctx, args[i], arg); err != nil {
			return nil, err
		}
	}
	var list backend.List
	middle := (d.FirstGroup + d.EndGroup) / 2
	for _, part := range [][2]uint32{{middle, d.EndGroup}, {d.FirstGroup, middle}} {
		if part[0] < part[1] {
			list.Commands = append(list.Commands, backend.Command{
				Kind: backend.Dispatch, Kernel: k, Args: args, Params: d.Params, FirstGroup: part[0], EndGroup: part[1],
			})
		}
	}
	if err := device.Run(ctx, &list); err != nil {
		return nil, err
	}
	for i, arg := range d.Args {
		if arg != nil {
			after[i] = make([]byte, len(arg))
			if err := device.Download(ctx, after[i], args[i]); err != nil {
				return nil, err
			}
		}
	}
	return after, nil
}

// Case is a dispatch whose outcome is known. Its arguments are those before the dispatch; outputs hold a marker.
type Case struct {
	Dispatch
	want [][]byte // by argument: what an output holds afterwards, guard included; nil for inputs
	// Where the order of output rows is open, brings arguments into one order.
	canonical func(args [][]byte)
}

// RunReference runs the reference on copies of the arguments and returns them.
func (c *Case) RunReference() [][]byte {
	d := c.Dispatch
	d.Args = make([][]byte, len(c.Args))
	for i, arg := range c.Args {
		if arg != nil { // aligned to 64 bits
			d.Args[i] = backend.AsBytes(make([]uint64, (len(arg)+7)/8))[:len(arg)]
			copy(d.Args[i], arg)
		}
	}
	d.RunReference()
	return d.Args
}

// Check compares the arguments after the dispatch with the oracle: outputs, the guard behind them, and inputs, which
// stay as they were. The error names the first difference.
func (c *Case) Check(after [][]byte) error {
	wanted := c.want
	if c.canonical != nil {
		wanted, after = clones(wanted), clones(after)
		c.canonical(wanted)
		c.canonical(after)
	}
	for i, arg := range c.Spec.Args {
		want, guard := wanted[i], guardBytes
		if want == nil {
			want, guard = c.Args[i], 0
		}
		if slices.Equal(want, after[i]) {
			continue
		}
		at := 0
		for want[at] == after[i][at] {
			at++
		}
		at &^= 3
		return fmt.Errorf("%s %v params %v: %s differs first at byte %d of %d + %d: want % x, got % x", c.Spec.Name,
			c.Config, c.Params, arg.Name, at, len(want)-guard, guard, want[at:at+4], after[i][at:at+4])
	}
	return nil
}

func clones(columns [][]byte) [][]byte {
	columns = slices.Clone(columns)
	for i, column := range columns {
		columns[i] = slices.Clone(column)
	}
	return columns
}
