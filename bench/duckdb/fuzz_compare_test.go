package main

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
)

// outColumn is a column of the output.
type outColumn struct {
	name string
	typ  arrow.DataType // nil where keys have no common type
	role join.Role
	side int // of the value; for a key of both sides that from which it comes where there are both
	at   [2]int
	// merged keys of two types are compared by value, others by the bytes.
	byValue bool
}

// expectedColumns are all columns that the output may have, by the rules of docs/cli.md. It tells whether keys of a
// full join have no common type.
func expectedColumns(c *fuzzCase, tables [2]*fuzzTable) (columns []outColumn, unmergeable bool) {
	returns := map[string][2]bool{"semi": {true, false}, "anti": {true, false}, "mark": {true, false},
		"not-in": {true, false}, "right-semi": {false, true}, "right-anti": {false, true}}
	of, one := returns[c.How]
	if !one {
		of = [2]bool{true, true}
	}
	merged := !one && !c.SeparateKeys
	taken := map[string]bool{}
	schemas := [2]*arrow.Schema{tables[0].table.Schema(), tables[1].table.Schema()}
	if of[0] {
		for i, f := range schemas[0].Fields() {
			o := outColumn{name: f.Name, typ: f.Type, at: [2]int{i, -1}}
			if k := slices.Index(tables[0].keys, i); k >= 0 && merged {
				other := schemas[1].Field(tables[1].keys[k]).Type
				o.role, o.at[1] = join.KeyColumn, tables[1].keys[k]
				if c.How == "right" {
					o.side, o.typ = 1, other
				} else if c.How == "full" && !arrow.TypeEqual(f.Type, other) {
					o.byValue = keyTypes[c.Keys[k].Types[0]].family < texts
					if common, ok := relation.CommonType(f.Type, other); ok {
						o.typ = common
					} else {
						o.typ, unmergeable = nil, true
					}
				}
			}
			columns = append(columns, o)
			taken[f.Name] = true
		}
	}
	lefts := len(taken)
	isLeft := func(name string) bool { return lefts > 0 && of[0] && schemas[0].HasField(name) }
	var rights []outColumn
	for i, f := range schemas[1].Fields() {
		if of[1] && !(merged && slices.Contains(tables[1].keys, i)) {
			rights = append(rights, outColumn{name: f.Name, typ: f.Type, side: 1, at: [2]int{-1, i}})
			if !isLeft(f.Name) {
				taken[f.Name] = true
			}
		}
	}
	if c.Indicator != "" {
		rights = append(rights, outColumn{name: c.Indicator, typ: arrow.BinaryTypes.String, role: join.IndicatorColumn})
	}
	if c.How == "mark" {
		rights = append(rights, outColumn{name: cmp.Or(c.MarkName, "mark"), typ: arrow.FixedWidthTypes.Boolean,
			role: join.MarkColumn})
	}
	for _, o := range rights {
		if o.role != join.ValueColumn || isLeft(o.name) {
			for taken[o.name] {
				o.name += cmp.Or(c.Suffix, "_right")
			}
			taken[o.name] = true
		}
		columns = append(columns, o)
	}
	return columns, unmergeable
}

func (r *attempts) checkSchema(s *arrow.Schema) *failure {
	if s.NumFields() != len(r.columns) {
		return failf("schema", "%s", s)
	}
	for i, o := range r.columns {
		if f := s.Field(i); f.Name != o.name || !arrow.TypeEqual(f.Type, o.typ) {
			return failf("schema", "column %d is %s, want %s %s", i, f, o.name, o.typ)
		}
	}
	return nil
}

// appendWanted appends the cells of a row that is expected.
func (r *attempts) appendWanted(to []byte, row rowOf) []byte {
	for _, o := range r.columns {
		switch o.role {
		case join.MarkColumn:
			to = append(to, 1, 1, 0, 0, 0)
			if row.marked {
				to[len(to)-1] = 1
			}
		case join.IndicatorColumn:
			text := "both"
			if row.from[1] < 0 {
				text = "left_only"
			} else if row.from[0] < 0 {
				text = "right_only"
			}
			to = append(append(to, 1, byte(len(text)), 0, 0), text...)
		default:
			side := o.side
			if o.role == join.KeyColumn && row.from[side] < 0 {
				side = 1 - side
			}
			switch i := int(row.from[side]); {
			case i < 0:
				to = append(to, 0)
			case o.byValue:
				to = appendText(to, oracle.Cell(r.tables[side].columns[o.at[side]], i))
			default:
				to = appendCell(to, r.tables[side].columns[o.at[side]], i)
			}
		}
	}
	return to
}

func appendText(to []byte, text string) []byte {
	if text == "(null)" {
		return append(to, 0)
	}
	return append(append(to, 1, byte(len(text)), byte(len(text)>>8), 0), text...)
}

func (r *attempts) appendGot(to []byte, batch arrow.RecordBatch, i int) []byte {
	for place, o := range r.columns {
		if o.byValue {
			to = appendText(to, oracle.Cell(batch.Column(place), i))
		} else {
			to = appendCell(to, batch.Column(place), i)
		}
	}
	return to
}

// ordered is the side in whose order rows come, where the case asks for an order.
func (r *attempts) ordered() (first int, ordered bool) {
	switch {
	case r.c.Order == "right":
		return 1, true
	case r.c.Order == "left" || !r.c.Deterministic:
		return 0, r.c.Order == "left"
	case r.c.How == "right" || r.c.How == "right-semi" || r.c.How == "right-anti":
		return 1, true
	}
	return 0, true
}

