package engine_test

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation/take"
)

// TestNullsEqual: every kind where NULL is a value, by every algorithm, whole and in granules, with keys coalesced and
// not; the tables have NULL keys on both sides, on one, and nothing else.
func TestNullsEqual(t *testing.T) {
	devicetest.ShortOnHost(t)
	int32s, int64s := arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	left, right := rich(t, 1, 200, 80, int32s), rich(t, 2, 300, 90, int64s)
	full := keyed(t, "k", 150, func(i int) int64 { return int64(i / 2) })
	nulls := keyed(t, "k", 30, func(int) int64 { return -1 })
	pairs := [][2]arrow.Table{{left, right}, {left, full}, {full, right}, {nulls, right}, {left, nulls}, {nulls, nulls},
		{empty(t, left), right}, {left, empty(t, right)}}
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, len(kinds)-2, len(algorithms), len(pairs), 3, 3, 3, len(parts)) {
			spec := join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]], On: onK, NullsEqual: onK,
				BuildSide: join.BuildSide(c[3]), Materialize: join.Materialize(c[4])}
			if spec.How.Pairs() && c[5] == 1 {
				spec.SeparateKeys, spec.Indicator = true, "from"
			}
			spec.Deterministic = c[5] == 2
			check(pairs[c[2]][0], pairs[c[2]][1], spec, parts[c[6]])
		}
	})
}

// TestNullsOfHashedKeys: texts with NULLs, alone and beside a number, by every kind and algorithm; the right table has
// NULLs, none, or no rows.
func TestNullsOfHashedKeys(t *testing.T) {
	devicetest.ShortOnHost(t)
	left, right := rich(t, 1, 150, 8, arrow.PrimitiveTypes.Int32), rich(t, 2, 200, 9, arrow.PrimitiveTypes.Int64)
	full := rich(t, 3, 90, 8, arrow.PrimitiveTypes.Int64)
	whole := withoutNulls(t, full, "s") // rows that have a text
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, len(kinds)-1, len(algorithms), 4, 3, 3) {
			spec := join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]], BuildSide: join.BuildSide(c[3]),
				On: [][]string{{"s"}, {"s"}, {"s", "k"}, {"k", "s"}}[c[2]]}
			if c[2] > 0 && spec.How != join.NotIn {
				spec.NullsEqual = []string{"s"}
			}
			if spec.Check() != nil {
				continue // NOT IN of several keys
			}
			of := []arrow.Table{right, whole, empty(t, right)}[c[4]]
			check(left, of, spec, [2]uint64{})
		}
	})
}

// withoutNulls has the rows of a table in which a column is not NULL.
func withoutNulls(t *testing.T, table arrow.Table, name string) arrow.Table {
	var ids []uint32
	column := table.Column(table.Schema().FieldIndices(name)[0]).Data()
	row := uint32(0)
	for _, chunk := range column.Chunks() {
		for i := range chunk.Len() {
			if chunk.IsValid(i) {
				ids = append(ids, row)
			}
			row++
		}
	}
	var columns []arrow.Column
	for i := range int(table.NumCols()) {
		taken, err := take.Rows(t.Context(), table.Column(i).Data(), ids, memory.DefaultAllocator)
		require.NoError(t, err)
		chunked := arrow.NewChunked(taken.DataType(), []arrow.Array{taken})
		taken.Release()
		columns = append(columns, *arrow.NewColumn(table.Schema().Field(i), chunked))
	}
	some := array.NewTable(table.Schema(), columns, int64(len(ids)))
	t.Cleanup(some.Release)
	return some
}

// TestNullsEqualInOneKeyOfSeveral: a row whose other key is NULL has no partner.
func TestNullsEqualInOneKeyOfSeveral(t *testing.T) {
	tables := [2]arrow.Table{twoKeys(t, 1, 250), twoKeys(t, 2, 300)}
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, len(kinds)-2, len(algorithms), 3, 2) {
			spec := join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]], On: []string{"k", "d"},
				NullsEqual: [][]string{{"k"}, {"d"}, {"k", "d"}}[c[2]], Output: []join.Output{join.Rows, join.Count}[c[3]]}
			check(tables[0], tables[1], spec, [2]uint64{})
		}
	})
}

// twoKeys is a table with keys k and d of few values, each NULL here and there.
func twoKeys(t *testing.T, seed, rows int) arrow.Table {
	return keyed(t, "k", rows, func(i int) int64 { return int64(i*seed*7%13) - 1 })
}

// TestNullsEqualValidate: NULL that is a value must be unique too.
func TestNullsEqualValidate(t *testing.T) {
	devicetest.HostTest(t)
	table := keyed(t, "k", 100, func(i int) int64 { return int64(i) - 2 }) // two NULLs
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	engine := smallEngine(t, device)
	for _, equal := range [][]string{nil, onK} {
		spec := join.Spec{On: onK, Validate: join.OneToOne, Output: join.Count, NullsEqual: equal}
		plan, err := engine.Plan(context.Background(), table, table, spec)
		require.NoError(t, err)
		result, err := plan.Run(context.Background())
		if equal == nil {
			require.NoError(t, err)
			require.EqualValues(t, 98, result.Rows())
			result.Close()
			continue
		}
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, "rows 0 and 1 both have k=NULL")
		require.Contains(t, plan.String(), "0..97 and NULL, 7 bits")
	}
	require.NoError(t, done())
}

