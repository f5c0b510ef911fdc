package join_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// oracle is the simplest join: it compares every left row with every right row with the same key text.
type oracle struct {
	left, right arrow.Table
	pairs       [][2]uint32 // sorted
}

func newOracle(left, right arrow.Table, leftOn, rightOn []string) *oracle {
	o := &oracle{left: left, right: right}
	rows := make(map[string][]uint32)
	for i := range int(right.NumRows()) {
		if key, ok := keyText(right, rightOn, i); ok {
			rows[key] = append(rows[key], uint32(i))
		}
	}
	for i := range int(left.NumRows()) {
		if key, ok := keyText(left, leftOn, i); ok {
			for _, j := range rows[key] {
				o.pairs = append(o.pairs, [2]uint32{uint32(i), j})
			}
		}
	}
	return o
}

// keyText is the key of a row as text; ok is false when a part of it is NULL.
func keyText(table arrow.Table, on []string, row int) (text string, ok bool) {
	var b strings.Builder
	for _, name := range on {
		value := cell(table, name, row)
		if value == nullText {
			return "", false
		}
		if value == "-0" {
			value = "0"
		}
		b.WriteString(value + "\x00")
	}
	return b.String(), true
}

const nullText = "(null)"

func cell(table arrow.Table, name string, row int) string {
	column := table.Column(table.Schema().FieldIndices(name)[0]).Data()
	for _, chunk := range column.Chunks() {
		if row < chunk.Len() {
			return chunk.ValueStr(row)
		}
		row -= chunk.Len()
	}
	panic("row behind the end of the column")
}

// rowTexts renders the joined rows, sorted: a multiset.
func (o *oracle) rowTexts(columns []column) []string {
	texts := make([]string, len(o.pairs))
	for i, p := range o.pairs {
		var b strings.Builder
		for _, c := range columns {
			table, row := o.left, p[0]
			if c.right {
				table, row = o.right, p[1]
			}
			fmt.Fprintf(&b, "%s|", cell(table, c.source, int(row)))
		}
		texts[i] = b.String()
	}
	slices.Sort(texts)
	return texts
}

// column of the output: where the oracle finds it.
type column struct {
	right  bool
	source string
}

func batchTexts(batches []arrow.RecordBatch) []string {
	var texts []string
	for _, batch := range batches {
		for i := range int(batch.NumRows()) {
			var b strings.Builder
			for _, c := range batch.Columns() {
				fmt.Fprintf(&b, "%s|", c.ValueStr(i))
			}
			texts = append(texts, b.String())
		}
	}
	slices.Sort(texts)
	return texts
}
