package plan

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// unit is what work is counted in; a rate is the time of one.
type unit uint8

const (
	launch unit = iota // of a kernel
	stream             // byte that is read or written in order, outside of passes

	sortRow      // row in a pass of a sort
	partitionRow // row in a pass of a partition
	passByte     // byte that either reads or writes
	passColumn   // row of a payload column behind the first in a pass

	matchBuild // build row put into a table in shared memory
	matchProbe // probe row looked up there
	matchRow   // row of output that a match writes

	buildNear // row put into a table in device memory that caches hold
	buildFar  // row put into one that they do not hold
	probeNear // row looked up in such tables, with the key that it leads to
	probeFar

	mergeRow  // row of either side in the merge of sorted sides
	searchRow // row of either side in the search for the ranges of matches
	scanRow   // row of the side that is searched for
	expandRow // row of output as a pair of rows

	gatherNear // value that is gathered from where its neighbours were just gathered, or from a column that caches hold
	gatherFar  // value that is gathered from anywhere

	encodeRow    // row whose key the host encodes and uploads
	uploadByte   // byte of a payload column
	downloadByte // byte of output
	takeNear     // value that the host fetches by row number, as gatherNear
	takeFar

	units
)

var unitNames = [units]string{"launch", "stream_byte", "sort_row", "partition_row", "pass_byte", "pass_column",
	"match_build", "match_probe", "match_row",
	"build_near", "build_far", "probe_near", "probe_far", "merge_row", "search_row", "scan_row", "expand_row",
	"gather_near", "gather_far",
	"encode_row", "upload_byte", "download_byte", "take_near", "take_far"}

// work is amounts by unit.
type work [units]float64

// Rates are the nanoseconds that a device takes for each unit of work. The rows of rates.json are found as those of
// tuning tables are (primitive.TuningRow): Device is a class or a part of a GPU's name, Backend the backend it was
// measured on.
type Rates struct {
	Device         string
	Backend        string
	Measured       string  // how, and on what
	CacheBytes     float64 // columns and tables up to this size are near
	HostCacheBytes float64 // the same for columns that the host fetches from

	ns work
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

// AllRates are the rows of rates.json. The error is a mistake in the file.
func AllRates() ([]Rates, error) {
	var rows []ratesRow
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
			i := slices.Index(unitNames[:], name)
			if i < 0 || ns < 0 {
				return nil, fmt.Errorf("rates.json: %s: %s is %g ns; the units are %s", row.Device, name, ns,
					strings.Join(unitNames[:], ", "))
			}
			r.ns[i] = ns
		}
		if len(row.Nanoseconds) != int(units) || row.Device == "" || row.Backend == "" || row.Measured == "" {
			return nil, fmt.Errorf("rates.json: %s: a row has a device, a backend, every unit and the measurement",
				row.Device)
		}
		all = append(all, r)
	}
	return all, nil
}

// RatesFor returns the rates of a device; nil where none were measured.
func RatesFor(info *backend.DeviceInfo) (*Rates, error) {
	all, err := AllRates()
	for _, r := range slices.Backward(all) {
		if primitive.DeviceFits(r.Device, r.Backend, info) {
			return &r, err
		}
	}
	return nil, err
}

// time is what work takes, in nanoseconds.
func (r *Rates) time(w *work) (ns float64) {
	for i, amount := range w {
		ns += amount * r.ns[i]
	}
	return ns
}

// JSON is the row of rates.json.
func (r *Rates) JSON() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  {\"device\": %q, \"backend\": %q, \"cache_bytes\": %.0f, \"host_cache_bytes\": %.0f, \"ns\": {",
		r.Device, r.Backend, r.CacheBytes, r.HostCacheBytes)
	for i, name := range unitNames {
		if i > 0 {
			b.WriteByte(',')
		}
		if i == 0 || unit(i) == sortRow || unit(i) == matchBuild || unit(i) == buildNear || unit(i) == mergeRow ||
			unit(i) == gatherNear || unit(i) == encodeRow {
			b.WriteString("\n    ")
		} else {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%q: %.3g", name, r.ns[i])
	}
	fmt.Fprintf(&b, "},\n   \"measured\": %q}", r.Measured)
	return b.String()
}
