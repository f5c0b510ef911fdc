// Package groupby puts the rows of a table in groups of equal keys and computes aggregates of each group: counts, sums,
// least and greatest values, averages, variances. A [Spec] says what to compute, [NewLayout] derives the output columns
// from a schema, an [Engine] runs it on a device. docs/groupby.md has the rules for every type.
package groupby

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
)

// Spec says by which columns rows are grouped and what is computed of each group.
type Spec struct {
	// By names the key columns. NULL is one more value of each. Without any, all rows are one group, also if there are
	// none.
	By         []string
	Aggregates []Aggregate
	// Algorithm forces how rows are grouped on the device: "graphics", by drawing, of counts, integers and decimals,
	// and least, greatest and first values, on a device that draws; or "sort", by a sort of the keys. "" leaves the
	// choice.
	Algorithm string
	BatchRows int // maximum rows of an output batch; 0 means 1,048,576
	// Progress receives the progress of the query; it may be nil.
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
		case int(a.Func) >= len(functions):
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
