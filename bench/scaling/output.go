package scaling

import (
	"context"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
)

// Output is what a join returns: without materialization the number of rows, or pairs of row numbers; or rows.
type Output = join.Output

// ParseOutputs parses names of outputs, which must be among those that are possible.
func ParseOutputs(names []string, possible ...Output) ([]Output, error) {
	return measure.Find("output", possible, Output.String, names)
}

// draw draws the output of a join to its end. each, which may be nil, is called with the rows.
func draw(ctx context.Context, result *engine.Result, tables [2]arrow.Table, output Output,
	each func(arrow.RecordBatch) error) error {
	switch output {
	case join.Rows:
		for batch, err := range result.Batches(ctx) {
			if err == nil && each != nil {
				err = each(batch)
			}
			if batch != nil {
				batch.Release()
			}
			if err != nil {
				return err
			}
		}
	case join.Pairs:
		for pairs, err := range result.Pairs(ctx) {
			if err == nil && each != nil {
				err = eachRow(tables, pairs, each)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// eachRow calls each with the rows of pairs of row numbers: the key, and the payload of the left and of the right side.
// ErrWrong for a number that no row has.
func eachRow(tables [2]arrow.Table, pairs query.Pairs, each func(arrow.RecordBatch) error) error {
	var fields []arrow.Field
	var columns []arrow.Array
	for side, numbers := range [2][]uint32{pairs.Left, pairs.Right} {
		first := [2]uint64{pairs.LeftFirst, pairs.RightFirst}[side]
		for c := side; c < int(tables[side].NumCols()); c++ { // the key of the left side alone
			column, err := fetch(tables[side].Column(c).Data(), first, numbers)
			if err != nil {
				return err
			}
			defer column.Release()
			fields, columns = append(fields, tables[side].Schema().Field(c)), append(columns, column)
		}
	}
	batch := array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(len(pairs.Left)))
	defer batch.Release()
	return each(batch)
}

// fetch copies values of a column of fixed width without NULL: of rows first + numbers[i].
func fetch(column *arrow.Chunked, first uint64, numbers []uint32) (arrow.Array, error) {
	width := column.DataType().(arrow.FixedWidthDataType).Bytes()
	var ends []uint64 // of chunks
	var chunks [][]byte
	rows := uint64(0)
	for _, chunk := range column.Chunks() {
		if chunk.Len() == 0 {
			continue
		}
		rows += uint64(chunk.Len())
		data := chunk.Data()
		ends, chunks = append(ends, rows), append(chunks, data.Buffers()[1].Bytes()[data.Offset()*width:])
	}
	values := make([]byte, len(numbers)*width)
	for i, n := range numbers {
		row := first + uint64(n)
		if row >= rows {
			return nil, measure.Wrongf("row %d of %d", row, rows)
		}
		at := sort.Search(len(ends), func(c int) bool { return row < ends[c] })
		if at > 0 {
			row -= ends[at-1]
		}
		copy(values[i*width:], chunks[at][row*uint64(width):][:width])
	}
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(values)}
	data := array.NewData(column.DataType(), len(numbers), buffers, nil, 0, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}
