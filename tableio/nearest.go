package tableio

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Nearest returns the candidate most like name, for "did you mean". It ignores
// case, counts insertions, deletions, substitutions and swaps of neighbours,
// and gives false where nothing is near: more than a third of the longer name
// differs. Of equally near candidates the first wins.
func Nearest(name string, candidates []string) (string, bool) {
	best, bestDistance := "", -1
	folded := []rune(strings.ToLower(name))
	for _, candidate := range candidates {
		other := []rune(strings.ToLower(candidate))
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

// columnIndices finds the columns by name, reporting all faults together. Nil
// names mean all columns; a name may be given twice.
func columnIndices(schema *arrow.Schema, names []string) ([]int, error) {
	if names == nil {
		all := make([]int, schema.NumFields())
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	fields := make([]string, schema.NumFields())
	for i := range fields {
		fields[i] = schema.Field(i).Name
	}
	var faults []error
	indices := make([]int, 0, len(names))
	for _, name := range names {
		switch first := slices.Index(fields, name); {
		case first < 0:
			faults = append(faults, unknownColumn(name, fields))
		case slices.Contains(fields[first+1:], name):
			faults = append(faults, fmt.Errorf("%w %q is ambiguous: the name occurs more than once", ErrColumn, name))
		default:
			indices = append(indices, first)
		}
	}
	return indices, joinFaults(faults...)
}

func unknownColumn(name string, fields []string) error {
	if near, ok := Nearest(name, fields); ok {
		return fmt.Errorf("%w %q does not exist; did you mean %q?", ErrColumn, name, near)
	}
	shown := fields[:min(len(fields), 20)]
	more := ""
	if len(shown) < len(fields) {
		more = fmt.Sprintf(" and %d more", len(fields)-len(shown))
	}
	return fmt.Errorf("%w %q does not exist; there are: %s%s", ErrColumn, name, strings.Join(shown, ", "), more)
}
