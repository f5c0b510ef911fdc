package engine_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/graphics"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
)

// small tiles make many tiles of few rows.
const tileRows = 8 * 24

var small = func() primitive.Tuning {
	c := backend.Config{"serial": 1, "workgroup": 8, "items": 24}
	return primitive.Override(c, "radix_sort", "scan", "range_search", "range_expand")
}()

// keyKind draws the key columns of a row from a number that says which rows match.
type keyKind struct {
	name        string
	left, right []arrow.DataType
	value       func(b array.Builder, column int, n int64)
	nulls       bool
	hashBits    int // that are kept, of codes that are hashes; 0: all
}

// noHashBits keeps no bit: all keys collide.
const noHashBits = -1

// engine sets how many hash bits the engine keeps, so that keys collide as the kind asks.
func (k *keyKind) engine(e *engine.Engine) *engine.Engine {
	if k != nil && k.hashBits != 0 {
		e.HashBits = new(max(0, k.hashBits))
	}
	return e
}

// appendText appends the n-th text: short and long ones, and the empty one.
func appendText(b array.Builder, n int64) {
	switch b.(type) {
	case *array.Int32Builder, *array.Int64Builder:
		appendInt(b, n)
		return
	}
	text := ""
	if n != 0 {
		text = strings.Repeat("y", int(n&7)*3) + strconv.FormatInt(n, 10)
	}
	appendString(b, text)
}

func appendString(b array.Builder, text string) {
	switch b := b.(type) {
	case *array.BinaryDictionaryBuilder:
		if err := b.AppendString(text); err != nil {
			panic(err)
		}
	case *array.StringBuilder:
		b.Append(text)
	case *array.LargeStringBuilder:
		b.Append(text)
	case *array.StringViewBuilder:
		b.Append(text)
	case *array.BinaryBuilder:
		b.Append([]byte(text))
	}
}

// appendWide appends numbers that take more than 64 bits at a scale of 4.
func appendWide(b array.Builder, _ int, n int64) {
	number := decimal256.FromI64(n - 5).Mul(decimal256.GetScaleMultiplier(20))
	switch b := b.(type) {
	case *array.Decimal128Builder:
		words := number.Array()
		b.Append(decimal128.New(int64(words[1]), words[0]))
	case *array.Decimal256Builder:
		b.Append(number.Mul(decimal256.GetScaleMultiplier(2)))
	}
}

func dictionaryOf(t arrow.DataType) arrow.DataType {
	return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: t}
}

func appendInt(b array.Builder, n int64) {
	switch b := b.(type) {
	case *array.Int16Builder:
		b.Append(int16(n))
	case *array.Int32Builder:
		b.Append(int32(n))
	case *array.Int64Builder:
		b.Append(n)
	case *array.Uint64Builder:
		b.Append(uint64(n))
	case *array.Date32Builder:
		b.Append(arrow.Date32(n))
	case *array.Float64Builder:
		b.Append(float64(n))
	}
}

