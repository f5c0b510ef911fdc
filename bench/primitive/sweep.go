package primitive

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
)

// Sweep measures the cases of some axes one after the other.
type Sweep struct {
	Axes     Axes           // without Rows: enough to keep the device busy
	Settings backend.Config // in place of the tuned ones
	Options
	CSV     string // path of a file for the results; empty: none
	Command string // recorded in the file
}

// Run measures on a device with the user's rows of its tables, prints a line for each case, and writes the file. A case
// that does not fit is skipped; the first wrong answer ends the sweep, and leaves no file.
func (s Sweep) Run(ctx context.Context, device *backend.Device, user primitive.Tuning, out measure.Output) error {
	info := device.Info()
	if len(s.Axes.Rows) == 0 {
		s.Axes.Rows = []uint64{measure.DefaultRows(info)}
	}
	cases, err := Cases(s.Axes)
	if err != nil {
		return err
	}
	tables, err := primitive.TuningFor(info)
	if err != nil {
		return err
	}
	overrides, err := Override(tables.With(user), cases, s.Settings)
	if err != nil {
		return err
	}
	rig, err := NewRig(device, user.With(overrides), s.Options)
	if err != nil {
		return err
	}
	file, err := measure.Create(s.CSV, s.Command, info, fileColumns)
	if err != nil {
		return err
	}
	defer file.Abort()
	out.Enter("measure the copy bandwidth")
	rate, err := rig.CopyRate(ctx)
	if err != nil {
		return err
	}
	out.Println(measure.DeviceText(info) + "; a copy moves " + text.Rate(rate, "B"))
	table := newTable(cases)
	out.Println(table.Head())
	for _, c := range cases {
		out.Enter(c.String())
		result, err := rig.Measure(ctx, c)
		if err != nil && !measure.DoesNotFit(err) {
			return err
		}
		out.Println(table.Line(&result, err, ""))
		result.addTo(file, s.Seed, err)
	}
	return file.Commit(ctx)
}
