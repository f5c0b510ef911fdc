package keys

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/relationtest"
)

// textTypes are the layouts of strings and of byte strings; the types of a group can be compared.
var textTypes = func() [2][]arrow.DataType {
	b := arrow.BinaryTypes
	all := [2][]arrow.DataType{{b.String, b.LargeString, b.StringView}, {b.Binary, b.LargeBinary, b.BinaryView}}
	for g := range all {
		all[g] = append(all[g], &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: all[g][0]})
	}
	return all
}()

// textsOf returns texts as an array that is a slice of a longer one; "null" is a null.
func textsOf(dt arrow.DataType, values []string, skip int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	for _, v := range append(slices.Repeat([]string{"skipped, and no short text"}, skip), values...) {
		var err error
		switch b := b.(type) {
		case *array.BinaryDictionaryBuilder:
			if v != "null" {
				err = b.AppendString(v)
				break
			}
			b.AppendNull()
		case *array.FixedSizeBinaryBuilder:
			if v == "null" {
				b.AppendNull()
			} else {
				b.Append([]byte(v)[:dt.(*arrow.FixedSizeBinaryType).ByteWidth])
			}
		case interface{ Append([]byte) }:
			if v == "null" {
				b.(array.Builder).AppendNull()
			} else {
				b.Append([]byte(v))
			}
		default:
			if v == "null" {
				b.AppendNull()
			} else {
				err = b.AppendValueFromString(v)
			}
		}
		if err != nil {
			panic(err)
		}
	}
	all := b.NewArray()
	defer all.Release()
	return array.NewSlice(all, int64(skip), int64(all.Len()))
}

// randomTexts returns short, long and empty texts with many repeats.
func randomTexts(random *rand.Rand, rows int) (values []string) {
	for range rows {
		values = append(values, []string{"null", "", "a", "ab", "abcdefgh", "abcdefghi", "twelve bytes",
			"thirteen byte",
			strings.Repeat("x", 300), strings.Repeat("x", 299) + "y",
			fmt.Sprint("text ", random.IntN(40))}[random.IntN(11)])
	}
	return values
}

// checkTexts compares the codes, and for hashes the result of [Plan.Equal], with the texts. Rows without a code have
// no partner.
func checkTexts(t *testing.T, plan *Plan, values [2][]string, what string) {
	t.Helper()
	ctx := context.Background()
	var codes [2][]uint64
	var ids [2][]uint32
	for side := range values {
		n := plan.Rows(relation.Side(side))
		keys := make([]byte, plan.KeyBytes()*int(n))
		ids[side] = make([]uint32, n)
		for i := range ids[side] {
			ids[side][i] = uint32(i)
		}
		require.NoError(t, plan.Encode(ctx, relation.Side(side), keys, ids[side]), what)
		for i := range ids[side] {
			if plan.KeyBytes() == 8 {
				codes[side] = append(codes[side], relation.View[uint64](keys)[i])
			} else {
				codes[side] = append(codes[side], uint64(relation.View[uint32](keys)[i]))
			}
		}
		for row, v := range values[side] {
			if !slices.Contains(ids[side], uint32(row)) && v != "null" {
				require.NotContains(t, values[1-side], v, what)
			}
		}
	}
	var rows [2][]uint32
	var want []bool
	for i, l := range ids[relation.Left] {
		for j, r := range ids[relation.Right] {
			equal := values[relation.Left][l] == values[relation.Right][r]
			rows[relation.Left], rows[relation.Right] = append(rows[relation.Left], l), append(rows[relation.Right], r)
			want = append(want, equal)
			if plan.Exact() {
				order := cmp.Compare(values[relation.Left][l], values[relation.Right][r])
				require.Equal(t, order, cmp.Compare(codes[relation.Left][i], codes[relation.Right][j]), what)
			}
			require.True(t, !equal || codes[relation.Left][i] == codes[relation.Right][j], what)
		}
	}
	keep := fullBits(len(want))
	if plan.Exact() {
		return
	}
	require.NoError(t, plan.Equal(ctx, rows, keep), what)
	for n := range want {
		require.Equal(t, want[n], hasBit(keep, n), "%s: %q and %q", what, values[relation.Left][rows[relation.Left][n]],
			values[relation.Right][rows[relation.Right][n]])
	}
}

