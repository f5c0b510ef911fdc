package ranks_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranks"
	"github.com/spirjoin/spirjoin/relation/relationtest"
	"github.com/spirjoin/spirjoin/source"
)

var kinds = []join.How{join.Inner, join.Left, join.Right, join.Full, join.Semi, join.Anti, join.RightSemi,
	join.RightAnti, join.Mark, join.NotIn, join.Cross}

var (
	dictionary = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	cents      = &arrow.Decimal128Type{Precision: 38, Scale: 2}
)

// keyTypes are the types of the key of both sides.
var keyTypes = [][2]arrow.DataType{
	{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64},
	{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint16}, // which cannot hold all keys of the other
	{arrow.BinaryTypes.String, dictionary},
	{cents, arrow.PrimitiveTypes.Int32},
}

// shape is how keys of a table are drawn.
type shape struct {
	rows, values int
	hot, null    float64 // shares of rows with the key 7, and without one
}

// table draws keys k and t, and payload of several types, in batches with dictionaries of their own.
func table(t testing.TB, seed uint64, key arrow.DataType, of shape) arrow.Table {
	t.Helper()
	side := fmt.Sprint("p", seed)
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: key, Nullable: true},
		{Name: "t", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: side + "n", Type: arrow.PrimitiveTypes.Int32},
		{Name: side + "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: side + "d", Type: dictionary, Nullable: true},
		{Name: side + "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int16), Nullable: true}}, nil)
	b, random := array.NewRecordBuilder(memory.DefaultAllocator, schema), rand.New(rand.NewPCG(seed, uint64(of.rows)))
	defer b.Release()
	maybe := func(field int, nulls float64, text string) {
		if random.Float64() < nulls {
			b.Field(field).AppendNull()
		} else {
			require.NoError(t, b.Field(field).AppendValueFromString(text))
		}
	}
	var batches []arrow.RecordBatch
	for i := range of.rows {
		k := random.IntN(of.values)
		if random.Float64() < of.hot {
			k = 7
		}
		if key.ID() == arrow.INT32 && i%5 == 0 {
			k = -k - 1
		}
		maybe(0, of.null, fmt.Sprint(k))
		maybe(1, of.null/2, fmt.Sprint("text ", random.IntN(3)))
		b.Field(2).(*array.Int32Builder).Append(int32(i))
		maybe(3, 0.2, fmt.Sprint(random.IntN(2) == 0))
		maybe(4, 0.2, fmt.Sprint("entry ", random.IntN(20)))
		maybe(5, 0.2, fmt.Sprintf("[%d, null]", i))
		if i == of.rows/3 || i == of.rows-1 {
			batches = append(batches, b.NewRecordBatch())
		}
	}
	all := array.NewTableFromRecords(schema, batches)
	for _, batch := range batches {
		batch.Release()
	}
	t.Cleanup(all.Release)
	return all
}

// numbered returns a table with the keys k and the numbers of rows.
func numbered(t testing.TB, seed uint64, rows int, key func(row int) int64) arrow.Table {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: fmt.Sprint("row", seed), Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for row := range rows {
		b.Field(0).(*array.Int64Builder).Append(key(row))
		b.Field(1).(*array.Int64Builder).Append(int64(row))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	all := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	t.Cleanup(all.Release)
	return all
}

// share returns the rows of a rank: none on the last rank but one if there are several.
func share(t arrow.Table, rank, size int) source.Source {
	of := func(rank int) int64 { return t.NumRows() * int64(rank) / int64(size) }
	from, to := of(rank), of(rank+1)
	switch rank {
	case size - 2:
		to = from
	case size - 1:
		from = of(max(0, size-2))
	}
	var columns []arrow.Column
	for i := range int(t.NumCols()) {
		columns = append(columns, *array.NewColumnSlice(t.Column(i), from, to))
	}
	return source.FromTable(array.NewTable(t.Schema(), columns, to-from))
}

// unknown is a source that is read batch by batch, of unknown length.
func unknown(s source.Source) source.Source {
	return source.Source{Schema: s.Schema, Rows: -1, Batches: s.Batches}
}

// setup says how tests run a join.
type setup struct {
	size       int
	knobs      ranks.Knobs
	limitBytes uint64
	tempDir    string
	divides    uint64 // bytes of a build side that a rank divides; 0: as memory allows
	unknown    bool   // shares are no tables
	speeds     []float64
	nodeRanks  int // ranks of a node; 0: all
	faults     cluster.Faults
	options    cluster.Options
}

// outcome is what a rank had.
type outcome struct {
	batches []arrow.RecordBatch
	rows    uint64
	pairs   [][2]int
	parts   int
	way     ranks.Way
	hot     int
	totals  *ranks.Totals
	err     error
}

// run joins the shares of two tables, each rank with an engine of its own, and checks that nothing leaks.
func run(t *testing.T, device *backend.Device, s setup, left, right arrow.Table, spec join.Spec) []outcome {
	t.Helper()
	return runEach(t, device, s, func(rank int) (source.Source, source.Source, join.Spec) {
		l, r := share(left, rank, s.size), share(right, rank, s.size)
		if s.unknown {
			l, r = unknown(l), unknown(r)
		}
		return l, r, spec
	})
}

// runEach is run with the shares and the specification of each rank.
func runEach(t *testing.T, device *backend.Device, s setup,
	of func(rank int) (left, right source.Source, spec join.Spec)) []outcome {
	t.Helper()
	ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
	require.NoError(t, err)
	found := make([]outcome, s.size)
	var all sync.WaitGroup
	for rank, job := range cluster.Local(s.size, cluster.LocalOptions{Options: s.options, Faults: s.faults,
		NodeRanks: s.nodeRanks}) {
		alloc := memory.NewCheckedAllocator(relationtest.Dirty{Allocator: memory.DefaultAllocator})
		e := engine.NewEngine(ops, alloc, s.limitBytes)
		if s.tempDir != "" {
			e.Spill(s.tempDir, 1<<40)
		}
		e.DivideBytes = s.divides
		all.Go(func() {
			left, right, spec := of(rank)
			knobs := s.knobs
			if s.speeds != nil {
				knobs.Speed = s.speeds[rank]
			}
			found[rank] = draw(job, &ranks.Engine{Joins: e, Knobs: knobs}, left, right, spec)
			if found[rank].err == nil {
				found[rank].err = job.Close()
			}
		})
		t.Cleanup(func() {
			for _, b := range found[rank].batches {
				b.Release()
			}
			e.Close()
			alloc.AssertSize(t, 0)
			require.Equal(t, s.limitBytes, min(e.Budget().Free().Host, s.limitBytes), "memory of rank %d", rank)
		})
	}
	all.Wait()
	return found
}

// BatchRows of a rank that closes its result, or whose context is cancelled, after the first batch.
const (
	closesEarly  = 3
	cancelsEarly = 4
)

func draw(job cluster.Job, e *ranks.Engine, left, right source.Source, spec join.Spec) (o outcome) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := e.Join(ctx, job, left, right, spec)
	if o.err = err; err != nil {
		return o
	}
	defer r.Close()
	o.way, o.hot = r.Way, r.HotKeys
	if spec.Output == join.Pairs {
		for p, err := range r.Pairs(ctx) {
			if o.err = err; err != nil {
				return o
			}
			for i := range p.Left {
				o.pairs = append(o.pairs, [2]int{int(p.LeftFirst) + int(p.Left[i]),
					int(p.RightFirst) + int(p.Right[i])})
			}
		}
	}
	if spec.Output == join.Rows {
		for batch, err := range r.Batches(ctx) {
			if o.err = err; err != nil {
				return o
			}
			o.batches, o.rows = append(o.batches, batch), o.rows+uint64(batch.NumRows())
			if spec.BatchRows == cancelsEarly {
				cancel()
			}
			if spec.BatchRows == closesEarly {
				r.Close()
				o.err = context.Cause(job.Context())
				return o
			}
		}
	}
	o.parts, _ = r.Parts()
	o.totals, o.err = r.Finish(ctx)
	return o
}

// check compares the output of all ranks with the oracle.
func check(t *testing.T, device *backend.Device, s setup, left, right arrow.Table, spec join.Spec) []outcome {
	t.Helper()
	layout, err := join.NewLayout(left.Schema(), right.Schema(), spec)
	require.NoError(t, err)
	found := run(t, device, s, left, right, spec)
	var batches []arrow.RecordBatch
	for rank, o := range found {
		require.NoError(t, o.err, "rank %d", rank)
		require.Equal(t, found[0].totals, o.totals)
		require.Equal(t, found[0].way, o.way)
		if spec.Output == join.Rows {
			require.Equal(t, o.rows, o.totals.Rows[rank])
		}
		batches = append(batches, o.batches...)
	}
	if spec.Output == join.Rows {
		oracle.Require(t, left, right, layout, batches)
	}
	require.EqualValues(t, len(oracle.Join(left, right, layout.Spec)), found[0].totals.AllRows())
	return found
}

// TestKinds: every kind, with keys of several types, NULLs, hot keys, empty sides and shares, on 1 to 5 ranks, if rows
// go to owners and if a side goes to all ranks.
func TestKinds(t *testing.T) {
	devicetest.SkipRace(t)
	shapes := [][2]shape{
		{{150, 60, 0, 0.1}, {200, 70, 0, 0.1}},
		{{200, 60, 0.5, 0}, {30, 60, 0.1, 0}}, // one key has half of the left rows
		{{90, 40, 0, 0}, {60, 40, 0, 0}},
		{{0, 1, 0, 0}, {60, 20, 0, 0.1}},
		{{60, 20, 0, 0.2}, {0, 1, 0, 0}},
		{{60, 20, 0, 0.1}, {1, 20, 0, 0}},
		{{90, 200, 0, 0.1}, {80, 200, 0, 1}}, // all right keys are NULL
	}
	sizes := []int{1, 2, 3, 5}
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		for n := range 2 * len(kinds) {
			how, owners := kinds[n/2], n%2 == 0
			for _, c := range devicetest.Combinations(t, len(keyTypes), len(shapes), len(sizes), 3, 2) {
				spec := join.Spec{How: how, On: [][]string{{"k"}, {"k", "t"}, {"k"}}[c[3]]}
				switch {
				case how == join.Cross:
					spec.On = nil
				case how == join.NotIn:
					spec.On = []string{"k"}
				case c[3] == 2:
					spec.NullsEqual = []string{"k"}
				}
				types, of := keyTypes[c[0]], shapes[c[1]]
				left, right := table(t, 1, types[0], of[0]), table(t, 2, types[1], of[1])
				s := setup{size: sizes[c[2]], unknown: c[4] == 1,
					knobs: ranks.Knobs{Owners: owners, Copies: !owners, BlockBytes: 700}}
				name := fmt.Sprintf("%s/%s-%s/on=%d/shape=%d/ranks=%d/owners=%t/unknown=%t", how, types[0].Name(),
					types[1].Name(), c[3], c[1], s.size, owners, s.unknown)
				if !t.Run(name, func(t *testing.T) { check(t, device, s, left, right, spec) }) {
					return
				}
			}
		}
	})
}

