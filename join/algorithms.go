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

// Algorithms lists all join algorithms, named as in GFTR, section 5.1 (docs/glossary.md). A new algorithm is a line
// here and a package of its own.
var Algorithms = []operator.Algorithm{
	hash.Partitioned{},
	hash.Partitioned{OneByOne: true},
	hash.Partitioned{Untransformed: true},
	hash.Unpartitioned{},
	sortmerge.OM,
	sortmerge.OMSingle,
	sortmerge.UM,
	graphics.Algorithm{},
}

// Meanings are what the names of all algorithms stand for.
var Meanings = map[string]string{
	"phj-om":            "partitioned hash join; payload columns are partitioned like their keys",
	"phj-om one by one": "partitioned hash join; payload columns are partitioned like their keys, one at a time",
	"phj-um":            "partitioned hash join; payload is gathered by row number",
	"hj":                "hash join with one table; payload is gathered by row number",
	"smj-om":            "sort-merge join; payload columns are sorted like their keys",
	"smj-om one by one": "sort-merge join; payload columns are sorted like their keys, one at a time",
	"graphics":          "hash join on the graphics pipeline, by drawing points into images; payload is gathered by row number",
	"smj-um":            "sort-merge join; payload is gathered by row number",
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
	var forms []operator.Algorithm
	for _, a := range Algorithms {
		if family(a) == name {
			forms = append(forms, a)
		}
	}
	return forms
}