// TestTextsMatch: strings match in all layouts, in slices and several chunks; so do byte strings.
func TestTextsMatch(t *testing.T) {
	devicetest.SkipRace(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, group := range textTypes {
		for _, lt := range group {
			for _, rt := range group {
				values := [2][]string{randomTexts(random, 70), randomTexts(random, 90)}
				left := tableOf([]arrow.Array{textsOf(lt, values[relation.Left], random.IntN(70))}, [][]int{{3, 3, 40}})
				right := tableOf([]arrow.Array{textsOf(rt, values[relation.Right], random.IntN(70))}, [][]int{nil})
				plan, err := PlanJoin(context.Background(), left, right, keyNames(1), keyNames(1))
				require.NoError(t, err)
				require.False(t, plan.Exact())
				require.Equal(t, fmt.Sprintf("k0 %s = k0 %s\nhash of k0 (64 bits), verified", lt, rt), plan.String())
				checkTexts(t, plan, values, plan.String())
				built, err := PlanBuild(context.Background(), left, right.Schema(), keyNames(1), keyNames(1), relation.Left, false)
				require.NoError(t, err)
				bound, err := built.Bind(context.Background(), right)
				require.NoError(t, err)
				bound.KeepHashBits(4)
				checkTexts(t, bound, values, plan.String())
			}
		}
	}
}

// TestFixedSizeTextsMatch: they match byte strings of other layouts and lengths, but no strings.
func TestFixedSizeTextsMatch(t *testing.T) {
	values := [2][]string{{"abcd", "null", "abce", "zzzz"}, {"abcd", "", "null", "abc", "abce", "abcdef"}}
	left := tableOf([]arrow.Array{textsOf(&arrow.FixedSizeBinaryType{ByteWidth: 4}, values[relation.Left], 3)},
		[][]int{{1}})
	right := tableOf([]arrow.Array{textsOf(arrow.BinaryTypes.BinaryView, values[relation.Right], 0)}, [][]int{nil})
	plan, err := PlanJoin(context.Background(), left, right, keyNames(1), keyNames(1))
	require.NoError(t, err)
	checkTexts(t, plan, values, plan.String())
	text := tableOf([]arrow.Array{textsOf(arrow.BinaryTypes.String, values[relation.Right], 0)}, [][]int{nil})
	_, err = PlanJoin(context.Background(), left, text, keyNames(1), keyNames(1))
	require.ErrorIs(t, err, backend.ErrUnsupported)
}

// TestShortTextsAreCodes: if one side has only short texts, codes are packed, in the order of the texts. Longer texts
// match nothing.
func TestShortTextsAreCodes(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	short := []string{"null", "", "a", "a\x00", "ab", "b", "\xff", "\xff\xff", "abcdefg", "abcdef"}
	for _, group := range textTypes {
		for _, lt := range group {
			for _, rt := range group {
				var values [2][]string
				for range 60 {
					values[relation.Left] = append(values[relation.Left], short[random.IntN(len(short))])
					values[relation.Right] = append(values[relation.Right],
						append(short, "abcdefgh", strings.Repeat("x", 99))[random.IntN(len(short)+2)])
				}
				values[relation.Left][0] = "abcdefg"
				left := tableOf([]arrow.Array{textsOf(lt, values[relation.Left], 0)}, [][]int{{31}})
				right := tableOf([]arrow.Array{textsOf(rt, values[relation.Right], 0)}, [][]int{nil})
				plan, err := PlanJoin(context.Background(), left, right, keyNames(1), keyNames(1))
				require.NoError(t, err)
				require.True(t, plan.Exact())
				checkTexts(t, plan, values, plan.String())
				built, err := PlanBuild(context.Background(), left, right.Schema(), keyNames(1), keyNames(1), relation.Left, false)
				require.NoError(t, err)
				bound, err := built.Bind(context.Background(), right)
				require.NoError(t, err)
				require.True(t, bound.Exact())
				checkTexts(t, bound, values, bound.String())
			}
		}
	}
	text := func(values ...string) arrow.Table {
		return tableOf([]arrow.Array{textsOf(arrow.BinaryTypes.String, values, 0)}, [][]int{nil})
	}
	plan, err := PlanJoin(context.Background(), text("A", "N", "R"), text("A", "R", "none"), keyNames(1), keyNames(1))
	require.NoError(t, err)
	require.Equal(t, `k0 utf8 = k0 utf8: "A".."R", 8 bits`, plan.String())
}

// TestIntervalsMatch: intervals match field by field.
func TestIntervalsMatch(t *testing.T) {
	cells := []cell{{raw: 1}, {raw: 30 << 32}, {raw: 1, wide: true}, {null: true}, {raw: 2, wide: true}, {raw: 1}}
	for _, dt := range []arrow.DataType{arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval,
		arrow.FixedWidthTypes.MonthDayNanoInterval} {
		all := tableOf([]arrow.Array{columnOf(dt, cells, 2)}, [][]int{{1}})
		plan, err := PlanJoin(context.Background(), all, all, keyNames(1), keyNames(1))
		require.NoError(t, err)
		require.Equal(t, plan.Exact(), dt.ID() != arrow.INTERVAL_MONTH_DAY_NANO)
		keys, ids := make([]byte, 8*5), make([]uint32, 5)
		require.NoError(t, plan.Encode(context.Background(), relation.Left, keys, ids))
		require.Equal(t, []uint32{0, 1, 2, 4, 5}, ids)
		code := func(i int) string { return string(keys[i*plan.KeyBytes():][:plan.KeyBytes()]) }
		for i, row := range ids {
			for j, other := range ids {
				width := dt.(arrow.FixedWidthDataType).Bytes()
				data := relation.BufferBytes(all.Column(0).Data().Chunk(0).Data(), 1)[2*width:]
				equal := string(data[int(row)*width:][:width]) == string(data[int(other)*width:][:width])
				require.Equal(t, equal, code(i) == code(j), "%s: rows %d and %d", dt, row, other)
			}
		}
	}
}

// TestHashBits: in this sample only equal tuples have equal codes, and codes collide if bits are cleared.
func TestHashBits(t *testing.T) {
	devicetest.SkipRace(t)
	i64 := arrow.PrimitiveTypes.Int64
	var a, b []uint64
	for i := range uint64(300) {
		a, b = append(a, i%20<<40, i), append(b, i/20<<50, 1<<63)
	}
	table := tableOf([]arrow.Array{columnOf(i64, ints(a...), 1), columnOf(i64, ints(b...), 0)}, [][]int{{77}, nil})
	plan, err := PlanJoin(context.Background(), table, table, keyNames(2), keyNames(2))
	require.NoError(t, err)
	require.False(t, plan.Exact())
	require.Equal(t, 64, plan.KeyBits())
	require.Contains(t, plan.String(), "hash of k0, k1 (64 bits), verified")
	distinct := func() int {
		keys := make([]byte, 8*600)
		require.NoError(t, plan.Encode(context.Background(), relation.Right, keys, nil))
		codes := slices.Clone(relation.View[uint64](keys))
		slices.Sort(codes)
		return len(slices.Compact(codes))
	}
	require.Equal(t, 600, distinct())
	plan.KeepHashBits(4)
	require.Equal(t, 16, distinct())
	plan.KeepHashBits(0)
	require.Equal(t, 1, distinct())
	require.NoError(t, checkPlan(table, table, keyNames(2)))
	require.ErrorIs(t, plan.Equal(context.Background(), [2][]uint32{{600}, {0}}, make([]uint64, 1)),
		backend.ErrInvalidInput)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, plan.Equal(ended, [2][]uint32{{1}, {0}}, make([]uint64, 1)), backend.ErrCancelled)
}

