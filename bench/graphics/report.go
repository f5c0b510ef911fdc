package graphics

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/text"
)

// line is a measured method of a cell, and the first method of that cell.
type line struct {
	place string
	*Result
	first *Result
}

// relative is the time as a multiple of the first method's.
func (l line) relative() string {
	if l.first.Skipped != nil {
		return "-"
	}
	return fmt.Sprintf("%.3gx", l.Times.Median.Seconds()/l.first.Times.Median.Seconds())
}

// details are the algorithm that was chosen, and the stages.
func (l line) details() string {
	stages := measure.StagesText(l.Stages)
	switch {
	case l.Chosen == "":
		return stages
	case stages == "":
		return "chosen: " + l.Chosen
	}
	return "chosen: " + l.Chosen + ", " + stages
}

func newTable(cells []cell, methods []string) *measure.Table[line] {
	place := measure.Column[line]{Head: "CELL", Known: true, Cell: func(l line) string { return l.place }}
	for _, c := range cells {
		place = place.Fitting(c.place())
	}
	method := measure.Column[line]{Head: "METHOD", Known: true, Cell: func(l line) string { return l.Method }}
	columns := append([]measure.Column[line]{place, method.Fitting(methods...)},
		measure.TimeColumns(func(l line) measure.Summary { return l.Times })...)
	return measure.NewTable(append(columns,
		measure.Number("ROWS/S", func(l line) string { return text.Rate(l.rate(), "") }),
		measure.Column[line]{Head: "OUTPUT ROWS", Align: text.Right,
			Cell: func(l line) string { return text.Rows(l.OutputRows) }}.Fitting("1,234,567,890"),
		measure.Column[line]{Head: "TIME", Align: text.Right, Cell: line.relative}.Fitting("12.34x"),
	)...)
}

var fileColumns = measure.Columns{
	Texts: []string{"figure", "cell", "workload", "method", "chosen", "clock", "verified", "skipped", "stages"},
	Numbers: []string{"input_rows", "output_rows", "runs", "median_ns", "min_ns", "max_ns", "spread_ns",
		"transform_ns", "match_ns", "gather_ns"},
	Measures: []string{"rows_per_second"},
}

// addTo adds a row to a file of results.
func (r *Result) addTo(f *measure.File, figure string, c cell) {
	verified, reason := measure.Verified(r.Skipped)
	clock := ""
	numbers, measures := []uint64{cmp.Or(r.Rows, c.inputRows())}, []float64(nil)
	if r.Skipped == nil {
		clock = r.Clock()
		numbers = append(append(numbers, r.OutputRows, uint64(r.Times.Runs)), r.Times.Nanoseconds()...)
		if r.phases != [3]time.Duration{} {
			for _, t := range r.phases {
				numbers = append(numbers, uint64(t.Nanoseconds()))
			}
		}
		measures = append(measures, r.rate())
	}
	f.Add([]string{figure, c.place(), c.String(), r.Method, r.Chosen, clock, verified, reason,
		measure.StagesField(r.Stages)}, numbers, measures)
}
