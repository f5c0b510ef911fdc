package primitive

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/text"
)

// table prints results line by line. Its widths follow from the cases and from what a number can take.
type table struct{ widths []int }

var (
	tableHead = []string{"PRIMITIVE", "KEY", "PAYLOAD", "ROWS", "DISTRIBUTION", "MEDIAN",
		"MIN", "MAX", "SPREAD", "ROWS/S", "BYTES/S", "OF COPY"}
	tableAligns = []text.Align{text.Left, text.Right, text.Right, text.Right, text.Left, text.Right,
		text.Right, text.Right, text.Right, text.Right, text.Right, text.Right}
)

func newTable(cases []Case) *table {
	t := &table{widths: make([]int, len(tableHead))}
	fit := func(cells []string) {
		for i, cell := range cells {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
		}
	}
	fit(tableHead)
	for _, c := range cases {
		axes := caseCells(c)
		fit(axes)
		for i := len(axes); i < len(tableHead)-1; i++ {
			t.widths[i] = max(t.widths[i], text.NumberColumns)
		}
	}
	return t
}

func caseCells(c Case) []string {
	return []string{c.Primitive, bitsText(c.Key), bitsText(c.Payload), text.Rows(c.Rows), string(c.Distribution)}
}

func bitsText(bits int) string {
	if bits == 0 {
		return "-"
	}
	return strconv.Itoa(bits)
}

func (t *table) head() string { return text.TableLine(tableAligns, t.widths, tableHead) }

func (t *table) line(r *Result, skipped error) string {
	cells := caseCells(r.Case)
	if skipped != nil {
		return text.TableLine(tableAligns, t.widths, cells) + text.Gap + "skipped: " + text.OneLine(skipped.Error())
	}
	return text.TableLine(tableAligns, t.widths, append(cells,
		text.Duration(r.Times.Median), text.Duration(r.Times.Min), text.Duration(r.Times.Max),
		text.Duration(r.Times.Spread),
		text.Rate(r.RowsPerSecond(), ""), text.Rate(r.BytesPerSecond(), "B"), fmt.Sprintf("%.0f%%", 100*r.CopyShare())))
}

var fileColumns = measure.Columns{
	Texts:   []string{"primitive", "distribution", "tuning", "clock", "skipped"},
	Numbers: []string{"seed", "key_bits", "payload_bits", "rows", "runs"},
	Measures: []string{"median_seconds", "min_seconds", "max_seconds", "spread_seconds", "rows_per_second",
		"bytes_per_second", "copy_bytes_per_second", "copy_percent"},
}

// addTo adds a row to a file of results.
func (r *Result) addTo(f *measure.File, seed uint64, skipped error) {
	clock, reason := measure.Clock(r.DeviceTime), ""
	rates := []float64{r.Times.Median.Seconds(), r.Times.Min.Seconds(), r.Times.Max.Seconds(), r.Times.Spread.Seconds(),
		r.RowsPerSecond(), r.BytesPerSecond(), r.CopyRate, 100 * r.CopyShare()}
	if skipped != nil {
		clock, reason, rates = "", text.OneLine(skipped.Error()), nil
	}
	f.Add([]string{r.Primitive, string(r.Distribution), r.Config.String(), clock, reason},
		[]uint64{seed, uint64(r.Key), uint64(r.Payload), r.Rows, uint64(r.Times.Runs)}, rates)
}
