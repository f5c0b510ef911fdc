package keys

import (
	"context"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/relationtest"
)

// interesting are numbers at the limits of the types and of exact conversion between them.
var interesting = func() (raw []uint64) {
	for _, v := range []uint64{0, 1, 2, 10, 50, 100, 127, 128, 255, 256, 500, 1000, 1500, 43_200, 86_400, 43_200_000,
		86_400_000, 1e6, 1e9, 1 << 24, 1 << 53, 86_400e6, 43_200e9, 86_400e9, 3 * 86_400e9,
		math.MaxInt16, math.MaxUint16, math.MaxInt32, math.MaxUint32, math.MaxInt64, math.MaxUint64,
		math.MaxInt64 / 1000} {
		raw = append(raw, v-1, v, v+1, -v, -v-1)
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 255, 65504, 1e9, 1 << 53, 1 << 63, -1 << 63,
		1 << 64, math.NaN(),
		math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64, math.MaxFloat64, 100, -128, 1000} {
		bits := uint64(math.Float32bits(float32(f)))
		raw = append(raw, math.Float64bits(f), math.Float64bits(-f), bits, bits|1<<31, math.Float64bits(f)+1)
	}
	return append(raw, 0x7ff0_0000_0000_0001, 0xfff8_0000_0000_0123, 0x7f80_0001, 0xffc0_0000, 0x7c01, 0xfe00, 0x7c00,
		0xfc00,
		0x8000, 0x8001, 0x3ff, 0x400, 0x3c00, 0x5640)
}()

func drawCell(t *rapid.T) cell {
	c := cell{null: rapid.IntRange(0, 7).Draw(t, "null") == 0, wide: rapid.IntRange(0, 15).Draw(t, "wide") == 0}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		c.raw = rapid.Uint64().Draw(t, "raw")
	case 1:
		c.raw = uint64(rapid.Int64Range(-300, 300).Draw(t, "small"))
	default:
		c.raw = rapid.SampledFrom(interesting).Draw(t, "edge")
	}
	return c
}

// drawType draws a type, or a dictionary of it.
func drawType(t *rapid.T, group []arrow.DataType) arrow.DataType {
	dt := rapid.SampledFrom(group).Draw(t, "type")
	if rapid.IntRange(0, 4).Draw(t, "dictionary") == 0 {
		index := rapid.SampledFrom(relationtest.KeyTypes[0][:8]).Draw(t, "index")
		return &arrow.DictionaryType{IndexType: index, ValueType: dt}
	}
	return dt
}

func drawTables(t *rapid.T) (left, right arrow.Table, on []string) {
	n := rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "keys")
	var columns [2][]arrow.Array
	var cuts [2][][]int
	rows := [2]int{rapid.IntRange(0, 24).Draw(t, "left rows"), rapid.IntRange(0, 24).Draw(t, "right rows")}
	for range n {
		group := rapid.SampledFrom(relationtest.KeyTypes).Draw(t, "group")
		narrow := n > 1 && rapid.Bool().Draw(t, "narrow") // otherwise several columns seldom fit
		for side := range rows {
			dt := drawType(t, group)
			cells := rapid.SliceOfN(rapid.Custom(drawCell), rows[side], rows[side]).Draw(t, "cells")
			for i := range cells {
				if narrow {
					cells[i].raw, cells[i].wide = cells[i].raw%16, false
				}
			}
			columns[side] = append(columns[side], columnOf(dt, cells, rapid.IntRange(0, 70).Draw(t, "skip")))
			cuts[side] = append(cuts[side], rapid.SliceOfN(rapid.IntRange(0, 24), 0, 3).Draw(t, "cuts"))
		}
	}
	left, right = tableOf(columns[relation.Left], cuts[relation.Left]), tableOf(columns[relation.Right], cuts[relation.Right])
	return left, right, keyNames(n)
}

// drawNullsEqual draws for each of n keys, or for the first of them, whether NULL equals NULL.
func drawNullsEqual(t *rapid.T, n int) []bool {
	return rapid.SliceOfN(rapid.Bool(), 0, n).Draw(t, "nulls equal")
}

func TestKeysOrderAndMatchAsValuesDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left, right, on := drawTables(t)
		require.NoError(t, checkPlan(left, right, on, drawNullsEqual(t, len(on))...))
	})
}

