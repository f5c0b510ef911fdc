package peers

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
)

// fusing makes every other test sort many small groups.
func fusing(test int) uint64 { return []uint64{1, fusingRows}[test%2] }

// sortedBy sorts tables on all ranks, as by says, and returns what each has then.
func (c *cluster) sortedBy(t *testing.T, method Method, by sorter, weights []uint32, tables ...[]*table) [][]*table {
	got := make([][]*table, len(tables))
	for i := range got {
		got[i] = make([]*table, len(c.lanes))
	}
	require.NoError(t, c.run(t.Context(), weights, func(ctx context.Context, r *Rank) error {
		var chunks []*relation.Chunk
		for i := range tables {
			chunks = append(chunks, tables[i][r.Rank()].upload(t, r.Lane))
		}
		s := by
		s.Rank = r
		all, err := s.sort(ctx, method, chunks)
		if err != nil {
			return err
		}
		for i, of := range all {
			got[i][r.Rank()] = download(t, r.Lane, &of.Chunk)
			of.Release()
		}
		return nil
	}))
	for _, lane := range c.lanes {
		lane.Memory.ReleaseAll()
	}
	return got
}

// checkSorted holds the ranks' tables of one relation against the input.
func checkSorted(t *testing.T, what any, whole bool, want, got []*table) {
	t.Helper()
	require.Equal(t, sorted(want...), sorted(got...), "%v", what)
	before, rankBefore := uint64(0), -1
	for rank, of := range got {
		require.True(t, slices.IsSorted(of.columns[0]), "%v: rank %d", what, rank)
		if of.rows() == 0 {
			continue
		}
		first := of.columns[0][0]
		require.LessOrEqual(t, before, first, "%v: rank %d", what, rank)
		if whole && rankBefore >= 0 {
			require.NotEqual(t, before, first, "%v: ranks %d and %d", what, rankBefore, rank)
		}
		before, rankBefore = of.columns[0][of.rows()-1], rank
	}
}

// checkStable checks that equal keys are in the order of the input, which payload column 1 has the numbers of.
func checkStable(t *testing.T, what any, got []*table) {
	t.Helper()
	key, number := uint64(math.MaxUint64), uint64(0)
	for _, of := range got {
		for i, k := range of.columns[0] {
			n := of.columns[1][i]
			if k == key && n <= number {
				require.Fail(t, "equal keys change places", "%v: key %d, row %d after %d", what, k, n, number)
			}
			key, number = k, n
		}
	}
}

// checkShares checks that no rank is further from its share than slack rows.
func checkShares(t *testing.T, what any, weights []uint32, slack float64, got []*table) {
	t.Helper()
	total := uint64(0)
	for _, of := range got {
		total += uint64(of.rows())
	}
	ends := targets(total, weightsOf(len(got), weights))
	for rank, of := range got {
		require.InDelta(t, ends[rank+1]-ends[rank], of.rows(), slack, "%v: rank %d", what, rank)
	}
}

var methods = []Method{MergeStages, MergeOnce, RadixPartition}

// TestSort: rows are in order on each rank and from rank to rank, equal keys keep their order, in stages if chunks are
// even, and shares are exact to the row, or nearly so by radix partition.
func TestSort(t *testing.T) {
	forEachCluster(t, 8, func(t *testing.T, all *cluster) {
		for i, s := range scenarios(t, 8, 0, 1, 100, 3000, 20_011) {
			for _, method := range methods {
				tables := s.tables(uint64(i))
				got := all.first(s.size).sortedBy(t, method, sorter{fusing: fusing(i)}, s.weights, tables)
				checkSorted(t, &s, false, tables, got[0])
				slack := 0.0
				if method == RadixPartition {
					slack = float64(s.rows/s.size) * paddingThousandths / 1000
				}
				checkShares(t, &s, s.weights, slack, got[0])
				if even := s.share == "even" && s.weights == nil; len(s.widths) > 1 && (even || method != MergeStages) {
					checkStable(t, &s, got[0])
				}
			}
		}
	})
}

// TestWholeKeys: equal keys of all relations are on one rank; ranks are as near to their shares as keys allow.
func TestWholeKeys(t *testing.T) {
	devicetest.SkipRace(t)
	forEachCluster(t, 8, func(t *testing.T, all *cluster) {
		for i, s := range scenarios(t, 8, 0, 1, 100, 3000, 20_011) {
			for _, method := range methods {
				tables := s.tables(uint64(i))
				others := (&scenario{s.distribution, s.size, s.rows / 3, "uneven", s.widths[:1], nil}).tables(uint64(i) + 1)
				got := all.first(s.size).sortedBy(t, method, sorter{whole: true, fusing: fusing(i)}, s.weights,
					tables, others)
				checkWhole(t, &s, method, [][]*table{tables, others}, got)
			}
		}
	})
}

// checkWhole checks relations that were sorted with common boundaries.
func checkWhole(t *testing.T, s *scenario, method Method, want, got [][]*table) {
	t.Helper()
	where, counts, total := make(map[uint64]int), make(map[uint64]uint64), uint64(0)
	for side := range got {
		checkSorted(t, s, true, want[side], got[side])
		for rank, of := range got[side] {
			for _, key := range of.columns[0] {
				if at, known := where[key]; known {
					require.Equal(t, at, rank, "%v: key %d", s, key)
				}
				where[key] = rank
				counts[key]++
				total++
			}
		}
	}
	ends := targets(total, weightsOf(s.size, s.weights))
	most := uint64(0)
	for _, n := range counts {
		most = max(most, n)
	}
	// Each boundary is off by half of the most frequent key at most, or by the padding.
	if method == RadixPartition {
		most = max(most, total/uint64(s.size)*paddingThousandths/1000)
	}
	at := uint64(0)
	for rank := range s.size {
		for side := range got {
			at += uint64(got[side][rank].rows())
		}
		require.LessOrEqual(t, 2*distance(at, ends[rank+1]), most, "%v: rank %d", s, rank)
	}
}

// TestSortFewRows: a rank may get one row of a group whose keys differ, or none.
func TestSortFewRows(t *testing.T) {
	forEachCluster(t, 5, func(t *testing.T, all *cluster) {
		for size := 2; size <= 5; size++ {
			for rows := 1; rows <= 2*size; rows++ {
				for _, method := range methods {
					var tables []*table
					for rank := range size {
						first, end := rows*rank/size, rows*(rank+1)/size
						var keys []uint64
						for i := first; i < end; i++ {
							keys = append(keys, uint64(i)*7919%1000)
						}
						tables = append(tables, newTable(keys, first, 4, 4))
					}
					got := all.first(size).sortedBy(t, method, sorter{fusing: fusingRows}, nil, tables)
					var keys []uint64
					for _, of := range got[0] {
						keys = append(keys, of.columns[0]...)
					}
					require.True(t, slices.IsSorted(keys), "%v", keys)
					require.Len(t, keys, rows)
				}
			}
		}
	})
}
