package deliver

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/relation/take"
)

// TestMerge merges runs, some of them empty, in the order of either table.
func TestMerge(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(1, seed))
		first := int(seed % 2)
		compare := func(a, b [2]uint32) int {
			return cmp.Or(cmp.Compare(a[first], b[first]), cmp.Compare(a[1-first], b[1-first]))
		}
		m, want := merge{first: first}, [][2]uint32(nil)
		for range random.IntN(6) {
			var rows [][2]uint32
			for range 1 + random.IntN(30) {
				row := [2]uint32{random.Uint32N(9), random.Uint32N(9)}
				if random.IntN(5) == 0 {
					row[random.IntN(2)] = take.NoRow
				}
				rows = append(rows, row)
			}
			slices.SortFunc(rows, compare)
			want = append(want, rows...)
			m.runs = append(m.runs, columns(rows))
		}
		slices.SortFunc(want, compare)
		heap.Init(&m)
		most := 1 + random.Uint64N(40)
		var got [][2]uint32
		for len(m.runs) > 0 {
			piece := m.next(most)
			require.Len(t, piece[1], len(piece[0]))
			require.LessOrEqual(t, uint64(len(piece[0])), most)
			require.NotEmpty(t, piece[0])
			for i := range piece[0] {
				got = append(got, [2]uint32{piece[0][i], piece[1][i]})
			}
		}
		require.Equal(t, want, got)
	}
}

func columns(rows [][2]uint32) (r run) {
	for _, row := range rows {
		r[0], r[1] = append(r[0], row[0]), append(r[1], row[1])
	}
	return r
}
