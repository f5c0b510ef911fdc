package hash

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/operator"
)

// TestLost fills tables as the kernel does: where a plan expects no row without a slot there is none, however keys
// repeat; and it does not expect any for much less than what loses rows.
func TestLost(t *testing.T) {
	devicetest.HostTest(t)
	random := rand.New(rand.NewPCG(1, 2))
	facts := func(rows, keyRows, hot int) *operator.Facts {
		return &operator.Facts{KeyBytes: 4, Rows: [2]uint64{uint64(rows), 1}, Distinct: float64(keyRows),
			Hottest: [2]float64{float64(hot) / float64(rows)}}
	}
	few := 0 // keys that repeat and lose no row all the same
	for _, rows := range []int{1 << 12, 3 << 14, 1 << 16} {
		for _, keyRows := range []int{1, 2, 3, 4, 6, 8, 12, 16, 64} {
			for _, hot := range []int{0, 30, 60, 90, 120, 200} {
				lostRows := 0
				for range 4 {
					lostRows += fill(random, rows, keyRows, hot)
				}
				bound := lost(facts(rows, keyRows, hot))
				if bound < fewLost {
					require.Zero(t, lostRows, "%d rows, keys of %d, one of %d: bound %g", rows, keyRows, hot, bound)
					if keyRows > 1 || hot > 0 {
						few++
					}
				}
				if keyRows >= 24 || hot >= 200 {
					require.Greater(t, bound, 1.0, "%d rows, keys of %d, one of %d", rows, keyRows, hot)
				}
			}
		}
	}
	require.Greater(t, few, 15)

	// 100 keys of 112 rows each lose rows: that one occurs only 112 times does not help. These rows are sorted, unless a
	// key has one slot.
	require.Positive(t, fill(random, 11_200, 112, 0))
	sorts := func(f *operator.Facts, want operator.Want) bool {
		p, err := Unpartitioned{}.Plan(f, want)
		require.NoError(t, err)
		require.NoError(t, p.Reject)
		match := slices.IndexFunc(p.Stages, func(s operator.Stage) bool { return s.Name == operator.Match })
		return p.Stages[match].Work[operator.SortRow] > 0
	}
	f := facts(11_200, 112, 112)
	require.True(t, sorts(f, operator.Want{Pairs: true}))
	for _, want := range []operator.Want{{Pairs: true, Count: true}, {Matched: [2]bool{operator.Probe: true}},
		{Rest: [2]bool{operator.Build: true}}} {
		require.False(t, sorts(f, want), "a key has one slot")
	}
	require.Zero(t, lost(facts(128, 128, 0)), "a row may have any of 256 slots")
	require.Zero(t, fill(random, 128, 128, 0))
}

// fill puts rows into a table, of one key that occurs often and others that occur keyRows times each, in any order, and
// returns how many find no slot.
func fill(random *rand.Rand, rows, keyRows, hot int) (lost int) {
	table := make([]bool, slots(uint64(rows)))
	var homes []int
	for home := random.IntN(len(table)); len(homes) < hot; {
		homes = append(homes, home)
	}
	for len(homes) < rows {
		home := random.IntN(len(table))
		for range keyRows {
			homes = append(homes, home)
		}
	}
	random.Shuffle(len(homes), func(i, j int) { homes[i], homes[j] = homes[j], homes[i] })
next:
	for _, home := range homes[:rows] {
		for try := range patience {
			if slot := (home + try) % len(table); !table[slot] {
				table[slot] = true
				continue next
			}
		}
		lost++
	}
	return lost
}
