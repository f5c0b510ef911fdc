package distributed

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/ranks"
	"github.com/spirjoin/spirjoin/source"
)

// localCase is a join on ranks of this process.
type localCase struct {
	name  string
	knobs ranks.Knobs
	how   join.How
	hot   float64 // share of left rows with one key
	nulls float64 // share of NULLs in keys and texts of both sides
	small bool    // the right side has a sixteenth of the rows of the left one
}

// localBlockBytes has ranks send several messages for each destination.
const localBlockBytes = 1 << 20

var localCases = []localCase{
	{name: "uniform", knobs: ranks.Knobs{Owners: true, BlockBytes: localBlockBytes}},
	{name: "NULLs", knobs: ranks.Knobs{Owners: true, BlockBytes: localBlockBytes}, how: join.Full, nulls: 0.2},
	{name: "hot key", knobs: ranks.Knobs{Owners: true, BlockBytes: localBlockBytes}, hot: 0.6},
	{name: "copies", knobs: ranks.Knobs{Copies: true, BlockBytes: localBlockBytes}, small: true},
}

// localResult is what a join was forecast to send, and what its ranks have counted.
type localResult struct {
	*localCase
	way              ranks.Way
	hotKeys          int
	forecast, counts [][]cluster.Traffic
}

// localSchema is the schema of both tables: a key, a number and a text of up to 7 bytes.
var localSchema = arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "n", Type: arrow.PrimitiveTypes.Int32}, {Name: "t", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)

