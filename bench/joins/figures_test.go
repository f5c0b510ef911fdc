package joins

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/workload"
)

func TestFigures(t *testing.T) {
	var names []string
	for _, f := range Figures() {
		names = append(names, f.Name)
		algorithms, err := Find(f.Algorithms)
		require.NoError(t, err, f.Name)
		require.Len(t, algorithms, len(f.Algorithms))
		require.GreaterOrEqual(t, len(algorithms), 2, "%s compares", f.Name)
		require.GreaterOrEqual(t, len(f.Cells), 4, f.Name)
		for scale := range 31 {
			workloads := map[string]bool{}
			for _, c := range f.Cells {
				c = c.Scaled(scale)
				require.NoError(t, c.Validate(), "%s: %v", f.Name, c)
				require.Positive(t, min(c.Spec.RRows, c.Spec.SRows))
				require.Less(t, deviceBytes(c), uint64(100)<<30, "%s: %v fits a GPU of 141 GB with room for what moves", f.Name, c)
				workloads[c.String()] = true
			}
			if scale <= 10 {
				require.Len(t, workloads, len(f.Cells), "%s: cells differ", f.Name)
				places := map[string]bool{}
				for _, c := range f.Cells {
					places[f.Axis(c.Scaled(scale))] = true
				}
				require.Len(t, places, len(f.Cells), "%s: places on the axis differ", f.Name)
			}
		}
	}
	files := queries(8)[0]
	files.Folder = "somewhere"
	require.Equal(t, "J1 key=8", query(files))
	require.Equal(t, "J1 made key=8", query(queries(8)[0]))
	require.Equal(t, files, files.Scaled(3), "files are not scaled")
	var want []string
	for n := 8; n <= 17; n++ {
		want = append(want, fmt.Sprintf("gftr-%d", n))
	}
	for n := 7; n <= 13; n++ {
		want = append(want, fmt.Sprintf("rt-%d", n))
	}
	require.Equal(t, want, names)

	all, err := FindFigures([]string{"all"})
	require.NoError(t, err)
	require.Len(t, all, len(want))
	two, err := FindFigures([]string{"rt-7", "gftr-8"})
	require.NoError(t, err)
	require.Equal(t, []string{"rt-7", "gftr-8"}, []string{two[0].Name, two[1].Name})
	_, err = FindFigures([]string{"gftr-7"})
	require.ErrorIs(t, err, backend.ErrInvalidInput)
}

// deviceBytes is the number of bytes of input and output.
func deviceBytes(c Cell) uint64 {
	sum := func(columns ...int) (bytes uint64) {
		for _, b := range columns {
			bytes += uint64(b)
		}
		return bytes
	}
	s := c.Spec
	r, f := sum(append(slices.Clone(s.RPayloads), s.KeyBytes)...), sum(append(slices.Clone(s.SPayloads), s.KeyBytes)...)
	matches := uint64(s.SRows)
	if s.Multiplicity != (workload.Multiplicity{}) {
		matches *= uint64(s.Multiplicity[1])
	}
	dimensions := uint64(c.Dimensions)
	return uint64(s.RRows)*r*max(dimensions, 1) + uint64(s.SRows)*(f+4*dimensions) + matches*(r+f+4*dimensions)
}

// The joins that are made have the rows of GFTR table 6.
func TestTwinsHaveTheRowsOfTheirJoins(t *testing.T) {
	cells := queries(4)
	for cell, want := range map[int][3]float64{0: {15e6, 18.2e6, 18.2e6}, 1: {15e6, 60e6, 60e6},
		2: {2e6, 2.1e6, 2.1e6}, 3: {1.9e6, 58e6, 58e6}, 4: {72e6, 72e6, 904e6}} {
		c := cells[cell]
		require.InEpsilon(t, want[0], float64(c.Spec.RRows), 0.02)
		require.InEpsilon(t, want[1], float64(c.Spec.SRows), 0.01)
		const scale = 9
		small := c.Scaled(scale)
		loaded, err := small.make(context.Background())
		require.NoError(t, err)
		check, err := newChecker(context.Background(), loaded.lefts[0], loaded.last)
		require.NoError(t, err)
		loaded.release()
		require.InEpsilon(t, want[2]/(1<<scale), float64(check.pairs.rows), 0.01, "%v", small)
	}
}

func TestFindAlgorithms(t *testing.T) {
	for _, names := range [][]string{nil, {"all"}} {
		all, err := Find(names)
		require.NoError(t, err)
		require.Len(t, all, len(Names()))
	}
	one, err := Find([]string{"hj"})
	require.NoError(t, err)
	require.Equal(t, "hj", one[0].Name)
	_, err = Find([]string{"hj", "all"})
	require.ErrorIs(t, err, backend.ErrInvalidInput)
}
