package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	benchmark "github.com/spirjoin/spirjoin/bench/primitive"
	"github.com/spirjoin/spirjoin/bench/scaling"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
)

func (s *session) benchCommand() *cli.Command {
	return &cli.Command{
		Name: "bench", Usage: "measure", UsageText: "spirjoin bench COMMAND [flags]",
		Subcommands: []*cli.Command{s.benchEndToEndCommand(), s.benchGraphicsCommand(), s.benchJoinsCommand(),
			s.benchMultiGPUCommand(), s.benchOutOfCoreCommand(), s.benchPlannerCommand(), s.benchPrimitiveCommand()},
		Action: func(c *cli.Context) error {
			return usagef("bench needs a command: end-to-end, graphics, joins, multigpu, outofcore, planner or primitive")
		},
	}
}

func (s *session) benchPrimitiveCommand() *cli.Command {
	const cases, run, output = "Cases", "Run", "Output"
	return &cli.Command{
		Name: "primitive", Usage: "the primitives of joins on columns that are on the device",
		UsageText: "spirjoin bench primitive [NAME...] [flags]",
		Description: "   Each case is verified before it is timed; a wrong answer ends the command with code 6. " +
			"Times are\n" +
			"   device times. Without a NAME all are measured:\n   " +
			text.Fold(strings.Join(benchmark.Names(), ", "), text.ReportColumns-4, "\n   "),
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "rows", Category: cases,
				Usage: "`ROWS`: 2^27,10M, or 2^10..2^30 for each power; default: 2^27 or 2^20"},
			&cli.StringSliceFlag{Name: "key", Category: cases, Usage: "`BITS` of keys or values: 32,64; default: all"},
			&cli.StringSliceFlag{Name: "payload", Category: cases,
				Usage: "`BITS` of what travels along, or of sums: 0,32,64; default: all"},
			&cli.StringSliceFlag{Name: "distribution", Category: cases,
				Usage: "`NAMES` of distributions, or all; default: one for each primitive"},
			&cli.Uint64Flag{Name: "seed", Category: cases, Value: 1,
				Usage: "`NUMBER` that is the random seed; default: 1"},

			&cli.StringFlag{Name: "device", Category: run, Value: "auto",
				Usage: "`DEVICE`: its index, name, id or backend; default: auto"},
			&cli.GenericFlag{Name: "device-memory", Category: run, Value: new(sizeValue),
				Usage: "use at most `SIZE` on the device, as in 512MiB; default: 80%"},
			&cli.IntFlag{Name: "repeat", Category: run, Value: 15, Usage: "time each case `TIMES` times; default: 15"},
			&cli.DurationFlag{Name: "warm", Category: run, Value: time.Second,
				Usage: "run each case for a `TIME` before it is timed; default: 1s"},
			&cli.StringSliceFlag{Name: "tuning", Category: run,
				Usage: "`SETTINGS` instead of the tuned ones: workgroup=512,items=8"},

			&cli.StringFlag{Name: "csv", Category: output,
				Usage: "write the results to `FILE`, which appears whole or not at all"},
		},
		Action: func(c *cli.Context) error {
			sweep, err := primitiveSweepOf(c)
			if err != nil {
				return err
			}
			return s.measureOn(c.Context, deviceOptionsOf(c), sweep)
		},
	}
}

// deviceOptions say where a command measures.
type deviceOptions struct {
	device            string
	deviceMemoryBytes uint64
}

func deviceOptionsOf(c *cli.Context) deviceOptions {
	return deviceOptions{c.String("device"), uint64(*c.Generic("device-memory").(*sizeValue))}
}

