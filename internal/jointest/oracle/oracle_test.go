package oracle

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/join"
)

// tableOf reads a table from JSON, in two chunks.
func tableOf(t *testing.T, fields []arrow.Field, json string) arrow.Table {
	schema := arrow.NewSchema(fields, nil)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(json))
	require.NoError(t, err)
	defer batch.Release()
	half := batch.NumRows() / 2
	head, tail := batch.NewSlice(0, half), batch.NewSlice(half, batch.NumRows())
	defer head.Release()
	defer tail.Release()
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{head, tail})
	t.Cleanup(table.Release)
	return table
}

func field(name string, t arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true}
}

// people and pets have keys without a partner, keys with several, NULL as a key, and NULL as payload.
func people(t *testing.T) arrow.Table {
	return tableOf(t, []arrow.Field{field("id", arrow.PrimitiveTypes.Int32), field("name", arrow.BinaryTypes.String)},
		`[{"id": 2, "name": "bob"}, {"id": null, "name": "nil"}, {"id": 1, "name": "ann"}, {"id": 2, "name": null}]`)
}

func pets(t *testing.T) arrow.Table {
	return tableOf(t, []arrow.Field{field("owner", arrow.PrimitiveTypes.Int64),
		field("name", arrow.BinaryTypes.String)},
		`[{"owner": 3, "name": "rex"}, {"owner": 2, "name": "tom"}, {"owner": null, "name": "nil"},
		  {"owner": 2, "name": "kit"}]`)
}

func TestEveryKind(t *testing.T) {
	left, right := people(t), pets(t)
	for _, c := range []struct {
		spec join.Spec
		want []string // fields separated by spaces
	}{
		{join.Spec{How: join.Inner},
			[]string{`2 "bob" "tom"`, `2 "bob" "kit"`, `2 (null) "tom"`, `2 (null) "kit"`}},
		{join.Spec{How: join.Inner, Order: join.RightOrder},
			[]string{`2 "bob" "tom"`, `2 (null) "tom"`, `2 "bob" "kit"`, `2 (null) "kit"`}},
		{join.Spec{How: join.Inner, SeparateKeys: true, Indicator: "from"}, []string{`2 "bob" 2 "tom" "both"`,
			`2 "bob" 2 "kit" "both"`, `2 (null) 2 "tom" "both"`, `2 (null) 2 "kit" "both"`}},
		{join.Spec{How: join.Left, Order: join.LeftOrder}, []string{`2 "bob" "tom"`, `2 "bob" "kit"`,
			`(null) "nil" (null)`, `1 "ann" (null)`, `2 (null) "tom"`, `2 (null) "kit"`}},
		{join.Spec{How: join.Left, Order: join.RightOrder}, []string{`2 "bob" "tom"`, `2 (null) "tom"`,
			`2 "bob" "kit"`, `2 (null) "kit"`, `(null) "nil" (null)`, `1 "ann" (null)`}},
		{join.Spec{How: join.Right, Deterministic: true}, []string{`3 (null) "rex"`, `2 "bob" "tom"`,
			`2 (null) "tom"`, `(null) (null) "nil"`, `2 "bob" "kit"`, `2 (null) "kit"`}},
		{join.Spec{How: join.Right, Order: join.LeftOrder}, []string{`2 "bob" "tom"`, `2 "bob" "kit"`,
			`2 (null) "tom"`, `2 (null) "kit"`, `3 (null) "rex"`, `(null) (null) "nil"`}},
		{join.Spec{How: join.Full, Deterministic: true, Indicator: "from"}, []string{`2 "bob" "tom" "both"`,
			`2 "bob" "kit" "both"`, `(null) "nil" (null) "left_only"`, `1 "ann" (null) "left_only"`,
			`2 (null) "tom" "both"`, `2 (null) "kit" "both"`, `3 (null) "rex" "right_only"`,
			`(null) (null) "nil" "right_only"`}},
		{join.Spec{How: join.Full, SeparateKeys: true, Order: join.RightOrder}, []string{`(null) (null) 3 "rex"`,
			`2 "bob" 2 "tom"`, `2 (null) 2 "tom"`, `(null) (null) (null) "nil"`, `2 "bob" 2 "kit"`,
			`2 (null) 2 "kit"`, `(null) "nil" (null) (null)`, `1 "ann" (null) (null)`}},
		{join.Spec{How: join.Semi}, []string{`2 "bob"`, `2 (null)`}},
		{join.Spec{How: join.Anti}, []string{`(null) "nil"`, `1 "ann"`}},
		{join.Spec{How: join.RightSemi}, []string{`2 "tom"`, `2 "kit"`}},
		{join.Spec{How: join.RightAnti}, []string{`3 "rex"`, `(null) "nil"`}},
		{join.Spec{How: join.Mark},
			[]string{`2 "bob" true`, `(null) "nil" false`, `1 "ann" false`, `2 (null) true`}},
		{join.Spec{How: join.NotIn}, nil},
		{join.Spec{How: join.Left, NullsEqual: []string{"id"}}, []string{`2 "bob" "tom"`, `2 "bob" "kit"`,
			`(null) "nil" "nil"`, `1 "ann" (null)`, `2 (null) "tom"`, `2 (null) "kit"`}},
		{join.Spec{How: join.Anti, NullsEqual: []string{"id"}}, []string{`1 "ann"`}},
		{join.Spec{How: join.Inner, Columns: []string{"name_right", "id"}},
			[]string{`"tom" 2`, `"kit" 2`, `"tom" 2`, `"kit" 2`}},
	} {
		c.spec.LeftOn, c.spec.RightOn = []string{"id"}, []string{"owner"}
		layout, err := join.NewLayout(left.Schema(), right.Schema(), c.spec)
		require.NoError(t, err)
		c.want = append([]string{}, c.want...)
		for i := range c.want {
			c.want[i] = strings.ReplaceAll(c.want[i], " ", "|")
		}
		require.Equal(t, c.want, Texts(left, right, layout), "%+v", c.spec)
	}
}

