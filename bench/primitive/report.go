package primitive

import (
	"fmt"
	"strconv"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/text"
)

// newTable returns a table that has room for these cases.
func newTable(cases []Case) *measure.Table[*Result] {
	type column = measure.Column[*Result]
	columns := []column{
		{Head: "PRIMITIVE", Cell: func(r *Result) string { return r.Primitive }},
		{Head: "KEY", Align: text.Right, Cell: func(r *Result) string { return bitsText(r.Key) }},
		{Head: "PAYLOAD", Align: text.Right, Cell: func(r *Result) string { return bitsText(r.Payload) }},
		{Head: "ROWS", Align: text.Right, Cell: func(r *Result) string { return text.Rows(r.Rows) }},
		{Head: "DISTRIBUTION", Cell: func(r *Result) string { return string(r.Distribution) }},
	}
	for i, c := range columns {
		c.Known = true
		for _, of := range cases {
			c = c.Fitting(c.Cell(&Result{Case: of}))
		}
		columns[i] = c
	}
	columns = append(columns, measure.TimeColumns(func(r *Result) measure.Summary { return r.Times })...)
	return measure.NewTable(append(columns,
		measure.Number("SPREAD", func(r *Result) string { return text.Duration(r.Times.Spread) }),
		measure.Number("ROWS/S", func(r *Result) string { return text.Rate(r.RowsPerSecond(), "") }),
		measure.Number("BYTES/S", func(r *Result) string { return text.Rate(r.BytesPerSecond(), "B") }),
		column{Head: "OF COPY", Align: text.Right,
			Cell: func(r *Result) string { return fmt.Sprintf("%.0f%%", 100*r.CopyShare()) }},
	)...)
}

func bitsText(bits int) string {
	if bits == 0 {
		return "-"
	}
	return strconv.Itoa(bits)
}

var fileColumns = measure.Columns{
	Texts:   []string{"primitive", "distribution", "tuning", "clock", "skipped"},
	Numbers: []string{"seed", "key_bits", "payload_bits", "rows", "runs"},
	Measures: []string{"median_seconds", "min_seconds", "max_seconds", "spread_seconds", "rows_per_second",
		"bytes_per_second", "copy_bytes_per_second", "copy_percent"},
}

// addTo adds a row to a file of results.
func (r *Result) addTo(f *measure.File, seed uint64, skipped error) {
	clock, reason := r.Clock(), ""
	rates := []float64{r.Times.Median.Seconds(), r.Times.Min.Seconds(), r.Times.Max.Seconds(), r.Times.Spread.Seconds(),
		r.RowsPerSecond(), r.BytesPerSecond(), r.CopyRate, 100 * r.CopyShare()}
	if skipped != nil {
		clock, reason, rates = "", text.OneLine(skipped.Error()), nil
	}
	f.Add([]string{r.Primitive, string(r.Distribution), r.Config.String(), clock, reason},
		[]uint64{seed, uint64(r.Key), uint64(r.Payload), r.Rows, uint64(r.Times.Runs)}, rates)
}
