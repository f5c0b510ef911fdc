package devicetest

import (
	"os"
	"testing"
)

// Full reports whether the environment asks for the full product of every test matrix.
func Full() bool { return os.Getenv("SPIRJOIN_MATRIX") == "full" }

// Combinations returns index tuples into axes of the given sizes: all of them when [Full], otherwise few that still contain
// every pair of values of every two axes. The choice is greedy and always the same.
func Combinations(t testing.TB, sizes ...int) [][]int {
	t.Helper()
	all := [][]int{{}}
	for _, size := range sizes {
		var longer [][]int
		for _, c := range all {
			for v := range size {
				longer = append(longer, append(append([]int(nil), c...), v))
			}
		}
		all = longer
	}
	if Full() {
		return all
	}
	type pair struct{ i, j, v, w int }
	open := make(map[pair]bool)
	covers := func(c []int, visit func(pair)) {
		for i := range c {
			for j := i + 1; j < len(c); j++ {
				visit(pair{i, j, c[i], c[j]})
			}
		}
	}
	for _, c := range all {
		covers(c, func(p pair) { open[p] = true })
	}
	var chosen [][]int
	for len(open) > 0 {
		best, most := -1, 0
		// A stride through the product keeps the search short without favouring the low values of the first axes.
		stride := max(1, len(all)/2000) | 1
		for k := range min(len(all), 2000) {
			i := k * stride % len(all)
			n := 0
			covers(all[i], func(p pair) {
				if open[p] {
					n++
				}
			})
			if n > most {
				best, most = i, n
			}
		}
		if best < 0 { // the stride misses the rest
			for i, c := range all {
				covers(c, func(p pair) {
					if open[p] {
						best = i
					}
				})
			}
		}
		chosen = append(chosen, all[best])
		covers(all[best], func(p pair) { delete(open, p) })
	}
	return chosen
}