// TestNotIn: each rank knows whether the others have right rows, and any with a NULL key.
func TestNotIn(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		left := table(t, 1, arrow.PrimitiveTypes.Int64, shape{90, 60, 0, 0.2})
		for _, right := range []arrow.Table{
			table(t, 2, arrow.PrimitiveTypes.Int64, shape{0, 1, 0, 0}),
			table(t, 2, arrow.PrimitiveTypes.Int64, shape{1, 20, 0, 0}),
			table(t, 2, arrow.PrimitiveTypes.Int64, shape{1, 20, 0, 1}),
			numbered(t, 2, 40, func(i int) int64 { return int64(i) }),
			table(t, 3, arrow.PrimitiveTypes.Int64, shape{40, 20, 0, 0.02}),
		} {
			for _, knobs := range []ranks.Knobs{{Owners: true, BlockBytes: 300}, {Copies: true}} {
				for _, size := range []int{2, 5} {
					check(t, device, setup{size: size, knobs: knobs}, left, right,
						join.Spec{How: join.NotIn, On: []string{"k"}})
				}
			}
		}
	})
}

// TestHotKeys: rows of hot keys stay, on either side, with any kind of join, also with more than one hot key and on
// ranks that have few rows of them.
func TestHotKeys(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		for i, how := range kinds[:len(kinds)-1] {
			for j, key := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String} {
				if !devicetest.Turn(i+j, 2) {
					continue
				}
				many, few := table(t, 1, key, shape{1200, 1000, 0.6, 0.1}), table(t, 2, key, shape{100, 50, 0.02, 0.1})
				keeps := [2]bool{how.Has(1) && (how.Keeps(1) || !how.Pairs()),
					how.Has(0) && (how.Keeps(0) || !how.Pairs())}
				for stays, tables := range [][2]arrow.Table{{many, few}, {few, many}} {
					s := setup{size: 5, knobs: ranks.Knobs{Owners: true}, unknown: stays == 1 && j == 1}
					found := check(t, device, s, tables[0], tables[1], join.Spec{How: how, On: []string{"k"}})
					hot := 1
					if j == 1 && keeps[stays] {
						hot = 0 // another text may have the hash
					}
					require.Equal(t, hot, found[0].hot, "%s %s, stays %d", how, key, stays)
				}
			}
		}
		left, right := numbered(t, 1, 6000, func(i int) int64 { return int64(i % 3) }),
			numbered(t, 2, 4, func(i int) int64 { return int64(i) })
		for _, o := range check(t, device, setup{size: 3, knobs: ranks.Knobs{Owners: true}}, left, right,
			join.Spec{How: join.Full, On: []string{"k"}}) {
			require.Equal(t, 3, o.hot)
			require.Zero(t, o.totals.Exchanged[0][0].SentRows, "left rows stay")
		}
	})
}

