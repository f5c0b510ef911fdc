package devicetest

import (
	"os"
	"slices"
	"testing"
)

// Full reports whether the environment asks for the full product of every test matrix.
func Full() bool { return os.Getenv("SPIRJOIN_MATRIX") == "full" }

// Combinations returns index tuples into axes of the given sizes: all of them if [Full], otherwise a few that still
// contain every pair of values of every two axes. The choice is greedy and deterministic.
func Combinations(t testing.TB, sizes ...int) (chosen [][]int) {
	t.Helper()
	all := 1
	for _, size := range sizes {
		all *= size
	}
	at := func(number int) []int { // the last axis varies fastest
		c := make([]int, len(sizes))
		for i := len(sizes) - 1; i >= 0; i-- {
			c[i], number = number%sizes[i], number/sizes[i]
		}
		return c
	}
	if Full() || len(sizes) < 2 {
		for number := range all {
			chosen = append(chosen, at(number))
		}
		return chosen
	}
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
