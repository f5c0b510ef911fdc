package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/task"
)

// explain says what a join of two tables will do.
func (h *HMG) explain(tables [2]arrow.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "inner join of %s x %s rows\n", text.Count(tables[0].NumRows()), text.Count(tables[1].NumRows()))
	for i, e := range h.Engine.Engines() {
		info := e.Device().Info()
		fmt.Fprintf(&b, "%-12s %s (%s, %s)\n", [2]string{"device", "  and"}[min(i, 1)], info.Name, info.Backend, info.Type)
	}
	fmt.Fprintf(&b, "%-12s hmg, as asked for\n", "strategy")
	fmt.Fprintf(&b, "%-12s %s\n", "  that is",
		"key codes are sorted and matched on all devices, range by range where they do not fit")
	return b.String()
}

// Explain says what was done so far.
func (r *HMGResult) Explain() string {
	var b strings.Builder
	b.WriteString(r.Plan())
	for side, s := range r.Prepared {
		how := "was in order"
		switch {
		case s.Segments > 0:
			how = "divided by the host into " + text.Plural(s.Segments, "segment")
		case s.InPlace && !s.Presorted:
			how = "sorted and matched in place"
		case !s.Presorted:
			how = "sorted in " + text.Plural(s.Chunksets, "chunkset")
			if s.Runs > 1 {
				how += ", merged by the host"
			}
			if s.NoRoom {
				how += ", as a device had no room for its share of both tables"
			}
		}
		fmt.Fprintf(&b, "%-12s %s\n", relation.Side(side), how)
	}
	fmt.Fprintf(&b, "%-12s %s rows so far\n", "output", text.Count(r.Rows()))
	return b.String()
}

// Plan returns Explain without what was measured.
func (r *HMGResult) Plan() string { return (&HMG{Engine: r.engine}).explain(r.tables) }

// Tasks returns nil.
func (r *HMGResult) Tasks() *task.Scheduler { return nil }

// Stats returns the measurements so far.
func (r *HMGResult) Stats() query.Stats {
	info := r.engine.Device().Info()
	s := query.Stats{Device: info.Name, Backend: info.Backend, Driver: info.Driver, Algorithm: "hmg", Strategy: "hmg",
		LeftRows: uint64(r.tables[0].NumRows()), RightRows: uint64(r.tables[1].NumRows()), OutputRows: r.Rows(),
		MatchSeconds: r.matched.Seconds(), TotalSeconds: time.Since(r.started).Seconds(),
		StageSeconds: make(map[string]float64)}
	for i, e := range r.engine.Engines() {
		s.DevicePeakBytes += e.Device().MemoryUse(backend.DeviceLocal).Peak
		s.HostPeakBytes += e.Device().MemoryUse(backend.HostVisible).Peak
		if len(r.engine.Engines()) > 1 {
			info := e.Device().Info()
			s.Devices = append(s.Devices, query.DeviceStats{Device: info.Name, Backend: info.Backend, Algorithm: "hmg"})
		}
		if i < len(r.lanes) {
			for _, stage := range r.lanes[i].Profile.Stages() {
				s.StageSeconds[stage.Stage] += stage.Time.Seconds()
			}
		}
	}
	return s
}
