package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	benchmark "github.com/spirjoin/spirjoin/bench/primitive"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/tableio"
)

// benchTable prints results line by line. Its widths follow from the cases and from what a number can take.
type benchTable struct{ widths []int }

var (
	benchHead   = []string{"PRIMITIVE", "KEY", "PAYLOAD", "ROWS", "DISTRIBUTION", "MEDIAN", "MIN", "MAX", "SPREAD", "ROWS/S", "BYTES/S", "OF COPY"}
	benchAligns = []text.Align{text.Left, text.Right, text.Right, text.Right, text.Left, text.Right, text.Right, text.Right, text.Right, text.Right, text.Right, text.Right}
)

const numberColumns = 9 // of a time or a rate

func newBenchTable(cases []benchmark.Case) *benchTable {
	t := &benchTable{widths: make([]int, len(benchHead))}
	fit := func(cells []string) {
		for i, cell := range cells {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
		}
	}
	fit(benchHead)
	for _, c := range cases {
		axes := caseCells(c)
		fit(axes)
		for i := len(axes); i < len(benchHead)-1; i++ {
			t.widths[i] = max(t.widths[i], numberColumns)
		}
	}
	return t
}

func caseCells(c benchmark.Case) []string {
	return []string{c.Primitive, bitsText(c.Key), bitsText(c.Payload), text.Rows(c.Rows), string(c.Distribution)}
}

func bitsText(bits int) string {
	if bits == 0 {
		return "-"
	}
	return strconv.Itoa(bits)
}

func (t *benchTable) head() string { return text.TableLine(benchAligns, t.widths, benchHead) }

func (t *benchTable) line(r *benchmark.Result, skipped error) string {
	cells := caseCells(r.Case)
	if skipped != nil {
		return text.TableLine(benchAligns, t.widths, cells) + text.Gap + "skipped: " + text.OneLine(skipped.Error())
	}
	return text.TableLine(benchAligns, t.widths, append(cells,
		text.Duration(r.Times.Median), text.Duration(r.Times.Min), text.Duration(r.Times.Max), text.Duration(r.Times.Spread),
		text.Rate(r.RowsPerSecond(), ""), text.Rate(r.BytesPerSecond(), "B"), fmt.Sprintf("%.0f%%", 100*r.CopyShare())))
}

// benchFile collects results for a CSV file; without a path it does nothing. Its first columns say what measured, and when.
type benchFile struct {
	writer *tableio.Writer
	rows   *array.RecordBuilder
	common []string
}

// benchColumns are columns of a CSV file of measurements by their type.
type benchColumns struct{ texts, numbers, measures []string }

func (c benchColumns) schema() *arrow.Schema {
	var fields []arrow.Field
	add := func(names []string, dt arrow.DataType) {
		for _, name := range names {
			fields = append(fields, arrow.Field{Name: name, Type: dt, Nullable: true})
		}
	}
	add([]string{"started", "machine", "device", "backend", "driver", "driver_version", "commit", "command"}, arrow.BinaryTypes.String)
	add(c.texts, arrow.BinaryTypes.String)
	add(c.numbers, arrow.PrimitiveTypes.Uint64)
	add(c.measures, arrow.PrimitiveTypes.Float64)
	return arrow.NewSchema(fields, nil)
}

func createBenchFile(path, command string, device *backend.DeviceInfo, columns benchColumns) (*benchFile, error) {
	if path == "" {
		return &benchFile{}, nil
	}
	machine, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	writer, err := tableio.Create(path, columns.schema(), tableio.WriteOptions{Format: tableio.CSV})
	if err != nil {
		return nil, err
	}
	return &benchFile{writer: writer, rows: array.NewRecordBuilder(memory.DefaultAllocator, columns.schema()),
		common: []string{time.Now().UTC().Format(time.RFC3339), machine, device.Name, device.Backend, device.Driver, device.DriverVersion, commit(), command}}, nil
}

// add adds a row of texts, numbers and measures, in the order of their columns. Numbers and measures at the end that are missing, as
// those of a case that was skipped, stay empty.
func (f *benchFile) add(texts []string, numbers []uint64, measures []float64) {
	if f.writer == nil {
		return
	}
	texts = slices.Concat(f.common, texts)
	for _, field := range f.rows.Fields() {
		switch field := field.(type) {
		case *array.StringBuilder:
			field.Append(texts[0])
			texts = texts[1:]
		case *array.Uint64Builder:
			numbers = appendFirst(field, numbers)
		case *array.Float64Builder:
			measures = appendFirst(field, measures)
		}
	}
}

// appendFirst appends the first value to a column and returns the others.
func appendFirst[T any](column interface {
	Append(T)
	AppendNull()
}, values []T) []T {
	if len(values) == 0 {
		column.AppendNull()
		return nil
	}
	column.Append(values[0])
	return values[1:]
}

var primitiveColumns = benchColumns{
	texts:   []string{"primitive", "distribution", "tuning", "clock", "skipped"},
	numbers: []string{"seed", "key_bits", "payload_bits", "rows", "runs"},
	measures: []string{"median_seconds", "min_seconds", "max_seconds", "spread_seconds", "rows_per_second", "bytes_per_second",
		"copy_bytes_per_second", "copy_percent"},
}

func (f *benchFile) addPrimitive(seed uint64, r *benchmark.Result, skipped error) {
	clock, reason := clockText(r.DeviceTime), ""
	measures := []float64{r.Times.Median.Seconds(), r.Times.Min.Seconds(), r.Times.Max.Seconds(), r.Times.Spread.Seconds(),
		r.RowsPerSecond(), r.BytesPerSecond(), r.CopyRate, 100 * r.CopyShare()}
	if skipped != nil {
		clock, reason, measures = "", text.OneLine(skipped.Error()), nil
	}
	f.add([]string{r.Primitive, string(r.Distribution), r.Config.String(), clock, reason},
		[]uint64{seed, uint64(r.Key), uint64(r.Payload), r.Rows, uint64(r.Times.Runs)}, measures)
}

func clockText(deviceTime bool) string {
	if deviceTime {
		return "device"
	}
	return "host"
}

// commit makes the file appear, and abort leaves none; it does nothing after commit.
func (f *benchFile) commit(ctx context.Context) error {
	if f.writer == nil {
		return nil
	}
	batch := f.rows.NewRecordBatch()
	defer batch.Release()
	return errors.Join(f.writer.Write(ctx, batch), f.writer.Commit(ctx))
}

func (f *benchFile) abort() {
	if f.writer != nil {
		f.writer.Abort()
		f.rows.Release()
	}
}

// commit is what the program was built from; "-dirty" where it was changed since.
func commit() string {
	info, _ := debug.ReadBuildInfo()
	return commitOf(info)
}

func commitOf(info *debug.BuildInfo) string {
	if info == nil {
		return "unknown"
	}
	revision, suffix := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			suffix = "-dirty"
		}
	}
	return revision + suffix
}
