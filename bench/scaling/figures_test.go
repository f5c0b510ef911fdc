package scaling

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/join"
)

// Every cell can be generated at every scale, and cells of a figure differ.
func TestFigures(t *testing.T) {
	names := map[string]bool{}
	for _, f := range slices.Concat(MultiGPUFigures(), OutOfCoreFigures()) {
		require.False(t, names[f.Name], f.Name)
		names[f.Name] = true
		for _, algorithm := range f.algorithms {
			_, err := join.ParseAlgorithm(algorithm)
			require.NoError(t, err)
		}
		for scale := range 40 {
			places := map[string]bool{}
			for _, c := range f.Cells {
				c = c.Scaled(scale)
				require.NoError(t, c.Spec.Validate(), "%s: %v", f.Name, c)
				places[f.Axis(c)] = true
			}
			if scale < 20 {
				require.Len(t, places, len(f.Cells), f.Name)
			}
		}
	}
	for _, name := range []string{"hmg-14", "hmg-15", "hmg-16", "hmg-17", "hmg-18", "hmg-19", "rt-14"} {
		require.True(t, names[name], name)
	}
}

// The workloads are as in HMG table 2.
func TestWorkloads(t *testing.T) {
	a, b := workloadA(2), workloadB(1.5)
	require.Equal(t, []int64{200_000_000, 2_000_000_000}, []int64{a.Spec.RRows, a.Spec.SRows})
	require.EqualValues(t, 2*8_800_000_000, needsOf(a.Spec, join.Count, 0).tableBytes)
	require.Equal(t, []int64{1_500_000_000, 1_500_000_000}, []int64{b.Spec.RRows, b.Spec.SRows})
	require.EqualValues(t, 1.5*32_000_000_000, needsOf(b.Spec, join.Count, 0).tableBytes)
}

func TestFind(t *testing.T) {
	all, err := Find(OutOfCoreFigures(), nil)
	require.NoError(t, err)
	require.Len(t, all, 3)
	found, err := Find(MultiGPUFigures(), []string{"hmg-18", "hmg-14"})
	require.NoError(t, err)
	require.Equal(t, []string{"hmg-18", "hmg-14"}, []string{found[0].Name, found[1].Name})
	_, err = Find(OutOfCoreFigures(), []string{"rt-15"})
	require.ErrorContains(t, err, `no figure "rt-15"; there are rt-14, device-memory, memory-limit, and all`)
	_, err = FindStrategies([]string{"narrowcast"})
	require.ErrorContains(t, err, `no strategy "narrowcast"; there are broadcast`)
	_, err = ParseOutputs([]string{"count", "ranges"}, join.Count, join.Rows)
	require.ErrorContains(t, err, `no output "ranges"; there are count, rows`)
}