// TestValidateWhatCannotMatch: values that the other side cannot have must be unique too, in a join of two tables and
// where one of them is a build side.
func TestValidateWhatCannotMatch(t *testing.T) {
	devicetest.HostTest(t)
	whole := keyed(t, "k", 100, primary)
	halves := func(repeated float64) arrow.Table { // 0, 0.5, 1 and so on, and one of them twice
		return array.NewTable(arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Float64}}, nil),
			[]arrow.Column{floats(t, "k", 60, func(i int) float64 {
				if i == 50 {
					return repeated
				}
				return float64(i) / 2
			})}, 60)
	}
	unique, twice := halves(25), halves(3.5)
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	engine, ctx := smallEngine(t, device), context.Background()
	for _, side := range []join.BuildSide{join.BuildLeft, join.BuildRight} {
		for table, want := range map[arrow.Table]string{unique: "",
			twice: "keys of the right table must be unique, but rows 7 and 50 both have k=3.5"} {
			spec := join.Spec{On: onK, Validate: join.ManyToOne, BuildSide: side, Output: join.Count}
			plan, err := engine.Plan(ctx, whole, table, spec)
			require.NoError(t, err)
			result, err := plan.Run(ctx)
			if err == nil {
				result.Close()
			}
			build, probe := whole, table
			if side == join.BuildRight {
				build, probe = probe, build
			}
			built, builtErr := engine.Build(ctx, build, probe.Schema(), 0, spec)
			if builtErr == nil {
				if result, builtErr = built.Join(ctx, probe); builtErr == nil {
					result.Close()
				}
			}
			for _, err := range []error{err, builtErr} {
				if want == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, want)
				}
			}
			built.Close()
		}
	}
	require.NoError(t, done())
}

func floats(t *testing.T, name string, rows int, value func(i int) float64) arrow.Column {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range rows {
		b.Append(value(i))
	}
	values := b.NewArray()
	t.Cleanup(values.Release)
	field := arrow.Field{Name: name, Type: values.DataType()}
	return *arrow.NewColumn(field, arrow.NewChunked(values.DataType(), []arrow.Array{values}))
}

// TestNotIn: what is left out of NOT IN, by every algorithm, where a side has NULL keys, values that the other type
// cannot hold, or no rows.
func TestNotIn(t *testing.T) {
	left := rich(t, 1, 200, 80, arrow.PrimitiveTypes.Int32)
	full := keyed(t, "k", 150, func(i int) int64 { return int64(i/2) << (i % 40) }) // beyond int32 too
	nulls := keyed(t, "k", 30, mostlyNull(2, primary))
	seconds := rich(t, 3, 100, 50, &arrow.TimestampType{Unit: arrow.Second})
	halves := rich(t, 4, 100, 50, &arrow.TimestampType{Unit: arrow.Millisecond})
	pairs := [][2]arrow.Table{{left, full}, {left, nulls}, {full, left}, {nulls, full}, {left, empty(t, left)},
		{nulls, empty(t, full)}, {empty(t, left), nulls}, {seconds, halves}, {halves, empty(t, seconds)}}
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, len(algorithms), len(pairs), 3, 2, 2, len(parts)) {
			spec := join.Spec{How: join.NotIn, Algorithm: algorithms[c[0]], On: onK, BuildSide: join.BuildSide(c[2]),
				Output: []join.Output{join.Rows, join.Count}[c[3]], Deterministic: c[4] == 1}
			check(pairs[c[1]][0], pairs[c[1]][1], spec, parts[c[5]])
		}
	})
}

// TestNotInExplains: the plan says why there are no rows; keys are proved to be unique all the same.
func TestNotInExplains(t *testing.T) {
	devicetest.HostTest(t)
	left := keyed(t, "k", 50, func(i int) int64 { return int64(i / 2) })
	right := keyed(t, "k", 40, func(i int) int64 { return int64(i) - 1 })
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	engine := smallEngine(t, device)
	spec := join.Spec{How: join.NotIn, On: onK}
	plan, err := engine.Plan(context.Background(), left, right, spec)
	require.NoError(t, err)
	require.Contains(t, plan.String(), "no rows      the key is NULL in 1 row of the right table")
	require.Contains(t, plan.String(), "about 0 rows of output")
	spec.Validate = join.OneToMany
	plan, err = engine.Plan(context.Background(), left, right, spec)
	require.NoError(t, err)
	_, err = plan.Run(context.Background())
	require.ErrorContains(t, err, "keys of the left table must be unique, but rows 0 and 1 both have k=0")
	require.NoError(t, done())
}
