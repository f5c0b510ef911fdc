package join_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

var onK = []string{"k"}

// rich is a table of several chunks with a key k, drawn from 0 to values-1 and here and there NULL, and payload of every
// sort: wide and narrow, with NULLs and without, strings, dictionaries, booleans.
func rich(t testing.TB, seed uint64, rows, values int, keyType arrow.DataType) arrow.Table {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: keyType, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int32},
		{Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "w", Type: arrow.PrimitiveTypes.Int64},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "d", Type: dictionary, Nullable: true},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}}, nil)
	random := rand.New(rand.NewPCG(seed, uint64(rows)))
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	var batches []arrow.RecordBatch
	flush := func() {
		batch := b.NewRecordBatch()
		batches = append(batches, batch)
		t.Cleanup(batch.Release)
	}
	maybe := func(field int, add func()) {
		if random.IntN(4) == 0 {
			b.Field(field).AppendNull()
		} else {
			add()
		}
	}
	for i := range rows {
		if v := int64(random.IntN(values)); random.IntN(8) == 0 {
			b.Field(0).AppendNull()
		} else if stamps, ok := b.Field(0).(*array.TimestampBuilder); ok {
			if keyType.(*arrow.TimestampType).Unit == arrow.Millisecond {
				v *= 1000
			}
			stamps.Append(arrow.Timestamp(v))
		} else {
			appendInt(b.Field(0), v)
		}
		b.Field(1).(*array.Int32Builder).Append(int32(i))
		maybe(2, func() { b.Field(2).(*array.Float64Builder).Append(float64(i) / 4) })
		b.Field(3).(*array.Int64Builder).Append(int64(i) << 33)
		maybe(4, func() { b.Field(4).(*array.StringBuilder).Append(strings.Repeat("x", i%5) + fmt.Sprint(i)) })
		maybe(5, func() {
			require.NoError(t, b.Field(5).(*array.BinaryDictionaryBuilder).AppendString(fmt.Sprint("d", i%7)))
		})
		maybe(6, func() { b.Field(6).(*array.BooleanBuilder).Append(i%3 == 0) })
		if random.IntN(200) == 0 {
			flush()
		}
	}
	flush()
	table := array.NewTableFromRecords(schema, batches)
	t.Cleanup(table.Release)
	return table
}

// onDevices runs a test with a function that checks joins against the oracle on each device, whose memory must all be
// free at the end.
func onDevices(t *testing.T, test func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64))) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, small.With(jointest.Tuning(t, device.Info())))
		require.NoError(t, err)
		test(t, func(left, right arrow.Table, spec join.Spec, part [2]uint64) {
			t.Helper()
			check(t, ops, left, right, spec, part)
		})
		noMemoryInUse(t, device)
	})
}

// withKeys gives a specification the key columns that its kind takes.
func withKeys(spec join.Spec) join.Spec {
	if spec.How != join.Cross {
		spec.On = onK
	}
	return spec
}

// TestKinds: every kind with all sorts of payload, on the device and on the host, whole and in granules and windows.
func TestKinds(t *testing.T) {
	tables := [2]arrow.Table{rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32),
		rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)}
	few := [2]arrow.Table{rich(t, 3, 40, 20, arrow.PrimitiveTypes.Int32), rich(t, 4, 90, 20, arrow.PrimitiveTypes.Int64)}
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, len(kinds), len(algorithms), 2, 3, len(parts), 3) {
			spec := join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]], Indicator: "from", BatchRows: 100 * c[2],
				Materialize: []join.Materialize{join.MaterializeAuto, join.MaterializeHost, join.MaterializeDevice}[c[3]],
				BuildSide:   join.BuildSide(c[5])}
			if !spec.How.Pairs() {
				spec.Indicator = ""
			}
			of := tables
			if spec.How == join.Cross {
				of = few
			}
			check(of[0], of[1], withKeys(spec), parts[c[4]])
		}
	})
}

