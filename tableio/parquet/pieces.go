package parquet

import (
	"context"
	"iter"
	"math"
	"runtime"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio/core"
)

// pieces are decoded arrays of each column, in the order of rows, that become batches. Arrays of different columns may
// end at different rows: batches end wherever an array does.
type pieces [][]arrow.Array

// batch takes the rows before the first end of an array. There must be an array of each column.
func (p pieces) batch(schema *arrow.Schema) arrow.RecordBatch {
	rows := math.MaxInt
	for _, column := range p {
		rows = min(rows, column[0].Len())
	}
	cut := make([]arrow.Array, len(p))
	defer relation.ReleaseAll(cut)
	for i, column := range p {
		if column[0].Len() == rows {
			cut[i], p[i] = column[0], column[1:]
			continue
		}
		cut[i] = array.NewSlice(column[0], 0, int64(rows))
		rest := array.NewSlice(column[0], int64(rows), int64(column[0].Len()))
		column[0].Release()
		column[0] = rest
	}
	return array.NewRecordBatch(schema, cut, int64(rows))
}

func (p pieces) release() {
	for i, column := range p {
		relation.ReleaseAll(column)
		p[i] = nil
	}
}

// ahead says how much is decoded before it is drawn, where memory is limited.
type ahead struct {
	groups     int   // row groups at a time
	batchBytes int64 // of a batch
	pageBytes  int64 // of the open pages of a row group
}

// leastBatchBytes is the size of batches that cost more in overhead than in work.
const leastBatchBytes = 128 << 10

// ahead shares aheadBytes among as many row groups as keep all cores busy, of which each has a batch that waits
// and the parts of another one, beside its open pages.
func (s *Source) ahead(columns []int) ahead {
	a := ahead{}
	for _, column := range columns {
		a.pageBytes += s.pageBytes(column)
	}
	cores := runtime.GOMAXPROCS(0)
	a.groups = min(1+(cores+len(columns)-1)/len(columns), len(s.groups()))
	if a.pageBytes > 0 {
		a.groups = min(a.groups, int(s.aheadBytes/2/a.pageBytes))
	}
	a.groups = max(a.groups, 1)
	left := max(s.aheadBytes-int64(a.groups)*a.pageBytes, s.aheadBytes/2)
	a.batchBytes = max(left/int64(2*a.groups), leastBatchBytes)
	return a
}

// SetAhead implements [core.Ahead].
func (s *Source) SetAhead(aheadBytes int64) { s.aheadBytes = aheadBytes }

// NeedBytes implements [core.Ahead]; skipped row groups do not count.
func (s *Source) NeedBytes(columns []int, _ bool) int64 {
	if len(columns) == 0 {
		return 0
	}
	a := s.ahead(columns)
	return int64(a.groups) * (2*a.batchBytes + a.pageBytes)
}

// bounded yields batches small enough that aheadBytes suffice. Row groups are decoded side by side, each up
// to its first batch; the one whose turn it is goes on, a batch ahead. Columns are decoded side by side, too.
func (s *Source) bounded(
	ctx context.Context, columns []int, mem memory.Allocator,
) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		schema, a := core.ChosenSchema(s.fields, columns), s.ahead(columns)
		groups := func(yield func(int, error) bool) {
			for _, group := range s.groups() {
				if s.groupRows(group) > 0 && !yield(group, nil) {
					return
				}
			}
		}
		begin := func(ctx context.Context, group int) (*groupReader, error) {
			g := s.newGroupReader(group, columns, a.batchBytes)
			if err := g.decode(ctx, mem); err != nil {
				g.close()
				return nil, err
			}
			return g, nil
		}
		for g, err := range core.InOrder(ctx, a.groups-1, groups, begin, (*groupReader).close) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !g.draw(ctx, schema, mem, yield) {
				return
			}
		}
	}
}

// groupReader decodes the columns of a row group in slices of bytes.
type groupReader struct {
	chunks []*chunkReader
	left   []int64 // rows of each that were not decoded
	most   []int64 // rows of a slice of each
	ready  pieces
}

// newGroupReader makes a reader whose batches have about batchBytes. A batch has as many rows as take that by fixed
// widths and by what the footer says of other columns, whose slices end early where they turn out longer.
func (s *Source) newGroupReader(group int, columns []int, batchBytes int64) *groupReader {
	g := &groupReader{ready: make(pieces, len(columns)), left: make([]int64, len(columns)),
		most: make([]int64, len(columns))}
	rows, rowGroup := s.groupRows(group), s.file.RowGroup(group)
	rowBytes, long := 0.0, int64(0)
	for _, column := range columns {
		rowBytes += s.rowBytes(group, column)
		if _, fixed := s.fields.Field(column).Type.(arrow.FixedWidthDataType); !fixed {
			long++
		}
	}
	most := max(1, min(rows, int64(float64(batchBytes)/max(rowBytes, 1))))
	for i, column := range columns {
		g.chunks = append(g.chunks, &chunkReader{source: s, group: group, column: column, rows: rowGroup,
			sliceBytes: max(1, batchBytes/max(1, long))})
		g.left[i], g.most[i] = rows, most
	}
	return g
}

// rowBytes is about what a row of a column takes.
func (s *Source) rowBytes(group, column int) float64 {
	if fixed, ok := s.fields.Field(column).Type.(arrow.FixedWidthDataType); ok {
		return float64(fixed.BitWidth()) / 8
	}
	return 16 + s.storedRowBytes(group, column)
}

// decode decodes the next slice of each column of which nothing is ready.
func (g *groupReader) decode(ctx context.Context, mem memory.Allocator) error {
	errs := make([]error, len(g.chunks))
	var running sync.WaitGroup
	for i, chunk := range g.chunks {
		if len(g.ready[i]) > 0 {
			continue
		}
		running.Go(func() {
			errs[i] = core.Guard(func() error {
				chunk.source.cores <- struct{}{}
				defer func() { <-chunk.source.cores }()
				slice, err := chunk.next(ctx, min(g.left[i], g.most[i]), mem)
				if err != nil {
					return err
				}
				g.ready[i], g.left[i] = []arrow.Array{slice}, g.left[i]-int64(slice.Len())
				if g.left[i] == 0 {
					chunk.close()
				}
				return nil
			})
		})
	}
	running.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// draw yields all batches and closes the reader; more says whether all were taken.
func (g *groupReader) draw(ctx context.Context, schema *arrow.Schema, mem memory.Allocator,
	yield func(arrow.RecordBatch, error) bool) (more bool) {
	busy := core.BusyOf(ctx)
	decode := func() error {
		busy.Begin()
		defer busy.End()
		return g.decode(ctx, mem)
	}
	for {
		batch := g.ready.batch(schema)
		if g.done() {
			g.close()
			return yield(batch, nil)
		}
		decoded := make(chan error, 1)
		go func() { decoded <- decode() }()
		more := yield(batch, nil)
		if err := <-decoded; err != nil || !more {
			g.close()
			if more {
				yield(nil, err)
			}
			return false
		}
	}
}

// done tells whether all rows were drawn.
func (g *groupReader) done() bool {
	for i, left := range g.left {
		if left > 0 || len(g.ready[i]) > 0 {
			return false
		}
	}
	return true
}

func (g *groupReader) close() {
	g.ready.release()
	for _, chunk := range g.chunks {
		chunk.close()
	}
}
