package join_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
)

// sourceOf gives a table in batches of so many rows, 0 for as many as its chunks have, and an empty one before each
// other batch. Its length is not known.
func sourceOf(table arrow.Table, rows int64) join.Source {
	return join.Source{Schema: table.Schema(), Rows: -1,
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
func drawAll(t *testing.T, result *join.Result, output join.Output) (batches []arrow.RecordBatch) {
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
func checkStream(t *testing.T, engine *join.Engine, tables [2]arrow.Table, sources [2]join.Source, spec join.Spec) (
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
			engine := join.NewEngine(ops, allocator, 0)
			engine.GranuleRows, engine.WindowRows = parts[c[4]][0], parts[c[4]][1]
			rows := []int64{1, 7, 1000, 0}[c[2]]
			checkStream(t, engine, of, [2]join.Source{sourceOf(of[0], rows), sourceOf(of[1], rows)}, spec)
			if c[6] == 2 { // a table, of which the length is known, is built of
				checkStream(t, engine, of, [2]join.Source{sourceOf(of[0], rows), join.FromTable(of[1])}, spec)
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
			checkStream(t, engine, of, [2]join.Source{sourceOf(of[0], 9), sourceOf(of[1], 9)}, spec)
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamOrders: rows come in the order of the probe side, and of rows of one side in that of the build side too;
// Require compares their order.
func TestStreamOrders(t *testing.T) {
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
			sources := [2]join.Source{sourceOf(tables[0], rows), sourceOf(tables[1], rows)}
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
	table := func(side int) join.Source { return join.FromTable(tables[side]) }
	reader := func(side int) join.Source { return sourceOf(tables[side], 50) }
	lengths := [4][2]join.Source{{table(0), reader(1)}, {reader(0), table(1)}, {reader(0), reader(1)}, {table(0), table(1)}}
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
	lefts := []arrow.Table{rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), named(t, 1, 150, 60, arrow.BinaryTypes.String)}
	text := arrow.BinaryTypes.StringView
	rightsOf := [][]arrow.Table{
		{rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64), rich(t, 3, 40, 150, arrow.PrimitiveTypes.Int64)},
		{named(t, 2, 190, 70, text), named(t, 3, 40, 70, text)}}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, c := range devicetest.Combinations(t, len(kinds)-1, len(algorithms), 2, len(lefts)) {
			engine, left, rights := smallEngine(t, device), lefts[c[3]], rightsOf[c[3]]
			engine.KeepHashBits(4)
			spec := join.Spec{On: [][]string{onK, {"k0"}}[c[3]], How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 100}
			layout, err := join.NewLayout(left.Schema(), rights[0].Schema(), spec)
			require.NoError(t, err)
			built, err := engine.Build(context.Background(), left, rights[0].Schema(), []uint64{64, 0}[c[2]], spec)
			require.NoError(t, err)
			if spec.How == join.NotIn {
				_, err := built.JoinStream(context.Background(), sourceOf(rights[0], 33))
				require.ErrorIs(t, err, backend.ErrUnsupported)
				built.Close()
				continue
			}
			for i := range 4 {
				right := rights[i%2]
				probe := func() (*join.Result, error) { return built.JoinStream(context.Background(), sourceOf(right, 33)) }
				if i == 3 {
					probe = func() (*join.Result, error) { return built.Join(context.Background(), right) }
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
			checkStream(t, engine, [2]arrow.Table{build, probe}, [2]join.Source{join.FromTable(build), sourceOf(probe, 0)}, spec)
		}
		noMemoryInUse(t, device)
	})
}

var errBroken = errors.New("the source broke")

// counted tells how many batches of a source were drawn, and lets it fail, wait or be of another type behind some.
type counted struct {
	source join.Source
	drawn  atomic.Int64
	after  int64
	then   func(ctx context.Context, yield func(arrow.RecordBatch, error) bool)
}

func (c *counted) of() join.Source {
	s := c.source
	s.Batches = func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) {
			for batch, err := range c.source.Batches(ctx) {
				if c.drawn.Add(1) > c.after {
					batch.Release()
					c.then(ctx, yield)
					return
				}
				if !yield(batch, err) {
					return
				}
			}
		}
	}
	return s
}

// TestStreamFaults: a source that fails ends the join with its error wherever that happens, batches of another schema
// too; a cancelled join stops a source that waits. Nothing stays.
func TestStreamFaults(t *testing.T) {
	left, right := rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 700, 150, arrow.PrimitiveTypes.Int64)
	fail := func(_ context.Context, yield func(arrow.RecordBatch, error) bool) { yield(nil, errBroken) }
	none := func(_ context.Context, yield func(arrow.RecordBatch, error) bool) { yield(nil, nil) }
	other := func(_ context.Context, yield func(arrow.RecordBatch, error) bool) {
		for batch := range sourceOf(left, 5).Batches(context.Background()) {
			if !yield(batch, nil) {
				return
			}
		}
	}
	run := func(t *testing.T, engine *join.Engine, sources [2]join.Source, spec join.Spec, built bool) error {
		var result *join.Result
		var err error
		if built {
			b, buildErr := engine.Build(context.Background(), left, right.Schema(), 64, spec)
			require.NoError(t, buildErr)
			defer b.Close()
			result, err = b.JoinStream(context.Background(), sources[1])
		} else {
			result, err = engine.Stream(context.Background(), sources[0], sources[1], spec)
		}
		if err != nil {
			return err
		}
		defer result.Close()
		for batch, err := range result.Batches(context.Background()) {
			if err != nil {
				return err
			}
			batch.Release()
		}
		return nil
	}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		engine.GranuleRows = 64
		for _, c := range devicetest.Combinations(t, len(kinds)-2, len(algorithms), 4, 3, 2) {
			spec := join.Spec{On: onK, How: kinds[c[0]], Algorithm: algorithms[c[1]], BuildSide: join.BuildLeft, BatchRows: 100}
			broken := counted{source: sourceOf(right, 20), after: []int64{0, 1, 10, 25}[c[2]], then: fail}
			want := errBroken
			if c[3] > 0 {
				want, broken.then = backend.ErrInvalidInput, other
			}
			if c[3] == 2 {
				broken.then = none
			}
			sources := [2]join.Source{join.FromTable(left), broken.of()}
			err := run(t, engine, sources, spec, c[4] == 1)
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, "right source after "+text.Plural(broken.drawn.Load()-1, "batch")+": ")
			if c[4] == 0 { // the side that is collected
				sources = [2]join.Source{broken.of(), join.FromTable(right)}
				broken.drawn.Store(0)
				err := run(t, engine, [2]join.Source{{Schema: right.Schema(), Rows: -1, Batches: sources[0].Batches},
					sources[1]}, spec, false)
				require.ErrorIs(t, err, want)
			}
		}
		for _, build := range []bool{false, true} {
			ctx, cancel := context.WithCancel(context.Background())
			waiting := counted{source: sourceOf(right, 20), after: 30,
				then: func(ctx context.Context, _ func(arrow.RecordBatch, error) bool) { cancel(); <-ctx.Done() }}
			sources := [2]join.Source{join.FromTable(left), waiting.of()}
			if build {
				sources = [2]join.Source{{Schema: right.Schema(), Rows: 1, Batches: sources[1].Batches}, join.FromTable(right)}
			}
			result, err := engine.Stream(ctx, sources[0], sources[1], join.Spec{On: onK, BuildSide: join.BuildLeft})
			if err == nil {
				for batch, drawErr := range result.Batches(context.Background()) {
					if err = drawErr; err == nil {
						batch.Release()
					}
				}
				result.Close()
			}
			require.ErrorIs(t, err, backend.ErrCancelled)
		}
		noMemoryInUse(t, device)
	})
}

