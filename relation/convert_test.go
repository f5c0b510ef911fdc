package relation

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
)

func TestCommonType(t *testing.T) {
	p, f := arrow.PrimitiveTypes, arrow.FixedWidthTypes
	stamp := func(unit arrow.TimeUnit, zone string) arrow.DataType {
		return &arrow.TimestampType{Unit: unit, TimeZone: zone}
	}
	decimal := func(bits int, precision, scale int32) (dt arrow.DataType) {
		dt, err := arrow.NewDecimalType(map[int]arrow.Type{32: arrow.DECIMAL32, 64: arrow.DECIMAL64,
			128: arrow.DECIMAL128,
			256: arrow.DECIMAL256}[bits], precision, scale)
		require.NoError(t, err)
		return dt
	}
	dictionary := &arrow.DictionaryType{IndexType: p.Int8, ValueType: p.Int32}
	for _, c := range []struct{ a, b, want arrow.DataType }{
		{p.Int32, p.Int32, p.Int32},
		{arrow.BinaryTypes.String, arrow.BinaryTypes.String, arrow.BinaryTypes.String},
		{p.Int8, p.Int64, p.Int64},
		{p.Uint8, p.Uint32, p.Uint32},
		{p.Uint8, p.Int8, p.Int16},
		{p.Uint16, p.Int8, p.Int32},
		{p.Uint32, p.Int64, p.Int64},
		{p.Uint64, p.Int8, decimal(128, 20, 0)},
		{p.Float32, p.Float64, p.Float64},
		{f.Float16, p.Float32, p.Float32},
		{f.Float16, p.Uint8, f.Float16},
		{f.Float16, p.Int16, p.Float32},
		{p.Float32, p.Int32, p.Float64},
		{p.Float64, p.Int64, nil},
		{p.Float64, decimal(32, 9, 2), nil},
		{decimal(32, 9, 2), p.Int8, decimal(32, 9, 2)},
		{decimal(32, 9, 2), p.Int32, decimal(64, 12, 2)},
		{decimal(64, 18, 0), decimal(128, 10, 2), decimal(128, 20, 2)},
		{decimal(128, 38, -3), decimal(128, 38, 2), decimal(256, 43, 2)},
		{decimal(128, 38, 30), decimal(256, 76, 1), nil},
		{decimal(32, 5, 2), p.Uint64, decimal(128, 22, 2)},
		{f.Date32, f.Date64, f.Date64},
		{f.Date32, stamp(arrow.Microsecond, ""), stamp(arrow.Microsecond, "")},
		{f.Date64, stamp(arrow.Second, ""), stamp(arrow.Millisecond, "")},
		{stamp(arrow.Second, ""), stamp(arrow.Nanosecond, ""), stamp(arrow.Nanosecond, "")},
		{stamp(arrow.Second, "Asia/Tokyo"), stamp(arrow.Nanosecond, "Asia/Tokyo"),
			stamp(arrow.Nanosecond, "Asia/Tokyo")},
		{stamp(arrow.Second, "Asia/Tokyo"), stamp(arrow.Second, "Europe/Berlin"), stamp(arrow.Second, "UTC")},
		{stamp(arrow.Second, ""), stamp(arrow.Second, "UTC"), nil},
		{f.Time32s, f.Time32ms, f.Time32ms},
		{f.Time32s, f.Time64ns, f.Time64ns},
		{f.Duration_s, f.Duration_us, f.Duration_us},
		{arrow.Null, p.Int8, p.Int8},
		{arrow.Null, arrow.BinaryTypes.String, arrow.BinaryTypes.String},
		{dictionary, p.Int64, p.Int64},
		{dictionary, dictionary, p.Int32},
		{f.Boolean, p.Int8, nil},
		{f.Date32, p.Int32, nil},
		{arrow.BinaryTypes.String, p.Int32, nil},
		{arrow.BinaryTypes.String, arrow.BinaryTypes.StringView, arrow.BinaryTypes.LargeString},
		{arrow.BinaryTypes.LargeString, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString},
		{arrow.BinaryTypes.Binary, &arrow.FixedSizeBinaryType{ByteWidth: 3}, arrow.BinaryTypes.LargeBinary},
		{arrow.BinaryTypes.Binary, arrow.BinaryTypes.String, nil},
	} {
		for _, pair := range [][2]arrow.DataType{{c.a, c.b}, {c.b, c.a}} {
			got, ok := CommonType(pair[0], pair[1])
			require.Equal(t, c.want != nil, ok, "%s and %s: %v", pair[0], pair[1], got)
			if ok {
				require.True(t, arrow.TypeEqual(c.want, got), "%s and %s: %s", pair[0], pair[1], got)
			}
		}
	}
}

// fits reports whether a type holds a value.
func fits(v exact, to arrow.DataType) bool {
	if v.beyond != 0 {
		return true
	}
	trait := traitOf(to)
	if trait.class == classFloat {
		return true
	}
	power := func(n int) *big.Rat {
		return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
	}
	stored := new(big.Rat).Mul(v.number, power(max(0, trait.scale)))
	stored.Quo(stored, power(max(0, -trait.scale)))
	stored.Quo(stored, new(big.Rat).SetInt64(int64(trait.ticks)))
	if decimal, ok := to.(arrow.DecimalType); ok && bitWidthOf(trait) > 64 {
		return stored.Abs(stored).Cmp(power(int(decimal.GetPrecision()))) < 0
	}
	if trait.unsigned {
		return true
	}
	n := stored.Num()
	unused := 64 - bitWidthOf(trait)
	return n.IsInt64() && n.Int64()<<unused>>unused == n.Int64()
}

