package primitive

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
)

// UserRow is a row that was measured on one machine. It applies only to that device with that version of its driver.
type UserRow struct {
	Device string `json:"device"` // full name
	// empty in files of older versions
	Backend       string         `json:"backend,omitempty"`
	Driver        string         `json:"driver"`
	DriverVersion string         `json:"driver_version"`
	Primitive     string         `json:"primitive"`
	Variant       backend.Config `json:"variant,omitempty"`
	MinRows       uint64         `json:"min_rows,omitempty"`
	MaxRows       uint64         `json:"max_rows,omitempty"`
	Config        backend.Config `json:"config"`
	Measured      string         `json:"measured"`
}

// ParseUserRows parses the text of a tuning file; an empty text has no rows.
func ParseUserRows(text []byte) (rows []UserRow, err error) {
	if len(text) == 0 {
		return nil, nil
	}
	return rows, decodeStrictly(text, &rows)
}

// IsFor reports whether the row was measured on this device with this backend, whatever the version of the driver.
func (r *UserRow) IsFor(info *backend.DeviceInfo) bool {
	known := r.Backend == info.Backend || r.Backend == "" && (info.Backend == "vulkan" || info.Backend == "host")
	return known && r.Device == info.Name && r.Driver == info.Driver
}

// UserTuning returns the rows for a device, as overrides of its tables. Rows measured with another driver version, and
// rows that are not valid on the device, are left out; the errors name them.
func UserTuning(rows []UserRow, info *backend.DeviceInfo) (Tuning, []error) {
	tuning := make(Tuning)
	var problems []error
	for i, r := range rows {
		if !r.IsFor(info) {
			continue
		}
		source := fmt.Sprintf("row %d", i+1)
		if r.DriverVersion != info.DriverVersion {
			problems = append(problems, fmt.Errorf("%s: %s was measured on %s with %s %s; the driver is now %s", source,
				r.Primitive, r.Device, r.Driver, r.DriverVersion, info.DriverVersion))
			continue
		}
		row := TuningRow{Variant: r.Variant, MinRows: r.MinRows, MaxRows: r.MaxRows, Config: r.Config,
			Measured: r.Measured, source: source}
		if err := row.check(r.Primitive, info); err != nil {
			problems = append(problems, err)
			continue
		}
		tuning[r.Primitive] = append(tuning[r.Primitive], row)
	}
	return tuning, problems
}
