package take

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

func TestDifferingDictionaries(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}
	var chunks []arrow.Array
	for _, json := range []string{`["a", "b", null]`, `["c", "a"]`, `["b", "c", "a"]`} {
		chunk, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(json))
		require.NoError(t, err)
		chunks = append(chunks, chunk)
	}
	column := arrow.NewChunked(dt, chunks)
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	ids := []uint32{7, 3, 2, 0, 5, 5, 4, 1, 6}
	got, err := Rows(context.Background(), column, ids, alloc)
	require.NoError(t, err)
	var values []string
	for i := range got.Len() {
		values = append(values, got.ValueStr(i))
	}
	assert.Equal(t, []string{"a", "c", array.NullValueStr, "a", "b", "b", "a", "b", "c"}, values)
	got.Release()
	alloc.AssertSize(t, 0)
}

// TestDifferentDictionaries gathers from chunks with different dictionaries, of types that arrow-go unifies and of
// other types.
func TestDifferentDictionaries(t *testing.T) {
	p := arrow.PrimitiveTypes
	for _, c := range []struct {
		value arrow.DataType
		json  [3]string
	}{
		{arrow.BinaryTypes.String, [3]string{`["a", "b"]`, `[]`, `["c", "a", "d"]`}},
		{arrow.BinaryTypes.LargeString, [3]string{`["a", "b"]`, `[]`, `["c", "a", "d"]`}},
		{arrow.BinaryTypes.StringView, [3]string{`["a", "b"]`, `[]`, `["a text of more than 12 bytes", "a", "d"]`}},
		{arrow.ListOf(p.Int32), [3]string{`[[1], [2, 3]]`, `[]`, `[[], [4, 5, 6], [1]]`}},
		{arrow.StructOf(arrow.Field{Name: "x", Type: p.Int8}),
			[3]string{`[{"x": 1}, {"x": 2}]`, `[]`, `[{"x": 3}, {"x": 1}, {"x": 2}]`}},
	} {
		for _, index := range []arrow.DataType{p.Int8, p.Uint16, p.Int32, p.Uint64} {
			dt := &arrow.DictionaryType{IndexType: index, ValueType: c.value}
			var chunks []arrow.Array
			var want []string
			for i, indices := range []string{`[1, null, 0, 1]`, `[null, null]`, `[2, 0, null, 1]`} {
				entries, _, err := array.FromJSON(memory.DefaultAllocator, c.value, strings.NewReader(c.json[i]))
				require.NoError(t, err)
				numbers, _, err := array.FromJSON(memory.DefaultAllocator, index, strings.NewReader(indices))
				require.NoError(t, err)
				chunk := array.NewDictionaryArray(dt, numbers, entries)
				for row := range chunk.Len() {
					want = append(want, chunk.ValueStr(row))
				}
				chunks = append(chunks, chunk)
			}
			ids := []uint32{9, 3, 0, 6, 4, 7, 1, 2, 9, 8, 5}
			taken, err := Rows(t.Context(), arrow.NewChunked(dt, chunks), ids, memory.DefaultAllocator)
			require.NoError(t, err, "%s", dt)
			require.True(t, arrow.TypeEqual(dt, taken.DataType()))
			for i, id := range ids {
				require.Equal(t, want[id], taken.ValueStr(i), "%s, row %d", dt, id)
			}
		}
	}
	many := func(n int) arrow.Array {
		b := array.NewLargeStringBuilder(memory.DefaultAllocator)
		for i := range n {
			b.Append(fmt.Sprint(n, i))
		}
		numbers, _, err := array.FromJSON(memory.DefaultAllocator, p.Int8, strings.NewReader(`[0]`))
		require.NoError(t, err)
		return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: p.Int8,
			ValueType: arrow.BinaryTypes.LargeString},
			numbers, b.NewArray())
	}
	for _, c := range []struct {
		entries int
		fits    bool
	}{{28, true}, {29, false}} {
		column := chunkedOf(many(100))
		column = arrow.NewChunked(column.DataType(), append(slices.Clone(column.Chunks()), many(c.entries)))
		_, err := Rows(t.Context(), column, []uint32{0, 1}, memory.DefaultAllocator)
		if c.fits {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, backend.ErrUnsupported)
			require.ErrorContains(t, err, "129 entries")
		}
	}
}