// TestWideDecimalsMatch: decimals match exactly, even at scales where some exceed 256 bits.
func TestWideDecimalsMatch(t *testing.T) {
	most := make([]cell, 0)
	for _, raw := range []uint64{0, 1, 10, 1 << 63, 1<<64 - 1, 150, 15} {
		most = append(most, cell{raw: raw, wide: true}, cell{raw: raw})
	}
	types := []arrow.DataType{&arrow.Decimal256Type{Precision: 76}, &arrow.Decimal256Type{Precision: 76, Scale: 76},
		&arrow.Decimal128Type{Precision: 38, Scale: 1}, &arrow.Decimal128Type{Precision: 38, Scale: -30},
		&arrow.Decimal64Type{Precision: 18, Scale: 2}, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64}
	for _, lt := range types {
		for _, rt := range types {
			require.NoError(t, checkPlan(single(lt, most...), single(rt, most...), keyNames(1)), "%s and %s", lt, rt)
		}
	}
}

// TestSeveralWideDecimals: rows whose values of several keys have more than 64 bits have codes, whichever rows an
// earlier key has left out.
func TestSeveralWideDecimals(t *testing.T) {
	dt := &arrow.Decimal128Type{Precision: 38}
	wide, other := []cell{}, []cell{}
	for raw := range uint64(12) {
		wide, other = append(wide, cell{raw: raw % 4, wide: true}), append(other, cell{raw: raw % 3, wide: raw%2 == 0})
	}
	for _, columns := range [][][]cell{{wide, wide}, {wide, other}, {other, wide}, {wide, other, wide}} {
		var arrays []arrow.Array
		for _, cells := range columns {
			arrays = append(arrays, columnOf(dt, cells, 0))
		}
		table, on := tableOf(arrays, make([][]int, len(arrays))), keyNames(len(arrays))
		require.NoError(t, checkPlan(table, table, on))
		plan, err := PlanGroups(context.Background(), table, on, false, nil)
		require.NoError(t, err)
		require.EqualValues(t, len(wide), plan.Rows(relation.Left), "rows with a code")
	}
}