// TestNotIn: as in SQL, a NULL on the right may be any value, and a NULL on the left may be in any table with rows.
func TestNotIn(t *testing.T) {
	ids := func(json string) arrow.Table {
		return tableOf(t, []arrow.Field{field("k", arrow.PrimitiveTypes.Int8)}, json)
	}
	left := ids(`[{"k": 1}, {"k": null}, {"k": 2}]`)
	for right, want := range map[string][]Row{
		`[]`:                      {{0, None, false}, {1, None, false}, {2, None, false}},
		`[{"k": 2}, {"k": 3}]`:    {{0, None, false}},
		`[{"k": 7}]`:              {{0, None, false}, {2, None, false}},
		`[{"k": 7}, {"k": null}]`: nil,
	} {
		require.Equal(t, want, Join(left, ids(right), join.Spec{How: join.NotIn, On: []string{"k"}}), right)
	}
}

func TestCross(t *testing.T) {
	left, right := people(t), pets(t)
	for _, order := range []join.Order{join.LeftOrder, join.RightOrder} {
		rows := Join(left, right, join.Spec{How: join.Cross, Order: order})
		require.Len(t, rows, 16)
		for n, row := range rows {
			want := Row{n / 4, n % 4, true}
			if order == join.RightOrder {
				want = Row{n % 4, n / 4, true}
			}
			require.Equal(t, want, row)
		}
	}
	empty := tableOf(t, []arrow.Field{field("x", arrow.PrimitiveTypes.Int8)}, `[]`)
	require.Empty(t, Join(left, empty, join.Spec{How: join.Cross}))
}

func TestValid(t *testing.T) {
	some := func(json string) arrow.Table {
		return tableOf(t, []arrow.Field{field("k", arrow.PrimitiveTypes.Int32)}, json)
	}
	unique, twice := some(`[{"k": 1}, {"k": null}, {"k": 2}, {"k": null}]`), some(`[{"k": 5}, {"k": 1}, {"k": 5}]`)
	for validate, want := range map[join.Validate][3]bool{ // 1:m tables, m:1 tables, 1:1 tables
		join.Any: {true, true, true}, join.OneToOne: {false, false, true}, join.OneToMany: {true, false, true},
		join.ManyToOne: {false, true, true},
	} {
		spec := join.Spec{On: []string{"k"}, Validate: validate}
		require.Equal(t, want,
			[3]bool{Valid(unique, twice, spec), Valid(twice, unique, spec), Valid(unique, unique, spec)}, validate)
	}
}

