package peers

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// sort sorts the rows of a table by key; equal keys keep their order.
func (t *table) sort() { t.sortBy(t.columns[:1]) }

// sortAll sorts the rows of a table by all columns.
func (t *table) sortAll() { t.sortBy(t.columns) }

func (t *table) sortBy(columns [][]uint64) {
	order := make([]int, t.rows())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		for _, column := range columns {
			if c := cmp.Compare(column[i], column[j]); c != 0 {
				return c
			}
		}
		return 0
	})
	for c, column := range t.columns {
		moved := make([]uint64, len(column))
		for i, row := range order {
			moved[i] = column[row]
		}
		t.columns[c] = moved
	}
}

// TestKeyRange: ranks receive ranges of keys, to the row, as sorted runs.
func TestKeyRange(t *testing.T) {
	forEachCluster(t, 7, func(t *testing.T, all *cluster) {
		for i, s := range scenarios(t, 7, 0, 1, 500, 10_000) {
			tables := s.tables(uint64(i))
			for rank := range tables {
				tables[rank].sort()
			}
			got := all.first(s.size).exchanged(t, s.weights, func(r *Rank) Partitioner { return r.keyRange(false) }, tables)
			require.Equal(t, sorted(tables...), sorted(got[0]...), "%v", &s)
			checkShares(t, &s, s.weights, 0, got[0])
			before := uint64(0)
			for rank, of := range got[0] {
				descents := 0
				for row, key := range of.columns[0] {
					require.LessOrEqual(t, before, key, "%v: rank %d", &s, rank)
					if row > 0 && key < of.columns[0][row-1] {
						descents++
					}
				}
				require.Less(t, descents, s.size, "%v: as many runs as ranks", &s)
				if of.rows() > 0 {
					before = slices.Max(of.columns[0])
				}
			}
		}
	})
}