// TestCorruptTexts: a text outside its buffers is an error, except for the view of a null.
func TestCorruptTexts(t *testing.T) {
	good := tableOf([]arrow.Array{oneText()}, [][]int{nil})
	for _, c := range []struct {
		dt      arrow.DataType
		offsets []uint32
		says    string
	}{
		{arrow.BinaryTypes.String, []uint32{0, 3, 2, 4}, "do not ascend"},
		{arrow.BinaryTypes.String, []uint32{1 << 31, 0, 1, 4}, "span"},
		{arrow.BinaryTypes.LargeString, []uint32{0, 0, 1 << 30, 0, 3, 0, 4, 0}, "do not ascend"},
		{arrow.BinaryTypes.StringView, []uint32{1, 7, 0, 0, 13, 7, 0, 9, 2, 7, 0, 0}, "row 1 views"},
		{arrow.BinaryTypes.StringView, []uint32{1, 7, 0, 0, 13, 7, 1, 0, 2, 7, 0, 0}, "row 1 views"},
		{arrow.BinaryTypes.StringView, []uint32{1 << 31, 7, 0, 0, 1, 7, 0, 0, 2, 7, 0, 0}, "row 0 views"},
	} {
		data := array.NewData(c.dt, 3, []*memory.Buffer{nil, memory.NewBufferBytes(backend.AsBytes(c.offsets)),
			memory.NewBufferBytes([]byte("sixteen bytes of"))}, nil, 0, 0)
		table := tableOf([]arrow.Array{array.MakeFromData(data)}, [][]int{nil})
		_, err := PlanJoin(context.Background(), good, table, keyNames(1), []string{"k0"})
		require.ErrorIs(t, err, backend.ErrInvalidInput, c.dt)
		require.ErrorContains(t, err, c.says, c.dt)
		nulls := array.NewData(c.dt, 3, []*memory.Buffer{memory.NewBufferBytes([]byte{0}), data.Buffers()[1],
			data.Buffers()[2]}, nil, 3, 0)
		if table = tableOf([]arrow.Array{array.MakeFromData(nulls)}, [][]int{nil}); c.dt.ID() == arrow.STRING_VIEW {
			_, err = PlanJoin(context.Background(), good, table, keyNames(1), []string{"k0"})
			require.NoError(t, err)
		}
	}
}

// TestConvertTexts converts every layout to that of large strings, or of large byte strings.
func TestConvertTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for g, group := range textTypes {
		to := []arrow.DataType{arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeBinary}[g]
		for _, dt := range group[:3] {
			values := randomTexts(random, 90)
			checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
			got, err := Convert(context.Background(), textsOf(dt, values, 5), to, relationtest.Dirty{Allocator: checked})
			require.NoError(t, err)
			want := textsOf(to, values, 0)
			require.True(t, array.Equal(want, got), "%s: %s and %s", dt, want, got)
			got.Release()
			checked.AssertSize(t, 0)
		}
	}
}

// TestProve: a plan becomes exact if its hashes distinguish all keys, and otherwise stays as it is.
func TestProve(t *testing.T) {
	ctx, random := context.Background(), rand.New(rand.NewPCG(7, 8))
	values := [2][]string{randomTexts(random, 3000), randomTexts(random, 5000)}
	values[relation.Left] = append(values[relation.Left], strings.Repeat("z", 50))
	table := func(dt arrow.DataType, values []string) arrow.Table {
		return tableOf([]arrow.Array{textsOf(dt, values, 3)}, [][]int{{9, 1000}})
	}
	plan := func(left, right arrow.Table, bits int) *Plan {
		p, err := PlanJoin(ctx, left, right, keyNames(1), keyNames(1))
		require.NoError(t, err)
		p.KeepHashBits(bits)
		require.False(t, p.Exact())
		return p
	}
	left := table(arrow.BinaryTypes.String, values[relation.Left])
	right := table(arrow.BinaryTypes.LargeString, values[relation.Right])
	for _, tables := range [][2]arrow.Table{{left, right}, {right, left}, {left, left}} {
		for bits, want := range map[int]bool{64: true, 4: false, 0: false} {
			p := plan(tables[0], tables[1], bits)
			exact, err := p.Prove(ctx)
			require.NoError(t, err)
			require.Equal(t, want, exact)
			require.Equal(t, want, p.Exact())
		}
	}
	few := table(arrow.BinaryTypes.String, []string{strings.Repeat("w", 10), "null", strings.Repeat("w", 10)})
	p := plan(few, right, 0) // all rows meet those
	exact, err := p.Prove(ctx)
	require.NoError(t, err)
	require.False(t, exact)
	p = plan(table(arrow.BinaryTypes.String, []string{"null", strings.Repeat("w", 10)}), right, 64)
	exact, err = p.Prove(ctx)
	require.NoError(t, err)
	require.True(t, exact)
	require.Contains(t, p.String(), "hash of k0 (64 bits), proved")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = plan(left, right, 64).Prove(ended)
	require.ErrorIs(t, err, backend.ErrCancelled)
}
