package dataset

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/csv"
)

// Partition is a value that all rows of a file have in a column, as the name of a folder says, column=value. That is
// the layout of Hive.
type Partition struct {
	Column, Value string
	Null          bool
}

// nullPartition is how Hive writes NULL.
const nullPartition = "__HIVE_DEFAULT_PARTITION__"

// partitioned finds the partitions in paths below a folder.
func partitioned(paths []string, dir string) []File {
	files, from := make([]File, len(paths)), 0
	if dir = filepath.Clean(dir); dir != "." { // which no path begins with
		from = len(dir)
	}
	for i, path := range paths {
		files[i].Path = path
		names := strings.Split(path[from:], string(filepath.Separator))
		for _, name := range names[:len(names)-1] {
			column, value, ok := strings.Cut(name, "=")
			if !ok || column == "" {
				continue
			}
			p := Partition{Column: unescape(column), Value: unescape(value), Null: value == nullPartition}
			same := func(other Partition) bool { return other.Column == p.Column }
			if at := slices.IndexFunc(files[i].Partitions, same); at >= 0 {
				files[i].Partitions[at] = p // the innermost folder decides
				continue
			}
			files[i].Partitions = append(files[i].Partitions, p)
		}
	}
	return files
}

// unescape decodes %XX. A name that is no encoding stays as it is.
func unescape(name string) string {
	if decoded, err := url.PathUnescape(name); err == nil {
		return decoded
	}
	return name
}

// partitionFields are the columns of partitions, which no file has, in the order in which they are met. All values
// decide the type of a column.
func partitionFields(files []*member, has func(name string) bool) (fields []arrow.Field) {
	values, at := map[string][]string{}, map[string]int{}
	for _, m := range files {
		for _, p := range m.Partitions {
			if has(p.Column) {
				continue
			}
			if _, met := at[p.Column]; !met {
				at[p.Column] = len(fields)
				fields = append(fields, arrow.Field{Name: p.Column, Nullable: true})
			}
			if !p.Null && !slices.Contains(last(values[p.Column], 1), p.Value) {
				values[p.Column] = append(values[p.Column], p.Value)
			}
		}
	}
	for i := range fields {
		fields[i].Type = csv.PartitionType(values[fields[i].Name])
	}
	return fields
}

func last(values []string, n int) []string { return values[max(0, len(values)-n):] }

// partition is the value that a file has in a column; NULL if none of its folders tells.
func (m *member) partition(column string) Partition {
	for _, p := range m.Partitions {
		if p.Column == column {
			return p
		}
	}
	return Partition{Column: column, Null: true}
}

// number is the value as a column of numbers or dates holds it.
func (p Partition) number(dt arrow.DataType) int64 {
	if dt.ID() == arrow.DATE32 {
		day, _ := time.Parse(time.DateOnly, p.Value)
		return int64(arrow.Date32FromTime(day))
	}
	value, _ := strconv.ParseInt(p.Value, 10, 64)
	return value
}

// bounds are those of the value.
func (p Partition) bounds(dt arrow.DataType) (b core.Bounds, ok bool) {
	switch {
	case dt.ID() == arrow.STRING:
		return b, false
	case p.Null:
		return core.Bounds{Type: dt, Min: 1, Nulls: true}, true
	}
	value := p.number(dt)
	return core.Bounds{Type: dt, Min: value, Max: value}, true
}

// rowBytes is what the value takes in each row.
func (p Partition) rowBytes() int64 { return int64(8 + len(p.Value)) }

// column returns the value as often as there are rows. It is not NULL.
func (p Partition) column(dt arrow.DataType, rows int, mem memory.Allocator) arrow.Array {
	switch dt.ID() {
	case arrow.INT64:
		b := array.NewInt64Builder(mem)
		return repeated(b, rows, func() { b.UnsafeAppend(p.number(dt)) })
	case arrow.DATE32:
		b, day := array.NewDate32Builder(mem), arrow.Date32(p.number(dt))
		return repeated(b, rows, func() { b.UnsafeAppend(day) })
	}
	b := array.NewStringBuilder(mem)
	b.ReserveData(rows * len(p.Value))
	return repeated(b, rows, func() { b.Append(p.Value) })
}

func repeated(b array.Builder, rows int, add func()) arrow.Array {
	defer b.Release()
	b.Reserve(rows)
	for range rows {
		add()
	}
	return b.NewArray()
}
