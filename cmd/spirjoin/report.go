package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
)

// joinReport is what --stats gives: the measurements of the join and those of the command around it.
type joinReport struct {
	spirjoin.JoinStats
	DeviceID      string  `json:"device_id"`
	DriverVersion string  `json:"driver_version"`
	ReadSeconds   float64 `json:"read_seconds"`   // opening and reading both tables
	OutputSeconds float64 `json:"output_seconds"` // from the known number of rows to the end of the output
	WriteSeconds  float64 `json:"write_seconds"`  // of it, encoding and writing
	WallSeconds   float64 `json:"wall_seconds"`   // the whole command
	Output        string  `json:"output,omitempty"`
	Version       string  `json:"version"`

	started time.Time
}

// reportJoin says what ran where: one line on standard error, or the statistics that were asked for.
func (s *session) reportJoin(o joinOptions, r joinReport, result *spirjoin.JoinResult) error {
	r.JoinStats = result.Stats()
	r.DeviceID, r.DriverVersion, r.Version = result.Device.ID, result.Device.DriverVersion, version()
	r.WallSeconds = time.Since(r.started).Seconds()
	// Standard output, unless the table or its first rows go there.
	w := io.Writer(s.stdout)
	if o.output == "-" || o.goal == goalPreview {
		w = s.stderr
	}
	switch {
	case o.stats == statsJSON:
		return writeJSON(w, r)
	case o.stats == statsText:
		fmt.Fprint(w, result.Explain())
	}
	if o.quiet {
		return nil
	}
	fmt.Fprintln(s.stderr, r.line(&result.Device))
	return nil
}

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

func (r *joinReport) line(device *backend.DeviceInfo) string {
	line := text.Plural(r.OutputRows, "row")
	if r.Output != "" && r.Output != "-" {
		line += " to " + r.Output
	}
	line += fmt.Sprintf(" in %.2f s (read %.2f, match %.2f", r.WallSeconds, r.ReadSeconds, r.MatchSeconds)
	if r.Output != "" {
		line += fmt.Sprintf(", output %.2f", r.OutputSeconds)
	}
	line += fmt.Sprintf(") by %s on %s (%s)", r.Algorithm, device.Name, device.Backend)
	if r.Fallback != "" {
		line += "; " + r.Fallback
	}
	return text.OneLine(line)
}