// TestKeysOfSeveralTypes: keys are equal if their values are, whatever their types. Texts that look like other values
// are different from these.
func TestKeysOfSeveralTypes(t *testing.T) {
	one := func(t arrow.DataType, values ...string) arrow.Array {
		b := array.NewBuilder(memory.DefaultAllocator, t)
		defer b.Release()
		for _, v := range values {
			if err := b.AppendValueFromString(v); err != nil {
				panic(err)
			}
		}
		return b.NewArray()
	}
	second, day := &arrow.TimestampType{Unit: arrow.Second}, arrow.FixedWidthTypes.Date32
	for _, c := range []struct{ a, b arrow.Array }{
		{one(arrow.PrimitiveTypes.Int32, "10000000"), one(arrow.PrimitiveTypes.Float64, "1e7")},
		{one(arrow.PrimitiveTypes.Uint64, "18446744073709551615"), one(&arrow.Decimal128Type{Precision: 30, Scale: 2},
			"18446744073709551615.00")},
		{one(arrow.PrimitiveTypes.Float32, "0.5"), one(arrow.PrimitiveTypes.Float64, "0.5")},
		{one(day, "1970-01-03"), one(second, "1970-01-03 00:00:00")},
		{one(second, "1970-01-01 00:00:02"), one(&arrow.TimestampType{Unit: arrow.Nanosecond}, "1970-01-01 00:00:02")},
		{one(arrow.BinaryTypes.String, "x"), one(arrow.BinaryTypes.LargeString, "x")},
	} {
		require.Equal(t, Cell(c.a, 0), Cell(c.b, 0))
	}
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	texts.AppendValues([]string{"-0", "(null)", `a"|"b`}, nil)
	odd := texts.NewArray()
	for i, want := range []string{`"-0"`, `"(null)"`, `"a\"|\"b"`} {
		require.Equal(t, want, Cell(odd, i))
	}
	zeros := array.NewFloat64Builder(memory.DefaultAllocator)
	zeros.AppendValues([]float64{math.Copysign(0, -1), 0, math.NaN(), math.Inf(-1)}, nil)
	floats := zeros.NewArray()
	schema := arrow.NewSchema([]arrow.Field{field("f", floats.DataType())}, nil)
	table := array.NewTableFromRecords(schema,
		[]arrow.RecordBatch{array.NewRecordBatch(schema, []arrow.Array{floats}, 4)})
	require.Equal(t, []string{"-0", "0", "NaN", "-Inf"}, Cells(table, "f"))
	require.Equal(t, [][2]uint32{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 2}, {3, 3}},
		Pairs(table, table, join.Spec{On: []string{"f"}}))
}

func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float64{0: 0, 1: 0x1p-24, 0x3ff: 0x3ffp-24, 0x400: 0x1p-14, 0x3c00: 1,
		0xc100: -2.5,
		0x7bff: 65504, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1), 0x83ff: -0x3ffp-24} {
		require.Equal(t, want, Half(float16.FromBits(bits)), "%#x", bits)
	}
	require.True(t, math.IsNaN(Half(float16.FromBits(0x7c01))))
	require.True(t, math.Signbit(Half(float16.FromBits(0x8000))))
}

// TestSideOfKeys: zeros of either sign are equal, so that a key column shows from which side its value comes: the left
// one, but the right one in right joins.
func TestSideOfKeys(t *testing.T) {
	zero := func(v float64) arrow.Table {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		defer b.Release()
		b.Append(v)
		schema := arrow.NewSchema([]arrow.Field{field("k", arrow.PrimitiveTypes.Float64)}, nil)
		table := array.NewTableFromRecords(schema,
			[]arrow.RecordBatch{array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, 1)})
		t.Cleanup(table.Release)
		return table
	}
	left, right := zero(0), zero(math.Copysign(0, -1))
	for how, want := range map[join.How]string{join.Inner: "0", join.Left: "0", join.Full: "0", join.Right: "-0"} {
		layout, err := join.NewLayout(left.Schema(), right.Schema(), join.Spec{How: how, On: []string{"k"}})
		require.NoError(t, err)
		require.Equal(t, []string{want}, Texts(left, right, layout), how)
	}
}

// reporter records the failures of a comparison.
type reporter struct {
	testing.TB
	failed bool
}

func (r *reporter) Helper()               {}
func (r *reporter) Errorf(string, ...any) { r.failed = true }
func (r *reporter) FailNow()              { panic(r) }

// fails reports whether the comparison rejects the batches.
func fails(t *testing.T, left, right arrow.Table, layout *join.Layout, batches ...arrow.RecordBatch) bool {
	r := &reporter{TB: t}
	func() {
		defer func() { _ = recover() }()
		Require(r, left, right, layout, batches)
	}()
	return r.failed
}