// TestOrders: every kind in the order of either table, and deterministic, with more rows than a batch has, and none.
func TestOrders(t *testing.T) {
	left, right := rich(t, 1, 300, 60, arrow.PrimitiveTypes.Int32), rich(t, 2, 400, 70, arrow.PrimitiveTypes.Int64)
	far := rich(t, 3, 50, 10, arrow.PrimitiveTypes.Int32)
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, len(kinds), len(algorithms), 3, len(parts), 3) {
			spec := join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 170}
			spec.Order, spec.Deterministic = [...]join.Order{join.Unordered, join.LeftOrder, join.RightOrder}[c[2]], c[2] == 0
			if spec = withKeys(spec); spec.Check() != nil {
				continue // of a side that is not there
			}
			of := [2]arrow.Table{left, right}
			switch c[4] {
			case 1: // no key of the left table is on the right
				of[1] = empty(t, right)
			case 2:
				of = [2]arrow.Table{far, far}
			}
			if spec.How == join.Cross {
				of[0] = far
			}
			check(of[0], of[1], spec, parts[c[3]])
		}
	})
}

// empty is a table of the same columns without rows.
func empty(t testing.TB, like arrow.Table) arrow.Table {
	none := array.NewTableFromRecords(like.Schema(), nil)
	t.Cleanup(none.Release)
	return none
}

// TestZeroRows: tables without rows, on either side and on both. An anti join with an empty table keeps every row.
func TestZeroRows(t *testing.T) {
	some := rich(t, 1, 70, 30, arrow.PrimitiveTypes.Int32)
	none := empty(t, some)
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, len(kinds), len(algorithms), 3, 3, len(parts)) {
			of := [][2]arrow.Table{{some, none}, {none, some}, {none, none}}[c[2]]
			spec := withKeys(join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]]})
			switch c[3] {
			case 1:
				spec.Output = join.Count
			case 2:
				spec.Deterministic = true
			}
			check(of[0], of[1], spec, parts[c[4]])
		}
	})
}

// TestNoKeys: rows without a key alone, on either side and on both.
func TestNoKeys(t *testing.T) {
	some, nulls := keyed(t, "k", 90, primary), keyed(t, "k", 70, func(int) int64 { return -1 })
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, len(kinds)-1, len(algorithms), 3, 4, len(parts)) {
			of := [][2]arrow.Table{{some, nulls}, {nulls, some}, {nulls, nulls}}[c[2]]
			spec := withKeys(join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]]})
			switch c[3] {
			case 1:
				spec.Output = join.Count
			case 2:
				spec.Deterministic = true
			case 3:
				spec.Materialize = join.MaterializeHost
			}
			check(of[0], of[1], spec, parts[c[4]])
		}
	})
}

// TestKeyColumns: coalesced and separate keys of types that differ, alone and among some columns, with suffixes.
func TestKeyColumns(t *testing.T) {
	seconds, milliseconds := &arrow.TimestampType{Unit: arrow.Second}, &arrow.TimestampType{Unit: arrow.Millisecond}
	int32s, int64s := arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	pairs := [][2]arrow.DataType{{int32s, int64s}, {int64s, int32s}, {seconds, milliseconds}, {milliseconds, seconds}}
	var tables [][2]arrow.Table
	for _, of := range pairs {
		tables = append(tables, [2]arrow.Table{rich(t, 1, 150, 60, of[0]), rich(t, 2, 200, 70, of[1])})
	}
	shapes := []func(*join.Spec){
		func(*join.Spec) {},
		func(s *join.Spec) { s.Columns = []string{"k"} },
		func(s *join.Spec) { s.Columns = []string{"s_right", "k", "n"} },
		func(s *join.Spec) { s.Columns = []string{} },
		func(s *join.Spec) { s.Suffix, s.Columns = "_r", []string{"d_r", "n_r", "f"} },
		func(s *join.Spec) { s.SeparateKeys = true },
		func(s *join.Spec) { s.SeparateKeys, s.Columns = true, []string{"k_right", "k"} },
	}
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, len(pairs), 4, len(shapes), 3, 3) {
			spec := join.Spec{On: onK, How: []join.How{join.Inner, join.Left, join.Right, join.Full}[c[1]],
				Materialize: join.Materialize(c[3]), Order: join.Order(c[4])}
			shapes[c[2]](&spec)
			check(tables[c[0]][0], tables[c[0]][1], spec, [2]uint64{})
		}
	})
}

