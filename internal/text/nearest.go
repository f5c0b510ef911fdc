package text

import "strings"

// Nearest returns the candidate most similar to name, for "did you mean". It ignores case and outer blanks, and counts
// insertions, deletions, substitutions and swaps of adjacent characters. It returns false if no candidate is near: at
// most a third of the longer name may differ. Of equally near candidates the first wins.
func Nearest(name string, candidates []string) (string, bool) {
	best, bestDistance := "", -1
	fold := func(name string) []rune { return []rune(strings.ToLower(strings.TrimSpace(name))) }
	folded := fold(name)
	for _, candidate := range candidates {
		other := fold(candidate)
		distance := editDistance(folded, other)
		if limit := max(1, max(len(folded), len(other))/3); distance > limit || distance == len(other) && distance > 0 {
			continue
		}
		if bestDistance < 0 || distance < bestDistance {
			best, bestDistance = candidate, distance
		}
	}
	return best, bestDistance >= 0
}

// editDistance is the optimal string alignment distance.
func editDistance(a, b []rune) int {
	before, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(b)]
}
