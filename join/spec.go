// Package join joins two Arrow tables by key on one device. It owns the specification and its meaning, the layout of
// the output, the plan and its explanation, and the stream of results; the algorithms are in the packages below it and
// know key codes and row numbers only.
package join

import (
	"fmt"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/plan"
)

// How says which rows a join returns.
type How uint8

const (
	Inner How = iota // one row per pair of rows with equal keys
)

var howNames = map[string]How{"inner": Inner}

// notYet are the ways to join that the specification knows and this version does not offer.
var notYet = []string{"left", "right", "full", "semi", "anti", "cross"}

func (h How) String() string { return "inner" }

// ParseHow reads the name of a way to join.
func ParseHow(text string) (How, error) {
	if how, ok := howNames[strings.ToLower(text)]; ok {
		return how, nil
	}
	for _, name := range notYet {
		if strings.EqualFold(name, text) {
			return 0, fmt.Errorf("%w: how=%s; this version offers inner", backend.ErrUnsupported, name)
		}
	}
	return 0, fmt.Errorf("%w: how=%q; offered is inner", backend.ErrInvalidInput, text)
}

// Output says what a join returns about the pairs that it found.
type Output uint8

const (
	Rows   Output = iota // record batches with the columns of both sides
	Count                // the number of pairs
	Ranges               // ranges of the sorted sides that hold the same key
	Pairs                // pairs of row numbers
)

func (o Output) String() string { return [...]string{"rows", "count", "ranges", "pairs"}[o] }

// Materialize says where payload columns are put together.
type Materialize uint8

const (
	MaterializeAuto Materialize = iota // where that is predicted to be faster
	MaterializeHost
	MaterializeDevice // columns of 4 and 8 bytes per value; the others always on the host
)

func (m Materialize) String() string { return [...]string{"auto", "host", "device"}[m] }

// Spec is what to join and how. The zero value of everything but the key columns is a default.
type Spec struct {
	How     How
	On      []string // key columns that have the same name on both sides
	LeftOn  []string // or key columns of each side, pair by pair
	RightOn []string
	// Columns are the output columns to return, by output name and in this order; nil for all: the columns of the left
	// table, then those of the right table without its key columns, which equal the left ones.
	Columns []string
	Suffix  string // put behind the name of a right column until the name is free; default "_right"
	Output  Output
	// MaxOutputRows makes a join that finds more pairs fail with backend.ErrLimit before it takes memory for them; 0 is
	// no limit.
	MaxOutputRows uint64
	BatchRows     int // rows of a record batch or of a piece of pairs at most; default 1 Mi
	Materialize   Materialize
	Algorithm     Algorithm // default: the one that is predicted to be fastest
	// Progress, if set, is called at the start of each phase and as rows are delivered, one call at a time: done of
	// total rows of the phase, total 0 where it is not known.
	Progress func(phase string, done, total uint64)
}

const (
	defaultSuffix    = "_right"
	defaultBatchRows = 1 << 20
)

// withDefaults fills in the defaults and reports all faults together.
func (s Spec) withDefaults() (Spec, error) {
	var faults []string
	switch {
	case len(s.On) > 0 && len(s.LeftOn)+len(s.RightOn) > 0:
		faults = append(faults, "give either on or left_on and right_on")
	case len(s.On) > 0:
		s.LeftOn, s.RightOn, s.On = s.On, s.On, nil
	case len(s.LeftOn) == 0 && len(s.RightOn) == 0:
		faults = append(faults, "no key columns; give on, or left_on and right_on")
	case len(s.LeftOn) != len(s.RightOn):
		faults = append(faults, fmt.Sprintf("%d columns in left_on, %d in right_on", len(s.LeftOn), len(s.RightOn)))
	}
	if s.How != Inner {
		faults = append(faults, fmt.Sprintf("unknown way to join %d", s.How))
	}
	if s.Output > Pairs {
		faults = append(faults, fmt.Sprintf("unknown output %d", s.Output))
	}
	if s.Algorithm > plan.SMJUM {
		faults = append(faults, fmt.Sprintf("unknown algorithm %d", s.Algorithm))
	}
	if s.Output == Ranges && s.Algorithm != plan.Auto && s.Algorithm != plan.SMJUM {
		faults = append(faults, fmt.Sprintf("key ranges come of smj-um, not of %s", s.Algorithm))
	}
	if s.BatchRows < 0 {
		faults = append(faults, fmt.Sprintf("batch_rows is %d", s.BatchRows))
	}
	if s.Suffix == "" {
		s.Suffix = defaultSuffix
	}
	if s.BatchRows == 0 {
		s.BatchRows = defaultBatchRows
	}
	if len(faults) > 0 {
		return s, fmt.Errorf("%w: join: %s", backend.ErrInvalidInput, strings.Join(faults, "; "))
	}
	return s, nil
}
