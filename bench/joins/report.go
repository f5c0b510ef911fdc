package joins

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/text"
)

// line is a measured join of a cell.
type line struct {
	place string
	*Result
}

// newTable has no column for cells where their only place is "".
func newTable(places []string, algorithms []Algorithm) *measure.Table[line] {
	type column = measure.Column[line]
	cell := column{Head: "CELL", Known: true, Cell: func(l line) string { return l.place }}.Fitting(places...)
	algorithm := column{Head: "ALGORITHM", Known: true, Cell: func(l line) string { return l.Algorithm }}
	for _, a := range algorithms {
		algorithm = algorithm.Fitting(a.Name)
	}
	columns := []column{cell, algorithm}
	if cell.Width == 0 {
		columns = columns[1:]
	}
	columns = append(columns, measure.TimeColumns(func(l line) measure.Summary { return l.Times })...)
	return measure.NewTable(append(columns,
		measure.Number("TUPLES/S", func(l line) string { return text.Rate(l.TuplesPerSecond(), "") }),
		column{Head: "MEMORY", Align: text.Right, Cell: func(l line) string { return text.Bytes(l.PeakBytes) }}.
			Fitting("1023.9 MiB"),
		column{Head: "OUTPUT ROWS", Align: text.Right, Cell: func(l line) string { return text.Rows(l.Rows) }},
	)...)
}

// fileColumns are the columns of a file of results. R of a star workload (a sequence of joins) is all dimension tables
// together, multiplicity 8..16 means that keys of R have from 8 to 16 rows, and 0 granule_rows or window_rows are all.
// median_ns is the time of all stages, by the clock of the device, or of the host if the device has no timestamps;
// wall_median_ns includes the waits between stages. stages has the median run as name=nanoseconds;...; transform_ns,
// match_ns and gather_ns add up sorting, partitioning and building of tables; finding and writing matches; gathering
// and compacting.
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
	clock := ""
	verified, reason := measure.Verified(r.Skipped)
	numbers := []uint64{spec.Seed, uint64(max(c.Dimensions, 1)), uint64(spec.KeyBytes), c.Granule, c.Window}
	measures := []float64{spec.MatchRatio, spec.Zipf}
	if r.Skipped != nil {
		numbers = append(numbers, uint64(spec.RRows), uint64(spec.SRows))
	} else {
		clock = r.Clock()
		numbers = append(numbers, r.RRows, r.SRows, r.Rows, r.PeakBytes, uint64(r.Times.Runs))
		numbers = append(numbers, r.Times.Nanoseconds()...)
		transform, match, gather := r.Phases()
		for _, t := range []time.Duration{r.Wall.Median, transform, match, gather} {
			numbers = append(numbers, uint64(t.Nanoseconds()))
		}
		measures = append(measures, r.TuplesPerSecond())
	}
	f.Add([]string{figure, place, c.Kind(), cmp.Or(c.How, "inner"), r.Algorithm,
		workload.BytesText(spec.RPayloads, " "), workload.BytesText(spec.SPayloads, " "), spec.RowsOfKey().String(),
		fmt.Sprint(spec.SelfJoin), clock, verified, reason, measure.StagesField(r.Stages)}, numbers, measures)
}
