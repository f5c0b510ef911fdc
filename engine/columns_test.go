package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
)

// TestKeyColumns: coalesced and separate keys of types that differ, alone and among some columns, with suffixes.
func TestKeyColumns(t *testing.T) {
	devicetest.ShortOnHost(t)
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

// TestKeyBeyondCommonType: a key that the type of both key columns does not hold is named, with what to do.
func TestKeyBeyondCommonType(t *testing.T) {
	table := func(unit arrow.TimeUnit, values ...int64) arrow.Table {
		of := &arrow.TimestampType{Unit: unit}
		b := array.NewInt64Builder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(values, nil)
		numbers := b.NewArray()
		times := array.MakeFromData(array.NewData(of, len(values), numbers.Data().Buffers(), nil, 0, 0))
		schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: of}}, nil)
		return array.NewTableFromSlice(schema, [][]arrow.Array{{times, times}})
	}
	late := int64(1 << 40) // beyond what 64 bits count in nanoseconds
	left, right := table(arrow.Second, 1, 2, late), table(arrow.Nanosecond, 2e9, 5)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		for _, place := range []join.Materialize{join.MaterializeHost, join.MaterializeDevice} {
			for _, order := range []join.Order{join.Unordered, join.LeftOrder} {
				plan, err := engine.Plan(t.Context(), left, right,
					join.Spec{On: onK, How: join.Full, Materialize: place, Order: order})
				require.NoError(t, err)
				result, err := plan.Run(t.Context())
				if err == nil {
					for batch, drawErr := range result.Batches(t.Context()) {
						if err = drawErr; err == nil {
							batch.Release()
						}
					}
					result.Close()
				}
				require.ErrorIs(t, err, backend.ErrUnsupported)
				require.ErrorContains(t, err, `column "k" has type timestamp[ns], and `)
				require.ErrorContains(t, err, "of type timestamp[s], which does not fit; set separate_keys")
				if place == join.MaterializeHost {
					require.Regexp(t, "row [25] of the left table has 1099511627776 ", err.Error())
				}
			}
		}
		noMemoryInUse(t, device)
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
	devicetest.ShortOnHost(t)
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

// TestHugeText: text of more bytes than one array can hold comes in several batches.
func TestHugeText(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipShort(t)
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
