package workload

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPermutationIsABijection(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.OneOf(rapid.Int64Range(0, 40), rapid.Int64Range(tableRows-2, tableRows+2), rapid.Int64Range(8190, 8194), rapid.Int64Range(0, 20_000)).Draw(rt, "n")
		p := NewPermutation(n, rapid.Uint64().Draw(rt, "seed"))
		seen := make([]bool, n)
		for i := range n {
			image := p.At(i)
			require.True(rt, image >= 0 && image < n && !seen[image], "%d of %d goes to %d", i, n, image)
			seen[image] = true
		}
	})
}

func TestPermutationOfHugeRanges(t *testing.T) {
	for _, n := range []int64{1 << 31, 1<<40 + 1, math.MaxInt64} {
		p := NewPermutation(n, 3)
		seen := map[int64]bool{}
		for i := range int64(10_000) {
			for _, place := range []int64{i, n - 1 - i} {
				image := p.At(place)
				require.True(t, image >= 0 && image < n)
				require.False(t, seen[image])
				seen[image] = true
			}
		}
	}
}

// permutationZ is the worst of several tests of randomness, each about standard
// normal for uniform permutations: where the elements of each sixteenth go, how
// often a successor is greater, how far neighbours land apart, fixed points.
func permutationZ(n int64, image func(seed uint64, i int64) int64) float64 {
	const seeds, parts = 40, 16
	where, expected := make([]int64, parts*parts), make([]float64, parts*parts)
	size := func(part int64) float64 { return float64((part+1)*n/parts - part*n/parts) }
	part := func(x int64) int64 { return ((x+1)*parts - 1) / n }
	ascents, fixed := 0.0, 0.0
	apart := make([]int64, parts)
	for seed := range uint64(seeds) {
		previous := int64(-1)
		for i := range n {
			x := image(seed, i)
			where[part(i)*parts+part(x)]++
			if x == i {
				fixed++
			}
			if i > 0 {
				if x > previous {
					ascents++
				}
				apart[part((x-previous+n)%n)]++
			}
			previous = x
		}
	}
	for i := range int64(parts) {
		for j := range int64(parts) {
			expected[i*parts+j] = seeds * size(i) * size(j) / float64(n)
		}
	}
	distances := make([]float64, parts)
	for i := range distances {
		distances[i] = seeds * float64(n-1) * size(int64(i)) / float64(n)
	}
	return max(
		chiSquare(where, expected),
		chiSquare(apart, distances),
		math.Abs(ascents-seeds*float64(n-1)/2)/math.Sqrt(seeds*float64(n+1)/12),
		math.Abs(fixed-seeds)/math.Sqrt(seeds),
	)
}

func TestPermutationLooksRandom(t *testing.T) {
	for _, n := range []int64{1000, tableRows, tableRows + 1, 5000, 8192, 8193, 10_000} {
		var last uint64 = math.MaxUint64
		var p *Permutation
		z := permutationZ(n, func(seed uint64, i int64) int64 {
			if seed != last {
				p, last = NewPermutation(n, seed), seed
			}
			return p.At(i)
		})
		require.Less(t, z, maxZ, "n = %d", n)
	}
}

// The tests of randomness reject what is not random enough.
func TestPermutationTestsSeeFaults(t *testing.T) {
	const n = 8192
	for name, image := range map[string]func(seed uint64, i int64) int64{
		"identity":          func(_ uint64, i int64) int64 { return i },
		"reversed":          func(_ uint64, i int64) int64 { return n - 1 - i },
		"multiplied":        func(seed uint64, i int64) int64 { return int64((uint64(i)*(2*mix64(seed)+1) + seed) % n) },
		"two Feistel steps": func(seed uint64, i int64) int64 { return weakFeistel(seed, i, 2) },
	} {
		require.Greater(t, permutationZ(n, image), maxZ, name)
	}
}

// weakFeistel is a network of 13 bits with few rounds.
func weakFeistel(seed uint64, i int64, rounds int) int64 {
	x, low, high := uint64(i), 6, 7
	for round := range rounds {
		right, left := x&(1<<low-1), x>>low
		left ^= mix64(right^derive(seed, uint64(round))) & (1<<high - 1)
		x = right<<high | left
		low, high = high, low
	}
	return int64(x)
}

func TestSmallShufflesAreUniform(t *testing.T) {
	counts, expected := make([]int64, 27), make([]float64, 27)
	for seed := range uint64(60_000) {
		p := NewPermutation(3, mix64(seed))
		counts[p.At(0)*9+p.At(1)*3+p.At(2)]++
	}
	for _, order := range []int{0*9 + 1*3 + 2, 0*9 + 2*3 + 1, 1*9 + 0*3 + 2, 1*9 + 2*3 + 0, 2*9 + 0*3 + 1, 2*9 + 1*3 + 0} {
		expected[order] = 10_000
	}
	require.Less(t, chiSquare(counts, expected), maxZ)
}

func BenchmarkPermutation(b *testing.B) {
	p := NewPermutation(1<<27+1, 1)
	for i := range b.N {
		p.At(int64(i & (1<<27 - 1)))
	}
}
