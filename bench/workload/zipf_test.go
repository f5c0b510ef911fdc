package workload

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// zipfWeight is the sum of k^-theta for k in (a, b]: term by term where that is
// quick, otherwise by Euler-Maclaurin, whose error is far below the test's.
func zipfWeight(a, b int64, theta float64) float64 {
	sum := 0.0
	for k := a + 1; k <= b && k <= 20_000; k++ {
		sum += math.Pow(float64(k), -theta)
	}
	if a = max(a, 20_000); b > a {
		low, high := float64(a), float64(b)
		if theta == 1 {
			sum += math.Log(high / low)
		} else {
			sum += (math.Pow(high, 1-theta) - math.Pow(low, 1-theta)) / (1 - theta)
		}
		sum += (math.Pow(high, -theta) - math.Pow(low, -theta)) / 2
	}
	return sum
}

// zipfZ compares drawn ranks with the exact probabilities.
func zipfZ(t *testing.T, n int64, drawn, tested float64) float64 {
	const draws = 150_000
	z, err := NewZipf(n, drawn)
	require.NoError(t, err)
	var ends []int64 // upper ends of the cells: single ranks, then doubling ranges
	for end := int64(1); ; {
		ends = append(ends, min(end, n))
		if end >= n {
			break
		}
		if end < 100 {
			end++
		} else {
			end += max(1, end/2)
		}
	}
	counts, expected := make([]int64, len(ends)), make([]float64, len(ends))
	for row := range uint64(draws) {
		random := streamAt(uint64(n)*31+uint64(drawn*1000), row)
		rank := z.draw(&random)
		if rank < 0 || rank >= n {
			require.Failf(t, "no rank", "%d of %d", rank, n)
		}
		low, high := 0, len(ends)-1
		for low < high {
			if middle := (low + high) / 2; ends[middle] > rank {
				high = middle
			} else {
				low = middle + 1
			}
		}
		counts[low]++
	}
	total := zipfWeight(0, n, tested)
	for i, end := range ends {
		start := int64(0)
		if i > 0 {
			start = ends[i-1]
		}
		expected[i] = draws * zipfWeight(start, end, tested) / total
	}
	return chiSquare(counts, expected)
}

func TestZipfIsExact(t *testing.T) {
	devicetest.SkipRace(t)
	for _, n := range []int64{1, 2, 3, 10, 1000, 1 << 20, 1 << 40} {
		for _, theta := range []float64{0, 0.1, 0.5, 0.99, 1, 1.01, 1.5, 1.75, 2} {
			t.Run(fmt.Sprintf("n=%d/theta=%v", n, theta), func(t *testing.T) {
				require.Less(t, zipfZ(t, n, theta, theta), maxZ)
			})
		}
	}
}

// The test sees a skew that is wrong by a few hundredths.
func TestZipfTestSeesFaults(t *testing.T) {
	for _, n := range []int64{1000, 1 << 20, 1 << 40} {
		for _, theta := range []float64{0.5, 1, 1.75} {
			require.Greater(t, zipfZ(t, n, theta, theta+0.03), maxZ, "n = %d, theta = %v", n, theta)
		}
	}
	require.Greater(t, zipfZ(t, 1000, 0, 0.05), maxZ)
}

func TestZipfRefusesOthers(t *testing.T) {
	for _, theta := range []float64{-0.1, 2.1, math.NaN(), math.Inf(1)} {
		_, err := NewZipf(10, theta)
		require.Error(t, err)
	}
	_, err := NewZipf(0, 1)
	require.Error(t, err)
}

func BenchmarkZipf(b *testing.B) {
	for _, theta := range []float64{0, 0.5, 1, 1.5} {
		b.Run(fmt.Sprintf("theta=%v", theta), func(b *testing.B) {
			z, err := NewZipf(1<<27, theta)
			require.NoError(b, err)
			random := stream{1}
			for range b.N {
				z.draw(&random)
			}
		})
	}
}
