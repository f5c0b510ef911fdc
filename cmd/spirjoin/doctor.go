package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/selftest"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/opencl"
)

func (s session) doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "say what is installed, what is missing and what to do, and test every device",
		UsageText: "spirjoin doctor [--device DEVICE] [--json]",
		Description: "   Every usable device moves patterns and runs small joins whose answers are known.\n   The " +
			"exit code is 4 when no device passes.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "device", Category: "Test",
				Usage: "test this `DEVICE` only; default: all that can be used"},
			&cli.BoolFlag{Name: "json", Category: "Output", Usage: "print the report as JSON"},
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return command.Usagef("doctor takes no arguments")
			}
			return s.doctor(c.Context, c.String("device"), c.Bool("json"))
		},
	}
}

// diagnosis is what doctor found.
type diagnosis struct {
	Version   string         `json:"version"`
	Findings  []finding      `json:"findings"`
	SelfTests []deviceResult `json:"self_tests"`
	Advice    []advice       `json:"advice"`
}

// deviceResult is the self-test of one device.
type deviceResult struct {
	selftest.Report
	Passed bool   `json:"passed"`
	Error  string `json:"error,omitempty"` // why there was no test
}

func (s session) doctor(ctx context.Context, device string, asJSON bool) (err error) {
	system, err := spirjoin.Discover(spirjoin.SystemOptions{Devices: []string{spirjoin.HostDevice}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, system.Close()) }()
	drivers, cleanup, err := probeOpenCL(ctx)
	if err != nil {
		return err
	}
	defer cleanup()
	for _, d := range drivers {
		system.Devices = backend.AddDevices(system.Devices, d.devices)
	}
	m := thisMachine(system.Devices, system.Problems, findTuning(system.Devices))
	m.opencl, m.noOpenCL = drivers, !opencl.Built
	d := diagnosis{Version: command.Version(), Findings: m.inspect()}
	if d.SelfTests, err = s.selfTests(ctx, system, drivers, device); err != nil {
		return err
	}
	d.Advice = advise(d.Findings, d.SelfTests)
	if asJSON {
		err = writeJSON(s.Stdout, d)
	} else {
		writeDiagnosis(s.Stdout, &d)
	}
	return errors.Join(err, verdict(d.SelfTests))
}

// selfTests tests the device that spec names, or all that can be used.
func (s session) selfTests(ctx context.Context, system *spirjoin.System, drivers []*openclDriver,
	spec string) (results []deviceResult, err error) {
	devices := system.Devices
	if spec != "" {
		chosen, err := backend.SelectDevice(devices, spec)
		if err != nil {
			return nil, err
		}
		devices = []backend.DeviceInfo{*chosen}
	}
	progress := s.NewProgress(false)
	defer progress.Close()
	for _, device := range devices {
		if device.Unusable != "" {
			continue
		}
		progress.Enter("test " + device.Name)
		var r deviceResult
		if driver := driverOf(drivers, device.ID); driver != nil {
			r = driver.selfTest(ctx, device)
		} else {
			r = resultOf(selftest.Run(ctx, system, device.ID))
			r.Device = device
		}
		if ctx.Err() != nil {
			return nil, backend.ContextError(ctx)
		}
		results = append(results, r)
	}
	return results, nil
}

func resultOf(report selftest.Report, err error) deviceResult {
	r := deviceResult{Report: report, Passed: err == nil && report.Passed()}
	if err != nil {
		r.Error = text.OneLine(err.Error())
	}
	return r
}

// driverOf returns the driver of an OpenCL device; nil for other devices.
func driverOf(drivers []*openclDriver, id string) *openclDriver {
	for _, driver := range drivers {
		for _, d := range driver.devices {
			if d.ID == id {
				return driver
			}
		}
	}
	return nil
}

func verdict(results []deviceResult) error {
	for _, r := range results {
		if r.Passed {
			return nil
		}
	}
	return fmt.Errorf("%w passed the self-test; %d tested", backend.ErrNoDevice, len(results))
}

func advise(findings []finding, results []deviceResult) []advice {
	list := []advice{}
	for _, f := range findings {
		if f.Advice != nil {
			list = append(list, *f.Advice)
		}
	}
	for _, r := range results {
		if !r.Passed {
			list = append(list,
				advice{Text: fmt.Sprintf(
					"do not use device %d (%s): update its driver and run doctor again, or join on another device",
					r.Device.Index, text.Printable(r.Device.Name))})
		}
	}
	return list
}

func writeDiagnosis(w io.Writer, d *diagnosis) {
	fmt.Fprintln(w, "spirjoin "+d.Version)
	fmt.Fprintln(w)
	for _, f := range d.Findings {
		state, what := string(f.State), f.What
		for _, seen := range f.Seen {
			fmt.Fprintf(w, "%-8s  %-18s  %s\n", state, what,
				text.Fold(text.Printable(seen), text.ReportColumns-30, "\n"+strings.Repeat(" ", 30)))
			state, what = "", ""
		}
	}
	if len(d.SelfTests) > 0 {
		fmt.Fprintln(w)
		rows := [][]string{{"#", "SELF-TEST", "BACKEND", "RESULT", "CHECKS", "SECONDS"}}
		for i := range d.SelfTests {
			rows = append(rows, d.SelfTests[i].cells())
		}
		lines := text.TableLines([]text.Align{text.Right, text.Left, text.Left, text.Left, text.Right, text.Right},
			rows)
		fmt.Fprintln(w, lines[0])
		for i, line := range lines[1:] {
			fmt.Fprintln(w, line)
			for _, fault := range d.SelfTests[i].faults() {
				fmt.Fprintln(w, "   "+fault)
			}
		}
	}
	fmt.Fprintln(w)
	if len(d.Advice) == 0 {
		fmt.Fprintln(w, "Nothing to do.")
		return
	}
	fmt.Fprintln(w, "What to do:")
	for _, a := range d.Advice {
		fmt.Fprintln(w, "- "+text.Fold(a.Text, text.ReportColumns-2, "\n  "))
		if a.Command != "" {
			fmt.Fprintln(w, "    "+a.Command)
		}
	}
}

func (r *deviceResult) cells() []string {
	result, seconds := "passed", 0.0
	if !r.Passed {
		result = "FAILED"
	}
	for _, c := range r.Checks {
		seconds += c.Seconds
	}
	return []string{strconv.Itoa(r.Device.Index), text.Printable(r.Device.Name), r.Device.Backend, result,
		strconv.Itoa(len(r.Checks)), fmt.Sprintf("%.2f", seconds)}
}

func (r *deviceResult) faults() (texts []string) {
	if r.Error != "" {
		texts = append(texts, r.Error)
	}
	for _, c := range r.Checks {
		if c.Fault != "" {
			texts = append(texts, c.Name+": "+strings.TrimSpace(text.OneLine(c.Fault)))
		}
	}
	return texts
}
