package recorded_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/recorded"
	"github.com/spirjoin/spirjoin/join"
)

// tableCase records a join of Arrow tables, from the plan to the last batch, on a device that runs the reference
// kernels.
type tableCase struct {
	name     string // folder of the device, and file
	nulls    bool   // in keys and payload
	texts    bool   // keys are texts
	capBytes uint64 // limit of device memory; 0: most of it
	spec     join.Spec
}

var tableCases = []tableCase{
	{"h200/table_count", false, false, 0, join.Spec{Output: join.Count}},
	{"h200/table_count_smj", false, false, 0, join.Spec{Output: join.Count, Algorithm: "smj-um"}},
	{"h200/table_few_columns", false, false, 0, join.Spec{Columns: []string{"a", "b_right"}}},
	{"h200/table_host_columns", false, false, 0, join.Spec{Materialize: join.MaterializeHost, Algorithm: "phj-um"}},
	{"h200/table_batches", false, false, 0,
		join.Spec{Materialize: join.MaterializeDevice, Algorithm: "phj-om", BatchRows: 1 << 15}},
	{"h200/table_nulls", true, false, 0, join.Spec{Materialize: join.MaterializeDevice, BatchRows: 1 << 16}},
	{"h200/table_full", true, false, 0, join.Spec{How: join.Full, Materialize: join.MaterializeDevice}},
	{"h200/table_semi", true, false, 0, join.Spec{How: join.Semi}},
	{"h200/table_right_anti", true, false, 0, join.Spec{How: join.RightAnti, Algorithm: "smj-om"}},
	{"h200/table_mark", true, false, 0, join.Spec{How: join.Mark, Order: join.LeftOrder}},
	{"h200/table_ordered", false, false, 0, join.Spec{Order: join.RightOrder, Columns: []string{"k", "a"}}},
	{"h200/table_unpartitioned", false, false, 0, join.Spec{Algorithm: "hj", Columns: []string{"k", "c", "c_right"}}},
	{"h200/table_smj_om", false, false, 0, join.Spec{Materialize: join.MaterializeDevice, Algorithm: "smj-om"}},
	{"h200/table_streamed", true, false, 13 << 20,
		join.Spec{Materialize: join.MaterializeDevice, Algorithm: "smj-um", BatchRows: 1 << 15}},
	{"h200/table_cap", false, false, 17 << 18, join.Spec{}},
	{"h200/table_validate", false, false, 0, join.Spec{Validate: join.OneToMany, Output: join.Count}},
	{"h200/table_pairs", true, false, 0, join.Spec{Output: join.Pairs, BatchRows: 1 << 16}},
	{"h200/table_texts", true, true, 0, join.Spec{How: join.Full, Columns: []string{"a", "a_right"}}},
	{"plain/table", true, false, 0, join.Spec{BatchRows: 1 << 16}},
}

func TestTables(t *testing.T) {
	for _, c := range tableCases {
		t.Run(c.name, func(t *testing.T) {
			text := recordTables(t, c, 2)
			require.Equal(t, text, recordTables(t, c, 3), "a second time, on another number of cores")
			requireGolden(t, c.name, text)
		})
	}
}

const leftRows, rightRows = 1 << 16, 1 << 17

// tables are the two tables of a case.
func (c *tableCase) tables(t *testing.T, allocator memory.Allocator) (left, right arrow.Table) {
	return c.tablesOf(t, allocator, [2]int{leftRows, rightRows})
}

// tablesOf returns two tables with the numbers of rows.
func (c *tableCase) tablesOf(t *testing.T, allocator memory.Allocator, rows [2]int) (left, right arrow.Table) {
	random, leftRows, rightRows := rand.New(rand.NewPCG(3, 4)), rows[0], rows[1]
	numbers := random.Perm(leftRows)
	left = table(t, allocator, leftRows, c, func(row int) int64 { return int64(numbers[row]) * 3 })
	right = table(t, allocator, rightRows, c, func(int) int64 { return int64(random.IntN(leftRows)) * 3 })
	return left, right
}

func recordTables(t *testing.T, c tableCase, workers int) string {
	left, right := c.tables(t, memory.DefaultAllocator)
	device := recorded.Open(t, infoOf(c.name), backend.DeviceOptions{DeviceMemoryBytes: c.capBytes}, workers)
	engine := engine.NewEngine(opsOf(t, device, nil), memory.DefaultAllocator, 0)
	recorder, stop := recorded.Record(device)
	defer stop()
	spec := c.spec
	spec.On = []string{"k"}
	recorder.Notef("# %s, %d x %d rows, nulls %t, output %s, columns %v, materialize %s, batch rows %d, device memory %d",
		spec.How, leftRows, rightRows, c.nulls, spec.Output, spec.Columns, spec.Materialize, spec.BatchRows, c.capBytes)
	rows := c.join(t, engine, recorder, left, right, spec)
	if !c.nulls {
		require.EqualValues(t, rightRows, rows)
	}
	recorder.Notef("# %d rows", rows)
	return recorder.String()
}

// join draws the output of a join and returns the number of its rows.
func (c *tableCase) join(t *testing.T, engine *engine.Engine, recorder *recorded.Recorder, left, right arrow.Table,
	spec join.Spec) (rows uint64) {
	p, err := engine.Plan(background, left, right, spec)
	require.NoError(t, err)
	taken := &p.Alternatives[0]
	recorder.Notef("# by %s, granules of %d rows, windows of %d", taken.Algorithm.Name(), taken.Facts.Granule,
		taken.Facts.Window)
	result, err := p.Run(background)
	require.NoError(t, err)
	defer result.Close()
	switch spec.Output {
	case join.Rows:
		for batch, err := range result.Batches(background) {
			require.NoError(t, err)
			rows += uint64(batch.NumRows())
			batch.Release()
		}
	case join.Pairs:
		for pairs, err := range result.Pairs(background) {
			require.NoError(t, err)
			rows += uint64(len(pairs.Left))
		}
	default:
		rows = result.Rows()
	}
	require.Equal(t, result.Rows(), rows)
	return rows
}

// table returns a table with a key and payload of several widths, of which one column stays on the host.
func table(t *testing.T, allocator memory.Allocator, rows int, c *tableCase, key func(row int) int64) arrow.Table {
	keyType, nulls := arrow.DataType(arrow.PrimitiveTypes.Int64), c.nulls
	if c.texts {
		keyType = arrow.BinaryTypes.String
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: keyType, Nullable: nulls}, {Name: "a", Type: arrow.PrimitiveTypes.Int32},
		{Name: "b", Type: arrow.PrimitiveTypes.Float64, Nullable: nulls}, {Name: "c", Type: arrow.PrimitiveTypes.Int8},
	}, nil)
	b := array.NewRecordBuilder(allocator, schema)
	defer b.Release()
	for row := range rows {
		if k := key(row); nulls && row%10 == 0 {
			b.Field(0).AppendNull()
		} else if c.texts {
			b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("%016x", k))
		} else {
			b.Field(0).(*array.Int64Builder).Append(k)
		}
		b.Field(1).(*array.Int32Builder).Append(int32(row))
		if nulls && row%7 == 0 {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.Float64Builder).Append(float64(row))
		}
		b.Field(3).(*array.Int8Builder).Append(int8(row))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	t.Cleanup(table.Release)
	return table
}