func TestOracleCatchesPlantedFaults(t *testing.T) {
	left := single(arrow.PrimitiveTypes.Int64, cell{raw: 5}, cell{raw: 7}, cell{null: true})
	right := single(arrow.PrimitiveTypes.Int32, cell{raw: 7}, cell{raw: 9})
	plan, err := PlanJoin(context.Background(), left, right, keyNames(1), keyNames(1))
	require.NoError(t, err)
	rows := func() (l, r []keyRow) {
		l, err := readRows(plan, relation.Left, left, keyNames(1))
		require.NoError(t, err)
		r, err = readRows(plan, relation.Right, right, keyNames(1))
		require.NoError(t, err)
		return l, r
	}
	l, r := rows()
	require.NoError(t, checkRows(plan, l, r))
	for name, plant := range map[string]func(l, r []keyRow){
		"order":        func(l, _ []keyRow) { l[0].code, l[1].code = l[1].code, l[0].code },
		"false match":  func(l, _ []keyRow) { l[0].code = l[1].code },
		"missed match": func(_, r []keyRow) { r[0].code++ },
		"row left out": func(_, r []keyRow) { r[0].encoded = false },
		"null encoded": func(l, _ []keyRow) {
			l[2].encoded, l[2].values[0] = true, l[1].values[0]
			l[2].code = l[1].code
		},
		"wrong overlap": func(l, r []keyRow) { r[1].code = l[0].code },
	} {
		l, r := rows()
		plant(l, r)
		assert.Error(t, checkRows(plan, l, r), name)
	}
}

func TestPlanOfTPCHKeys(t *testing.T) {
	left := tableOf([]arrow.Array{
		columnOf(arrow.PrimitiveTypes.Int64, []cell{{raw: 1}, {raw: 6_000_000}}, 0),
		columnOf(arrow.FixedWidthTypes.Date32, []cell{{raw: 8036}, {raw: 8036}}, 0),
	}, [][]int{nil, nil})
	right := tableOf([]arrow.Array{
		columnOf(arrow.PrimitiveTypes.Uint8, []cell{{raw: 200}, {null: true}, {raw: 3}}, 0),
		columnOf(arrow.FixedWidthTypes.Date32, []cell{{raw: 8037}, {raw: 8037}, {raw: 8037}}, 0),
	}, [][]int{nil, nil})
	plan, err := PlanJoin(context.Background(), left, right, keyNames(2), keyNames(2))
	require.NoError(t, err)
	assert.Equal(t, "k0 int64 = k0 uint8: 1..6000000, 23 bits\nk1 date32 = k1 date32: 8036..8037, 1 bits",
		plan.String())
	assert.Equal(t, 24, plan.KeyBits())
	assert.Equal(t, 4, plan.KeyBytes())
	assert.EqualValues(t, 2, plan.Rows(relation.Left))
	assert.EqualValues(t, 2, plan.Rows(relation.Right))
	assert.False(t, plan.LeavesOut(relation.Left))
	assert.True(t, plan.LeavesOut(relation.Right))

	keys, ids := make([]byte, 12), []uint32{9, 9, 9}
	require.NoError(t, plan.Encode(context.Background(), relation.Right, keys, ids))
	assert.Equal(t, []uint32{199<<1 | 1, 2<<1 | 1, 0}, relation.View[uint32](keys),
		"nothing is written behind the last code")
	assert.Equal(t, []uint32{0, 2, 9}, ids)

	assert.ErrorIs(t, plan.Encode(context.Background(), relation.Right, keys[:7], ids), backend.ErrInvalidInput)
	assert.ErrorIs(t, plan.Encode(context.Background(), relation.Right, keys, ids[:1]), backend.ErrInvalidInput)
	assert.NoError(t, plan.Encode(context.Background(), relation.Left, keys, nil))
}

func TestPlanTextOfFloatsAndUnsigned(t *testing.T) {
	for want, table := range map[string]arrow.Table{
		"k0 float32 = k0 float32: -1.5..NaN, 32 bits": single(arrow.PrimitiveTypes.Float32,
			cell{raw: 0xffc0_0000}, cell{raw: uint64(math.Float32bits(-1.5))}),
		"k0 float64 = k0 float64: 0..5e-324, 1 bits": single(arrow.PrimitiveTypes.Float64,
			cell{raw: 1 << 63}, cell{raw: 1}),
		"k0 uint64 = k0 uint64: 1..18446744073709551615, 64 bits": single(arrow.PrimitiveTypes.Uint64,
			cell{raw: math.MaxUint64}, cell{raw: 1}),
		"k0 bool = k0 bool: no values, 0 bits": single(arrow.FixedWidthTypes.Boolean, cell{null: true}),
	} {
		plan, err := PlanJoin(context.Background(), table, table, keyNames(1), keyNames(1))
		require.NoError(t, err)
		assert.Equal(t, want, plan.String())
	}
}