// TestColumnsOfOneSide: some columns of joins that return the rows of one table.
func TestColumnsOfOneSide(t *testing.T) {
	left, right := rich(t, 1, 150, 60, arrow.PrimitiveTypes.Int32), rich(t, 2, 200, 70, arrow.PrimitiveTypes.Int64)
	columns := [][]string{nil, {}, {"k"}, {"d", "k", "w"}, {"f"}}
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, 6, len(columns), 3, len(algorithms)) {
			spec := join.Spec{On: onK, How: kinds[4+c[0]], Columns: columns[c[1]], Materialize: join.Materialize(c[2]),
				Algorithm: algorithms[c[3]]}
			if spec.How == join.Mark && c[1]%2 == 1 {
				spec.Columns = append([]string{"known"}, spec.Columns...)
			}
			if spec.How == join.Mark {
				spec.MarkName = "known"
			}
			check(left, right, spec, [2]uint64{50, 2100})
		}
	})
}

// TestKeysShareAColumn: two right keys are compared with one left one, and one right key with two left ones.
func TestKeysShareAColumn(t *testing.T) {
	table := func(seed uint64, names ...string) arrow.Table {
		of := rich(t, seed, 120, 6, arrow.PrimitiveTypes.Int32)
		other := rich(t, seed+9, 120, 6, arrow.PrimitiveTypes.Int32)
		var columns []arrow.Column
		for i, name := range names {
			from := []arrow.Table{of, other}[i%2]
			column := arrow.NewColumn(arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int32, Nullable: true},
				from.Column(0).Data())
			t.Cleanup(column.Release)
			columns = append(columns, *column)
		}
		var fields []arrow.Field
		for _, c := range columns {
			fields = append(fields, c.Field())
		}
		joined := array.NewTable(arrow.NewSchema(fields, nil), columns, of.NumRows())
		t.Cleanup(joined.Release)
		return joined
	}
	left, right := table(1, "x", "y"), table(2, "u", "v")
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, 4, 2, 3, 2) {
			spec := join.Spec{LeftOn: []string{"x", "x"}, RightOn: []string{"u", "v"}, How: join.How(c[0]),
				Materialize: join.Materialize(c[2]), SeparateKeys: c[3] == 1}
			if c[1] == 1 {
				spec.LeftOn, spec.RightOn = []string{"x", "y"}, []string{"u", "u"}
			}
			check(left, right, spec, [2]uint64{})
		}
	})
}

// TestValidate: violations name the key and two rows that have it, on either side, with and without partners, in
// granules, and where rows are only counted; rows without a key do not count.
func TestValidate(t *testing.T) {
	repeated := func(first, second int) arrow.Table { // rows of one key, and NULLs
		return keyed(t, "k", 300, func(i int) int64 {
			switch {
			case i%3 == 2:
				return -1
			case i == second:
				return int64(first) * 10
			}
			return int64(i) * 10
		})
	}
	unique, far, near := repeated(0, 0), repeated(4, 297), repeated(100, 99)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, c := range devicetest.Combinations(t, 4, 3, 3, len(algorithms), 2, 2, 3) {
			validate := join.Validate(c[0])
			tables := [2]arrow.Table{[]arrow.Table{unique, far, near}[c[1]], []arrow.Table{unique, far, near}[c[2]]}
			spec := join.Spec{On: onK, Validate: validate, Algorithm: algorithms[c[3]],
				Output: []join.Output{join.Rows, join.Count}[c[4]], BuildSide: join.BuildSide(c[6])}
			engine := smallEngine(t, device)
			engine.GranuleRows = 70 * uint64(c[5])
			describe := fmt.Sprintf("%+v of %d and %d", spec, c[1], c[2])
			plan, err := engine.Plan(context.Background(), tables[0], tables[1], spec)
			require.NoError(t, err, describe)
			result, err := plan.Run(context.Background())
			wrong := validate.Unique(0) && c[1] > 0 || validate.Unique(1) && c[2] > 0
			if !wrong {
				require.NoError(t, err, describe)
				result.Close()
				continue
			}
			require.ErrorIs(t, err, backend.ErrInvalidInput, describe)
			texts := map[string]bool{}
			for side, name := range []string{"left", "right"} {
				if n := c[1+side]; n > 0 && validate.Unique([]relation.Side{relation.Left, relation.Right}[side]) {
					what := []string{"", "rows 4 and 297 both have k=40", "rows 99 and 100 both have k=1000"}[n]
					texts[fmt.Sprintf("keys of the %s table must be unique, but %s", name, what)] = true
				}
			}
			found := false
			for text := range texts {
				found = found || strings.Contains(err.Error(), text)
			}
			require.True(t, found, "%s: %v, not one of %v", describe, err, texts)
		}
		noMemoryInUse(t, device)
	})
}