// table makes rows with keys from 0 to values-1. The caller releases it.
func (c *localCase) table(seed uint64, rows, values int64, hot float64) arrow.Table {
	b := array.NewRecordBuilder(memory.DefaultAllocator, localSchema)
	defer b.Release()
	share := func(row int64, purpose uint64) float64 {
		return float64(workload.Random(seed+purpose, uint64(row))>>11) * 0x1p-53
	}
	keys, numbers := b.Field(0).(*array.Int64Builder), b.Field(1).(*array.Int32Builder)
	texts := b.Field(2).(*array.StringBuilder)
	for row := range rows {
		key := int64(workload.Random(seed, uint64(row)) % uint64(values))
		switch {
		case share(row, 1) < c.nulls:
			keys.AppendNull()
		case share(row, 2) < hot:
			keys.Append(0)
		default:
			keys.Append(key)
		}
		numbers.Append(int32(row))
		if share(row, 3) < c.nulls {
			texts.AppendNull()
		} else {
			texts.Append(fmt.Sprint(key % 9999999))
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	return array.NewTableFromRecords(localSchema, []arrow.RecordBatch{batch})
}

// run forecasts the join, and runs it, with about rows rows on the left.
func (c *localCase) run(ctx context.Context, e *engine.Engine, size int, rows int64, seed uint64) (
	*localResult, error) {
	rightRows := max(1, rows/4)
	if c.small {
		rightRows = max(1, rows/16)
	}
	left := c.table(seed, rows, rightRows, c.hot)
	defer left.Release()
	right := c.table(seed+10, rightRows, rightRows, 0)
	defer right.Release()
	found := make([]localResult, size)
	result := &localResult{localCase: c}
	flow := exec.NewFlow(ctx)
	for rank, job := range cluster.Local(size, cluster.LocalOptions{}) {
		flow.Go(fmt.Sprintf("rank %d", rank), func(ctx context.Context) error {
			sides := [2]source.Source{}
			for side, of := range [2]arrow.Table{left, right} {
				table := shareOf(of, rank, size)
				defer table.Release()
				sides[side] = source.FromTable(table)
			}
			return found[rank].join(ctx, job, &ranks.Engine{Joins: e, Knobs: c.knobs}, sides, c.how)
		})
	}
	if err := flow.Wait(); err != nil {
		return nil, err
	}
	for i := range found {
		result.counts = append(result.counts, found[i].counts[0])
	}
	result.way, result.hotKeys = found[0].way, found[0].hotKeys
	result.forecast = found[0].forecast
	return result, nil
}

// join is run on one rank, whose counts it sets.
func (r *localResult) join(ctx context.Context, job cluster.Job, e *ranks.Engine, sides [2]source.Source,
	how join.How) error {
	spec := join.Spec{On: []string{"k"}, How: how}
	f, err := e.Forecast(ctx, job, sides[0], sides[1], spec)
	if err != nil {
		return err
	}
	joined, err := e.Join(ctx, job, sides[0], sides[1], spec)
	if err != nil {
		return err
	}
	defer joined.Close()
	for batch, err := range joined.Batches(ctx) {
		if err != nil {
			return err
		}
		batch.Release()
	}
	if _, err := joined.Finish(ctx); err != nil {
		return err
	}
	r.way, r.hotKeys, r.forecast = joined.Way, joined.HotKeys, f.Sent
	r.counts = [][]cluster.Traffic{job.Stats().To}
	return job.Close()
}

// shareOf returns the rows of a rank. The caller releases them.
func shareOf(t arrow.Table, rank, size int) arrow.Table {
	from, to := t.NumRows()*int64(rank)/int64(size), t.NumRows()*int64(rank+1)/int64(size)
	columns := make([]arrow.Column, t.NumCols())
	for i := range columns {
		columns[i] = *array.NewColumnSlice(t.Column(i), from, to)
		defer columns[i].Release()
	}
	return array.NewTable(t.Schema(), columns, to-from)
}

// check returns ErrWrong unless every rank has sent each other one what was forecast.
func (r *localResult) check() error {
	for from := range r.counts {
		for to, counted := range r.counts[from] {
			if forecast := r.forecast[from][to]; forecast != counted {
				return measure.Wrongf("%s: rank %d sends rank %d %d messages with %d bytes, forecast were %d with %d",
					r.name, from, to, counted.Messages, counted.Bytes, forecast.Messages, forecast.Bytes)
			}
		}
	}
	return nil
}

func total(all [][]cluster.Traffic) (sum cluster.Traffic) {
	for _, of := range all {
		t := cluster.Stats{To: of}.Total()
		sum.Messages, sum.Bytes = sum.Messages+t.Messages, sum.Bytes+t.Bytes
	}
	return sum
}

func newLocalTable() *measure.Table[*localResult] {
	type column = measure.Column[*localResult]
	traffic := func(head string, of func(r *localResult) [][]cluster.Traffic) []column {
		return []column{
			{Head: head, Align: text.Right,
				Cell: func(r *localResult) string { return fmt.Sprint(total(of(r)).Messages) }},
			{Head: "BYTES", Width: 10, Align: text.Right,
				Cell: func(r *localResult) string { return fmt.Sprint(total(of(r)).Bytes) }},
		}
	}
	columns := []column{
		column{Head: "CASE", Cell: func(r *localResult) string { return r.name }}.Fitting("uniform"),
		column{Head: "WAY", Cell: func(r *localResult) string { return wayName(r.way) }}.Fitting("to owners"),
		{Head: "HOT", Align: text.Right, Cell: func(r *localResult) string { return fmt.Sprint(r.hotKeys) }},
	}
	forecast := traffic("FORECAST: MESSAGES", func(r *localResult) [][]cluster.Traffic { return r.forecast })
	sent := traffic("SENT: MESSAGES", func(r *localResult) [][]cluster.Traffic { return r.counts })
	return measure.NewTable(slices.Concat(columns, forecast, sent)...)
}

func wayName(way ranks.Way) string {
	if way == ranks.Owners {
		return "to owners"
	}
	return "to all"
}

// add adds the result to a file.
func (r *localResult) add(file *measure.File, size int, rows int64) {
	add := func(kind string, of [][]cluster.Traffic) {
		t := total(of)
		file.Add([]string{"ranks", r.name, wayName(r.way), kind},
			[]uint64{uint64(size), uint64(rows), uint64(t.Bytes), uint64(t.Messages)}, nil)
	}
	add("forecast", r.forecast)
	add("sent", r.counts)
}
