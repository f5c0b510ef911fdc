package measure

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/tableio"
)

// File collects results for a CSV file; without a path it does nothing. Its first columns say when and on which
// machine, device and driver they were measured. Used by one goroutine.
type File struct {
	writer *tableio.Writer
	rows   *array.RecordBuilder
	common []string // the values of the columns of that name
}

// common are the columns that every file begins with.
var common = []string{"started", "machine", "device", "backend", "driver", "driver_version", "commit", "command"}

// Columns are columns of a CSV file of measurements by their type.
type Columns struct{ Texts, Numbers, Measures []string }

func (c Columns) schema() *arrow.Schema {
	var fields []arrow.Field
	add := func(names []string, dt arrow.DataType) {
		for _, name := range names {
			fields = append(fields, arrow.Field{Name: name, Type: dt, Nullable: true})
		}
	}
	add(common, arrow.BinaryTypes.String)
	add(c.Texts, arrow.BinaryTypes.String)
	add(c.Numbers, arrow.PrimitiveTypes.Uint64)
	add(c.Measures, arrow.PrimitiveTypes.Float64)
	return arrow.NewSchema(fields, nil)
}

// Create begins a file at path for the results of a command on a device. The caller ends it with Commit or Abort.
func Create(path, command string, device *backend.DeviceInfo, columns Columns) (*File, error) {
	if path == "" {
		return &File{}, nil
	}
	machine, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	writer, err := tableio.Create(path, columns.schema(), tableio.WriteOptions{Format: tableio.CSV})
	if err != nil {
		return nil, err
	}
	return &File{writer, array.NewRecordBuilder(memory.DefaultAllocator, columns.schema()), []string{
		time.Now().UTC().Format(time.RFC3339), machine, device.Name, device.Backend, device.Driver,
		device.DriverVersion, commit(), command,
	}}, nil
}

// Add adds a row of texts, numbers and measures, in the order of their columns. Trailing numbers and measures may be
// missing, as for a case that was skipped, and are left empty.
func (f *File) Add(texts []string, numbers []uint64, measures []float64) {
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

// Commit makes the file appear, complete or not at all.
func (f *File) Commit(ctx context.Context) error {
	if f.writer == nil {
		return nil
	}
	batch := f.rows.NewRecordBatch()
	defer batch.Release()
	return errors.Join(f.writer.Write(ctx, batch), f.writer.Commit(ctx))
}

// Abort discards the file. It does nothing after Commit.
func (f *File) Abort() {
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