// TestValidateKeysOfSeveralColumns names all columns of the key.
func TestValidateKeysOfSeveralColumns(t *testing.T) {
	devicetest.HostTest(t)
	table := keyed(t, "k", 100, func(i int) int64 { return int64(i % 50) })
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	engine := smallEngine(t, device)
	run := func(on ...string) error {
		plan, err := engine.Plan(context.Background(), table, table,
			join.Spec{On: on, Validate: join.OneToOne, Output: join.Count})
		require.NoError(t, err)
		result, err := plan.Run(context.Background())
		if err == nil {
			result.Close()
		}
		return err
	}
	require.NoError(t, run("k", "a"))
	require.ErrorContains(t, run("k", "k"), "rows 0 and 50 both have (k=0, k=0)")
	require.NoError(t, done())
}

// TestCross: the number of rows is guarded before anything is made, counting is not.
func TestCross(t *testing.T) {
	table := func(rows int) arrow.Table { return keyed(t, "k", rows, primary) }
	none, few, many := table(0), table(3), table(20_000)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		plan := func(left, right arrow.Table, spec join.Spec) (*join.Plan, error) {
			spec.How = join.Cross
			return engine.Plan(context.Background(), left, right, spec)
		}
		_, err := plan(many, many, join.Spec{})
		require.ErrorIs(t, err, backend.ErrLimit)
		require.ErrorContains(t, err, "20000 x 20000 rows make 400000000, the limit is 100000000; raise max_output_rows")
		_, err = plan(few, few, join.Spec{MaxOutputRows: 8})
		require.ErrorIs(t, err, backend.ErrLimit)
		for _, c := range []struct {
			left, right arrow.Table
			most, want  uint64
		}{{few, few, 9, 9}, {many, few, 0, 60_000}, {none, many, 1, 0}, {many, none, 1, 0}, {none, none, 0, 0}} {
			for _, algorithm := range []string{"auto", "phj-om", "smj-om", "smj-um"} {
				p, err := plan(c.left, c.right, join.Spec{MaxOutputRows: c.most, Algorithm: algorithm, BatchRows: 1 << 14})
				require.NoError(t, err)
				result, err := p.Run(context.Background())
				require.NoError(t, err, algorithm)
				rows := uint64(0)
				for batch, err := range result.Batches(context.Background()) {
					require.NoError(t, err)
					rows += uint64(batch.NumRows())
					batch.Release()
				}
				require.Equal(t, c.want, rows)
				result.Close()
			}
		}
		p, err := plan(many, many, join.Spec{Output: join.Count})
		require.NoError(t, err)
		result, err := p.Run(context.Background())
		require.NoError(t, err)
		require.EqualValues(t, 400_000_000, result.Rows())
		result.Close()
		noMemoryInUse(t, device)
	})
}