// TestPanics: a source that panics ends the join with an error, whichever side it is, and so does a callback in the
// midst of a join. Nothing stays, so that joins that need all memory run afterwards.
func TestPanics(t *testing.T) {
	left, right := rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 700, 150, arrow.PrimitiveTypes.Int64)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := limitedEngine(t, device, 64<<20)
		free := engine.Budget().Free()
		draw := func(result *join.Result, err error) error {
			if err != nil {
				return err
			}
			defer result.Close()
			for batch, err := range result.Batches(t.Context()) {
				if err != nil {
					return err
				}
				batch.Release()
			}
			return nil
		}
		stream := func(source join.Source, spec join.Spec) error {
			return draw(engine.Stream(t.Context(), join.FromTable(left), source, spec))
		}
		tables := func(_ join.Source, spec join.Spec) error {
			plan, err := engine.Plan(t.Context(), left, right, spec)
			require.NoError(t, err)
			return draw(plan.Run(t.Context()))
		}
		for _, side := range []join.BuildSide{join.BuildLeft, join.BuildRight} {
			for _, after := range []int64{0, 3} {
				broken := counted{source: sourceOf(right, 20), after: after,
					then: func(context.Context, func(arrow.RecordBatch, error) bool) { panic(errBroken) }}
				err := stream(broken.of(), join.Spec{On: onK, BuildSide: side})
				require.ErrorIs(t, err, errBroken)
				require.ErrorContains(t, err, "read right: panic: ")
				require.True(t, reflect.DeepEqual(free, engine.Budget().Free()))
			}
			for _, phase := range []string{"wait", "load " + side.String(), "join"} {
				for _, run := range []func(join.Source, join.Spec) error{stream, tables} {
					err := run(sourceOf(right, 20), join.Spec{On: onK, BuildSide: side, Progress: func(at join.Progress) {
						if at.Phase == phase {
							panic(errBroken)
						}
					}})
					require.ErrorIs(t, err, errBroken, phase)
					require.True(t, reflect.DeepEqual(free, engine.Budget().Free()), phase)
				}
			}
		}
		noMemoryInUse(t, device)
	})
}

