package workload

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// chiSquare is the z-score of Pearson's statistic (Wilson-Hilferty): about
// standard normal if the counts come from the expectation. Cells of expectation
// below 5 are pooled.
func chiSquare(observed []int64, expected []float64) float64 {
	statistic, cells := 0.0, 0
	pooledObserved, pooledExpected := 0.0, 0.0
	add := func(o, e float64) {
		statistic += (o - e) * (o - e) / e
		cells++
	}
	for i, e := range expected {
		if e < 5 {
			pooledObserved += float64(observed[i])
			pooledExpected += e
			continue
		}
		add(float64(observed[i]), e)
	}
	if pooledExpected >= 5 {
		add(pooledObserved, pooledExpected)
	} else if pooledObserved > 30 {
		return math.Inf(1)
	}
	if cells < 2 {
		return 0
	}
	k := float64(cells - 1)
	return (math.Cbrt(statistic/k) - (1 - 2/(9*k))) / math.Sqrt(2/(9*k))
}

// maxZ is passed by chance once in about 10^6 tests; seeds are fixed anyhow.
const maxZ = 4.8

func TestChiSquareSeesFaults(t *testing.T) {
	random := stream{7}
	observed, expected := make([]int64, 100), make([]float64, 100)
	for range 100_000 {
		observed[random.below(100)]++
	}
	for i := range expected {
		expected[i] = 1000
	}
	require.Less(t, chiSquare(observed, expected), maxZ)
	for i := range 50 { // five percent more in one half
		observed[i] += 25
		observed[i+50] -= 25
	}
	require.Greater(t, chiSquare(observed, expected), maxZ)
}

func TestStreamIsUniform(t *testing.T) {
	random := stream{42}
	const cells, draws = 1000, 1_000_000
	bits, floats, below := make([]int64, 64), make([]int64, cells), make([]int64, cells)
	for range draws {
		word := random.next()
		for bit := range bits {
			bits[bit] += int64(word >> bit & 1)
		}
		floats[int(random.float64()*cells)]++
		below[random.below(cells)]++
	}
	for bit, count := range bits {
		require.InDelta(t, draws/2, float64(count), 5*math.Sqrt(draws)/2, "bit %d", bit)
	}
	uniform := make([]float64, cells)
	for i := range uniform {
		uniform[i] = draws / cells
	}
	require.Less(t, chiSquare(floats, uniform), maxZ)
	require.Less(t, chiSquare(below, uniform), maxZ)
	// a range that a multiplication alone would bias: 3/4 of all words
	n, low := uint64(3)<<62, int64(0)
	for range draws {
		if random.below(n) < n/2 {
			low++
		}
	}
	require.InDelta(t, draws/2, float64(low), 5*math.Sqrt(draws)/2)
}
