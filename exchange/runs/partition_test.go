package runs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// checkParts checks that the tasks and whole keys of a division are within the sides, in order and as small as they
// should be, and have each row, and each pair of rows with equal keys, exactly once.
func checkParts(r, s Run[uint64, uint32], parts uint64) error {
	tasks, whole := Partition(r, s, parts)
	found, rows := map[[2]uint64]int{}, [2]map[uint64]int{{}, {}}
	add := func(t Pair, equal bool) error {
		if t.rows() == 0 || t.R.End > r.Len() || t.S.End > s.Len() {
			return fmt.Errorf("task %v", t)
		}
		for side, span := range [2]Span{t.R, t.S} {
			for i := span.First; i < span.End; i++ {
				rows[side][i]++
			}
		}
		for i := t.R.First; i < t.R.End; i++ {
			for j := t.S.First; j < t.S.End; j++ {
				if same := r.key(i) == s.key(j); same {
					found[[2]uint64{i, j}]++
				} else if equal {
					return fmt.Errorf("rows %d and %d of %v have different keys", i, j, t)
				}
			}
		}
		return nil
	}
	most, last := (r.Len()+s.Len()+parts-1)/parts, Pair{}
	for _, t := range tasks {
		if t.R.First < last.R.End || t.S.First < last.S.End || t.rows() > most {
			return fmt.Errorf("task %v after %v, at most %d rows", t, last, most)
		}
		last = t
		if err := add(t, false); err != nil {
			return err
		}
	}
	for _, t := range whole {
		if err := add(t, true); err != nil {
			return err
		}
	}
	for side, all := range [2]uint64{r.Len(), s.Len()} {
		for i := range all {
			if rows[side][i] != 1 {
				return fmt.Errorf("row %d of side %d is there %d times: %v, %v", i, side, rows[side][i], tasks, whole)
			}
		}
	}
	for i := range r.Len() {
		for j := range s.Len() {
			want := 0
			if r.key(i) == s.key(j) {
				want = 1
			}
			if got := found[[2]uint64{i, j}]; got != want {
				return fmt.Errorf("rows %d and %d are paired %d times instead of %d: %v, %v", i, j, got, want, tasks,
					whole)
			}
		}
	}
	return nil
}

func runOf(t require.TestingT, keys []uint64) Run[uint64, uint32] {
	numbers := make([]uint32, len(keys))
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	middle := len(keys) / 2
	r, err := NewRun(Block[uint64, uint32]{keys[:middle], numbers[:middle]},
		Block[uint64, uint32]{keys[middle:], numbers[middle:]})
	require.NoError(t, err)
	return r
}

// TestPartitionExhaustively divides all pairs of sides with up to four rows of three keys into 1 to 9 parts, so that
// there is a boundary at every position.
func TestPartitionExhaustively(t *testing.T) {
	var sides []Run[uint64, uint32]
	var extend func(keys []uint64)
	extend = func(keys []uint64) {
		sides = append(sides, runOf(t, keys))
		if len(keys) == 4 {
			return
		}
		for _, key := range []uint64{0, 7, math.MaxUint64} {
			if len(keys) == 0 || key >= keys[len(keys)-1] {
				extend(append(slices.Clone(keys), key))
			}
		}
	}
	extend(nil)
	require.Len(t, sides, 1+3+6+10+15)
	for _, r := range sides {
		for _, s := range sides {
			for parts := range uint64(9) {
				if err := checkParts(r, s, parts+1); err != nil {
					t.Fatalf("%v, %v, %d: %v", list(r), list(s), parts+1, err)
				}
			}
		}
	}
}

// TestPartitionFigures has the sides of figures 10 and 11 of HMG, with a key that spans boundaries in R, in S and in
// both.
func TestPartitionFigures(t *testing.T) {
	for _, sides := range [][2][]uint64{
		{{2, 7, 9, 11}, {1, 2, 3, 5, 9, 9, 10, 12}},
		{{1, 2, 2, 2, 2, 2, 2, 3}, {2}},
		{{1, 2, 2, 4, 5, 6, 6, 9}, {2, 6, 9, 9}},
		{{5}, {1, 5, 5, 5, 5, 5, 5, 5, 8}},
		{{5, 5, 5, 5, 5, 5}, {5, 5, 5, 5, 5, 5, 5, 5}},
		{nil, {1, 2, 3}},
		{{1, 1, 1}, {2, 2, 2}},
	} {
		for i := range sides {
			for parts := range uint64(32) {
				require.NoError(t, checkParts(runOf(t, sides[i]), runOf(t, sides[1-i]), parts+1), "%v in %d", sides, parts+1)
			}
		}
	}
}

func TestPartitionOfRandomSides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		var sides [2]Run[uint64, uint32]
		for i := range sides {
			rows := rapid.IntRange(0, 150).Draw(t, "rows")
			zipf := rand.NewZipf(random, 1.0001+rapid.Float64Range(0, 2).Draw(t, "skew"), 1, 60)
			keys := make([]uint64, rows)
			for j := range keys {
				keys[j] = zipf.Uint64()
			}
			slices.Sort(keys)
			sides[i] = runOf(t, keys)
		}
		if err := checkParts(sides[0], sides[1], rapid.Uint64Range(1, 300).Draw(t, "parts")); err != nil {
			t.Fatal(err)
		}
	})
}

// TestPartitionIsEven: without keys at boundaries, tasks differ by one row at most.
func TestPartitionIsEven(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	r := sortedRun[uint64, uint32](t, random, 100_000, 5, math.MaxUint64, 0)
	s := sortedRun[uint64, uint32](t, random, 13, 1, math.MaxUint64, 0)
	for range 2 {
		tasks, whole := Partition(r, s, 102)
		require.Empty(t, whole)
		for _, task := range tasks {
			require.InDelta(t, float64(r.Len()+s.Len())/102, task.rows(), 1.001)
		}
		require.Len(t, tasks, 102)
		r, s = s, r
	}
}