func TestWidthOfCodes(t *testing.T) {
	whole := func(dt arrow.DataType, raw ...uint64) arrow.Table {
		var cells []cell
		for _, r := range raw {
			cells = append(cells, cell{raw: r})
		}
		return single(dt, cells...)
	}
	for name, c := range map[string]struct {
		table       arrow.Table
		bits, bytes int
	}{
		"no rows":       {whole(arrow.PrimitiveTypes.Int64), 0, 4},
		"one value":     {whole(arrow.PrimitiveTypes.Int64, 5, 5), 0, 4},
		"two values":    {whole(arrow.PrimitiveTypes.Int64, 5, 6), 1, 4},
		"32 bits":       {whole(arrow.PrimitiveTypes.Int64, 1, 1<<32), 32, 4},
		"33 bits":       {whole(arrow.PrimitiveTypes.Int64, 0, 1<<32), 33, 8},
		"all of int64":  {whole(arrow.PrimitiveTypes.Int64, 1<<63, 1<<63-1), 64, 8},
		"all of uint64": {whole(arrow.PrimitiveTypes.Uint64, 0, math.MaxUint64), 64, 8},
		"all of int32":  {whole(arrow.PrimitiveTypes.Int32, 1<<31, 1<<31-1), 32, 4},
		"bool":          {whole(arrow.FixedWidthTypes.Boolean, 0, 1), 1, 4},
		"all float32":   {whole(arrow.PrimitiveTypes.Float32, 0xff80_0000, 0x7fc0_0000), 32, 4},
	} {
		plan, err := PlanJoin(context.Background(), c.table, whole(c.table.Schema().Field(0).Type), keyNames(1),
			keyNames(1))
		require.NoError(t, err, name)
		assert.Equal(t, c.bits, plan.KeyBits(), name)
		assert.Equal(t, c.bytes, plan.KeyBytes(), name)
		assert.NoError(t, checkPlan(c.table, c.table, keyNames(1)), name)
	}
}

func TestValuesThatTheOtherTypeCannotHoldAreLeftOut(t *testing.T) {
	i64, u64, f64 := arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float64
	float := func(f float64) cell { return cell{raw: math.Float64bits(f)} }
	for name, c := range map[string]struct {
		left, right         arrow.Table
		leftRows, rightRows uint64
	}{
		"-1 is not 2^64-1": {single(i64, cell{raw: math.MaxUint64}), single(u64, cell{raw: math.MaxUint64}), 1,
			0},
		"2^53+1 is not 2^53": {single(i64, cell{raw: 1<<53 + 1}),
			single(f64, float(1<<53), float(0.5), float(math.NaN()), float(1<<63)), 1, 1},
		"2^64 is no uint64": {single(u64, cell{raw: 0}), single(f64, float(1<<64), float(-1), float(1<<63)), 1, 1},
		"seconds beyond ns": {single(&arrow.TimestampType{Unit: arrow.Second}, cell{raw: 1}, cell{raw: 9_223_372_037}),
			single(&arrow.TimestampType{Unit: arrow.Nanosecond}, cell{raw: 1e9}, cell{raw: 1e9 - 1}), 2, 1},
		"noon is no date": {single(arrow.FixedWidthTypes.Date32, cell{raw: 1 << 31}, cell{raw: 1}),
			single(&arrow.TimestampType{Unit: arrow.Microsecond}, cell{raw: 86_400e6}, cell{raw: 43_200e6}), 2, 1},
		"0.15 has no tenths": {single(&arrow.Decimal128Type{Precision: 38, Scale: 2}, cell{raw: 15},
			cell{raw: math.MaxUint64 - 49}),
			single(&arrow.Decimal32Type{Precision: 9, Scale: 1}, cell{raw: 1}), 1, 1},
		"null type matches none": {single(i64, cell{raw: 1}), tableOf([]arrow.Array{array.NewNull(3)}, [][]int{{1}}), 1,
			0},
	} {
		plan, err := PlanJoin(context.Background(), c.left, c.right, keyNames(1), keyNames(1))
		require.NoError(t, err, name)
		assert.Equal(t, c.leftRows, plan.Rows(relation.Left), name)
		assert.Equal(t, c.rightRows, plan.Rows(relation.Right), name)
		assert.Equal(t, c.leftRows < uint64(c.left.NumRows()), plan.LeavesOut(relation.Left), name)
		assert.NoError(t, checkPlan(c.left, c.right, keyNames(1)), name)
	}
}

