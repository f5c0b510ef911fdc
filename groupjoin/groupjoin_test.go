package groupjoin_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/groupjoin"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/source"
)

var kinds = []join.How{join.Inner, join.Left, join.Right, join.Full, join.Semi, join.Anti, join.RightSemi,
	join.RightAnti, join.Mark, join.NotIn, join.Cross}

// table has keys k and t, which are drawn from 0 to values-1 and here and there NULL, a text, and payload of several
// types.
func table(t testing.TB, seed uint64, rows, values int, key arrow.DataType) arrow.Table {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: key, Nullable: true},
		{Name: "t", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int32},
		{Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: fmt.Sprint("own", seed), Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	b, random := array.NewRecordBuilder(memory.DefaultAllocator, schema), rand.New(rand.NewPCG(seed, uint64(rows)))
	defer b.Release()
	maybe := func(field int, text string) {
		if random.IntN(8) == 0 {
			b.Field(field).AppendNull()
		} else {
			require.NoError(t, b.Field(field).AppendValueFromString(text))
		}
	}
	var batches []arrow.RecordBatch
	for i := range rows {
		maybe(0, fmt.Sprint(random.IntN(values)))
		maybe(1, strings.Repeat("long ", 3*(i%2))+fmt.Sprint(random.IntN(max(1, values/3))))
		b.Field(2).(*array.Int32Builder).Append(int32(random.IntN(10)))
		maybe(3, fmt.Sprint(float64(random.IntN(100))/4))
		maybe(4, fmt.Sprint(random.IntN(1000)-500))
		if i == rows/3 || i == rows-1 {
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

func open(t testing.TB, device *backend.Device, limitBytes uint64) *groupjoin.Engine {
	ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
	require.NoError(t, err)
	e := engine.NewEngine(ops, memory.DefaultAllocator, limitBytes)
	t.Cleanup(e.Close)
	return &groupjoin.Engine{Join: e, Groups: &groupby.Engine{Engine: e.Engine}, HostReduces: true}
}

// unknown is a source of a table that is read batch by batch, of unknown length.
func unknown(table arrow.Table) source.Source {
	s := source.FromTable(table)
	return source.Source{Schema: s.Schema, Rows: -1, Batches: s.Batches}
}

// run draws a group-by of a join.
func run(ctx context.Context, e *groupjoin.Engine, l *groupjoin.Layout, left, right source.Source) (
	batches []arrow.RecordBatch, stats groupjoin.Stats, err error) {
	r, err := e.Run(ctx, l, left, right)
	if err != nil {
		return nil, stats, err
	}
	defer r.Close()
	for batch, err := range r.Batches(ctx) {
		if err != nil {
			return nil, stats, err
		}
		batches = append(batches, batch)
	}
	return batches, r.Stats(), nil
}

// check compares with the oracles: of tables, and of sources of unknown length.
func check(t testing.TB, e *groupjoin.Engine, left, right arrow.Table, spec join.Spec, groups groupby.Spec) (
	s groupjoin.Stats) {
	t.Helper()
	l, err := groupjoin.NewLayout(left.Schema(), right.Schema(), spec, groups)
	require.NoError(t, err)
	for _, sources := range [][2]source.Source{{source.FromTable(left), source.FromTable(right)},
		{unknown(left), unknown(right)}} {
		if spec.How == join.NotIn { // whose right side is the build side
			sources[1] = source.FromTable(right)
		}
		batches, stats, err := run(t.Context(), e, l, sources[0], sources[1])
		require.NoError(t, err)
		oracle.RequireJoinedGroups(t, left, right, l.Join, l.Groups, batches)
		require.EqualValues(t, len(oracle.Join(left, right, l.Join.Spec)), stats.GroupBy.Rows, "joined rows")
		for _, b := range batches {
			b.Release()
		}
		s = stats
	}
	return s
}

func aggregates(list ...string) (all []groupby.Aggregate) {
	for _, text := range list {
		name, column, _ := strings.Cut(text, ":")
		f, err := groupby.ParseFunc(name)
		if err != nil {
			panic(err)
		}
		all = append(all, groupby.Aggregate{Func: f, Column: column})
	}
	return all
}

// TestKinds groups the rows of every kind of join by payload of each side and by keys, with NULL equal to NULL and not.
func TestKinds(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.SkipRace(t)
	left, right := table(t, 1, 300, 40, arrow.PrimitiveTypes.Int32), table(t, 2, 200, 50, arrow.PrimitiveTypes.Int64)
	few, none := table(t, 1, 30, 10, arrow.PrimitiveTypes.Int32), table(t, 2, 0, 10, arrow.PrimitiveTypes.Int64)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := open(t, device, 0)
		for i, how := range kinds {
			for j, nullsEqual := range [][]string{nil, {"k"}} {
				if how != join.Cross && how != join.NotIn && !devicetest.Turn(i+j, 2) {
					continue
				}
				spec := join.Spec{How: how, On: []string{"k"}, NullsEqual: nullsEqual}
				if how == join.Cross {
					spec.On = nil
				}
				if (how == join.Cross || how == join.NotIn) && nullsEqual != nil {
					continue
				}
				t.Run(fmt.Sprint(how, nullsEqual), func(t *testing.T) {
					left := left
					if how == join.Cross {
						left = few
					}
					by, values := []string{"n"}, []string{"count", "sum:own1", "avg:f", "count:t", "count_distinct:k", "var:own1"}
					switch {
					case how.Pairs():
						by = append(by, "t_right")
						values = append(values, "max:own2", "count:f_right")
					case !how.Has(0):
						values = []string{"count", "sum:own2", "max:k"}
					case how == join.Mark:
						by = append(by, "mark")
					}
					for _, right := range []arrow.Table{right, none} {
						check(t, e, left, right, spec, groupby.Spec{By: by, Aggregates: aggregates(values...)})
						check(t, e, left, right, spec, groupby.Spec{By: by})
						check(t, e, left, right, spec, groupby.Spec{Aggregates: aggregates(values...)})
						check(t, e, left, right, spec, groupby.Spec{Aggregates: aggregates("count")})
					}
					check(t, e, few, none, spec, groupby.Spec{By: by, Aggregates: aggregates("count")})
				})
			}
		}
	})
}

// TestByKey: counts, sums, means, least and greatest values by keys of the join come from groups of both sides, for every
// kind of join, and for keys that are asked for in part, separate, compared twice, and of texts.
func TestByKey(t *testing.T) {
	left, right := table(t, 1, 300, 9, arrow.PrimitiveTypes.Int32), table(t, 2, 200, 12, arrow.PrimitiveTypes.Int64)
	none := table(t, 2, 0, 10, arrow.PrimitiveTypes.Int64)
	specs := []join.Spec{{On: []string{"k"}}, {On: []string{"k"}, NullsEqual: []string{"k"}},
		{On: []string{"t"}, Order: join.LeftOrder}, {On: []string{"k", "t"}, NullsEqual: []string{"t"}},
		{On: []string{"k"}, SeparateKeys: true, Indicator: "from"},
		{LeftOn: []string{"k", "k"}, RightOn: []string{"k", "n"}}}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := open(t, device, 0)
		for _, c := range devicetest.Product(t, len(kinds), len(specs)) {
			how, i := kinds[c[0]], c[1]
			if how == join.Cross {
				continue
			}
			spec := specs[i]
			if spec.How = how; how == join.NotIn && (len(spec.On) != 1 || spec.NullsEqual != nil) {
				continue
			}
			if spec.Order != join.Unordered && !how.Has(0) {
				spec.Order = join.RightOrder
			}
			if !how.Pairs() {
				spec.Indicator = ""
			}
			t.Run(fmt.Sprint(how, i), func(t *testing.T) {
				by := append(append([]string{}, spec.On...), spec.LeftOn...)[:1]
				values := []string{"count"}
				switch {
				case how.Has(0):
					values = append(values, "count:f", "min:own1", "sum:own1", "avg:own1", "avg:f")
				default:
					values = append(values, "count:f", "max:own2", "sum:own2", "sum:f")
				}
				if how.Pairs() {
					values = append(values, "max:own2", "count:f_right", "sum:own2", "avg:own2", "sum:f_right")
				}
				if len(spec.On) == 1 && by[0] == "k" {
					values = append(values, "min:t")
				}
				if spec.Indicator != "" {
					by = append(by, "from", "k_right")
				}
				if len(spec.On) == 2 {
					by = []string{"t", "k"}
				}
				for _, right := range []arrow.Table{right, none} {
					s := check(t, e, left, right, spec, groupby.Spec{By: by, Aggregates: aggregates(values...), BatchRows: 7})
					require.Len(t, s.Sides, 2, "no rows were joined")
					s = check(t, e, left, right, spec, groupby.Spec{By: by[:1], Aggregates: aggregates("count")})
					require.Len(t, s.Sides, 2)
					s = check(t, e, left, right, spec, groupby.Spec{By: by})
					require.Len(t, s.Sides, 2)
				}
			})
		}
	})
}
