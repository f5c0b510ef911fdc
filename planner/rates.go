package planner

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

// Rates are the times that a device takes for each unit of work. Rows of rates.json are matched like rows of tuning
// tables (primitive.TuningRow): Device is a class or a part of a GPU's name, Backend the backend on which the rates
// were measured.
type Rates struct {
	Device         string        `json:"device"`
	Backend        string        `json:"backend"`
	Measured       string        `json:"measured"`         // how, and on what
	CacheBytes     float64       `json:"cache_bytes"`      // columns and tables up to this size fit the caches
	HostCacheBytes float64       `json:"host_cache_bytes"` // the same for columns that the host fetches from
	Ns             operator.Work `json:"-"`                // nanoseconds for one of each unit
}

//go:embed rates.json
var ratesFile []byte

// AllRates returns the rows of rates.json, which it reads once. They must not be changed.
var AllRates = sync.OnceValue(func() (all []Rates) {
	var rows []struct {
		Rates
		Nanoseconds map[string]float64 `json:"ns"`
	}
	if err := json.Unmarshal(ratesFile, &rows); err != nil {
		panic(fmt.Sprintf("rates.json: %v", err)) // a test finds it
	}
	for _, row := range rows {
		for u := range operator.NumUnits {
			row.Ns[u] = row.Nanoseconds[u.String()]
		}
		all = append(all, row.Rates)
	}
	return all
})

// RatesFor returns the rates of a device; nil if none were measured.
func RatesFor(info *backend.DeviceInfo) *Rates {
	for _, r := range slices.Backward(AllRates()) {
		if primitive.DeviceFits(r.Device, r.Backend, info) {
			return &r
		}
	}
	return nil
}

// Time is what work takes.
func (r *Rates) Time(w *operator.Work) time.Duration {
	ns := 0.0
	for i, amount := range w {
		ns += amount * r.Ns[i]
	}
	return time.Duration(ns)
}

// Name names the row: by its device and, where several backends reach that, the backend.
func (r *Rates) Name() string {
	if r.Device == r.Backend {
		return r.Device
	}
	return r.Device + "/" + r.Backend
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
