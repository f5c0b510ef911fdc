package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
)

// RatesNamed finds a row of rates.json, and the tuning tables of its device, by the device or by device and backend, as
// in nvidia/opencl. A device alone means its first row. There are no rates for "none".
func RatesNamed(name string) (*planner.Rates, primitive.Tuning, error) {
	device, through, _ := strings.Cut(name, "/")
	info := backend.DeviceInfo{Type: backend.Discrete, Name: device, Subgroups: true}
	switch device {
	case "host":
		info.Type = backend.Host
	case "software":
		info.Type = backend.Software
	}
	all, err := planner.AllRates()
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(all, func(r planner.Rates) bool {
		return r.Device == device && (through == "" || r.Backend == through)
	})
	if i >= 0 {
		info.Backend = all[i].Backend
	}
	if info.Type == backend.Software && info.Backend == "opencl" { // as PoCL is
		info.Subgroups, info.SubgroupSize = false, 1
	}
	tuning, err := primitive.TuningFor(&info)
	if err != nil {
		return nil, nil, err
	}
	if name == "none" {
		return nil, tuning, nil
	}
	if i < 0 {
		var known []string
		for _, r := range all {
			known = append(known, r.Name())
		}
		return nil, nil, fmt.Errorf("%w: no rates for %q; there are %s",
			backend.ErrInvalidInput, name, strings.Join(known, ", "))
	}
	return &all[i], tuning, nil
}
