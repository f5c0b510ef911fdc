package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
)

// joinReport is the output of --stats: the measurements of the join and of the command around it.
type joinReport struct {
	spirjoin.JoinStats
	DeviceID      string `json:"device_id"`
	DriverVersion string `json:"driver_version"`
	// StartSeconds is the time of loading the drivers and opening the device, while tables are read unless memory is
	// limited.
	StartSeconds  float64 `json:"start_seconds"`
	ReadSeconds   float64 `json:"read_seconds"`   // opening and reading both tables
	OutputSeconds float64 `json:"output_seconds"` // from the known number of rows to the end of the output
	WriteSeconds  float64 `json:"write_seconds"`  // of it, encoding and writing
	WallSeconds   float64 `json:"wall_seconds"`   // the whole command
	Output        string  `json:"output,omitempty"`
	Version       string  `json:"version"`
	// Pipelines are the kernels that were compiled.
	Pipelines pipelineReport `json:"pipelines"`
	// GroupBy measures the group-by of the joined rows. If the groups of both sides were joined, Sides measures the two
	// group-bys of the sides.
	GroupBy *spirjoin.GroupStats  `json:"group_by,omitempty"`
	Sides   []spirjoin.GroupStats `json:"sides,omitempty"`

	started time.Time
	kernels func() backend.KernelStats
}

// pipelineReport counts the kernels that a run has compiled.
type pipelineReport struct {
	Compiled int `json:"compiled"`
	// of them, those that the driver had compiled in an earlier process; null if it does not say that
	FromCache *int `json:"from_cache"`
	Ahead     int  `json:"ahead"`  // of them, those that were compiled before they were needed
	Unused    int  `json:"unused"` // of these, those that never were
	AtOnce    int  `json:"at_once"`
	// sum over all of them, and what the join waited for them
	Seconds       float64 `json:"seconds"`
	WaitedSeconds float64 `json:"waited_seconds"`
}

func reportPipelines(k backend.KernelStats) pipelineReport {
	r := pipelineReport{Compiled: k.Compiled, Ahead: k.Ahead, Unused: k.Unused, AtOnce: k.AtOnce,
		Seconds: k.Time.Seconds(), WaitedSeconds: k.Waited.Seconds()}
	if k.Answered == k.Compiled {
		r.FromCache = &k.Cached
	}
	return r
}

// reportJoin says what ran where: one line on standard error, or the statistics that were asked for. A preview has
// counted the rows of the output, which the result of a part of it does not know.
func (s session) reportJoin(o joinOptions, r joinReport, result *spirjoin.JoinResult) error {
	counted := r.OutputRows
	r.JoinStats = result.Stats()
	r.OutputRows = max(r.OutputRows, counted)
	return s.report(o, r, &result.Device, result.Explain)
}

// report completes a report and prints it.
func (s session) report(o joinOptions, r joinReport, device *backend.DeviceInfo, explain func() string) error {
	r.complete(device)
	r.warn(s.Stderr)
	// Standard output, unless the table or its first rows go there.
	w := io.Writer(s.Stdout)
	if o.output == "-" || o.goal == goalPreview {
		w = s.Stderr
	}
	switch {
	case o.stats == statsJSON:
		return writeJSON(w, r)
	case o.stats == statsText:
		fmt.Fprint(w, command.NameRaisedFlags(explain()))
	}
	if o.quiet {
		return nil
	}
	fmt.Fprintln(s.Stderr, r.line(device, s.StderrColumns()))
	return nil
}

// complete adds what is known at the end of a run.
func (r *joinReport) complete(device *backend.DeviceInfo) {
	for i := range r.Alternatives {
		r.Alternatives[i].Error = command.NameFlags(r.Alternatives[i].Error)
	}
	r.DeviceID, r.DriverVersion, r.Version = device.ID, device.DriverVersion, command.Version()
	r.Pipelines = reportPipelines(r.kernels())
	r.WallSeconds = time.Since(r.started).Seconds()
}

// warn names the devices that have failed.
func (r *joinReport) warn(w io.Writer) {
	for _, f := range r.Failures {
		fmt.Fprintf(w, "warning: %s failed, other devices joined its rows: %s\n", f.Device, f.Error)
	}
}

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// line is the line about a run, for a terminal with this number of columns.
func (r *joinReport) line(device *backend.DeviceInfo, columns int) string {
	l := runLine{made: text.Plural(r.OutputRows, "row"), output: r.Output, seconds: r.WallSeconds,
		phases:    fmt.Sprintf("read %.2f, match %.2f", r.ReadSeconds, r.MatchSeconds),
		algorithm: r.Algorithm, device: device, more: max(0, len(r.Devices)-1)}
	if r.Output != "" {
		l.phases += fmt.Sprintf(", output %.2f", r.OutputSeconds)
	}
	if r.GroupBy != nil {
		l.made = text.Plural(r.GroupBy.Groups, "group") + " of " + text.Plural(r.GroupBy.Rows, "joined row")
	}
	return l.fit(columns)
}

// runLine is the line about a run.
type runLine struct {
	made, output string // the file may be empty, or -
	seconds      float64
	phases       string
	algorithm    string // may be empty
	device       *backend.DeviceInfo
	more         int // devices
}

// shortestName is how much of a device's name is shown if any of it is.
const shortestName = 8

// fit shortens the line to columns; 0 columns keep all of it. It leaves out the folder of the output first, then the
// end of the device's name, the times of the phases, the device and the output.
func (l runLine) fit(columns int) string {
	to := ""
	if l.output != "" && l.output != "-" {
		to = " to " + text.OneLine(l.output)
	}
	name, phases := text.OneLine(l.device.Name), " ("+l.phases+")"
	on := func() string {
		on := fmt.Sprintf(" on %s (%s)", name, l.device.Backend)
		if l.algorithm != "" {
			on = " by " + l.algorithm + on
		}
		if l.more > 0 {
			on += fmt.Sprintf(" and %d more", l.more)
		}
		return on
	}
	line := func() string { return l.made + to + fmt.Sprintf(" in %.2f s", l.seconds) + phases + on() }
	over := func() int { return utf8.RuneCountInString(line()) - columns }
	nameColumns := utf8.RuneCountInString(name)
	shorten := func() { name = text.Shorten(text.OneLine(l.device.Name), max(nameColumns-over(), shortestName)) }
	for _, leaveOut := range []func(){
		func() {
			if folder, file := filepath.Split(l.output); to != "" && folder != "" {
				to = " to …/" + text.OneLine(file)
			}
		},
		shorten,
		func() { phases, name = "", text.OneLine(l.device.Name) },
		shorten,
		func() { on = func() string { return "" } },
		func() { to = "" },
	} {
		if columns == 0 || over() <= 0 {
			return line()
		}
		leaveOut()
	}
	return text.Shorten(line(), columns)
}
