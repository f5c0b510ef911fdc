package main

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

func (c *fuzzCase) keyName(side, k int) string {
	if side == 1 && c.Keys[k].Renamed {
		return fmt.Sprint("r", k)
	}
	return fmt.Sprint("k", k)
}

// fuzzTable is a table of a case: its columns in one piece each, and as they are given to the engine.
type fuzzTable struct {
	table   arrow.Table
	columns []arrow.Array
	keys    []int // which of them are keys
}

func (t *fuzzTable) release() {
	t.table.Release()
	for _, column := range t.columns {
		column.Release()
	}
}

// table makes the table of a side.
func (c *fuzzCase) table(side int) (*fuzzTable, error) {
	s := c.sides()[side]
	var numbers []int64
	outside := func(rows int) { // values around a slice that nobody may look at
		for i := range rows {
			numbers = append(numbers, 1<<40+int64(i))
		}
	}
	outside(s.Offset)
	for _, span := range s.Rows {
		for n := span[0]; n < span[1]; n++ {
			numbers = append(numbers, n)
		}
	}
	outside(min(s.Offset, 3))
	t := &fuzzTable{}
	var fields []arrow.Field
	add := func(name string, values arrow.Array, nullable bool) {
		whole := array.NewSlice(values, int64(s.Offset), int64(s.Offset)+s.rows())
		values.Release()
		t.columns = append(t.columns, whole)
		fields = append(fields, arrow.Field{Name: name, Type: whole.DataType(), Nullable: nullable})
	}
	random := func(column int) func(i int) uint64 {
		return func(i int) uint64 { return scramble(scramble(s.Seed+uint64(column)) ^ uint64(numbers[i])) }
	}
	validity := func(column int, percent uint64) (valid []bool, nullable bool) {
		valid, draw := make([]bool, len(numbers)), random(column+1000)
		for i := range valid {
			valid[i] = draw(i)%100 >= percent
		}
		return valid, percent > 0 || s.Seed>>(column%64)&1 == 1
	}
	addPayload := func(p int) error {
		valid, nullable := validity(p, s.Payload[p].Nulls)
		values, err := payloadArray(s.Payload[p].Type, random(p), valid)
		if err == nil {
			add(fmt.Sprint("p", p), values, nullable || s.Payload[p].Type == "null")
		}
		return err
	}
	rest := 0
	if len(s.Payload) > 0 && s.Seed&1 == 1 { // a payload column before the keys
		rest = 1
		if err := addPayload(0); err != nil {
			return nil, err
		}
	}
	for k, key := range c.Keys {
		valid, nullable := validity(100+k, key.Nulls[side])
		drawn := make([]number, len(numbers))
		for i, n := range numbers {
			index := (keyDraws[s.Draw](n, s.Most) + s.Shift) / max(key.Div, 1)
			if key.Mod > 0 {
				index %= key.Mod
			}
			drawn[i] = keyValues[key.Values](index)
		}
		values := keyArray(keyTypes[key.Types[side]], key.Step, drawn, valid)
		if key.Dictionary[side] {
			plain := values
			values = dictionaryArray(plain)
			plain.Release()
		}
		t.keys = append(t.keys, len(t.columns))
		add(c.keyName(side, k), values, nullable || key.Types[side] == "null" || key.Dictionary[side])
	}
	for p := rest; p < len(s.Payload); p++ {
		if err := addPayload(p); err != nil {
			return nil, err
		}
	}
	var columns []arrow.Column
	for i, whole := range t.columns {
		chunked := arrow.NewChunked(fields[i].Type, s.chunks(i, whole))
		columns = append(columns, *arrow.NewColumn(fields[i], chunked))
		chunked.Release()
	}
	t.table = array.NewTable(arrow.NewSchema(fields, nil), columns, s.rows())
	for i := range columns {
		columns[i].Release()
	}
	return t, nil
}

// chunks cuts a column, each column elsewhere; some chunks are empty.
func (s *fuzzSide) chunks(column int, whole arrow.Array) (chunks []arrow.Array) {
	rows := int64(whole.Len())
	for from, i := int64(0), uint64(0); from < rows; i++ {
		to := rows
		if s.Chunk > 0 {
			to = min(rows, from+int64(scramble(scramble(s.Seed+uint64(column))^i)%uint64(s.Chunk+1)))
		}
		chunks = append(chunks, array.NewSlice(whole, from, to))
		from = to
	}
	return chunks
}

// part is a slice of the rows of a side.
func part(t arrow.Table, from, to int64) arrow.Table {
	schema, columns := t.Schema(), []arrow.Column(nil)
	for i := range int(t.NumCols()) {
		chunked := array.NewChunkedSlice(t.Column(i).Data(), from, to)
		columns = append(columns, *arrow.NewColumn(schema.Field(i), chunked))
		chunked.Release()
	}
	defer func() {
		for i := range columns {
			columns[i].Release()
		}
	}()
	return array.NewTable(schema, columns, to-from)
}
