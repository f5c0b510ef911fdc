package ranks

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/exchange/shuffle"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// fact is one thing in which all ranks must agree.
type fact struct{ Name, Text string }

// share is what a rank says of a join before it begins.
type share struct {
	Facts  []fact
	Tables bool // both sides are tables, whose numbers of rows are exact
	Rows   [2]int64
	Bytes  [2]int64 // estimated; negative if unknown
	Limit  uint64   // of host memory
	Speed  float64  // rows a second; 0 if unknown
}

// local are the fields of a specification that may differ from rank to rank, because they do not change the output.
var local = []string{"BatchRows", "Materialize", "Algorithm", "Progress"}

// newShare describes the share of this rank.
func newShare(l *join.Layout, sources [2]source.Source, schemas [2]*arrow.Schema, limitBytes uint64) share {
	s := share{Facts: []fact{{"protocol", fmt.Sprint(shuffle.Version)}}, Tables: true, Limit: limitBytes}
	spec := reflect.ValueOf(l.Spec)
	for i := range spec.NumField() {
		if name := spec.Type().Field(i).Name; !slices.Contains(local, name) {
			s.Facts = append(s.Facts, fact{name, quoted(spec.Field(i).Interface())})
		}
	}
	for side, schema := range schemas {
		s.Facts = append(s.Facts, fact{relation.Side(side).String() + " columns", fmt.Sprint(len(schema.Fields()))})
		for _, f := range schema.Fields() {
			s.Facts = append(s.Facts, fact{relation.Side(side).String() + " column " + f.Name,
				fmt.Sprintf("%s, nullable %t", f.Type, f.Nullable)})
		}
		s.Tables = s.Tables && sources[side].Table() != nil
		s.Rows[side], s.Bytes[side] = sizeOf(&sources[side], schema)
	}
	return s
}

// quoted is the value of a field: names in quotes, so that two never read as one.
func quoted(value any) string {
	switch value.(type) {
	case string, []string:
		return fmt.Sprintf("%q", value)
	}
	return fmt.Sprint(value)
}

// textBytes is a guess at the bytes of a value of a type without a fixed size.
const textBytes = 24

// sizeOf estimates the rows and bytes of a share with the columns of a schema; negative if they are unknown.
func sizeOf(s *source.Source, schema *arrow.Schema) (rows, sizeBytes int64) {
	if rows = s.Rows; rows < 0 {
		return -1, -1
	}
	for _, f := range schema.Fields() {
		table := s.Table()
		fixed, ok := f.Type.(arrow.FixedWidthDataType)
		switch {
		case ok:
			sizeBytes += (rows*int64(fixed.BitWidth()) + 7) / 8
		case table != nil && table.Schema().HasField(f.Name):
			sizeBytes += int64(relation.ColumnBytes(relation.ColumnOf(table, f.Name)))
		default:
			sizeBytes += rows * textBytes
		}
	}
	return rows, sizeBytes
}

// agree tells all ranks of the share of this one and returns what all have. A difference is backend.ErrInvalidInput.
func agree(ctx context.Context, job cluster.Job, mine share) (all []share, err error) {
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	said, err := job.Gather(ctx, "join", text)
	if err != nil {
		return nil, err
	}
	for rank, text := range said {
		var theirs share
		if err := json.Unmarshal(text, &theirs); err != nil {
			return nil, fmt.Errorf("%w: rank %d sent no description of a join: %w", backend.ErrInvalidInput, rank, err)
		}
		all = append(all, theirs)
	}
	for rank, theirs := range all[1:] {
		if detail := difference(all[0].Facts, theirs.Facts); detail != "" {
			return nil, &backend.OpError{Op: "distributed join", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(
				"ranks 0 and %d differ: %s; give all ranks the same specification and column types", rank+1,
				detail)}
		}
	}
	return all, nil
}

// difference returns the first fact that differs; "" if there is none.
func difference(a, b []fact) string {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i].Name != b[i].Name:
			return fmt.Sprintf("one has %s, the other %s", a[i].Name, b[i].Name)
		case a[i] != b[i]:
			return fmt.Sprintf("%s is %s and %s", a[i].Name, a[i].Text, b[i].Text)
		}
	}
	if len(a) != len(b) {
		return "one describes more columns"
	}
	return ""
}

// sum adds up what all ranks have.
func sum(all []share) totals {
	t := totals{ranks: len(all), limitBytes: exec.Unlimited}
	for _, s := range all {
		t.limitBytes = min(t.limitBytes, s.Limit)
		for side := range s.Rows {
			t.rows[side], t.bytes[side] = plus(t.rows[side], s.Rows[side]), plus(t.bytes[side], s.Bytes[side])
		}
	}
	return t
}

func plus(a, b int64) int64 {
	if a < 0 || b < 0 || a+b < 0 {
		return -1
	}
	return a + b
}
