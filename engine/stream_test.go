package engine_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/source"
)

// sourceOf yields a table in batches of rows rows, 0: whole chunks, and an empty batch before every other one. Its
// length is unknown.
func sourceOf(table arrow.Table, rows int64) source.Source {
	return source.Source{Schema: table.Schema(), Rows: -1,
		Batches: func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
			return func(yield func(arrow.RecordBatch, error) bool) {
				reader := array.NewTableReader(table, rows)
				defer reader.Release()
				for i := 0; reader.Next(); i++ {
					batch := reader.RecordBatch()
					if i%2 == 1 && !yield(batch.NewSlice(0, 0), nil) {
						return
					}
					batch.Retain()
					if !yield(batch, nil) {
						return
					}
				}
			}
		}}
}

// drawAll draws all rows of a result, or counts them.
func drawAll(t *testing.T, result *engine.Result, output join.Output) (batches []arrow.RecordBatch) {
	if output == join.Count {
		return nil
	}
	for batch, err := range result.Batches(context.Background()) {
		require.NoError(t, err)
		batches = append(batches, batch)
	}
	return batches
}

// checkStream joins a table with a source and compares with the oracle.
func checkStream(t *testing.T, engine *engine.Engine, tables [2]arrow.Table, sources [2]source.Source, spec join.Spec) (
	stats query.Stats) {
	for _, e := range engine.Engines() {
		e.Keys = keyPlace(&spec, tables[0], tables[1])
	}
	layout, err := join.NewLayout(tables[0].Schema(), tables[1].Schema(), spec)
	require.NoError(t, err)
	result, err := engine.Stream(context.Background(), sources[0], sources[1], spec)
	if spec.How == join.NotIn && spec.BuildSide == join.BuildLeft {
		require.ErrorIs(t, err, backend.ErrUnsupported)
		return stats
	}
	require.NoError(t, err, "%+v", spec)
	defer result.Close()
	batches := drawAll(t, result, spec.Output)
	defer func() {
		for _, batch := range batches {
			batch.Release()
		}
	}()
	rows := oracle.Join(tables[0], tables[1], layout.Spec)
	require.EqualValues(t, len(rows), result.Rows(), "%+v", spec)
	if spec.Output != join.Count {
		oracle.Require(t, tables[0], tables[1], layout, batches)
	}
	stats = result.Stats()
	require.EqualValues(t, tables[0].NumRows(), stats.LeftRows)
	require.EqualValues(t, tables[1].NumRows(), stats.RightRows)
	return stats
}

