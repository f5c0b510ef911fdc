package graphics

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/text"
)

// table prints measured methods, each followed by its stages.
type table struct{ widths []int }

var (
	tableHead   = []string{"CELL", "METHOD", "MEDIAN", "MIN", "MAX", "ROWS/S", "OUTPUT ROWS", "TIME"}
	tableAligns = []text.Align{text.Left, text.Left, text.Right, text.Right, text.Right, text.Right, text.Right,
		text.Right}
)

func newTable(cells []cell, methods []string) *table {
	const number = text.NumberColumns
	t := &table{widths: []int{len(tableHead[0]), len(tableHead[1]), number, number, number, number,
		len("1,234,567,890"), len("12.34x")}}
	for _, c := range cells {
		t.widths[0] = max(t.widths[0], len(c.place()))
	}
	for _, name := range methods {
		t.widths[1] = max(t.widths[1], len(name))
	}
	return t
}

func (t *table) head() string { return text.TableLine(tableAligns, t.widths, tableHead) }

// line is the line of a method. TIME is relative to the first method of the cell.
func (t *table) line(place string, r, first *Result) string {
	if r.Skipped != nil {
		return text.TableLine(tableAligns[:2], t.widths[:2], []string{place, r.Method}) + text.Gap + "skipped: " +
			text.OneLine(r.Skipped.Error())
	}
	relative := "-"
	if first.Skipped == nil {
		relative = fmt.Sprintf("%.3gx", r.Times.Median.Seconds()/first.Times.Median.Seconds())
	}
	line := text.TableLine(tableAligns, t.widths, []string{place, r.Method, text.Duration(r.Times.Median),
		text.Duration(r.Times.Min), text.Duration(r.Times.Max), text.Rate(r.rate(), ""), text.Rows(r.OutputRows),
		relative})
	var about []string
	if r.Chosen != "" {
		about = append(about, "chosen: "+r.Chosen)
	}
	for _, stage := range r.Stages {
		about = append(about, stage.Stage+" "+text.Duration(stage.Time))
	}
	if len(about) > 0 {
		line += "\n   " + text.Fold(strings.Join(about, ", "), text.ReportColumns-4, "\n   ")
	}
	return line
}

var fileColumns = measure.Columns{
	Texts: []string{"figure", "cell", "workload", "method", "chosen", "clock", "verified", "skipped", "stages"},
	Numbers: []string{"input_rows", "output_rows", "runs", "median_ns", "min_ns", "max_ns", "spread_ns",
		"transform_ns", "match_ns", "gather_ns"},
	Measures: []string{"rows_per_second"},
}

// addTo adds a row to a file of results.
func (r *Result) addTo(f *measure.File, figure string, c cell) {
	verified, reason := "yes", ""
	numbers, measures := []uint64{cmp.Or(r.Rows, c.inputRows())}, []float64(nil)
	if r.Skipped != nil {
		verified, reason = "no", text.OneLine(r.Skipped.Error())
	} else {
		numbers = append(numbers, r.OutputRows, uint64(r.Times.Runs))
		times := []time.Duration{r.Times.Median, r.Times.Min, r.Times.Max, r.Times.Spread}
		if r.phases != [3]time.Duration{} {
			times = append(times, r.phases[:]...)
		}
		for _, t := range times {
			numbers = append(numbers, uint64(t.Nanoseconds()))
		}
		measures = append(measures, r.rate())
	}
	var stages []string
	for _, stage := range r.Stages {
		stages = append(stages, fmt.Sprintf("%s=%d", stage.Stage, stage.Time.Nanoseconds()))
	}
	f.Add([]string{figure, c.place(), c.String(), r.Method, r.Chosen, r.Clock, verified, reason,
		strings.Join(stages, ";")}, numbers, measures)
}
