package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
)

// joinReport is what --stats gives: the measurements of the join and those of the command around it.
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
	// GroupBy is of the group-by of the joined rows, and Sides of those of both sides, if their groups were joined.
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
func (s *session) reportJoin(o joinOptions, r joinReport, result *spirjoin.JoinResult) error {
	counted := r.OutputRows
	r.JoinStats = result.Stats()
	r.OutputRows = max(r.OutputRows, counted)
	return s.report(o, r, &result.Device, result.Explain)
}

// report completes a report and prints it.
func (s *session) report(o joinOptions, r joinReport, device *backend.DeviceInfo, explain func() string) error {
	for i := range r.Alternatives {
		r.Alternatives[i].Error = nameFlags(r.Alternatives[i].Error)
	}
	r.DeviceID, r.DriverVersion, r.Version = device.ID, device.DriverVersion, version()
	r.Pipelines = reportPipelines(r.kernels())
	r.WallSeconds = time.Since(r.started).Seconds()
	r.warn(s.stderr)
	// Standard output, unless the table or its first rows go there.
	w := io.Writer(s.stdout)
	if o.output == "-" || o.goal == goalPreview {
		w = s.stderr
	}
	switch {
	case o.stats == statsJSON:
		return writeJSON(w, r)
	case o.stats == statsText:
		fmt.Fprint(w, nameRaisedFlags(explain()))
	}
	if o.quiet {
		return nil
	}
	fmt.Fprintln(s.stderr, r.line(device, cmp.Or(s.stderrColumns, summaryWidth)))
	return nil
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

// summaryWidth is the width of the line about a run where no terminal says another.
const summaryWidth = 110

// line is the line about a run. Where it is wider than so many columns, the output's folder and then the end of the
// device's name are left out.
func (r *joinReport) line(device *backend.DeviceInfo, width int) string {
	to, times := "", fmt.Sprintf("read %.2f, match %.2f", r.ReadSeconds, r.MatchSeconds)
	if r.Output != "" {
		times += fmt.Sprintf(", output %.2f", r.OutputSeconds)
	}
	if r.Output != "" && r.Output != "-" {
		to = r.Output
	}
	name := device.Name
	line := func() string {
		line := text.Plural(r.OutputRows, "row")
		if r.GroupBy != nil {
			line = text.Plural(r.GroupBy.Groups, "group") + " of " + text.Plural(r.GroupBy.Rows, "joined row")
		}
		if to != "" {
			line += " to " + to
		}
		line += fmt.Sprintf(" in %.2f s (%s) by %s on %s (%s)", r.WallSeconds, times, r.Algorithm, name, device.Backend)
		if n := len(r.Devices); n > 1 {
			line += fmt.Sprintf(" and %d more", n-1)
		}
		return text.OneLine(line)
	}
	over := func() int { return utf8.RuneCountInString(line()) - width }
	if to != "" && over() > 0 && to != filepath.Base(to) {
		to = "…/" + filepath.Base(to)
	}
	if excess := over(); excess > 0 {
		name = text.Shorten(name, max(utf8.RuneCountInString(name)-excess, shortestName))
	}
	return line()
}

// shortestName is how much of a device's name is shown in any case.
const shortestName = 8
