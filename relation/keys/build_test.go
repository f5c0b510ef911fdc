package keys

import (
	"context"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// TestBuildKeysMatchAsValuesDo binds several probe tables to one build side: codes compare as values do, no row with a
// partner is left out, and the build codes are the same each time.
func TestBuildKeysMatchAsValuesDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		build, probe, on := drawTables(t)
		side := relation.Side(rapid.IntRange(0, 1).Draw(t, "build side"))
		ordered := func(b, p arrow.Table) (arrow.Table, arrow.Table) {
			if side == relation.Left {
				return b, p
			}
			return p, b
		}
		keys, err := PlanBuild(ctx, build, probe.Schema(), on, on, side, false, drawNullsEqual(t, len(on))...)
		require.NoError(t, err)
		alone, err := readRows(keys.Plan, side, build, on)
		require.NoError(t, err)
		half := probe.NumRows() / 2
		probes := []arrow.Table{probe, slicedTable(probe, half, probe.NumRows()), slicedTable(probe, 0, half),
			slicedTable(probe, half, half)}
		for _, probe := range probes {
			left, right := ordered(build, probe)
			plan, err := keys.Bind(ctx, probe)
			require.NoError(t, err)
			require.Equal(t, keys.KeyBits(), plan.KeyBits())
			require.Equal(t, keys.String(), plan.String())
			l, err := readRows(plan, relation.Left, left, on)
			require.NoError(t, err)
			r, err := readRows(plan, relation.Right, right, on)
			require.NoError(t, err)
			require.NoError(t, checkRows(plan, l, r))
			require.Equal(t, alone, [][]keyRow{l, r}[side])
		}
	})
}

// slicedTable returns the rows [from, to) of a table.
func slicedTable(table arrow.Table, from, to int64) arrow.Table {
	var columns []arrow.Column
	for c := range int(table.NumCols()) {
		column := table.Column(c)
		columns = append(columns, *arrow.NewColumn(column.Field(), array.NewChunkedSlice(column.Data(), from, to)))
	}
	return array.NewTable(table.Schema(), columns, to-from)
}

func ints(values ...uint64) (cells []cell) {
	for _, v := range values {
		cells = append(cells, cell{raw: v})
	}
	return cells
}

// TestBuildKeysIgnoreTheProbesRange: probe rows outside the range of the build side have marked codes, which are one
// bit wider than codes of the build side.
func TestBuildKeysIgnoreTheProbesRange(t *testing.T) {
	i64 := arrow.PrimitiveTypes.Int64
	minus := uint64(math.MaxUint64) // -1
	build := tableOf([]arrow.Array{columnOf(i64, ints(minus-1, minus, 0, 2), 3), columnOf(i64, ints(5, 5, 5, 5), 0)},
		[][]int{{1}, nil})
	probe := tableOf([]arrow.Array{columnOf(i64, ints(minus-2, minus-1, 3, 1<<63, 1<<63-1, 2, 1, minus), 0),
		columnOf(i64, append(ints(5, 5, 5, 5, 5, 5, 6), cell{null: true}), 0)}, [][]int{{2, 3}, {5}})
	keys, err := PlanBuild(context.Background(), build, probe.Schema(), keyNames(2), keyNames(2), relation.Right, false)
	require.NoError(t, err)
	require.Equal(t, 4, keys.KeyBits())
	require.EqualValues(t, 4, keys.Rows(relation.Right))
	require.Zero(t, keys.Rows(relation.Left))
	plan, err := keys.Bind(context.Background(), probe)
	require.NoError(t, err)
	missing, err := plan.Keyless(context.Background(), relation.Left, KeylessAll, 0, 8)
	require.NoError(t, err)
	require.Equal(t, []uint32{7}, missing, "only NULL")
	codes, ids := make([]byte, 4*7), make([]uint32, 7)
	require.NoError(t, plan.Encode(context.Background(), relation.Left, codes, ids))
	require.Equal(t, []uint32{0, 1, 2, 3, 4, 5, 6}, ids)
	const mark = 1 << 3
	require.Equal(t, []uint32{mark | 7, 0, mark | 5, mark | 2, mark | 1, 4, mark | 3}, relation.View[uint32](codes))

	// A build side without keys matches nothing.
	for _, cells := range [][]cell{nil, {{null: true}}} {
		keys, err = PlanBuild(context.Background(), single(i64, cells...), probe.Schema(), keyNames(1), keyNames(1),
			relation.Left, false)
		require.NoError(t, err)
		plan, err = keys.Bind(context.Background(), probe)
		require.NoError(t, err)
		require.Zero(t, plan.Rows(relation.Left))
		require.Zero(t, keys.Rows(relation.Left))
	}
}

