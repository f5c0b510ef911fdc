package primitive

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

//go:embed tuning/*.json
var tuningFiles embed.FS

// Tuning is the configuration of each primitive's kernels on one device, by primitive name.
type Tuning map[string]backend.Config

// tuningRow is a line of a tuning table: Config is best on the devices whose class, name or driver contains Device, by the
// measurement in Measured. Rows go from safe and general to specific; the last that fits wins.
type tuningRow struct {
	Device   string         `json:"device"`
	Config   backend.Config `json:"config"`
	Measured string         `json:"measured"`
}

// TuningFor picks the row of every table for a device.
func TuningFor(info *backend.DeviceInfo) (Tuning, error) {
	class := "gpu"
	switch info.Type {
	case backend.Host:
		class = "host"
	case backend.Software:
		class = "software"
	}
	names := strings.ToLower(info.Name + " " + info.Driver)
	entries, err := tuningFiles.ReadDir("tuning")
	if err != nil {
		return nil, err
	}
	tuning := make(Tuning)
	for _, entry := range entries {
		text, err := tuningFiles.ReadFile("tuning/" + entry.Name())
		if err != nil {
			return nil, err
		}
		var rows []tuningRow
		if err := json.Unmarshal(text, &rows); err != nil {
			return nil, fmt.Errorf("tuning table %s: %w", entry.Name(), err)
		}
		name := strings.TrimSuffix(entry.Name(), ".json")
		for _, row := range rows {
			if row.Device == "any" || row.Device == class || class == "gpu" && strings.Contains(names, row.Device) {
				tuning[name] = row.Config
			}
		}
	}
	return tuning, nil
}
