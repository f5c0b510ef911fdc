package workload

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// Payload texts have 4 to 12 hexadecimal digits and follow from the integers that they replace; keys are as without.
func TestPayloadTexts(t *testing.T) {
	spec := DefaultPKFK(1000, 3000)
	spec.SPayloads, spec.Zipf = []int{8, 4}, 1
	_, integers, err := PKFK(t.Context(), spec)
	require.NoError(t, err)
	defer integers.Release()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	spec.Texts, spec.Allocator = true, mem
	r, s, err := PKFK(t.Context(), spec)
	require.NoError(t, err)
	defer r.Release()
	defer s.Release()
	require.Equal(t, integers.NumRows(), s.NumRows())
	require.True(t, array.ChunkedEqual(integers.Column(0).Data(), s.Column(0).Data()))
	lengths, texts := map[int]int{}, map[string]bool{}
	for c := 1; c < int(s.NumCols()); c++ {
		require.Equal(t, arrow.BinaryTypes.String, s.Schema().Field(c).Type)
		column := s.Column(c).Data().Chunk(0).(*array.String)
		for row := range column.Len() {
			require.Regexp(t, "^[0-9a-f]{4,12}$", column.Value(row))
			lengths[column.ValueLen(row)]++
			texts[column.Value(row)] = true
		}
	}
	require.Len(t, lengths, 9)
	require.Greater(t, len(texts), 5000, "columns and rows differ")
	require.Contains(t, spec.String(), " texts ")
}
