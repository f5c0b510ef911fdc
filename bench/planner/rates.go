package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
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
	all := planner.AllRates()
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

// row returns rates as a row of rates.json.
func row(r *planner.Rates) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  {\"device\": %q, \"backend\": %q, \"cache_bytes\": %.0f, \"host_cache_bytes\": %.0f, \"ns\": {",
		r.Device, r.Backend, r.CacheBytes, r.HostCacheBytes)
	for u := range operator.NumUnits {
		if u > 0 {
			b.WriteByte(',')
		}
		switch u {
		case operator.Launch, operator.SortRow, operator.MatchBuild, operator.BuildNear, operator.MergeRow,
			operator.GatherNear, operator.DrawVertex, operator.EncodeRow:
			b.WriteString("\n    ")
		default:
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%q: %.3g", u.String(), r.Ns[u])
	}
	fmt.Fprintf(&b, "},\n   \"measured\": %q}", r.Measured)
	return b.String()
}