// TestMostOutputRows: every kind fails at one row too many, and not before; in granules before the next window is made.
// (A not-in join of these tables has no rows.)
func TestMostOutputRows(t *testing.T) {
	left, right := rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, c := range devicetest.Combinations(t, len(kinds)-2, len(algorithms), 2, 2, 2) {
			spec := join.Spec{On: onK, How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 64,
				Output: []join.Output{join.Rows, join.Count}[c[2]]}
			if c[3] == 1 {
				spec.Deterministic = true
			}
			engine := smallEngine(t, device)
			engine.GranuleRows = 100 * uint64(c[4])
			want := int64(len(oracle.Join(left, right, spec)))
			describe := fmt.Sprintf("%+v, granules of %d", spec, engine.GranuleRows)
			run := func(most int64) (rows int64, err error) {
				spec.MaxOutputRows = uint64(most)
				p, err := engine.Plan(context.Background(), left, right, spec)
				require.NoError(t, err, describe)
				result, err := p.Run(context.Background())
				if err != nil {
					return 0, err
				}
				defer result.Close()
				if spec.Output == join.Count {
					return int64(result.Rows()), nil
				}
				for batch, err := range result.Batches(context.Background()) {
					if err != nil {
						return rows, err
					}
					rows += batch.NumRows()
					batch.Release()
				}
				return rows, nil
			}
			rows, err := run(want)
			require.NoError(t, err, describe)
			require.Equal(t, want, rows, describe)
			rows, err = run(want - 1)
			require.ErrorIs(t, err, backend.ErrLimit, describe)
			require.ErrorContains(t, err, fmt.Sprintf("%d rows, max_output_rows allows %d", want, want-1), describe)
			require.Less(t, rows, want, describe)
			noMemoryInUse(t, device)
		}
	})
}

// TestHugeText: text of more bytes than one array can hold comes in several batches.
func TestHugeText(t *testing.T) {
	devicetest.HostTest(t)
	builder := array.NewStringBuilder(memory.DefaultAllocator)
	defer builder.Release()
	builder.Append(strings.Repeat("0123456789abcdef", 1<<26/16))
	text := builder.NewArray()
	defer text.Release()
	keys := array.NewInt32Builder(memory.DefaultAllocator)
	defer keys.Release()
	keys.Append(3)
	key := keys.NewArray()
	defer key.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32},
		{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{key, text}, 1)
	defer batch.Release()
	left := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	defer left.Release()
	right := keyed(t, "k", 40, func(int) int64 { return 3 }) // 40 texts of 64 MiB are more than 2 GiB
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	engine := smallEngine(t, device)
	p, err := engine.Plan(context.Background(), left, right, join.Spec{On: onK, Columns: []string{"a", "text"}})
	require.NoError(t, err)
	result, err := p.Run(context.Background())
	require.NoError(t, err)
	batches, seen := 0, make(map[int32]bool)
	for batch, err := range result.Batches(context.Background()) {
		require.NoError(t, err)
		for i, a := range batch.Column(0).(*array.Int32).Int32Values() {
			require.Len(t, batch.Column(1).(*array.String).Value(i), 1<<26)
			seen[a] = true
		}
		batches++
		batch.Release()
	}
	require.Equal(t, 2, batches)
	require.Len(t, seen, 40)
	result.Close()
	require.NoError(t, done())
}

// TestSharedSources joins one table with itself, and from several goroutines with others: a source is only read.
func TestSharedSources(t *testing.T) {
	table := rich(t, 1, 200, 90, arrow.PrimitiveTypes.Int32)
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, how := range kinds[:len(kinds)-1] {
			check(table, table, join.Spec{On: onK, How: how}, [2]uint64{})
		}
	})
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		want := len(oracle.Join(table, table, join.Spec{On: onK}))
		var joins sync.WaitGroup
		rows, errs := make([]int64, 6), make([]error, 6)
		for i := range rows {
			joins.Go(func() {
				spec := join.Spec{On: onK, Algorithm: algorithms[i]}
				rows[i], errs[i] = drain(context.Background(), engine, table, table, spec)
			})
		}
		joins.Wait()
		for i := range rows {
			require.NoError(t, errs[i])
			require.EqualValues(t, want, rows[i])
		}
	})
}