// TestRequireSeesFaults: the comparison detects planted mistakes.
func TestRequireSeesFaults(t *testing.T) {
	left, right := people(t), pets(t)
	layout := func(order join.Order) *join.Layout {
		l, err := join.NewLayout(left.Schema(), right.Schema(), join.Spec{How: join.Left, LeftOn: []string{"id"},
			RightOn: []string{"owner"}, Order: order, Indicator: "from"})
		require.NoError(t, err)
		return l
	}
	rows := []string{`{"id": 2, "name": "bob", "name_right": "tom", "from": "both"}`,
		`{"id": 2, "name": "bob", "name_right": "kit", "from": "both"}`,
		`{"id": null, "name": "nil", "name_right": null, "from": "left_only"}`,
		`{"id": 1, "name": "ann", "name_right": null, "from": "left_only"}`,
		`{"id": 2, "name": null, "name_right": "tom", "from": "both"}`,
		`{"id": 2, "name": null, "name_right": "kit", "from": "both"}`}
	batch := func(schema *arrow.Schema, rows ...string) arrow.RecordBatch {
		b, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema,
			strings.NewReader("["+strings.Join(rows, ",")+"]"))
		require.NoError(t, err)
		return b
	}
	ordered, unordered := layout(join.LeftOrder), layout(join.Unordered)
	schema := ordered.Schema
	require.False(t, fails(t, left, right, ordered, batch(schema, rows[:2]...), batch(schema, rows[2:]...)))
	swapped := slices.Clone(rows)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	require.False(t, fails(t, left, right, unordered, batch(schema, swapped...)))
	require.True(t, fails(t, left, right, ordered, batch(schema, swapped...)), "an order")
	require.True(t, fails(t, left, right, unordered, batch(schema, rows[1:]...)), "a missing row")
	require.True(t, fails(t, left, right, unordered, batch(schema, append(rows[1:], rows[1])...)),
		"a row too many in the place of another")
	fault := slices.Clone(rows)
	fault[2] = strings.Replace(fault[2], "left_only", "both", 1)
	require.True(t, fails(t, left, right, unordered, batch(schema, fault...)), "an indicator")
	fault[2] = strings.Replace(rows[2], `"name_right": null`, `"name_right": "nil"`, 1)
	require.True(t, fails(t, left, right, unordered, batch(schema, fault...)), "a partner of NULL")
	fault[2] = strings.Replace(rows[2], `"left_only"`, `null`, 1)
	require.True(t, fails(t, left, right, unordered, batch(schema, fault...)), "a NULL that the field forbids")
	wider := slices.Clone(schema.Fields())
	wider[0].Type = arrow.PrimitiveTypes.Int64
	require.True(t, fails(t, left, right, unordered, batch(arrow.NewSchema(wider, nil), rows...)), "a type")
}

// TestFloatText: quarters, which need no large numbers, have the texts of all other fractions.
func TestFloatText(t *testing.T) {
	for _, v := range []float64{0, 1, -1, 0.25, -0.25, 0.5, -1.5, 0.75, -7.75, 0.125, 1e7, 1 << 49, 1<<49 + 0.25, 1 << 50,
		-1<<50 + 0.25, 1 << 62, 1 << 63, 1e300, 5e-324, 0.1} {
		require.Equal(t, new(big.Rat).SetFloat64(v).RatString(), floatText(v))
	}
}

// TestFraction: scaled integers are written as package big writes fractions.
func TestFraction(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 5, 8, 10, -250, 1_000_000, 123_456_789, 7 << 50, math.MaxInt64, math.MinInt64} {
		power := int64(1)
		for scale := range int32(19) {
			require.Equal(t, big.NewRat(v, power).RatString(), string(appendFraction(nil, v, scale)))
			power *= 10
		}
	}
}

func TestInnerNullsAreNull(t *testing.T) {
	from := func(dt arrow.DataType, text string) arrow.Array {
		a, _, err := array.FromJSON(memory.NewGoAllocator(), dt, strings.NewReader(text))
		require.NoError(t, err)
		return a
	}
	values := from(arrow.PrimitiveTypes.Int32, `[1, null]`)
	union, err := array.NewSparseUnionFromArrays(from(arrow.PrimitiveTypes.Int8, `[0, 0]`), []arrow.Array{values})
	require.NoError(t, err)
	for _, column := range []arrow.Array{
		array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: values.DataType()},
			from(arrow.PrimitiveTypes.Int32, `[0, 1]`), values),
		array.NewRunEndEncodedArray(from(arrow.PrimitiveTypes.Int32, `[1, 2]`), values, 2, 0),
		union,
	} {
		require.NotEqual(t, null, Cell(column, 0), column.DataType())
		require.Equal(t, null, Cell(column, 1), column.DataType())
	}
}
