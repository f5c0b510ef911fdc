package scaling

import (
	"fmt"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/bench/endtoend"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
)

// phase is a part of a join, in which the devices are busy for so long on average. Phases overlap.
type phase struct {
	name string
	busy time.Duration
}

// phasesOf returns the phases of a run in the order of HMG's breakdown, as far as there are such: transfers to the
// devices, sorting (partitioning, building), joining, gathering, and transfers from the devices. encode, by the host,
// is not divided by the devices.
func phasesOf(r *endtoend.Run) []phase {
	var upload, transform, match, gather, download time.Duration
	upload, download = r.Upload, r.Download
	for stage, s := range r.Stats.StageSeconds {
		busy := duration(s)
		switch of := planner.StageOf(stage); {
		case stage == "encode keys": // kernels that read pinned memory, and those that write it
			upload += busy
		case stage == "unpack":
			download += busy
		case of == operator.Transform:
			transform += busy
		case of == operator.Gather:
			gather += busy
		default:
			match += busy
		}
	}
	each := time.Duration(max(1, len(r.Stats.Devices)))
	return []phase{{"encode", duration(r.Stats.EncodeSeconds)}, {"upload", upload / each}, {"sort", transform / each},
		{"join", match / each}, {"gather", gather/each + duration(r.Stats.GatherSeconds)}, {"download", download / each}}
}

// detailsText lists the phases, and how the join was shared or divided.
func detailsText(l *line) string {
	r := &l.Run
	var texts []string
	for _, p := range phasesOf(r) {
		if p.busy > 0 {
			texts = append(texts, p.name+" "+text.Duration(p.busy))
		}
	}
	details := []string{strings.Join(texts, ", ")}
	if r.CPU > 0 {
		details = append(details, "CPU "+text.Duration(r.CPU))
	}
	if moved := r.UpBytes + r.DownBytes; l.rates.Up > 0 {
		details = append(details, fmt.Sprintf("%s over links, %.2fx the least", text.Bytes(moved), l.moved()))
	}
	if l.Parts > 0 {
		details = append(details, fmt.Sprintf("divided into %d parts, %s on disk", l.Parts, text.Bytes(l.DiskBytes)))
	}
	all := uint64(0)
	for _, d := range r.Stats.Devices {
		all += d.ProbeRows
	}
	var shares []string
	for _, d := range r.Stats.Devices {
		shares = append(shares, fmt.Sprintf("%.0f%%", 100*float64(d.ProbeRows)/float64(max(1, all))))
	}
	switch {
	case len(shares) > 0 && all == 0: // the strategy hmg divides both sides
	case len(shares) > 0:
		details = append(details, "rows of S by device "+strings.Join(shares, " "))
	case l.Devices > 1:
		details = append(details, "one device joined alone")
	}
	return strings.Join(details, "; ")
}
