package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
)

// DeviceOptions say where a command measures.
type DeviceOptions struct {
	Device            string
	DeviceMemoryBytes uint64
}

// DeviceFlags are the flags of [DeviceOptions].
func DeviceFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "device", Category: category, Value: "auto",
			Usage: "`DEVICE`: its index, name, id or backend; default: auto"},
		&cli.GenericFlag{Name: "device-memory", Category: category, Value: new(Size),
			Usage: "use at most `SIZE` on the device, as in 512MiB; default: 80%"},
	}
}

// DeviceOptionsOf reads these flags.
func DeviceOptionsOf(c *cli.Context) DeviceOptions {
	return DeviceOptions{c.String("device"), uint64(*c.Generic("device-memory").(*Size))}
}

// Opener opens a device, with the user's rows of its tuning tables. The caller closes the device.
type Opener func(ctx context.Context, name string, deviceMemoryBytes uint64) (*backend.Device, primitive.Tuning, error)

// Measurement is a measurement on one device.
type Measurement interface {
	Run(ctx context.Context, device *backend.Device, user primitive.Tuning, out measure.Output) error
}

// MeasureOn opens a device and runs a measurement on it.
func (s *Session) MeasureOn(ctx context.Context, o DeviceOptions, m Measurement) error {
	return s.Measure([]spirjoin.SystemOptions{{}}, func(open []Opener, out measure.Output) (err error) {
		device, user, err := open[0](ctx, o.Device, o.DeviceMemoryBytes)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, device.Close()) }()
		return m.Run(ctx, device, user, out)
	})
}

// Measure runs a measurement that opens its devices itself, each in one of several ways to open backends: there is an
// opener for each. Standard error tells once what is wrong with the tuning file.
func (s *Session) Measure(systems []spirjoin.SystemOptions,
	run func(open []Opener, out measure.Output) error) (err error) {
	var openers []Opener
	told := make(map[string]bool)
	for _, options := range systems {
		system, failed := spirjoin.Discover(options)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, system.Close()) }()
		openers = append(openers, s.opener(system, told))
	}
	progress := s.NewProgress(false)
	defer progress.Close()
	return run(openers, measure.Output{Writer: lines{s.Stdout, progress}, Phase: progress.Report})
}

func (s *Session) opener(system *spirjoin.System, told map[string]bool) Opener {
	return func(ctx context.Context, name string, deviceMemoryBytes uint64) (
		*backend.Device, primitive.Tuning, error) {
		device, err := system.Open(ctx, name, backend.DeviceOptions{DeviceMemoryBytes: deviceMemoryBytes})
		if err != nil {
			return nil, nil, WithProblems(err, system.Problems)
		}
		user, problems := spirjoin.UserTuning(device.Info())
		for _, problem := range problems {
			if !told[problem.Error()] {
				told[problem.Error()] = true
				s.Warn(problem)
			}
		}
		return device, user, nil
	}
}

// Warn prints what is wrong without being an error.
func (s *Session) Warn(problem error) {
	fmt.Fprintln(s.Stderr, s.Name+": "+text.OneLine(problem.Error()))
}

// lines is standard output without the progress bar, and with flags instead of options to raise.
type lines struct {
	*Output
	progress *Progress
}

func (l lines) Write(p []byte) (int, error) {
	l.progress.ClearLine()
	_, err := l.Output.Write([]byte(NameRaisedFlags(string(p))))
	return len(p), err
}
