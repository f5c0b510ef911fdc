package devicetest

import (
	"hash/crc32"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spirjoin/spirjoin/backend"
)

// Full reports whether the environment asks for the full product of every test matrix.
func Full() bool { return os.Getenv("SPIRJOIN_MATRIX") == "full" }

// Short returns the first value under go test -short, otherwise the second: how dense a sweep is, or which values it
// has.
func Short[T any](short, otherwise T) T {
	if testing.Short() {
		return short
	}
	return otherwise
}

// Turn reports whether the case with a number runs. Under go test -short one in every does.
func Turn(number, every int) bool { return !testing.Short() || number%every == 0 }

// Shapes chooses the configurations of kernels that a test runs on a device. ways begins with the device's own tuning.
// A test runs all of them. A short test on OpenCL runs the device's own and, in a third of the tests by name, one other:
// each set of constants is a program there, and compiling takes most of the time. Packages share the programs of the
// device's own tuning.
func Shapes[T any](t testing.TB, device *backend.DeviceInfo, ways []T) []T {
	if !testing.Short() || device.Backend != "opencl" || len(ways) < 2 {
		return ways
	}
	name, _, _ := strings.Cut(t.Name(), "/")
	if turn := int(crc32.ChecksumIEEE([]byte(name))); turn%3 == 0 {
		return []T{ways[0], ways[1+turn/3%(len(ways)-1)]}
	}
	return ways[:1]
}

// Combinations returns index tuples into axes of the given sizes: all of them if [Full], otherwise a few that
// still contain every pair of values of every two axes, and under go test -short as few as contain every value of every
// axis. The choice is deterministic.
func Combinations(t testing.TB, sizes ...int) [][]int {
	t.Helper()
	switch {
	case Full() || len(sizes) < 2:
		return everyTuple(sizes)
	case testing.Short():
		return everyValue(sizes)
	}
	return everyPair(sizes)
}

// Product returns all index tuples into axes of the given sizes, but under go test -short what [Combinations] does.
func Product(t testing.TB, sizes ...int) [][]int {
	t.Helper()
	if testing.Short() {
		return Combinations(t, sizes...)
	}
	return everyTuple(sizes)
}

// tuple returns a function from numbers to tuples, in which the last axis varies fastest, and how many there are.
func tuple(sizes []int) (at func(number int) []int, all int) {
	all = 1
	for _, size := range sizes {
		all *= size
	}
	return func(number int) []int {
		c := make([]int, len(sizes))
		for i := len(sizes) - 1; i >= 0; i-- {
			c[i], number = number%sizes[i], number/sizes[i]
		}
		return c
	}, all
}

func everyTuple(sizes []int) (chosen [][]int) {
	at, all := tuple(sizes)
	for number := range all {
		chosen = append(chosen, at(number))
	}
	return chosen
}

// everyPair chooses greedily tuples that contain every pair of values of every two axes.
func everyPair(sizes []int) (chosen [][]int) {
	at, all := tuple(sizes)
	// covered[i][j], for j > i, has an element for each pair of a value of axis i and a value of axis j.
	covered, open := make([][][]bool, len(sizes)), 0
	for i := range sizes {
		covered[i] = make([][]bool, len(sizes))
		for j := i + 1; j < len(sizes); j++ {
			covered[i][j] = make([]bool, sizes[i]*sizes[j])
			open += sizes[i] * sizes[j]
		}
	}
	visit := func(c []int, pair func(covered *bool)) {
		for i := range c {
			for j := i + 1; j < len(c); j++ {
				pair(&covered[i][j][c[i]*sizes[j]+c[j]])
			}
		}
	}
	// A stride through the product keeps the search short without favouring the low values of the first axes.
	stride := max(1, all/2000) | 1
	for all > 0 && open > 0 {
		best, most := at(0), 0
		for k := range min(all, 2000) {
			c, n := at(k*stride%all), 0
			visit(c, func(covered *bool) {
				if !*covered {
					n++
				}
			})
			if n > most {
				best, most = c, n
			}
		}
		if most == 0 {
			best = missed(covered, sizes)
		}
		chosen = append(chosen, best)
		visit(best, func(covered *bool) {
			if !*covered {
				*covered = true
				open--
			}
		})
	}
	return chosen
}

// everyValue returns as many tuples as the longest axis has values. Each axis has a random order of its own, so that
// axes of equal size do not go in step.
func everyValue(sizes []int) [][]int {
	chosen := make([][]int, slices.Max(sizes))
	for i, size := range sizes {
		random := rand.New(rand.NewPCG(uint64(i), uint64(size)))
		var values []int
		for k := range chosen {
			if len(values) == 0 {
				values = random.Perm(size)
			}
			chosen[k], values = append(chosen[k], values[0]), values[1:]
		}
	}
	return chosen
}

// missed returns a tuple with a pair of values that is not covered.
func missed(covered [][][]bool, sizes []int) []int {
	c := make([]int, len(sizes))
	for i := range covered {
		for j := range covered[i] {
			if pair := slices.Index(covered[i][j], false); pair >= 0 {
				c[i], c[j] = pair/sizes[j], pair%sizes[j]
				return c
			}
		}
	}
	return c
}