// TestBalance: keys that follow Zipf's law, exponent 1, give no rank much more rows than the mean.
func TestBalance(t *testing.T) {
	devicetest.SkipRace(t)
	const size, rows, values = 16, 64_000, 20_000
	sums := make([]float64, values)
	for k := range sums {
		sums[k] = 1 / float64(k+1)
		if k > 0 {
			sums[k] += sums[k-1]
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	left := numbered(t, 1, rows, func(int) int64 {
		k, _ := slices.BinarySearch(sums, random.Float64()*sums[values-1])
		return int64(k)
	})
	right := numbered(t, 2, values, func(i int) int64 { return int64(i) })
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		found := runEach(t, device, setup{size: size, knobs: ranks.Knobs{Owners: true}},
			func(rank int) (source.Source, source.Source, join.Spec) {
				slice := func(of arrow.Table) source.Source {
					var columns []arrow.Column
					from, to := of.NumRows()*int64(rank)/size, of.NumRows()*int64(rank+1)/size
					for i := range int(of.NumCols()) {
						columns = append(columns, *array.NewColumnSlice(of.Column(i), from, to))
					}
					return source.FromTable(array.NewTable(of.Schema(), columns, to-from))
				}
				return slice(left), slice(right), join.Spec{On: []string{"k"}, Output: join.Count}
			})
		most := uint64(0)
		for rank, o := range found {
			require.NoError(t, o.err)
			most = max(most, o.totals.Exchanged[rank][0].Rows+o.totals.Exchanged[rank][1].Rows)
		}
		require.EqualValues(t, rows, found[0].totals.AllRows())
		ratio := float64(most) * size / (rows + values)
		t.Logf("%d hot keys, fullest rank %.2f times the mean", found[0].hot, ratio)
		require.Less(t, ratio, 1.4)
	})
}