var keyKinds = []keyKind{
	{name: "int32", left: types(arrow.PrimitiveTypes.Int32), right: types(arrow.PrimitiveTypes.Int32),
		value: func(b array.Builder, _ int, n int64) { appendInt(b, n-50) }},
	{name: "wide int64 with extremes", left: types(arrow.PrimitiveTypes.Int64),
		right: types(arrow.PrimitiveTypes.Int64),
		value: func(b array.Builder, _ int, n int64) {
			switch n {
			case 0:
				n = math.MinInt64
			case 1:
				n = math.MaxInt64
			default:
				n *= 0x9E3779B97F4A7C1 // spread over 64 bits
			}
			appendInt(b, n)
		}},
	{name: "int32 with uint64 and nulls", left: types(arrow.PrimitiveTypes.Int32),
		right: types(arrow.PrimitiveTypes.Uint64), nulls: true,
		value: func(b array.Builder, _ int, n int64) { appendInt(b, n) }},
	{name: "int16 and date", left: types(arrow.PrimitiveTypes.Int16, arrow.FixedWidthTypes.Date32),
		right: types(arrow.PrimitiveTypes.Int16, arrow.FixedWidthTypes.Date32), nulls: true,
		value: func(b array.Builder, column int, n int64) { appendInt(b, []int64{n % 7, n / 7}[column]) }},
	{name: "float64", left: types(arrow.PrimitiveTypes.Float64), right: types(arrow.PrimitiveTypes.Float64),
		value: func(b array.Builder, _ int, n int64) {
			b.(*array.Float64Builder).Append([]float64{math.NaN(), math.Copysign(0, -1), math.Inf(1), 0.5}[n%4] +
				float64(n/4))
		}},
	{name: "strings", left: types(arrow.BinaryTypes.String), right: types(arrow.BinaryTypes.String), nulls: true,
		value: func(b array.Builder, _ int, n int64) { appendText(b, n) }},
	{name: "short strings", left: types(arrow.BinaryTypes.String), right: types(dictionaryOf(arrow.BinaryTypes.String)),
		nulls: true, value: func(b array.Builder, _ int, n int64) {
			text := strconv.FormatInt(n, 30)
			if n%9 == 0 && b.Type().ID() == arrow.DICTIONARY {
				text += ", which no left row has"
			}
			appendString(b, text)
		}},
	{name: "dictionary with large strings", left: types(dictionaryOf(arrow.BinaryTypes.String)),
		right: types(arrow.BinaryTypes.LargeString), nulls: true,
		value: func(b array.Builder, _ int, n int64) { appendText(b, n) }},
	{name: "views with colliding strings", left: types(arrow.BinaryTypes.StringView), hashBits: 4,
		right: types(arrow.BinaryTypes.String), value: func(b array.Builder, _ int, n int64) { appendText(b, n) }},
	{name: "strings that all collide", left: types(arrow.BinaryTypes.LargeString), hashBits: noHashBits,
		right: types(dictionaryOf(arrow.BinaryTypes.String)), nulls: true,
		value: func(b array.Builder, _ int, n int64) { appendText(b, n) }},
	{name: "int32 with int64, int64, binary", hashBits: 4, nulls: true,
		left:  types(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.Binary),
		right: types(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.Binary),
		value: func(b array.Builder, column int, n int64) {
			appendText(b, []int64{n % 7, n * 0x9E3779B97F4A7C1, n / 7}[column])
		}},
	{name: "wide int64s", left: types(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64),
		right: types(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64),
		value: func(b array.Builder, column int, n int64) {
			appendInt(b, []int64{n % 5 * 0x1E3779B97F4A7C15, n / 5 * 0x9E3779B97F4A7C1}[column])
		}},
	{name: "wide decimals", left: types(&arrow.Decimal128Type{Precision: 38, Scale: 2}), nulls: true,
		right: types(&arrow.Decimal256Type{Precision: 76, Scale: 4}), value: appendWide},
}

func types(t ...arrow.DataType) []arrow.DataType { return t }

// matching says how the numbers of left and right rows are drawn.
var matchings = []struct {
	name        string
	left, right func(random *rand.Rand, i, rows int) int64
	maxRows     int // 0: any
}{
	{"primary and foreign keys", func(_ *rand.Rand, i, _ int) int64 { return int64(i) },
		func(r *rand.Rand, _, rows int) int64 { return int64(r.IntN(rows + 1)) }, 0},
	{"duplicates on both sides", func(r *rand.Rand, _, rows int) int64 { return int64(r.IntN(rows/3 + 1)) },
		func(r *rand.Rand, _, rows int) int64 { return int64(r.IntN(rows/3 + 1)) }, 0},
	{"no match", func(_ *rand.Rand, i, _ int) int64 { return int64(2 * i) },
		func(_ *rand.Rand, i, _ int) int64 { return int64(2*i + 1) }, 0},
	{"one key", func(*rand.Rand, int, int) int64 { return 3 }, func(*rand.Rand, int, int) int64 { return 3 }, 120},
	{"skewed", zipfish, zipfish, 1000},
}

func zipfish(r *rand.Rand, _, rows int) int64 { return int64(math.Pow(float64(rows), r.Float64())) - 1 }

var sizes = [][2]int{{0, 5}, {5, 0}, {1, 1}, {1, tileRows + 1}, {24, 23}, {tileRows - 1, tileRows},
	{tileRows + 1, 3 * tileRows}, {5*tileRows + 7, 2*tileRows - 3}}

var outputs = []struct {
	output      join.Output
	materialize join.Materialize
	columns     []string
}{
	{output: join.Count},
	{output: join.Pairs},
	{output: join.Rows, materialize: join.MaterializeHost},
	{output: join.Rows, materialize: join.MaterializeDevice},
	{output: join.Rows, materialize: join.MaterializeDevice, columns: []string{"n_right", "f"}},
	{output: join.Rows, columns: []string{"text_right", "k0", "f_right"}},
}

// drawing is the algorithm that only devices with a rasterizer have.
var drawing = graphics.Algorithm{}.Name()

// algorithms are those that every device has.
var algorithms = slices.DeleteFunc(join.AlgorithmNames(), func(name string) bool { return name == drawing })

