package source

import (
	"cmp"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/relation"
)

// Gathered is slices that become a table.
type Gathered struct {
	Schema            *arrow.Schema
	Rows, Most, Bytes uint64 // Most: rows of the largest slice

	slices []Slice
}

// Add takes a slice. If it follows the last slice in the same batch, both become one.
func (g *Gathered) Add(s Slice) {
	rows := uint64(s.to - s.from)
	g.Rows, g.Most, g.Bytes = g.Rows+rows, max(g.Most, rows), g.Bytes+s.bytes
	if n := len(g.slices); n > 0 && g.slices[n-1].batch == s.batch && g.slices[n-1].to == s.from {
		g.slices[n-1].to, g.slices[n-1].bytes = s.to, g.slices[n-1].bytes+s.bytes
		s.Release()
		return
	}
	g.slices = append(g.slices, s)
}

// SortBy puts the slices in the order of the numbers that an int64 column has in their first rows.
func (g *Gathered) SortBy(column int) {
	first := func(s Slice) int64 { return s.batch.Column(column).(*array.Int64).Value(int(s.from)) }
	slices.SortFunc(g.slices, func(a, b Slice) int { return cmp.Compare(first(a), first(b)) })
}

// Release releases the rows.
func (g *Gathered) Release() {
	relation.ReleaseAll(g.slices)
	g.slices = nil
}

// Table returns all gathered rows as a table, which the caller releases.
func (g *Gathered) Table() arrow.Table {
	var columns []arrow.Column
	for i, field := range g.Schema.Fields() {
		var chunks []arrow.Array
		for _, s := range g.slices {
			chunks = append(chunks, array.NewSlice(s.batch.Column(i), s.from, s.to))
		}
		chunked := arrow.NewChunked(field.Type, chunks)
		columns = append(columns, *arrow.NewColumn(field, chunked))
		chunked.Release()
		relation.ReleaseAll(chunks)
	}
	table := array.NewTable(g.Schema, columns, int64(g.Rows))
	for _, c := range columns {
		c.Release()
	}
	return table
}