func TestPlanErrors(t *testing.T) {
	ctx := context.Background()
	i64, wide := arrow.PrimitiveTypes.Int64, &arrow.Decimal128Type{Precision: 38}
	two := tableOf([]arrow.Array{columnOf(i64, []cell{{raw: 0}, {raw: 1 << 40}}, 0),
		columnOf(i64, []cell{{raw: 0}, {raw: 1 << 40}}, 0)}, [][]int{nil, nil})
	twins := array.NewTable(arrow.NewSchema([]arrow.Field{two.Schema().Field(0), two.Schema().Field(0)}, nil),
		[]arrow.Column{*two.Column(0), *two.Column(0)}, 2)
	// Two chunks of the null type stand for 2^32 rows without taking memory.
	huge := tableOf([]arrow.Array{array.NewNull(1 << 32)}, [][]int{{1 << 31}})
	dictionary := func(index uint64) arrow.Table {
		dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: i64}
		return tableOf([]arrow.Array{array.NewDictionaryArray(dt, columnOf(dt.IndexType, []cell{{raw: index}}, 0),
			columnOf(i64, []cell{{}, {}}, 0))}, [][]int{nil})
	}
	for name, c := range map[string]struct {
		left, right arrow.Table
		leftOn      []string
		rightOn     []string
		is          error
		says        []string
	}{
		"no keys": {two, two, nil, nil, backend.ErrInvalidInput, []string{"at least one"}},
		"uneven keys": {two, two, []string{"k0", "k1"}, []string{"k0"}, backend.ErrInvalidInput,
			[]string{"2 left and 1 right"}},
		"unknown": {two, two, []string{"k0"}, []string{"k"}, backend.ErrInvalidInput,
			[]string{`right table has no column "k"`, `did you mean "k0"?`}},
		"nothing near": {two, two, []string{"customer"}, []string{"k0"}, backend.ErrInvalidInput,
			[]string{"its columns are k0, k1"}},
		"ambiguous": {twins, two, []string{"k0"}, []string{"k0"}, backend.ErrInvalidInput,
			[]string{"2 columns"}},
		"string": {single(i64), tableOf([]arrow.Array{oneText()}, [][]int{nil}), keyNames(1), keyNames(1),
			backend.ErrUnsupported, []string{"right", `"k0"`, "utf8"}},
		"bool and int": {single(i64), single(arrow.FixedWidthTypes.Boolean), keyNames(1), keyNames(1),
			backend.ErrUnsupported, []string{"left", "right", "int64", "bool", "cast"}},
		"time zones": {single(&arrow.TimestampType{TimeZone: "UTC"}), single(&arrow.TimestampType{}),
			keyNames(1), keyNames(1), backend.ErrUnsupported, []string{"time zone"}},
		"date and UTC": {single(arrow.FixedWidthTypes.Date32), single(&arrow.TimestampType{TimeZone: "UTC"}),
			keyNames(1), keyNames(1), backend.ErrUnsupported, []string{"time zone"}},
		"decimal and float": {single(wide), single(arrow.PrimitiveTypes.Float64), keyNames(1), keyNames(1),
			backend.ErrUnsupported, []string{"decimal", "float64"}},
		"rows": {huge, two, keyNames(1), keyNames(1), backend.ErrLimit, []string{"4294967296", "4294967294"}},
		"index": {dictionary(2), two, keyNames(1), keyNames(1), backend.ErrInvalidInput,
			[]string{"index 2", "2 entries"}},
		"minus index": {dictionary(255), two, keyNames(1), keyNames(1), backend.ErrInvalidInput, []string{"index -1"}},
	} {
		plan, err := PlanJoin(ctx, c.left, c.right, c.leftOn, c.rightOn)
		assert.Nil(t, plan, name)
		require.ErrorIs(t, err, c.is, name)
		for _, part := range c.says {
			assert.ErrorContains(t, err, part, name)
		}
		assert.NotContains(t, err.Error(), "\n", name)
	}

	// Values of more than 64 bits on one side alone are accepted.
	assert.NoError(t,
		checkPlan(single(wide, cell{raw: 5, wide: true}, cell{raw: 5}), single(wide, cell{raw: 5}), keyNames(1)))
	// So are hundredths with a fraction, if the other side has more than 64 bits.
	hundredths := &arrow.Decimal128Type{Precision: 38, Scale: 2}
	assert.NoError(t, checkPlan(single(hundredths, cell{raw: 5}, cell{raw: 500}, cell{raw: 1 << 60}),
		single(wide, cell{raw: 5, wide: true}, cell{raw: 5}), keyNames(1)))
}

func TestCancelledContext(t *testing.T) {
	table := single(arrow.PrimitiveTypes.Int64, cell{raw: 1})
	plan, err := PlanJoin(context.Background(), table, table, keyNames(1), keyNames(1))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = PlanJoin(ctx, table, table, keyNames(1), keyNames(1))
	assert.ErrorIs(t, err, backend.ErrCancelled)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, plan.Encode(ctx, relation.Left, make([]byte, 8), nil), backend.ErrCancelled)
	late, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	assert.ErrorIs(t, plan.Encode(late, relation.Left, make([]byte, 8), nil), backend.ErrTimedOut)
}

func oneText() arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.Append("text")
	return b.NewArray()
}