// TestEndlessSource: a source that never ends, of rows or of empty batches, on either side, ends with the context.
func TestEndlessSource(t *testing.T) {
	left := keyed(t, "k", 4, func(i int) int64 { return int64(i) })
	reader := array.NewTableReader(left, 4)
	defer reader.Release()
	require.True(t, reader.Next())
	endless := func(rows int64, drawn *int, cancel func()) join.Source {
		return join.Source{Schema: left.Schema(), Rows: -1,
			Batches: func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
				return func(yield func(arrow.RecordBatch, error) bool) {
					for *drawn < 10_000 && yield(reader.RecordBatch().NewSlice(0, rows), nil) {
						if *drawn++; *drawn == 1000 {
							cancel()
						}
					}
				}
			}}
	}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		for _, rows := range []int64{0, 1} {
			for _, side := range []join.BuildSide{join.BuildLeft, join.BuildRight} {
				ctx, cancel := context.WithCancel(t.Context())
				drawn := 0
				source := endless(rows, &drawn, cancel)
				result, err := engine.Stream(ctx, join.FromTable(left), source, join.Spec{On: onK, BuildSide: side})
				if err == nil {
					for batch, drawErr := range result.Batches(t.Context()) {
						if err = drawErr; err == nil {
							batch.Release()
						}
					}
					result.Close()
				}
				require.ErrorIs(t, err, backend.ErrCancelled)
				require.Less(t, drawn, 10_000)
			}
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamStops: a result that is closed stops its source, which is never far ahead of what is drawn.
func TestStreamStops(t *testing.T) {
	left, right := rich(t, 1, 50, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 3000, 150, arrow.PrimitiveTypes.Int64)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		engine.GranuleRows = 100
		for _, algorithm := range algorithms {
			all := counted{source: sourceOf(right, 50), after: 1 << 40}
			result, err := engine.Stream(context.Background(), join.FromTable(left), all.of(), join.Spec{On: onK, BatchRows: 10,
				How: join.Right, BuildSide: join.BuildLeft, Algorithm: algorithm})
			require.NoError(t, err)
			for batch, err := range result.Batches(context.Background()) {
				require.NoError(t, err)
				batch.Release()
				break
			}
			drawn := all.drawn.Load()
			result.Close()
			require.LessOrEqual(t, all.drawn.Load(), drawn+1)
			for _, err := range result.Batches(context.Background()) {
				require.ErrorContains(t, err, "was closed")
			}
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamLimits: what would need the whole probe side is refused; rows are limited over all parts; keys of the build
// side are proved unique.
func TestStreamLimits(t *testing.T) {
	left, right := rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 700, 150, arrow.PrimitiveTypes.Int64)
	sources := [2]join.Source{join.FromTable(left), sourceOf(right, 50)}
	keys := keyed(t, "k", 120, func(i int) int64 { return int64(i) })
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		engine.GranuleRows = 100
		stream := func(sources [2]join.Source, spec join.Spec) (int, error) {
			spec.On = onK
			result, err := engine.Stream(context.Background(), sources[0], sources[1], spec)
			if err != nil {
				return 0, err
			}
			defer result.Close()
			for batch, err := range result.Batches(context.Background()) {
				if err != nil {
					return 0, err
				}
				batch.Release()
			}
			return int(result.Rows()), nil
		}
		for _, spec := range []join.Spec{{Output: join.Ranges}, {Validate: join.OneToOne},
			{Validate: join.ManyToOne, BuildSide: join.BuildLeft}, {Order: join.LeftOrder, BuildSide: join.BuildLeft}} {
			_, err := stream(sources, spec)
			require.ErrorIs(t, err, backend.ErrUnsupported, "%+v", spec)
		}
		_, err := stream(sources, join.Spec{Validate: join.OneToMany})
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, "keys of the left table must be unique")
		rows, err := stream([2]join.Source{sources[1], join.FromTable(keys)}, join.Spec{Validate: join.ManyToOne})
		require.NoError(t, err)
		rowsOf := len(oracle.Join(right, keys, join.Spec{On: onK}))
		require.Equal(t, rowsOf, rows)
		for _, most := range []int{rowsOf - 1, rowsOf} {
			_, err := stream([2]join.Source{sources[1], join.FromTable(keys)}, join.Spec{MaxOutputRows: uint64(most)})
			if most == rowsOf {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, backend.ErrLimit)
			}
		}
		noMemoryInUse(t, device)
	})
}