// randomTable has key columns k0.. and payload of several types, with nulls, in chunks.
func randomTable(random *rand.Rand, rows int, keyTypes []arrow.DataType, kind *keyKind,
	number func(*rand.Rand, int, int) int64, keyPrefix string) arrow.Table {
	var fields []arrow.Field
	for i, t := range keyTypes {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("%s%d", keyPrefix, i), Type: t, Nullable: true})
	}
	fields = append(fields,
		arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		arrow.Field{Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		arrow.Field{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true})
	schema := arrow.NewSchema(fields, nil)
	var batches []arrow.RecordBatch
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	flush := func() { batches = append(batches, b.NewRecordBatch()) }
	keys := len(keyTypes)
	for i := range rows {
		n := number(random, i, rows)
		for k := range keys {
			if kind.nulls && random.IntN(10) == 0 {
				b.Field(k).AppendNull()
			} else {
				kind.value(b.Field(k), k, n)
			}
		}
		b.Field(keys).(*array.Int32Builder).Append(int32(random.Uint32()))
		if random.IntN(3) == 0 {
			b.Field(keys + 1).AppendNull()
		} else {
			b.Field(keys + 1).(*array.Float64Builder).Append(float64(i) / 4)
		}
		b.Field(keys + 2).(*array.StringBuilder).Append(fmt.Sprintf("%s%d", keyPrefix, i))
		if random.IntN(100) == 0 {
			flush()
		}
	}
	flush()
	defer func() {
		for _, batch := range batches {
			batch.Release()
		}
	}()
	return array.NewTableFromRecords(schema, batches)
}

// forms are what may be asked for besides the kind of join.
var forms = []func(s *join.Spec){
	func(*join.Spec) {},
	func(s *join.Spec) { s.SeparateKeys, s.Indicator = s.How != join.Cross, indicator(s) },
	func(s *join.Spec) { s.Order = join.LeftOrder; s.Indicator = indicator(s) },
	func(s *join.Spec) { s.Order = join.RightOrder },
	func(s *join.Spec) { s.Deterministic, s.BuildSide = true, join.BuildLeft },
	func(s *join.Spec) { s.BuildSide = join.BuildRight },
	func(s *join.Spec) { s.NullsEqual = s.LeftOn },
	func(s *join.Spec) { s.NullsEqual, s.Deterministic = s.LeftOn[max(1, len(s.LeftOn))-1:], true },
}

func indicator(s *join.Spec) string {
	if s.How.Pairs() {
		return "from"
	}
	return ""
}

var kinds = []join.How{join.Inner, join.Left, join.Right, join.Full, join.Semi, join.Anti, join.RightSemi, join.RightAnti,
	join.Mark, join.NotIn, join.Cross}

// parts are what output and the probe side are cut into: nothing, three granules or so, granules of a few rows, windows
// of some.
var parts = [][2]uint64{{0, 0}, {70, 0}, {3, 0}, {0, 2100}}

func TestJoinMatrix(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		joinMatrix(t, jointest.Lane(t, device, small).Ops, algorithms)
	})
}

// TestDrawn is TestJoinMatrix by drawing, on devices that draw.
func TestDrawn(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		if _, err := device.Rasterizer(); err != nil {
			require.ErrorIs(t, err, backend.ErrUnsupported)
			t.Skip(err)
		}
		if jointest.Instrumented(t) {
			t.Skip("lavapipe ends loops of vertex shaders after one trip under GPU-assisted validation")
		}
		joinMatrix(t, jointest.Lane(t, device, small).Ops, []string{drawing})
	})
}

func joinMatrix(t *testing.T, ops *primitive.Ops, algorithms []string) {
	for _, c := range devicetest.Combinations(t, len(keyKinds), len(matchings), len(sizes), len(outputs), 2,
		len(algorithms), len(kinds), len(forms), len(parts)) {
		kind, matching, size, out := keyKinds[c[0]], matchings[c[1]], sizes[c[2]], outputs[c[3]]
		batchRows, algorithm, how := []int{0, 1 << 10}[c[4]], algorithms[c[5]], kinds[c[6]]
		if most := matching.maxRows; most > 0 {
			size = [2]int{min(size[0], most), min(size[1], most)}
		}
		seed := uint64(c[0]*1000 + c[1]*100 + c[2]*10 + c[3])
		name := fmt.Sprintf("%s/%s/%dx%d/%s %s %v/batch %d/%s/%s %d/%v", kind.name, matching.name, size[0], size[1],
			out.output, out.materialize, out.columns, batchRows, algorithm, how, c[7], parts[c[8]])
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			left := randomTable(random, size[0], kind.left, &kind, matching.left, "k")
			defer left.Release()
			right := randomTable(random, size[1], kind.right, &kind, matching.right, "r")
			defer right.Release()
			spec := join.Spec{How: how, Output: out.output, Materialize: out.materialize, Columns: out.columns,
				BatchRows: batchRows, Algorithm: algorithm}
			if complete(&spec, &kind, forms[c[7]]) {
				allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
				defer allocator.AssertSize(t, 0)
				checkOn(t, kind.engine(engine.NewEngine(ops, allocator, 0)), left, right, spec, parts[c[8]])
			}
		})
	}
}