// TestStream: every kind by every algorithm, of batches of any size with all sorts of payload, in granules and windows,
// from either side.
func TestStream(t *testing.T) {
	devicetest.ShortOnHost(t)
	tables := [2]arrow.Table{rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32),
		rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)}
	few := [2]arrow.Table{rich(t, 3, 40, 20, arrow.PrimitiveTypes.Int32), rich(t, 4, 90, 20, arrow.PrimitiveTypes.Int64)}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, small.With(jointest.Tuning(t, device.Info())))
		require.NoError(t, err)
		for _, c := range devicetest.Combinations(t, len(kinds), len(algorithms), 4, 3, len(parts), 3, 3) {
			spec := withKeys(join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 100,
				Materialize: []join.Materialize{join.MaterializeAuto, join.MaterializeHost, join.MaterializeDevice}[c[3]],
				BuildSide:   join.BuildSide(c[5]), Output: []join.Output{join.Rows, join.Count, join.Rows}[c[6]]})
			of := tables
			if spec.How == join.Cross {
				of = few
			}
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			engine := engine.NewEngine(ops, allocator, 0)
			engine.GranuleRows, engine.WindowRows = parts[c[4]][0], parts[c[4]][1]
			rows := []int64{1, 7, 1000, 0}[c[2]]
			checkStream(t, engine, of, [2]source.Source{sourceOf(of[0], rows), sourceOf(of[1], rows)}, spec)
			if c[6] == 2 { // a table, of which the length is known, is built of
				checkStream(t, engine, of, [2]source.Source{sourceOf(of[0], rows), source.FromTable(of[1])}, spec)
			}
			allocator.AssertSize(t, 0)
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamOfNothing: either side may have no rows, or no batches, or no key that could match.
func TestStreamOfNothing(t *testing.T) {
	some := rich(t, 1, 60, 20, arrow.PrimitiveTypes.Int32)
	none := empty(t, some)
	nulls := func() arrow.Table {
		b := array.NewRecordBuilder(memory.DefaultAllocator, some.Schema())
		defer b.Release()
		for i, field := range some.Schema().Fields() {
			for range 50 {
				if field.Nullable {
					b.Field(i).AppendNull()
				} else {
					b.Field(i).AppendEmptyValue()
				}
			}
		}
		batch := b.NewRecordBatch()
		defer batch.Release()
		table := array.NewTableFromRecords(some.Schema(), []arrow.RecordBatch{batch})
		t.Cleanup(table.Release)
		return table
	}()
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		for _, c := range devicetest.Combinations(t, len(kinds), len(algorithms), 3, 3, 2, 2) {
			of := [2]arrow.Table{[]arrow.Table{some, none, nulls}[c[2]], []arrow.Table{some, none, nulls}[c[3]]}
			spec := withKeys(join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]],
				BuildSide: join.BuildSide(1 + c[4]), Output: join.Output(c[5])})
			engine.GranuleRows = uint64(16 * c[5])
			checkStream(t, engine, of, [2]source.Source{sourceOf(of[0], 9), sourceOf(of[1], 9)}, spec)
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamOrders: rows come in the order of the probe side; rows of one side also come in the order of the build
// side. Require compares their order.
func TestStreamOrders(t *testing.T) {
	devicetest.SkipRace(t)
	tables := [2]arrow.Table{rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32),
		rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		for _, c := range devicetest.Combinations(t, len(kinds)-1, len(algorithms), 2, 3, 3, 2) {
			spec := join.Spec{On: onK, How: kinds[c[0]], Algorithm: algorithms[c[1]], Order: join.Order(1 + c[2]),
				BuildSide: join.BuildSide(c[3]), BatchRows: 70}
			if spec.Check() != nil {
				continue
			}
			rows := []int64{1, 30, 0}[c[4]]
			sources := [2]source.Source{sourceOf(tables[0], rows), sourceOf(tables[1], rows)}
			engine.GranuleRows = uint64(64 * c[5])
			if spec.How.Pairs() && int(spec.BuildSide) == 1+c[2] {
				_, err := engine.Stream(context.Background(), sources[0], sources[1], spec)
				require.ErrorIs(t, err, backend.ErrUnsupported)
				require.ErrorContains(t, err, "rows come in the order of the")
				continue
			}
			checkStream(t, engine, tables, sources, spec)
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamBuildSide: a table is collected, or the side known to have fewer rows, unless only the other one can be.
func TestStreamBuildSide(t *testing.T) {
	devicetest.HostTest(t)
	tables := [2]arrow.Table{keyed(t, "k", 300, primary), keyed(t, "k", 200, primary)}
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{})
	engine := smallEngine(t, device)
	table := func(side int) source.Source { return source.FromTable(tables[side]) }
	reader := func(side int) source.Source { return sourceOf(tables[side], 50) }
	lengths := [4][2]source.Source{{table(0), reader(1)}, {reader(0), table(1)}, {reader(0), reader(1)}, {table(0), table(1)}}
	for _, c := range []struct {
		spec join.Spec
		want string // the build side, by lengths; E: either
	}{
		{join.Spec{}, "LRER"},
		{join.Spec{How: join.Semi, Order: join.LeftOrder}, "LRER"},
		{join.Spec{How: join.Full, Order: join.RightOrder, Output: join.Count}, "LRER"},
		{join.Spec{Order: join.LeftOrder, Output: join.Count}, "LRER"},
		{join.Spec{Order: join.LeftOrder}, "RRRR"},
		{join.Spec{Order: join.RightOrder}, "LLLL"},
		{join.Spec{Validate: join.OneToMany}, "LLLL"},
		{join.Spec{Validate: join.ManyToOne, Output: join.Count}, "RRRR"},
		{join.Spec{How: join.NotIn}, "RRRR"},
		{join.Spec{BuildSide: join.BuildLeft}, "LLLL"},
		{join.Spec{BuildSide: join.BuildRight}, "RRRR"},
	} {
		c.spec.On = onK
		for i, sources := range lengths {
			result, err := engine.Stream(context.Background(), sources[0], sources[1], c.spec)
			require.NoError(t, err, "%+v", c.spec)
			want := map[byte]string{'L': "left", 'R': "right", 'E': "(left|right)"}[c.want[i]]
			require.Regexp(t, `\n *build +`+want, result.Explain(), "%+v, lengths %d", c.spec, i)
			result.Close()
		}
	}
	for _, spec := range []join.Spec{{Validate: join.OneToOne}, {Validate: join.OneToMany, Order: join.LeftOrder}} {
		spec.On = onK
		_, err := engine.Stream(context.Background(), lengths[0][0], lengths[0][1], spec)
		require.ErrorIs(t, err, backend.ErrUnsupported)
	}
	require.NoError(t, done())
}

// TestStreamOfBuilt: a build side that stays is joined with sources and with tables by turns.
func TestStreamOfBuilt(t *testing.T) {
	devicetest.ShortOnHost(t)
	lefts := []arrow.Table{rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), named(t, 1, 150, 60, arrow.BinaryTypes.String)}
	text := arrow.BinaryTypes.StringView
	rightsOf := [][]arrow.Table{
		{rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64), rich(t, 3, 40, 150, arrow.PrimitiveTypes.Int64)},
		{named(t, 2, 190, 70, text), named(t, 3, 40, 70, text)}}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, c := range devicetest.Combinations(t, len(kinds)-1, len(algorithms), 2, len(lefts)) {
			e, left, rights := smallEngine(t, device), lefts[c[3]], rightsOf[c[3]]
			e.HashBits = new(4)
			spec := join.Spec{On: [][]string{onK, {"k0"}}[c[3]], How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 100}
			layout, err := join.NewLayout(left.Schema(), rights[0].Schema(), spec)
			require.NoError(t, err)
			built, err := e.Build(context.Background(), left, rights[0].Schema(), []uint64{64, 0}[c[2]], spec)
			require.NoError(t, err)
			if spec.How == join.NotIn {
				_, err := built.JoinStream(context.Background(), sourceOf(rights[0], 33))
				require.ErrorIs(t, err, backend.ErrUnsupported)
				built.Close()
				continue
			}
			for i := range 4 {
				right := rights[i%2]
				probe := func() (*engine.Result, error) { return built.JoinStream(context.Background(), sourceOf(right, 33)) }
				if i == 3 {
					probe = func() (*engine.Result, error) { return built.Join(context.Background(), right) }
				}
				result, err := probe()
				require.NoError(t, err)
				if i == 0 {
					_, err = probe()
					require.ErrorContains(t, err, "close the result before")
				}
				if i == 1 { // undrawn
					result.Close()
					continue
				}
				batches := drawAll(t, result, join.Rows)
				oracle.Require(t, left, right, layout, batches)
				for _, batch := range batches {
					batch.Release()
				}
				result.Close()
			}
			built.Close()
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamPairs: row numbers go on from part to part, in 64 bits.
func TestStreamPairs(t *testing.T) {
	tables := [2]arrow.Table{rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32),
		rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		engine.GranuleRows = 64
		for _, c := range devicetest.Combinations(t, len(algorithms), 2, 2) {
			spec := join.Spec{On: onK, Algorithm: algorithms[c[0]], Output: join.Pairs, BuildSide: join.BuildSide(1 + c[1])}
			if c[2] == 1 {
				spec.Order = []join.Order{join.RightOrder, join.LeftOrder}[c[1]]
			}
			result, err := engine.Stream(context.Background(), sourceOf(tables[0], 30), sourceOf(tables[1], 30), spec)
			require.NoError(t, err)
			got, firsts := [][2]uint32{}, make(map[uint64]bool)
			for p, err := range result.Pairs(context.Background()) {
				require.NoError(t, err)
				firsts[p.LeftFirst+p.RightFirst] = true
				require.Zero(t, []uint64{p.LeftFirst, p.RightFirst}[c[1]], "the build side is one table")
				for i := range p.Left {
					got = append(got, [2]uint32{uint32(p.LeftFirst) + p.Left[i], uint32(p.RightFirst) + p.Right[i]})
				}
			}
			result.Close()
			require.Greater(t, len(firsts), 2)
			if c[2] == 1 {
				require.True(t, slices.IsSortedFunc(got, func(a, b [2]uint32) int {
					return slices.Compare([]uint32{a[1-c[1]], a[c[1]]}, []uint32{b[1-c[1]], b[c[1]]})
				}))
			}
			slices.SortFunc(got, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
			require.Equal(t, oracle.Pairs(tables[0], tables[1], spec), got)
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamDictionaries: the values of batches with dictionaries of their own, and columns whose first NULL comes in a
// later part.
func TestStreamDictionaries(t *testing.T) {
	devicetest.ShortOnHost(t)
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "d", Type: dictionary},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	var batches []arrow.RecordBatch
	for i := range 12 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for row := range 20 {
			b.Field(0).(*array.Int64Builder).Append(int64(i * row % 50))
			require.NoError(t, b.Field(1).(*array.BinaryDictionaryBuilder).AppendString(fmt.Sprint("of ", i, row%(i+1))))
			if i%4 == 2 {
				b.Field(2).AppendNull()
			} else {
				b.Field(2).(*array.Int64Builder).Append(int64(i))
			}
		}
		batches = append(batches, b.NewRecordBatch())
		b.Release()
		defer batches[i].Release()
	}
	probe := array.NewTableFromRecords(schema, batches)
	defer probe.Release()
	build := rich(t, 1, 100, 60, arrow.PrimitiveTypes.Int64)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		for _, c := range devicetest.Combinations(t, len(kinds)-1, len(algorithms), 2, 2) {
			spec := join.Spec{On: onK, How: kinds[c[0]], Algorithm: algorithms[c[1]], BuildSide: join.BuildLeft,
				Materialize: []join.Materialize{join.MaterializeHost, join.MaterializeDevice}[c[2]]}
			engine.GranuleRows = uint64(40 * c[3])
			checkStream(t, engine, [2]arrow.Table{build, probe}, [2]source.Source{source.FromTable(build), sourceOf(probe, 0)}, spec)
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamOfTypeNull: keys of type null, whose arrays have no values, match nothing.
func TestStreamOfTypeNull(t *testing.T) {
	column := arrow.NewColumnFromArr(arrow.Field{Name: "k", Type: arrow.Null, Nullable: true}, array.NewNull(40))
	schema := arrow.NewSchema([]arrow.Field{column.Field()}, nil)
	table := array.NewTable(schema, []arrow.Column{column}, 40)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		for _, how := range []join.How{join.Inner, join.Full} {
			checkStream(t, engine, [2]arrow.Table{table, table}, [2]source.Source{sourceOf(table, 9), sourceOf(table, 9)},
				join.Spec{On: []string{"k"}, How: how, BuildSide: join.BuildLeft})
		}
	})
}