func TestBuildErrors(t *testing.T) {
	ctx := context.Background()
	i64, wide := arrow.PrimitiveTypes.Int64, &arrow.Decimal128Type{Precision: 38}
	small, beyond := single(i64, ints(1, 2)...), single(wide, cell{raw: 1, wide: true})
	text := tableOf([]arrow.Array{oneText()}, [][]int{nil})
	two := tableOf([]arrow.Array{columnOf(i64, ints(0, 1<<40), 0), columnOf(i64, ints(0, 1<<40), 0)}, [][]int{nil, nil})
	for name, c := range map[string]struct {
		build  arrow.Table
		probe  *arrow.Schema
		on, by []string
		is     error
		says   string
	}{
		"no keys": {small, small.Schema(), nil, nil, backend.ErrInvalidInput, "at least one"},
		"uneven":  {two, two.Schema(), keyNames(2), keyNames(1), backend.ErrInvalidInput, "1 left and 2 right"},
		"build":   {small, small.Schema(), []string{"x"}, keyNames(1), backend.ErrInvalidInput, `right table has no`},
		"probe":   {small, small.Schema(), keyNames(1), []string{"x"}, backend.ErrInvalidInput, `left table has no`},
		"types": {small, text.Schema(), keyNames(1), keyNames(1), backend.ErrUnsupported,
			`left key column "k0" (utf8)`},
	} {
		_, err := PlanBuild(ctx, c.build, c.probe, c.on, c.by, relation.Right, false)
		require.ErrorIs(t, err, c.is, name)
		require.ErrorContains(t, err, c.says, name)
	}
	keys, err := PlanBuild(ctx, beyond, beyond.Schema(), keyNames(1), keyNames(1), relation.Right, false)
	require.NoError(t, err)
	_, err = keys.Bind(ctx, small)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	require.ErrorContains(t, err, "has type int64, planned was decimal(38, 0)")
	_, err = keys.Bind(ctx, single(wide, cell{raw: 1}))
	require.NoError(t, err)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = keys.Bind(ended, single(wide, cell{raw: 1}))
	require.ErrorIs(t, err, backend.ErrCancelled)
}

// TestSharedRanges: if the ranges together need more than 64 bits, only their intersections are packed.
func TestSharedRanges(t *testing.T) {
	i64, u64 := arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64
	pairs := func(a, b []cell) arrow.Table {
		return tableOf([]arrow.Array{columnOf(i64, a, 7), columnOf(u64, b, 0)}, [][]int{{1, 1}, {2}})
	}
	left := pairs(ints(0, 1<<40, 100, 7, 1<<40), ints(1<<63, 1<<63+9, 1<<63+5, 1<<63+4, 1<<63+7))
	right := pairs(append(ints(100, 1<<40, 1<<50, 1<<40), cell{null: true}),
		ints(1<<63+5, 1<<63+7, 1<<63+6, 4, 1<<63+5))
	plan, err := PlanJoin(context.Background(), left, right, keyNames(2), keyNames(2))
	require.NoError(t, err)
	require.Equal(t, "k0 int64 = k0 int64: 100..1099511627776, 40 bits\n"+
		"k1 uint64 = k1 uint64: 9223372036854775808..9223372036854775815, 3 bits", plan.String())
	require.NoError(t, checkPlan(left, right, keyNames(2)))
	for side, want := range [][]uint32{{0, 1, 3}, {2, 3, 4}} {
		missing, err := plan.Keyless(context.Background(), relation.Side(side), KeylessAll, 0, 5)
		require.NoError(t, err)
		require.Equal(t, want, missing)
	}
	// Ranges without an intersection leave nothing.
	apart := pairs(ints(1<<60), ints(0))
	plan, err = PlanJoin(context.Background(), left, apart, keyNames(2), keyNames(2))
	require.NoError(t, err)
	require.Zero(t, plan.KeyBits())
	require.Zero(t, plan.Rows(relation.Left))
	require.Zero(t, plan.Rows(relation.Right))
}

func TestCrossKeys(t *testing.T) {
	left, right := single(arrow.PrimitiveTypes.Int8, ints(1, 2, 3)...), tableOf([]arrow.Array{oneText()}, [][]int{nil})
	plan, err := PlanCross(left, right)
	require.NoError(t, err)
	require.Equal(t, "no keys: every row meets every row", plan.String())
	require.Zero(t, plan.KeyBits())
	require.Equal(t, 4, plan.KeyBytes())
	require.EqualValues(t, 3, plan.Rows(relation.Left))
	require.EqualValues(t, 1, plan.Rows(relation.Right))
	require.False(t, plan.LeavesOut(relation.Left))
	require.Equal(t, [][]uint64{{0}, {0}, {0}}, plan.Sample(relation.Left, 5, 1))
	require.Equal(t, "()", plan.Text(relation.Left, 1))
	keys := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	require.NoError(t, plan.Encode(context.Background(), relation.Left, keys, nil))
	require.Equal(t, make([]byte, 12), keys)
	missing, err := plan.Keyless(context.Background(), relation.Left, KeylessAll, 0, 3)
	require.NoError(t, err)
	require.Nil(t, missing)
	_, err = PlanCross(left, tableOf([]arrow.Array{array.NewNull(1 << 32)}, [][]int{{1 << 31}}))
	require.ErrorIs(t, err, backend.ErrLimit)
}

// TestKeyText formats keys for messages.
func TestKeyText(t *testing.T) {
	index := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int16}
	table := tableOf([]arrow.Array{
		columnOf(arrow.PrimitiveTypes.Int64, ints(1, math.MaxUint64, 42), 5),
		columnOf(arrow.FixedWidthTypes.Date32, ints(19724, 0, 1), 0),
		columnOf(&arrow.Decimal128Type{Precision: 9, Scale: 2}, []cell{{raw: 1234}, {null: true}, {raw: 5}}, 1),
		columnOf(index, []cell{{raw: 7}, {raw: 8}, {null: true}}, 0),
	}, [][]int{{1}, {2}, {1, 1, 2}, nil})
	plan, err := PlanJoin(context.Background(), table, table, keyNames(4), keyNames(4))
	require.NoError(t, err)
	for row, want := range []string{"(k0=1, k1=2024-01-02, k2=12.34, k3=7)", "(k0=-1, k1=1970-01-01, k2=NULL, k3=8)",
		"(k0=42, k1=1970-01-02, k2=0.05, k3=NULL)"} {
		require.Equal(t, want, plan.Text(relation.Right, row))
	}
	plan, err = PlanJoin(context.Background(), table, table, keyNames(1), keyNames(1))
	require.NoError(t, err)
	require.Equal(t, "k0=42", plan.Text(relation.Left, 2))
}
