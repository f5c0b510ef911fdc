package runs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
)

// checkParts checks that the tasks and whole keys of a division are within the sides, in order and as small as they
// should be, and have each row, and each pair of rows with equal keys, exactly once.
func checkParts(r, s Run[uint64, uint32], c Cut) error {
	p, err := Partition(context.Background(), r, s, c, 2)
	if err != nil {
		return err
	}
	if len(p.Tasks) != c.Parts {
		return fmt.Errorf("%d parts", len(p.Tasks))
	}
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
	most, last := c.most(r.Len()+s.Len()), Pair{}
	for _, part := range p.Tasks {
		for _, t := range part {
			if t.R.First < last.R.End || t.S.First < last.S.End || t.rows() > most {
				return fmt.Errorf("task %v after %v, at most %d rows", t, last, most)
			}
			last = t
			if err := add(t, false); err != nil {
				return err
			}
		}
	}
	for _, t := range p.Whole {
		if err := add(t, true); err != nil {
			return err
		}
	}
	for side, all := range [2]uint64{r.Len(), s.Len()} {
		for i := range all {
			if rows[side][i] != 1 {
				return fmt.Errorf("row %d of side %d is there %d times: %v", i, side, rows[side][i], p)
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
				return fmt.Errorf("rows %d and %d are paired %d times instead of %d: %v", i, j, got, want, p)
			}
		}
	}
	return nil
}

// most is the greatest number of rows that a task of a division may have.
func (c Cut) most(rows uint64) uint64 {
	part := (rows + uint64(c.Parts) - 1) / uint64(c.Parts)
	n := uint64(max(c.Subparts, 1))
	most := (part + n - 1) / n
	if c.MostRows > 0 {
		most = min(most, c.MostRows)
	}
	return most
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
// there is a boundary at every position, and these into up to three subparts.
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
			for parts := 1; parts <= 9; parts++ {
				for subparts := 0; subparts <= 3; subparts++ {
					c := Cut{Parts: parts, Subparts: subparts, MostRows: uint64(parts % 3)}
					if err := checkParts(r, s, c); err != nil {
						t.Fatalf("%v, %v, %+v: %v", list(r), list(s), c, err)
					}
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
			for parts := 1; parts <= 8; parts++ {
				for subparts := 1; subparts <= 4; subparts++ {
					require.NoError(t, checkParts(runOf(t, sides[i]), runOf(t, sides[1-i]),
						Cut{Parts: parts, Subparts: subparts}), "%v in %d x %d", sides, parts, subparts)
				}
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
		c := Cut{Parts: rapid.IntRange(1, 8).Draw(t, "parts"), Subparts: rapid.IntRange(0, 5).Draw(t, "subparts"),
			MostRows: rapid.Uint64Range(0, 40).Draw(t, "most")}
		if err := checkParts(sides[0], sides[1], c); err != nil {
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
		p, err := Partition(t.Context(), r, s, Cut{Parts: 3, Subparts: 3, MostRows: 1000}, 2)
		require.NoError(t, err)
		require.Empty(t, p.Whole)
		for _, part := range p.Tasks {
			for _, task := range part {
				require.InDelta(t, float64(r.Len()+s.Len())/3/34, task.rows(), 1.001)
			}
			require.Len(t, part, 34)
		}
		r, s = s, r
	}
}

func TestPartitionErrors(t *testing.T) {
	var r Run[uint32, uint32]
	_, err := Partition(t.Context(), r, r, Cut{}, 1)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Partition(ctx, r, r, Cut{Parts: 2}, 1)
	require.ErrorIs(t, err, backend.ErrCancelled)
}
