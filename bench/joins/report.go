package joins

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/text"
)

// table prints measured joins, each followed by its stages.
type table struct{ widths []int }

var (
	tableHead   = []string{"CELL", "ALGORITHM", "MEDIAN", "MIN", "MAX", "TUPLES/S", "MEMORY", "OUTPUT ROWS"}
	tableAligns = []text.Align{text.Left, text.Left, text.Right, text.Right, text.Right, text.Right, text.Right,
		text.Right}
)

// newTable has no column for cells where their only place is "".
func newTable(places []string, algorithms []Algorithm) *table {
	const number = text.NumberColumns
	memory, rows := len("1023.9 MiB"), len(tableHead[7])
	t := &table{widths: []int{0, len(tableHead[1]), number, number, number, number, memory, rows}}
	for _, p := range places {
		if p != "" {
			t.widths[0] = max(t.widths[0], len(p), len(tableHead[0]))
		}
	}
	for _, a := range algorithms {
		t.widths[1] = max(t.widths[1], len(a.Name))
	}
	return t
}

func (t *table) cells(cells []string) string {
	from := 0
	if t.widths[0] == 0 {
		from = 1
	}
	return text.TableLine(tableAligns[from:], t.widths[from:len(cells)], cells[from:])
}

func (t *table) head() string { return t.cells(tableHead) }

func (t *table) line(place string, r *Result) string {
	if r.Skipped != nil {
		return t.cells([]string{place, r.Algorithm}) + text.Gap + "skipped: " + text.OneLine(r.Skipped.Error())
	}
	line := t.cells([]string{place, r.Algorithm, text.Duration(r.Times.Median), text.Duration(r.Times.Min),
		text.Duration(r.Times.Max),
		text.Rate(r.TuplesPerSecond(), ""), text.Bytes(r.PeakBytes), text.Rows(r.Rows)})
	if len(r.Stages) > 0 {
		line += "\n   " + text.Fold(stagesText(r.Stages), text.ReportColumns-4, "\n   ")
	}
	return line
}

// stagesText lists the stages of a join with their times on the device.
func stagesText(stages []backend.StageTime) string {
	var texts []string
	for _, stage := range stages {
		texts = append(texts, fmt.Sprintf("%s %s", stage.Stage, text.Duration(stage.Time)))
	}
	return strings.Join(texts, ", ")
}

var fileColumns = measure.Columns{
	Texts: []string{"figure", "cell", "workload", "how", "algorithm", "r_payload", "s_payload", "multiplicity",
		"self_join", "clock", "verified", "skipped", "stages"},
	Numbers: []string{"seed", "joins", "key_bytes", "granule_rows", "window_rows", "r_rows", "s_rows", "output_rows",
		"peak_bytes", "runs", "median_ns", "min_ns", "max_ns", "spread_ns", "wall_median_ns", "transform_ns",
		"match_ns", "gather_ns"},
	Measures: []string{"match_ratio", "zipf", "tuples_per_second"},
}

// addTo adds a row to a file of results. If the join was skipped, its numbers of rows come from the cell.
func (r *Result) addTo(f *measure.File, figure, place string, c Cell) {
	spec := &c.Spec
	clock, verified, reason := measure.Clock(r.DeviceTime), "yes", ""
	numbers := []uint64{spec.Seed, uint64(max(c.Dimensions, 1)), uint64(spec.KeyBytes), c.Granule, c.Window}
	measures := []float64{spec.MatchRatio, spec.Zipf}
	if r.Skipped != nil {
		clock, verified, reason = "", "no", text.OneLine(r.Skipped.Error())
		numbers = append(numbers, uint64(spec.RRows), uint64(spec.SRows))
	} else {
		numbers = append(numbers, r.RRows, r.SRows, r.Rows, r.PeakBytes, uint64(r.Times.Runs))
		transform, match, gather := r.Phases()
		for _, t := range []time.Duration{r.Times.Median, r.Times.Min, r.Times.Max, r.Times.Spread, r.Wall.Median,
			transform, match, gather} {
			numbers = append(numbers, uint64(t.Nanoseconds()))
		}
		measures = append(measures, r.TuplesPerSecond())
	}
	var stages []string
	for _, stage := range r.Stages {
		stages = append(stages, fmt.Sprintf("%s=%d", stage.Stage, stage.Time.Nanoseconds()))
	}
	f.Add([]string{figure, place, c.Kind(), cmp.Or(c.How, "inner"), r.Algorithm,
		workload.BytesText(spec.RPayloads, " "), workload.BytesText(spec.SPayloads, " "), spec.RowsOfKey().String(),
		fmt.Sprint(spec.SelfJoin), clock, verified, reason, strings.Join(stages, ";")}, numbers, measures)
}

// WriteFigures lists all figures.
func WriteFigures(w io.Writer) {
	for _, f := range Figures() {
		about := fmt.Sprintf("%s; %s", f.Title, text.Plural(len(f.Cells), "cell"))
		if f.Note != "" {
			about += ". " + f.Note + "."
		}
		fmt.Fprintf(w, "%-8s %s\n", f.Name, text.Fold(about, text.ReportColumns-9, "\n"+strings.Repeat(" ", 9)))
	}
}
