package scaling

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/bench/endtoend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/text"
)

// line is a measured join with what it is compared with.
type line struct {
	*Result
	figure, place string
	cell          Cell
	base          *line // that was measured; nil: none
	needs         needs
	bound         time.Duration
	rates         *endtoend.Rates
}

func newLine(f Figure, c Cell, r *Result, rates *endtoend.Rates) *line {
	l := &line{Result: r, figure: f.Name, place: f.Axis(c), cell: c, rates: rates,
		needs: needsOf(c.Spec, r.Output, r.Run.Stats.OutputRows)}
	l.bound = l.needs.bound(rates)
	return l
}

// perTuple is the time for a row of both sides, in nanoseconds.
func (l *line) perTuple() float64 {
	return float64(l.Times.Median.Nanoseconds()) / float64(max(1, l.needs.inputRows))
}

// share is the part of the time that the bound is.
func (l *line) share() float64 { return l.bound.Seconds() / l.Times.Median.Seconds() }

// moved is what crossed the links, as a multiple of what must.
func (l *line) moved() float64 {
	return float64(l.Run.UpBytes+l.Run.DownBytes) / float64(max(1, l.needs.upBytes+l.needs.downBytes))
}

// table prints lines.
type (
	table  = measure.Table[*line]
	column = measure.Column[*line]
)

// row is the line in a table, and the details below it.
func (l *line) row(t *table) string {
	details := ""
	if l.Skipped == nil {
		details = detailsText(l)
	}
	return t.Line(l, l.Skipped, details)
}

func cellColumn(f Figure, cells []Cell) column {
	c := column{Head: "CELL", Known: true, Cell: func(l *line) string { return l.place }}
	for _, cell := range cells {
		c = c.Fitting(f.Axis(cell))
	}
	return c
}

// The columns that both kinds of sweeps have.
var (
	outputColumn = column{Head: "OUTPUT", Known: true, Cell: func(l *line) string { return l.Output.String() }}
	medianColumn = measure.Number("MEDIAN", func(l *line) string { return text.Duration(l.Times.Median) })
	spreadColumn = measure.Number("SPREAD", func(l *line) string { return text.Duration(l.Times.Spread) })
	shareColumn  = column{Head: "REACHED", Align: text.Right,
		Cell: func(l *line) string { return fmt.Sprintf("%.0f%%", 100*l.share()) }}
)

// newDeviceTable is the table of a sweep over numbers of devices. A run is timed from the start of the join, with its
// plan, to the last row.
//
// SPEEDUP is the median with the fewest devices divided by this median. BOUND is the time of the links for the bytes
// that must cross them once, all devices together: up, the keys of both sides, and for rows the values of at most as
// many rows of each side as the output has; down, the pairs or the rows. REACHED is BOUND divided by the median. It may
// exceed 100% if the host puts columns together, because fewer bytes cross. Where device memory is host memory, the
// bound is the time to copy as many bytes by all cores.
//
// Tables are in memory that is pinned for all devices, as in HMG 4.1.2. HMG measures without materialization; its own
// join copies ranges of matching keys to the host, which is between the outputs count and pairs.
func newDeviceTable(f Figure, cells []Cell) *table {
	strategy := column{Head: "STRATEGY", Known: true, Cell: func(l *line) string { return l.Strategy }}
	return measure.NewTable(cellColumn(f, cells), strategy.Fitting(StrategyNames()...), outputColumn,
		column{Head: "DEVICES", Align: text.Right, Known: true, Cell: func(l *line) string { return fmt.Sprint(l.Devices) }},
		medianColumn, spreadColumn,
		measure.Number("TUPLES/S", func(l *line) string {
			return text.Rate(float64(l.needs.inputRows)/l.Times.Median.Seconds(), "")
		}),
		column{Head: "SPEEDUP", Align: text.Right, Cell: func(l *line) string { return timesText(l.speedup()) }},
		measure.Number("BOUND", func(l *line) string { return text.Duration(l.bound) }), shareColumn)
}

// newMemoryTable is the table of a sweep beyond memory.
func newMemoryTable(f Figure, cells []Cell) *table {
	return measure.NewTable(cellColumn(f, cells),
		column{Head: "ALGORITHM", Known: true,
			Cell: func(l *line) string { return cmp.Or(l.Run.Stats.Algorithm, l.Algorithm) }},
		outputColumn,
		column{Head: "LIMIT", Align: text.Right, Known: true, Cell: (*line).limitText}.Fitting("1/16 1023.9 MiB"),
		medianColumn, spreadColumn,
		measure.Number("NS/TUPLE", func(l *line) string {
			if ns := l.perTuple(); ns >= 1000 { // without an exponent
				return fmt.Sprintf("%.0f", ns)
			}
			return fmt.Sprintf("%.3g", l.perTuple())
		}),
		column{Head: "OF FIRST", Align: text.Right, Cell: func(l *line) string { return timesText(l.ofBase()) }},
		shareColumn)
}