// primitiveSweepOf reads the flags of `bench primitive`.
func primitiveSweepOf(c *cli.Context) (o benchmark.Sweep, err error) {
	f := &joinFlags{Context: c}
	o = benchmark.Sweep{Options: benchmark.Options{Seed: c.Uint64("seed")}, CSV: c.String("csv"), Command: commandText(c)}
	o.Repeat, o.Warm = f.timing()
	o.Axes = benchmark.Axes{Names: c.Args().Slice(), Rows: f.rows("rows"), Keys: f.ints("key", "bits"),
		Payloads: f.ints("payload", "bits")}
	for _, name := range f.list("distribution") {
		if name == "all" {
			o.Axes.Distributions = workload.Distributions()
			break
		}
		if !slices.Contains(workload.Distributions(), workload.Distribution(name)) {
			f.fault("--distribution %q: there are %v and all", name, workload.Distributions())
		}
		o.Axes.Distributions = append(o.Axes.Distributions, workload.Distribution(name))
	}
	o.Settings = f.settings("tuning")
	if len(f.faults) > 0 {
		return o, usageError(strings.Join(f.faults, "; "))
	}
	_, err = benchmark.Cases(benchmark.Axes{Names: o.Axes.Names})
	return o, err
}

// commandText is a command of bench with its arguments and flags, but for the output.
func commandText(c *cli.Context) string {
	text := strings.Join(append([]string{"spirjoin", "bench", c.Command.Name}, c.Args().Slice()...), " ")
	for _, flag := range c.Command.Flags {
		if name := flag.Names()[0]; c.IsSet(name) && name != "csv" && name != "out" {
			text += fmt.Sprintf(" --%s %s", name, flagText(c, name))
		}
	}
	return text
}

// flagText is the value of a flag as it was given.
func flagText(c *cli.Context, name string) string {
	if list := c.StringSlice(name); list != nil {
		return strings.Join(list, ",")
	}
	switch value := c.Generic(name).(type) {
	case *namesValue:
		return strings.Join(*value, " --"+name+" ")
	case *sizeValue:
		return strconv.FormatUint(uint64(*value), 10) // exact, and one word
	case fmt.Stringer:
		return value.String()
	}
	return fmt.Sprint(c.Value(name))
}

// timing reads how often something is timed, and how long it runs before.
func (f *joinFlags) timing() (repeat int, warm time.Duration) {
	if repeat = f.Int("repeat"); repeat < 1 {
		f.fault("--repeat must be at least 1")
	}
	if warm = f.Duration("warm"); warm < 0 {
		f.fault("--warm is %v, must be 0s or more", warm)
	}
	return repeat, warm
}

// scale reads the power of 2 that divides rows; -1 is returned if it is not given.
func (f *joinFlags) scale() int {
	if !f.IsSet("scale") {
		return -1
	}
	scale := f.Int("scale")
	if scale < 0 || scale > 62 {
		f.fault("--scale is %d, must be 0 to 62", scale)
	}
	return scale
}

// list reads a flag that holds words separated by commas and may be repeated.
func (f *joinFlags) list(flag string) (words []string) {
	for _, list := range f.StringSlice(flag) {
		words = append(words, strings.Split(list, ",")...)
	}
	return words
}

