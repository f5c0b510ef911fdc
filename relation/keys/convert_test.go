package keys

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
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/relationtest"
)

// fits reports whether a type holds a value.
func fits(v exact, to arrow.DataType) bool {
	if v.beyond != 0 {
		return true
	}
	trait := relation.TraitOf(to)
	if trait.Class == relation.ClassFloat {
		return true
	}
	power := func(n int) *big.Rat {
		return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
	}
	stored := new(big.Rat).Mul(v.number, power(max(0, trait.Scale)))
	stored.Quo(stored, power(max(0, -trait.Scale)))
	stored.Quo(stored, new(big.Rat).SetInt64(int64(trait.Ticks)))
	if decimal, ok := to.(arrow.DecimalType); ok && trait.Storage.(arrow.FixedWidthDataType).BitWidth() > 64 {
		return stored.Abs(stored).Cmp(power(int(decimal.GetPrecision()))) < 0
	}
	if trait.Unsigned {
		return true
	}
	n := stored.Num()
	unused := 64 - trait.Storage.(arrow.FixedWidthDataType).BitWidth()
	return n.IsInt64() && n.Int64()<<unused>>unused == n.Int64()
}

// TestConvert converts columns of every pair of types with a common type and compares the exact values.
func TestConvert(t *testing.T) {
	var converted, refused int
	property := func(t *rapid.T) {
		group := rapid.SampledFrom(relationtest.KeyTypes).Draw(t, "group")
		from, other := drawType(t, group), rapid.SampledFrom(group).Draw(t, "other")
		to, ok := relation.CommonType(from, other)
		if !ok {
			return
		}
		cells := rapid.SliceOfN(rapid.Custom(drawCell), 0, 20).Draw(t, "cells")
		column := columnOf(from, cells, rapid.IntRange(0, 70).Draw(t, "skip"))
		checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
		got, err := Convert(context.Background(), column, to, relationtest.Dirty{Allocator: checked})
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
	column := nullableInts(2*relation.BlockRows+99, 7).(*array.Int32)
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