// ofBase is the time for a row as a multiple of the base's; 0 without a base.
func (l *line) ofBase() float64 {
	if l.base == nil {
		return 0
	}
	return l.perTuple() / l.base.perTuple()
}

// speedup is the inverse of ofBase.
func (l *line) speedup() float64 {
	if l.base == nil {
		return 0
	}
	return 1 / l.ofBase()
}

// limitText is the limit of the memory of the host or of the device.
func (l *line) limitText() string {
	if l.Share == noLimit {
		return l.Share
	}
	return strings.TrimSpace(l.Share + " " + text.Bytes(cmp.Or(l.MemoryLimitBytes, l.DeviceMemoryBytes)))
}

// timesText is a multiple; "" for 0.
func timesText(times float64) string {
	if times == 0 {
		return ""
	}
	return fmt.Sprintf("%.2fx", times)
}

// printRates prints the rates of host memory and, if there are links, of the links, for each number of devices.
func printRates(out measure.Output, counts []int, rates map[int]*endtoend.Rates) {
	rows := [][]string{{"DEVICES", "LINKS UP", "DOWN", "TOGETHER", "HOST MEMORY"}}
	for _, n := range counts {
		r, row := rates[n], []string{fmt.Sprint(n), "", "", ""}
		if r.Up > 0 {
			row = []string{fmt.Sprint(n), text.Rate(r.Up, "B"), text.Rate(r.Down, "B"), text.Rate(r.Both, "B")}
		}
		rows = append(rows, append(row, text.Rate(r.Host, "B")))
	}
	text.WriteTable(out, []text.Align{text.Right, text.Right, text.Right, text.Right, text.Right}, rows)
}

var fileColumns = measure.Columns{
	Texts: []string{"figure", "cell", "strategy", "output", "algorithm", "r_payload", "s_payload", "limit", "verified",
		"skipped", "stages", "probe_rows_by_device"},
	Numbers: []string{"seed", "key_bytes", "r_rows", "s_rows", "devices", "device_memory_bytes", "memory_limit_bytes",
		"output_rows", "devices_at_work", "runs", "median_ns", "min_ns", "max_ns", "spread_ns", "cpu_ns", "encode_ns",
		"upload_ns", "sort_ns", "join_ns", "gather_ns", "download_ns", "needed_up_bytes", "needed_down_bytes",
		"up_bytes", "down_bytes", "bound_ns", "parts", "disk_bytes", "device_peak_bytes", "host_peak_bytes"},
	Measures: []string{"match_ratio", "zipf", "up_rate", "down_rate", "both_rate", "host_copy_rate", "device_copy_rate",
		"tuples_per_second", "bound_share"},
}

// addTo adds a row to a file of results.
func (l *line) addTo(f *measure.File) {
	spec, stats := &l.cell.Spec, &l.Run.Stats
	verified, skipped := measure.Verified(l.Skipped)
	numbers := []uint64{spec.Seed, uint64(spec.KeyBytes), uint64(spec.RRows), uint64(spec.SRows), uint64(l.Devices),
		l.DeviceMemoryBytes, l.MemoryLimitBytes}
	r := l.rates
	measures := []float64{spec.MatchRatio, spec.Zipf, r.Up, r.Down, r.Both, r.Host, r.Device}
	if l.Skipped == nil {
		numbers = append(numbers, stats.OutputRows, uint64(max(1, len(stats.Devices))), uint64(l.Times.Runs))
		numbers = append(append(numbers, l.Times.Nanoseconds()...), uint64(l.Run.CPU.Nanoseconds()))
		for _, p := range phasesOf(&l.Run) {
			numbers = append(numbers, uint64(p.busy.Nanoseconds()))
		}
		numbers = append(numbers, l.needs.upBytes, l.needs.downBytes, l.Run.UpBytes, l.Run.DownBytes,
			uint64(l.bound.Nanoseconds()), uint64(l.Parts), l.DiskBytes, stats.DevicePeakBytes, stats.HostPeakBytes)
		measures = append(measures, float64(l.needs.inputRows)/l.Times.Median.Seconds(), l.share())
	}
	var probed []string
	for _, d := range stats.Devices {
		probed = append(probed, fmt.Sprint(d.ProbeRows))
	}
	f.Add([]string{l.figure, l.place, l.Strategy, l.Output.String(), cmp.Or(stats.Algorithm, l.Algorithm),
		workload.BytesText(spec.RPayloads, " "), workload.BytesText(spec.SPayloads, " "), l.Share, verified, skipped,
		measure.StagesField(measure.StagesOf(stats.StageSeconds)), strings.Join(probed, ";")}, numbers, measures)
}