// TestConvert converts columns of every pair of types with a common type and compares the exact values.
func TestConvert(t *testing.T) {
	var converted, refused int
	property := func(t *rapid.T) {
		group := rapid.SampledFrom(keyTypes).Draw(t, "group")
		from, other := drawType(t, group), rapid.SampledFrom(group).Draw(t, "other")
		to, ok := CommonType(from, other)
		if !ok {
			return
		}
		cells := rapid.SliceOfN(rapid.Custom(drawCell), 0, 20).Draw(t, "cells")
		column := columnOf(from, cells, rapid.IntRange(0, 70).Draw(t, "skip"))
		checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
		got, err := Convert(context.Background(), column, to, dirty{checked})
		if err != nil {
			require.ErrorIs(t, err, backend.ErrUnsupported)
			refused++
			for i := range column.Len() {
				if v, ok := exactOf(column, i); ok && !fits(v, to) {
					require.Zero(t, checked.CurrentAlloc())
					return
				}
			}
			require.NoError(t, err, "every value fits")
		}
		converted++
		require.True(t, arrow.TypeEqual(to, got.DataType()))
		require.Equal(t, column.Len(), got.Len())
		nulls := 0
		for i := range column.Len() {
			want, valid := exactOf(column, i)
			value, ok := exactOf(got, i)
			require.Equal(t, valid, ok)
			if !ok {
				nulls++
				continue
			}
			require.Zero(t, want.compare(value), "%s is not %s", want, value)
		}
		require.Equal(t, nulls, got.NullN())
		got.Release()
		require.Zero(t, checked.CurrentAlloc())
	}
	for range 5 { // a fifth of the draws under go test -short would not find all of them
		rapid.Check(t, property)
	}
	assert.Greater(t, converted, refused)
}

func TestConvertErrors(t *testing.T) {
	ctx, alloc := context.Background(), memory.DefaultAllocator
	p := arrow.PrimitiveTypes
	for _, c := range []struct {
		column arrow.Array
		to     arrow.DataType
		is     error
		says   string
	}{
		{columnOf(p.Int64, ints(1), 0), p.Int32, backend.ErrUnsupported, "convert int64 to int32"},
		{columnOf(p.Int64, ints(1), 0), p.Float64, backend.ErrUnsupported, "does not hold every value"},
		{columnOf(&arrow.TimestampType{Unit: arrow.Second}, ints(0, 1<<40), 0),
			&arrow.TimestampType{Unit: arrow.Nanosecond},
			backend.ErrUnsupported, "row 1 has the value 1099511627776"},
		{columnOf(arrow.FixedWidthTypes.Time32s, ints(1<<30), 0), arrow.FixedWidthTypes.Time32ms,
			backend.ErrUnsupported,
			"row 0 has"},
		{columnOf(&arrow.Decimal128Type{Precision: 38}, []cell{{raw: 1<<63 - 1, wide: true}}, 0),
			&arrow.Decimal256Type{Precision: 40, Scale: 2}, backend.ErrUnsupported, "row 0 has"},
	} {
		_, err := Convert(ctx, c.column, c.to, alloc)
		require.ErrorIs(t, err, c.is)
		require.ErrorContains(t, err, c.says)
	}
	// The value of a null may be anything.
	got, err := Convert(ctx, columnOf(arrow.FixedWidthTypes.Time32s, []cell{{raw: 1 << 30, null: true}}, 0),
		arrow.FixedWidthTypes.Time32ms, alloc)
	require.NoError(t, err)
	require.True(t, got.IsNull(0))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = Convert(ended, columnOf(p.Int8, ints(1), 0), p.Int64, alloc)
	require.ErrorIs(t, err, backend.ErrCancelled)
}

// TestConvertOfOthers: nulls become nulls, dictionaries their values, and columns of the same type stay as they are.
func TestConvertOfOthers(t *testing.T) {
	ctx := context.Background()
	checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
	got, err := Convert(ctx, array.NewNull(3), arrow.BinaryTypes.String, checked)
	require.NoError(t, err)
	require.Equal(t, 3, got.NullN())
	got.Release()
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	words, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(`["x", "a", null, "b", "a"]`))
	require.NoError(t, err)
	got, err = Convert(ctx, array.NewSlice(words, 1, 5), arrow.BinaryTypes.String, checked)
	require.NoError(t, err)
	require.Equal(t, `["a" (null) "b" "a"]`, got.String())
	same, err := Convert(ctx, got, arrow.BinaryTypes.String, checked)
	require.NoError(t, err)
	require.Same(t, got, same)
	got.Release()
	same.Release()
	checked.AssertSize(t, 0)
	corrupt := array.NewDictionaryArray(dt, columnOf(dt.IndexType, ints(200), 0),
		words.(*array.Dictionary).Dictionary())
	_, err = Convert(ctx, corrupt, arrow.BinaryTypes.String, checked)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
}

// TestConvertAcrossBlocks converts more rows than a worker takes at a time.
func TestConvertAcrossBlocks(t *testing.T) {
	column := nullableInts(2*BlockRows+99, 7).(*array.Int32)
	for _, to := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64,
		&arrow.Decimal128Type{Precision: 12, Scale: 2}} {
		got, err := Convert(context.Background(), column, to, memory.DefaultAllocator)
		require.NoError(t, err)
		require.Equal(t, column.NullN(), got.NullN())
		for i := 1; i < column.Len(); i += 1013 {
			want, valid := exactOf(column, i)
			value, ok := exactOf(got, i)
			require.Equal(t, valid, ok)
			require.True(t, !ok || want.compare(value) == 0)
		}
	}
}
