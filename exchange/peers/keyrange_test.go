package peers

import (
	"context"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// sort sorts the rows of a table by key.
func (t *table) sort() {
	order := make([]int, t.rows())
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return t.columns[0][order[i]] < t.columns[0][order[j]] })
	for c, column := range t.columns {
		moved := make([]uint64, len(column))
		for i, row := range order {
			moved[i] = column[row]
		}
		t.columns[c] = moved
	}
}

// TestKeyRange: ranks receive ranges of keys, to the row, as sorted runs; by splitters of another relation those keys
// that are between them.
func TestKeyRange(t *testing.T) {
	forEachCluster(t, 7, func(t *testing.T, all *cluster) {
		for i, s := range scenarios(t, 7, 0, 1, 500, 10_000) {
			tables, others := s.tables(uint64(i)), s.tables(uint64(i)+1000)
			for rank := range tables {
				tables[rank].sort()
				others[rank].sort()
			}
			group := all.first(s.size)
			got := group.exchanged(t, s.weights, func(r *Rank) Partitioner { return r.KeyRange(SplitKeys) }, tables)
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
			_, result := group.sortedBy(t, Order{Method: MergeOnce, Keys: WholeKeys}, s.weights, tables)
			got = group.exchanged(t, s.weights, func(r *Rank) Partitioner {
				by, err := r.Split(result.Splitters)
				require.NoError(t, err)
				return by
			}, others)
			require.Equal(t, sorted(others...), sorted(got[0]...), "%v", &s)
			for rank, of := range got[0] {
				for _, key := range of.columns[0] {
					require.Equal(t, rank, ownerOf(key, result.Splitters), "%v: key %d", &s, key)
				}
			}
		}
	})
}

// ownerOf is the rank of a key: the number of boundaries before it.
func ownerOf(key uint64, splitters []Splitter) (rank int) {
	for _, s := range splitters {
		if !s.None && (key > s.Key || key == s.Key && !s.Before) {
			rank++
		}
	}
	return rank
}

// TestSplitRefuses: splitters that are too many, or not in order, are refused.
func TestSplitRefuses(t *testing.T) {
	require.NoError(t, laneless(t.Context(), 3, func(_ context.Context, r *Rank) error {
		for _, splitters := range [][]Splitter{{}, {{Key: 1}}, {{Key: 2}, {Key: 1}}, {{None: true}, {Key: 5}},
			{{Key: 1, Before: true}, {Key: 1}}} {
			_, err := r.Split(splitters)
			require.ErrorIs(t, err, backend.ErrInvalidInput, "%+v", splitters)
		}
		_, err := r.Split([]Splitter{{Key: 1}, {Key: 1, Before: true}})
		return err
	}))
}