// complete gives a specification its keys and a form, and takes away what does not go with its kind. It reports whether
// a join comes of it.
func complete(spec *join.Spec, kind *keyKind, form func(*join.Spec)) bool {
	if spec.How != join.Cross {
		for k := range kind.left {
			spec.LeftOn = append(spec.LeftOn, fmt.Sprintf("k%d", k))
			spec.RightOn = append(spec.RightOn, fmt.Sprintf("r%d", k))
		}
	}
	if form(spec); spec.How != join.Inner && spec.Output == join.Pairs {
		spec.Output = join.Rows
	}
	if !spec.How.Pairs() {
		spec.Columns = nil // of one side
	}
	if spec.Check() != nil {
		spec.Order, spec.Deterministic, spec.BuildSide = join.Unordered, false, join.BuildAuto
	}
	return spec.Check() == nil
}

// check runs a join and compares it with the oracle.
func check(t *testing.T, ops *primitive.Ops, left, right arrow.Table, spec join.Spec, part [2]uint64) {
	t.Helper()
	allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer allocator.AssertSize(t, 0)
	checkOn(t, engine.NewEngine(ops, allocator, 0), left, right, spec, part)
}

// keyPlace has the host make key codes in half of all joins, and the device in the others.
func keyPlace(spec *join.Spec, left, right arrow.Table) query.KeyPlace {
	n := left.NumRows() + right.NumRows() + int64(spec.How) + int64(spec.Materialize) + int64(spec.BuildSide)
	return []query.KeyPlace{query.KeysOnDevice, query.KeysOnHost}[n%2]
}

// checkOn does so on an engine.
func checkOn(t *testing.T, engine *engine.Engine, left, right arrow.Table, spec join.Spec, part [2]uint64) {
	t.Helper()
	ctx := context.Background()
	engine.GranuleRows, engine.WindowRows, engine.Keys = part[0], part[1], keyPlace(&spec, left, right)
	plan, err := engine.Plan(ctx, left, right, spec)
	require.NoError(t, err)
	result, err := plan.Run(ctx)
	require.NoError(t, err)
	defer result.Close()
	require.Equal(t, engine.Device().Info().Name, result.Device.Name)
	switch spec.Output {
	case join.Count:
		require.EqualValues(t, len(oracle.Join(left, right, plan.Layout.Spec)), result.Rows())
	case join.Pairs:
		var got [][2]uint32
		for batch, err := range result.Pairs(ctx) {
			require.NoError(t, err)
			for i := range batch.Left {
				got = append(got, [2]uint32{batch.Left[i], batch.Right[i]})
			}
		}
		slices.SortFunc(got, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
		require.Equal(t, oracle.Pairs(left, right, spec), append([][2]uint32{}, got...))
	case join.Rows:
		var batches []arrow.RecordBatch
		for batch, err := range result.Batches(ctx) {
			require.NoError(t, err)
			if spec.BatchRows > 0 {
				require.LessOrEqual(t, batch.NumRows(), int64(spec.BatchRows))
			}
			requireNullCounts(t, batch)
			batches = append(batches, batch)
			defer batch.Release()
		}
		oracle.Require(t, left, right, plan.Layout, batches)
	}
}

func TestMaxOutputRows(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops := jointest.Lane(t, device, small).Ops
		kind := &keyKinds[0]
		random := rand.New(rand.NewPCG(1, 1))
		table := randomTable(random, 100, kind.left, kind, matchings[3].left, "k")
		defer table.Release()
		engine := engine.NewEngine(ops, memory.DefaultAllocator, 0)
		for _, c := range devicetest.Combinations(t, len(algorithms), 2, 2) {
			limit, output := []uint64{9999, 10000}[c[1]], []join.Output{join.Rows, join.Count}[c[2]]
			plan, err := engine.Plan(context.Background(), table, table,
				join.Spec{On: []string{"k0"}, MaxOutputRows: limit, Algorithm: algorithms[c[0]], Output: output})
			require.NoError(t, err)
			result, err := plan.Run(context.Background())
			if limit == 10000 {
				require.NoError(t, err)
				result.Close()
				continue
			}
			require.ErrorIs(t, err, backend.ErrLimit)
			require.ErrorContains(t, err, "10000 rows, max_output_rows allows 9999")
		}
		noMemoryInUse(t, device)
	})
}

// noMemoryInUse waits for released memory to return.
func noMemoryInUse(t *testing.T, device *backend.Device) {
	t.Helper()
	for start := time.Now(); device.MemoryUse(backend.DeviceLocal).InUse > 0; time.Sleep(100 * time.Microsecond) {
		require.Less(t, time.Since(start), 10*time.Second)
	}
}
