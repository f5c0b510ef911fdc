package join

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/graphics"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/operator"
)

// algorithms has a row for each join algorithm, named as in GFTR, section 5.1 (docs/glossary.md), and what its name stands
// for. A new algorithm is a row here and a package of its own.
var algorithms = []struct {
	operator.Algorithm
	meaning string
}{
	{hash.Partitioned{}, "partitioned hash join; payload columns are partitioned like their keys"},
	{hash.Partitioned{OneByOne: true},
		"partitioned hash join; payload columns are partitioned like their keys, one at a time"},
	{hash.Partitioned{Untransformed: true}, "partitioned hash join; payload is gathered by row number"},
	{hash.Unpartitioned{}, "hash join with one table; payload is gathered by row number"},
	{sortmerge.OM, "sort-merge join; payload columns are sorted like their keys"},
	{sortmerge.OMSingle, "sort-merge join; payload columns are sorted like their keys, one at a time"},
	{sortmerge.UM, "sort-merge join; payload is gathered by row number"},
	{graphics.Algorithm{},
		"hash join on the graphics pipeline, by drawing points into images; payload is gathered by row number"},
}

// Algorithms lists all join algorithms; Meanings are what their names stand for.
var Algorithms, Meanings = listed()

func listed() (all []operator.Algorithm, meanings map[string]string) {
	meanings = make(map[string]string)
	for _, row := range algorithms {
		all, meanings[row.Name()] = append(all, row.Algorithm), row.meaning
	}
	return all, meanings
}

// Auto stands for the algorithm that is predicted to be fastest.
const Auto = "auto"

// AlgorithmNames returns the names that [ParseAlgorithm] accepts, auto first.
func AlgorithmNames() []string {
	names := []string{Auto}
	for _, a := range Algorithms {
		if name := family(a); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// family is the name of an algorithm without its form: one by one or not is always the planner's choice.
func family(a operator.Algorithm) string {
	name, _, _ := strings.Cut(a.Name(), " ")
	return name
}

// ParseAlgorithm parses the name of an algorithm; "" is auto.
func ParseAlgorithm(name string) (string, error) {
	if name == "" {
		return Auto, nil
	}
	if name = plainName(name); slices.Contains(AlgorithmNames(), name) {
		return name, nil
	}
	return "", fmt.Errorf("%w: no algorithm %q; %s", backend.ErrInvalidInput, name, hint(name, AlgorithmNames(), nil))
}

// AlgorithmsNamed returns the forms of an algorithm, or all.
func AlgorithmsNamed(name string) []operator.Algorithm {
	if name == Auto {
		return Algorithms
	}
	return slices.DeleteFunc(slices.Clone(Algorithms), func(a operator.Algorithm) bool { return family(a) != name })
}