// TestStreamsUnderOneCap: many streams at once on an engine whose device memory is enough for few of them all end, and
// right.
func TestStreamsUnderOneCap(t *testing.T) {
	devicetest.HostTest(t)
	const without = 40_000 // rows, the first ones, that have no key
	left := keyed(t, "k", 3000, func(i int) int64 { return int64(i) })
	rights := [2]arrow.Table{keyed(t, "k", 200_000, func(i int) int64 { return int64(i % 3000) }),
		keyed(t, "k", 200_000+without, func(i int) int64 {
			if i < without {
				return -1
			}
			return int64(i % 3000)
		})}
	device, done := hostDevice(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: 4 << 20})
	engine := smallEngine(t, device)
	engine.GranuleRows = 1 << 14
	var running sync.WaitGroup
	for i := range 12 {
		running.Go(func() {
			spec := join.Spec{On: onK, Algorithm: algorithms[i%len(algorithms)], BatchRows: 1 << 12}
			random := rand.New(rand.NewPCG(uint64(i), 1))
			result, err := engine.Stream(context.Background(), join.FromTable(left), sourceOf(rights[i%2], 3000), spec)
			if err != nil {
				t.Errorf("%s: %v", spec.Algorithm, err)
				return
			}
			defer result.Close()
			rows := int64(0)
			for batch, err := range result.Batches(context.Background()) {
				if err != nil {
					t.Errorf("%s: %v", spec.Algorithm, err)
					return
				}
				rows += batch.NumRows()
				batch.Release()
				time.Sleep(time.Duration(random.IntN(100)) * time.Microsecond)
			}
			if rows != 200_000 {
				t.Errorf("%s: %d rows", spec.Algorithm, rows)
			}
		})
	}
	running.Wait()
	require.NoError(t, done())
}

