package planner

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

// Rates are the nanoseconds that a device takes for each unit of work. Rows of rates.json are matched like rows of
// tuning tables (primitive.TuningRow): Device is a class or a part of a GPU's name, Backend the backend on which the
// rates were measured.
type Rates struct {
	Device         string
	Backend        string
	Measured       string  // how, and on what
	CacheBytes     float64 // columns and tables up to this size fit the caches
	HostCacheBytes float64 // the same for columns that the host fetches from

	ns operator.Work
}

// ratesRow is a row of rates.json.
type ratesRow struct {
	Device         string             `json:"device"`
	Backend        string             `json:"backend"`
	CacheBytes     float64            `json:"cache_bytes"`
	HostCacheBytes float64            `json:"host_cache_bytes"`
	Nanoseconds    map[string]float64 `json:"ns"`
	Measured       string             `json:"measured"`
}

//go:embed rates.json
var ratesFile []byte

// AllRates returns the rows of rates.json. An error is a fault in the file.
func AllRates() ([]Rates, error) {
	all, err := allRates()
	return slices.Clone(all), err
}

// allRates reads the file once: each plan looks for the rates of its device.
var allRates = sync.OnceValues(readRates)

func readRates() ([]Rates, error) {
	var rows []ratesRow
	var names []string
	for u := range operator.NumUnits {
		names = append(names, u.String())
	}
	decoder := json.NewDecoder(strings.NewReader(string(ratesFile)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&rows); err != nil {
		return nil, fmt.Errorf("rates.json: %w", err)
	}
	var all []Rates
	for _, row := range rows {
		r := Rates{Device: row.Device, Backend: row.Backend, Measured: row.Measured, CacheBytes: row.CacheBytes,
			HostCacheBytes: row.HostCacheBytes}
		for name, ns := range row.Nanoseconds {
			i := slices.Index(names, name)
			if i < 0 || ns < 0 {
				return nil, fmt.Errorf("rates.json: %s: %s is %g ns; the units are %s", row.Device, name, ns,
					strings.Join(names, ", "))
			}
			r.ns[i] = ns
		}
		if len(row.Nanoseconds) != int(operator.NumUnits) || row.Device == "" || row.Backend == "" || row.Measured == "" {
			return nil, fmt.Errorf("rates.json: %s: a row has a device, a backend, every unit and the measurement",
				row.Device)
		}
		all = append(all, r)
	}
	return all, nil
}

// RatesFor returns the rates of a device; nil if none were measured.
func RatesFor(info *backend.DeviceInfo) (*Rates, error) {
	all, err := allRates()
	for _, r := range slices.Backward(all) {
		if primitive.DeviceFits(r.Device, r.Backend, info) {
			return &r, err
		}
	}
	return nil, err
}

// Time is what work takes.
func (r *Rates) Time(w *operator.Work) time.Duration { return time.Duration(r.time(w)) }

// time is Time in nanoseconds.
func (r *Rates) time(w *operator.Work) (ns float64) {
	for i, amount := range w {
		ns += amount * r.ns[i]
	}
	return ns
}

// Name names the row: by its device and, where several backends reach that, the backend.
func (r *Rates) Name() string {
	if r.Device == r.Backend {
		return r.Device
	}
	return r.Device + "/" + r.Backend
}

// JSON returns the rates as a row of rates.json.
func (r *Rates) JSON() string {
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
		fmt.Fprintf(&b, "%q: %.3g", u.String(), r.ns[u])
	}
	fmt.Fprintf(&b, "},\n   \"measured\": %q}", r.Measured)
	return b.String()
}

// Predict fills in the times of the stages of a plan; with nil rates they are 0. A nil plan is ignored.
func (r *Rates) Predict(p *operator.Plan) {
	if p == nil {
		return
	}
	for i := range p.Stages {
		if p.Stages[i].Time = 0; r != nil {
			p.Stages[i].Time = r.Time(&p.Stages[i].Work)
		}
	}
}