// order sorts expected rows where the case asks for an order, and tells whether it does.
func (r *attempts) order(rows []rowOf) bool {
	first, ordered := r.ordered()
	if !ordered {
		return false
	}
	last := func(n int32) uint32 { return uint32(n) } // -1 is the last
	slices.SortFunc(rows, func(a, b rowOf) int {
		return cmp.Or(cmp.Compare(last(a.from[first]), last(b.from[first])),
			cmp.Compare(last(a.from[1-first]), last(b.from[1-first])))
	})
	return true
}

func (r *attempts) comparePairs(want *expectation, got []rowOf) *failure {
	rows := slices.Clone(want.rows)
	if !r.order(rows) {
		byBoth := func(a, b rowOf) int { return slices.Compare(a.from[:], b.from[:]) }
		slices.SortFunc(rows, byBoth)
		slices.SortFunc(got, byBoth)
	}
	if slices.Equal(rows, got) {
		return nil
	}
	for i := range min(len(rows), len(got)) {
		if rows[i] != got[i] {
			return failf("rows", "%d pairs, want %d; pair %d is %v, want %v", len(got), len(rows), i, got[i].from, rows[i].from)
		}
	}
	return failf("rows", "%d pairs, want %d", len(got), len(rows))
}

var rowSeed = maphash.MakeSeed()

// compareRows compares batches with the rows that DuckDB found, as multisets or one by one.
func (r *attempts) compareRows(want *expectation, batches []arrow.RecordBatch) *failure {
	type hashed struct {
		hash       uint64
		batch, row int // of what there is; of what is wanted the row alone
	}
	var buffer []byte
	got, wanted := []hashed{}, make([]hashed, 0, len(want.rows))
	for b, batch := range batches {
		if rows := int(batch.NumRows()); rows == 0 || r.spec.BatchRows > 0 && rows > r.spec.BatchRows {
			return failf("batch", "a batch of %d rows, at most %d are asked for", rows, r.spec.BatchRows)
		}
		if fail := r.checkSchema(batch.Schema()); fail != nil {
			return fail
		}
		for i, column := range batch.Columns() {
			if f := batch.Schema().Field(i); !f.Nullable && column.NullN() > 0 {
				return failf("schema", "%s has NULLs", f)
			}
		}
		for i := range int(batch.NumRows()) {
			buffer = r.appendGot(buffer[:0], batch, i)
			got = append(got, hashed{maphash.Bytes(rowSeed, buffer), b, i})
		}
	}
	rows := slices.Clone(want.rows)
	ordered := r.order(rows)
	for i, row := range rows {
		buffer = r.appendWanted(buffer[:0], row)
		wanted = append(wanted, hashed{maphash.Bytes(rowSeed, buffer), 0, i})
	}
	if !ordered {
		byHash := func(a, b hashed) int { return cmp.Compare(a.hash, b.hash) }
		slices.SortStableFunc(got, byHash)
		slices.SortStableFunc(wanted, byHash)
	}
	if slices.EqualFunc(got, wanted, func(a, b hashed) bool { return a.hash == b.hash }) {
		return nil
	}
	showGot := func(h hashed) string {
		var cells []string
		for _, column := range batches[h.batch].Columns() {
			cells = append(cells, column.ValueStr(h.row))
		}
		return strings.Join(cells, "|")
	}
	showWanted := func(h hashed) string {
		row := rows[h.row]
		var cells []string
		for _, o := range r.columns {
			if side := o.side; o.role == join.ValueColumn || o.role == join.KeyColumn {
				if o.role == join.KeyColumn && row.from[side] < 0 {
					side = 1 - side
				}
				if row.from[side] < 0 {
					cells = append(cells, "(null)")
				} else {
					cells = append(cells, r.tables[side].columns[o.at[side]].ValueStr(int(row.from[side])))
				}
			}
		}
		return fmt.Sprintf("%s (rows %v)", strings.Join(cells, "|"), row.from)
	}
	detail := fmt.Sprintf("%d rows, want %d", len(got), len(wanted))
	for i, j := 0, 0; i < len(got) || j < len(wanted); {
		switch {
		case i < len(got) && j < len(wanted) && got[i].hash == wanted[j].hash:
			i, j = i+1, j+1
			continue
		case ordered && i < len(got) && j < len(wanted):
			return failf("rows", "%s; row %d is %s, want %s", detail, i, showGot(got[i]), showWanted(wanted[j]))
		case j == len(wanted) || i < len(got) && got[i].hash < wanted[j].hash:
			hash := func(h hashed) uint64 { return h.hash }
			return failf("rows", "%s; too many: %s%s", detail, showGot(got[i]), missing(wanted, got, hash, showWanted))
		default:
			return failf("rows", "%s; missing: %s", detail, showWanted(wanted[j]))
		}
	}
	return failf("rows", "%s", detail)
}

// missing shows the first of the wanted rows that is not there.
func missing[T any](wanted, got []T, hash func(T) uint64, show func(T) string) string {
	there := map[uint64]int{}
	for _, g := range got {
		there[hash(g)]++
	}
	for _, w := range wanted {
		if there[hash(w)]--; there[hash(w)] < 0 {
			return "; missing: " + show(w)
		}
	}
	return ""
}