// TestStreamsBeginInTurn: under a limit of host memory, a stream begins when the one before it has its build side and a
// first part; then both run side by side. Joins of tables do not wait. Without a limit, no stream waits.
func TestStreamsBeginInTurn(t *testing.T) {
	devicetest.HostTest(t)
	left := keyed(t, "k", 300, func(i int) int64 { return int64(i) })
	right := keyed(t, "k", 5000, func(i int) int64 { return int64(i % 300) })
	spec := join.Spec{On: onK, BuildSide: join.BuildLeft, BatchRows: 512}
	for _, limitBytes := range []uint64{64 << 20, 0} {
		device, done := hostDevice(t, host.Options{Discrete: true}, backend.DeviceOptions{})
		engine := limitedEngine(t, device, limitBytes)
		engine.GranuleRows = 1024
		// The slow source gives less than a part, waits, and then all rows.
		waits, goOn := make(chan struct{}), make(chan struct{})
		slow := counted{source: sourceOf(right, 500), after: 1, then: func(_ context.Context,
			yield func(arrow.RecordBatch, error) bool) {
			close(waits)
			<-goOn
			for batch, err := range sourceOf(right, 500).Batches(context.Background()) {
				if !yield(batch, err) {
					return
				}
			}
		}}
		fast := counted{source: sourceOf(right, 500), after: 1 << 20}
		begin := func(probe *counted) chan *join.Result {
			begun := make(chan *join.Result, 1)
			go func() {
				result, err := engine.Stream(context.Background(), join.FromTable(left), probe.of(), spec)
				if err != nil {
					t.Errorf("limit %d: %v", limitBytes, err)
				}
				begun <- result
			}()
			return begun
		}
		first := begin(&slow)
		<-waits
		second := begin(&fast)
		rows, err := drain(context.Background(), engine, left, right, spec)
		require.NoError(t, err)
		require.EqualValues(t, 5000, rows)
		if limitBytes > 0 {
			time.Sleep(50 * time.Millisecond)
			require.Zero(t, fast.drawn.Load())
			require.Empty(t, second)
			close(goOn)
		}
		results := []*join.Result{<-second}
		if limitBytes == 0 {
			close(goOn)
		}
		results = append(results, <-first)
		var next []func() (arrow.RecordBatch, error, bool)
		for _, result := range results {
			pull, stop := iter.Pull2(result.Batches(context.Background()))
			defer stop()
			next = append(next, pull)
		}
		var drawn [2]int64
		for open := 2; open > 0; { // batch by batch by turns
			open = 0
			for i, pull := range next {
				if batch, err, more := pull(); more {
					require.NoError(t, err)
					drawn[i] += batch.NumRows()
					batch.Release()
					open++
				}
			}
		}
		require.Equal(t, [2]int64{5000, 5000 + 500}, drawn)
		for _, result := range results {
			result.Close()
		}
		require.NoError(t, done())
	}
}

// TestStreamMemoryLimit: parts are as small as the cap of host memory asks for, and a batch that is beyond it is an
// error.
func TestStreamMemoryLimit(t *testing.T) {
	devicetest.HostTest(t)
	left := keyed(t, "k", 3000, func(i int) int64 { return int64(i) })
	right := keyed(t, "k", 500_000, func(i int) int64 { return int64(i % 3000) })
	device, done := hostDevice(t, host.Options{Discrete: true}, backend.DeviceOptions{})
	spec := join.Spec{On: onK, BuildSide: join.BuildLeft, BatchRows: 1 << 12}
	stream := func(limitBytes uint64, batchRows int64) (*join.Result, error) {
		engine := limitedEngine(t, device, limitBytes)
		result, err := engine.Stream(context.Background(), join.FromTable(left), sourceOf(right, batchRows), spec)
		if err != nil {
			return nil, err
		}
		defer result.Close()
		rows := int64(0)
		for batch, err := range result.Batches(context.Background()) {
			if err != nil {
				return nil, err
			}
			rows += batch.NumRows()
			batch.Release()
		}
		require.EqualValues(t, right.NumRows(), rows)
		return result, nil
	}
	granules := make(map[uint64]uint64)
	for _, limitBytes := range []uint64{0, 64 << 20, 20 << 20} {
		result, err := stream(limitBytes, 5000)
		require.NoError(t, err, limitBytes)
		granules[limitBytes] = result.Stats().Granules
	}
	require.EqualValues(t, 1, granules[0])
	require.Greater(t, granules[20<<20], granules[64<<20])
	_, err := stream(20<<20, 0)
	require.ErrorIs(t, err, backend.ErrHostMemory)
	require.ErrorContains(t, err, "a record batch takes")
	_, err = stream(1<<20, 5000)
	require.ErrorIs(t, err, backend.ErrHostMemory)
	require.ErrorContains(t, err, "raise memory_limit")
	require.NoError(t, done())
}

