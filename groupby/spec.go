// Package groupby puts the rows of a table in groups of equal keys and computes aggregates of each group: counts, sums,
// least and greatest values, averages, variances. A [Spec] says what to compute, [NewLayout] derives the output columns
// from a schema, an [Engine] runs it on a device. docs/groupby.md has the rules for every type.
package groupby

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
)

// Spec says by which columns rows are grouped and what is computed of each group.
type Spec struct {
	// By names the key columns. NULL is one more value of each. Without any, all rows are one group, also if there are
	// none.
	By         []string
	Aggregates []Aggregate
	// Algorithm forces how rows are grouped on the device: "graphics", by drawing, of counts, integers and decimals, and
	// least, greatest and first values, on a device that draws; or "sort", by a sort of the keys. "" leaves the choice.
	Algorithm string
	BatchRows int // maximum rows of an output batch; 0 means 1,048,576
	// Progress is told how far the query has come; nil: nobody is.
	Progress func(exec.Status)
}

// Aggregate is an output column that is computed of the rows of each group. NULL values do not count: an aggregate over
// no values is NULL, a count is 0.
type Aggregate struct {
	Func   Func
	Column string // "" for a Count of all rows
	Name   string // of the output column; "" means function and column, as in sum_price
	// Wide makes a Sum of integers, decimals or durations a decimal256 of 76 digits with the scale of the column, which
	// holds all sums of types of up to 128 bits. Other functions ignore it.
	Wide bool
}

// Func is what is computed of the values of a group.
type Func uint8

const (
	Count         Func = iota // number of values, or of rows
	CountDistinct             // number of different values
	Sum
	Min
	Max
	Avg    // mean, as float64
	First  // value of the first row of the group, which may be NULL
	Var    // sample variance, as float64; NULL of fewer than two values
	Stddev // square root of Var
)

var funcNames = []string{"count", "count_distinct", "sum", "min", "max", "avg", "first", "var", "stddev"}

// funcSynonyms are the names that others give functions.
var funcSynonyms = map[string]string{"mean": "avg", "average": "avg", "std": "stddev", "stdev": "stddev",
	"stddev_samp": "stddev", "variance": "var", "var_samp": "var", "nunique": "count_distinct",
	"n_unique": "count_distinct", "distinct": "count_distinct", "distinct_count": "count_distinct", "size": "count",
	"len": "count", "total": "sum", "minimum": "min", "maximum": "max", "first_value": "first"}

// String returns the name that [ParseFunc] accepts.
func (f Func) String() string {
	if int(f) < len(funcNames) {
		return funcNames[f]
	}
	return fmt.Sprint(uint8(f))
}

// ParseFunc parses count, count_distinct, sum, min, max, avg, first, var or stddev.
func ParseFunc(name string) (Func, error) {
	if i := slices.Index(funcNames, name); i >= 0 {
		return Func(i), nil
	}
	hint := "there are "
	known := slices.Concat(funcNames, slices.Sorted(maps.Keys(funcSynonyms)))
	if nearest, near := text.Nearest(name, known); near {
		hint = fmt.Sprintf("did you mean %q? There are ", cmp.Or(funcSynonyms[nearest], nearest))
	}
	return 0, fmt.Errorf("%w: there is no aggregate function %q; %s%s", backend.ErrInvalidInput, name, hint,
		strings.Join(funcNames, ", "))
}

// OutputName returns the name of the output column.
func (a *Aggregate) OutputName() string {
	switch {
	case a.Name != "":
		return a.Name
	case a.Column == "":
		return a.Func.String()
	}
	return a.Func.String() + "_" + a.Column
}

// String returns the aggregate for people, as in sum(price).
func (a *Aggregate) String() string {
	if a.Column == "" {
		return a.Func.String() + "(*)"
	}
	return a.Func.String() + "(" + a.Column + ")"
}

// Check returns ErrInvalidInput for a specification that no schema fits.
func (s *Spec) Check() error {
	if len(s.By) == 0 && len(s.Aggregates) == 0 {
		return fmt.Errorf("%w: group by: neither key columns nor aggregates are given", backend.ErrInvalidInput)
	}
	if s.BatchRows < 0 {
		return fmt.Errorf("%w: group by: batch_rows is %d", backend.ErrInvalidInput, s.BatchRows)
	}
	if _, known := algorithms[s.Algorithm]; !known {
		return fmt.Errorf("%w: group by: there is no algorithm %q; they are graphics and sort", backend.ErrInvalidInput,
			s.Algorithm)
	}
	seen := make(map[string]bool)
	for _, name := range s.By {
		if seen[name] {
			return fmt.Errorf("%w: group by: key column %q is named twice", backend.ErrInvalidInput, name)
		}
		seen[name] = true
	}
	for _, a := range s.Aggregates {
		switch name := a.OutputName(); {
		case int(a.Func) >= len(funcNames):
			return fmt.Errorf("%w: group by: aggregate function %d is unknown", backend.ErrInvalidInput, a.Func)
		case a.Column == "" && a.Func != Count:
			return fmt.Errorf("%w: group by: %s needs a column", backend.ErrInvalidInput, a.Func)
		case seen[name]:
			return fmt.Errorf("%w: group by: two output columns are named %q; give one of them another name",
				backend.ErrInvalidInput, name)
		default:
			seen[name] = true
		}
	}
	return nil
}