// ints reads a flag that holds numbers of something.
func (f *joinFlags) ints(flag, what string) (numbers []int) {
	for _, word := range f.list(flag) {
		n, err := strconv.Atoi(word)
		if err != nil {
			f.fault("--%s %q: give numbers of %s", flag, word, what)
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// tableRows reads a number of rows of a table, at least 1; 0 is returned if it is not given.
func (f *joinFlags) tableRows(flag string) int64 {
	rows := *f.Generic(flag).(*rowsValue)
	if f.IsSet(flag) && rows == 0 {
		f.fault("--%s must be at least 1; leave it out for the default", flag)
	}
	return int64(min(rows, math.MaxInt64))
}

// rows reads numbers of rows, and ranges like 2^10..2^30, which hold the first number and its doubles.
func (f *joinFlags) rows(flag string) (all []uint64) {
	for _, word := range f.list(flag) {
		first, last, isRange := strings.Cut(word, "..")
		if !isRange {
			last = first
		}
		var from, to rowsValue
		if err := errors.Join(from.Set(first), to.Set(last)); err != nil || from == 0 || from > to {
			f.fault("--%s %q: give numbers of rows from 1, as in 1000, 10M, 2^27 or 2^10..2^30", flag, word)
			continue
		}
		for n := from; n <= to && n >= from; n *= 2 {
			all = append(all, uint64(n))
		}
	}
	return all
}

func (f *joinFlags) settings(flag string) backend.Config {
	settings := make(backend.Config)
	for _, word := range f.list(flag) {
		name, text, _ := strings.Cut(word, "=")
		value, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			f.fault("--%s %q: write SETTING=NUMBER", flag, word)
			continue
		}
		settings[name] = uint32(value)
	}
	return settings
}

// measurement is a benchmark of one device.
type measurement interface {
	Run(ctx context.Context, device *backend.Device, user primitive.Tuning, out measure.Output) error
}

// measureOn opens a device and runs a measurement on it. What is wrong with the tuning file is told.
func (s *session) measureOn(ctx context.Context, o deviceOptions, m measurement) error {
	return s.measure(func(open opener, out measure.Output) (err error) {
		device, user, err := open(ctx, o.device, o.deviceMemoryBytes)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, device.Close()) }()
		return m.Run(ctx, device, user, out)
	})
}

// scalingMeasurement is a benchmark that opens its devices itself.
type scalingMeasurement interface {
	Run(ctx context.Context, open scaling.Open, out measure.Output) error
}

func (s *session) measureScaling(ctx context.Context, m scalingMeasurement) error {
	return s.measure(func(open opener, out measure.Output) error {
		return m.Run(ctx, func(ctx context.Context, name string, deviceMemoryBytes uint64) (*primitive.Ops, error) {
			device, user, err := open(ctx, name, deviceMemoryBytes)
			if err != nil {
				return nil, err
			}
			ops, err := primitive.New(device, user)
			if err != nil {
				return nil, errors.Join(err, device.Close())
			}
			return ops, nil
		}, out)
	})
}

// opener opens a device, with the user's rows of its tuning tables.
type opener func(ctx context.Context, name string, deviceMemoryBytes uint64) (*backend.Device, primitive.Tuning, error)

// measure runs a measurement, whose devices are found and opened by open. What is wrong with the tuning file is told
// once.
func (s *session) measure(run func(open opener, out measure.Output) error) error {
	return s.measureIn([]spirjoin.SystemOptions{{}}, func(open []opener, out measure.Output) error {
		return run(open[0], out)
	})
}

// measureIn is measure where backends are opened several times, in several ways; there is an opener for each.
func (s *session) measureIn(systems []spirjoin.SystemOptions,
	run func(open []opener, out measure.Output) error) (err error) {
	var openers []opener
	told := make(map[string]bool)
	for _, options := range systems {
		system, failed := spirjoin.Discover(options)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, system.Close()) }()
		openers = append(openers, s.opener(system, told))
	}
	progress := s.newProgress(false)
	defer progress.close()
	return run(openers, measure.Output{Writer: lines{s.stdout, progress}, Phase: progress.report})
}

func (s *session) opener(system *spirjoin.System, told map[string]bool) opener {
	return func(ctx context.Context, name string, deviceMemoryBytes uint64) (
		*backend.Device, primitive.Tuning, error) {
		device, err := system.Open(ctx, name, backend.DeviceOptions{DeviceMemoryBytes: deviceMemoryBytes})
		if err != nil {
			return nil, nil, withProblems(err, system.Problems)
		}
		user, problems := spirjoin.UserTuning(device.Info())
		for _, problem := range problems {
			if !told[problem.Error()] {
				told[problem.Error()] = true
				s.warn(problem)
			}
		}
		return device, user, nil
	}
}

// lines is standard output without the progress bar, and with flags instead of options to raise.
type lines struct {
	*output
	progress *progress
}

func (l lines) Write(p []byte) (int, error) {
	l.progress.clearLine()
	_, err := l.output.Write([]byte(nameRaisedFlags(string(p))))
	return len(p), err
}