// TestStreamHoldsFewParts: however long a source is, no more of it is in memory than a few parts and what is read.
func TestStreamHoldsFewParts(t *testing.T) {
	const batchRows, batches, partBatches = 1000, 120, 4
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	left := keyed(t, "k", 3000, func(i int) int64 { return int64(i) })
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		engine.GranuleRows = batchRows * partBatches
		for _, c := range devicetest.Combinations(t, len(kinds)-2, len(algorithms)) {
			of := memory.NewCheckedAllocator(memory.DefaultAllocator)
			var most atomic.Int64 // batches that were there at a time
			source := join.Source{Schema: schema, Rows: batchRows * batches,
				Batches: func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
					return func(yield func(arrow.RecordBatch, error) bool) {
						one := 0
						for n := range batches {
							b := array.NewRecordBuilder(of, schema)
							for i := range batchRows {
								b.Field(0).(*array.Int64Builder).Append(int64((n*batchRows + i) % 4000))
								b.Field(1).(*array.StringBuilder).Append("text")
							}
							batch := b.NewRecordBatch()
							b.Release()
							if n == 0 {
								one = of.CurrentAlloc()
							}
							most.Store(max(most.Load(), int64((of.CurrentAlloc()+one-1)/one)))
							if !yield(batch, nil) {
								return
							}
						}
					}
				}}
			spec := join.Spec{On: onK, How: kinds[c[0]], Algorithm: algorithms[c[1]], BuildSide: join.BuildLeft, BatchRows: 500}
			result, err := engine.Stream(context.Background(), join.FromTable(left), source, spec)
			require.NoError(t, err)
			for batch, err := range result.Batches(context.Background()) {
				require.NoError(t, err)
				batch.Release()
			}
			require.EqualValues(t, batches/partBatches, result.Stats().Granules)
			result.Close()
			require.LessOrEqual(t, uint64(most.Load()), query.PartsAtOnce(!device.Info().Unified)*partBatches+2)
			of.AssertSize(t, 0)
		}
		noMemoryInUse(t, device)
	})
}

// TestNothingGiven: a table, reader, schema or source that is missing is an error that says which.
func TestNothingGiven(t *testing.T) {
	table := keyed(t, "k", 4, func(i int) int64 { return int64(i) })
	ctx, spec, none := t.Context(), join.Spec{On: onK}, join.FromTable(nil)
	unread := join.Source{Schema: table.Schema()}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		built, err := engine.Build(ctx, table, table.Schema(), 0, spec)
		require.NoError(t, err)
		defer built.Close()
		for _, c := range []struct {
			missing string
			call    func() error
		}{
			{"the left table", func() error { _, err := engine.Plan(ctx, nil, table, spec); return err }},
			{"the right table", func() error { _, err := engine.Plan(ctx, table, nil, spec); return err }},
			{"the right table", func() error { _, err := engine.KeyRanges(ctx, table, nil, spec); return err }},
			{"the schema of the left source", func() error { _, err := engine.Stream(ctx, none, none, spec); return err }},
			{"the schema of the right source", func() error {
				_, err := engine.Stream(ctx, join.FromTable(table), join.FromReader(nil), spec)
				return err
			}},
			{"Batches of the right source", func() error {
				_, err := engine.Stream(ctx, join.FromTable(table), unread, spec)
				return err
			}},
			{"the schema of the left table", func() error { _, err := join.NewLayout(nil, table.Schema(), spec); return err }},
			{"the left table", func() error { _, err := engine.Build(ctx, nil, table.Schema(), 0, spec); return err }},
			{"the schema of the right table", func() error { _, err := engine.Build(ctx, table, nil, 0, spec); return err }},
			{"the right table", func() error { _, err := built.Join(ctx, nil); return err }},
			{"the schema of the right source", func() error { _, err := built.JoinStream(ctx, none); return err }},
		} {
			err := c.call()
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			require.ErrorContains(t, err, c.missing+" is nil")
		}
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
			checkStream(t, engine, [2]arrow.Table{table, table}, [2]join.Source{sourceOf(table, 9), sourceOf(table, 9)},
				join.Spec{On: []string{"k"}, How: how, BuildSide: join.BuildLeft})
		}
	})
}
