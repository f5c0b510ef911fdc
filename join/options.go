package join

import (
	"fmt"

	"github.com/spirjoin/spirjoin/relation"
)

// Validate says which keys a join requires to be unique. Two rows of such a side with equal keys fail the join, whether
// or not they have partners. NULL equals nothing, so any number of rows may have it, unless Spec.NullsEqual makes it
// equal to itself.
type Validate uint8

const (
	Any        Validate = iota // no requirement
	OneToOne                   // unique keys on both sides
	OneToMany                  // unique keys on the left side
	ManyToOne                  // unique keys on the right side
	ManyToMany = Any
)

var (
	validateNames    = []string{"m:m", "1:1", "1:m", "m:1"}
	validateSynonyms = map[string]string{"1:n": "1:m", "n:1": "m:1", "n:m": "m:m", "m:n": "m:m", "n:n": "m:m",
		"one-to-one": "1:1", "one-to-many": "1:m", "many-to-one": "m:1", "many-to-many": "m:m"}
)

// String returns the name that [ParseValidate] accepts.
func (v Validate) String() string { return nameOf(v, validateNames) }

// ParseValidate parses m:m, 1:1, 1:m or m:1.
func ParseValidate(text string) (Validate, error) {
	return parseName[Validate]("validate", text, validateNames, validateSynonyms)
}

// Unique reports whether the keys of a side must be unique.
func (v Validate) Unique(side relation.Side) bool {
	return v == OneToOne || v == OneToMany && side == relation.Left || v == ManyToOne && side == relation.Right
}

// Order is the order of the output rows.
type Order uint8

const (
	Unordered Order = iota
	// LeftOrder is the order of the left table. The pairs of one left row come in the order of the right table, and
	// right rows without a partner come last, in their order.
	LeftOrder
	RightOrder // the same with the sides exchanged
)

var orderNames = []string{"none", "left", "right"}

// String returns the name that [ParseOrder] accepts.
func (o Order) String() string { return nameOf(o, orderNames) }

// ParseOrder parses none, left or right.
func ParseOrder(text string) (Order, error) { return parseName[Order]("order", text, orderNames, nil) }

// BuildSide names the side that is sorted, partitioned or made a hash table once; the rows of the other side are looked
// up in it.
type BuildSide uint8

const (
	BuildAuto BuildSide = iota // the one that is predicted to be faster
	BuildLeft
	BuildRight
)

// Side returns the table that is the build side; the left one if either may be.
func (b BuildSide) Side() relation.Side {
	if b == BuildRight {
		return relation.Right
	}
	return relation.Left
}

var buildSideNames = []string{"auto", "left", "right"}

// String returns the name that [ParseBuildSide] accepts.
func (b BuildSide) String() string { return nameOf(b, buildSideNames) }

// ParseBuildSide parses auto, left or right.
func ParseBuildSide(text string) (BuildSide, error) {
	return parseName[BuildSide]("build_side", text, buildSideNames, nil)
}

// Strategy says how several devices share a join of tables.
type Strategy uint8

const (
	StrategyAuto Strategy = iota // as is predicted to be faster; see docs/devices.md
	// StrategyHMG is the multi-GPU sort-merge join of the paper HMG: tables are sorted across all devices and matched
	// there. Beyond the memory of the devices they are divided by key ranges first, which are sorted and matched each on
	// one device. For joins of tables by key, also on one device.
	StrategyHMG
)

var strategyNames = []string{"auto", "hmg"}

// String returns the name that [ParseStrategy] accepts.
func (s Strategy) String() string { return nameOf(s, strategyNames) }

// ParseStrategy parses auto or hmg.
func ParseStrategy(text string) (Strategy, error) {
	return parseName[Strategy]("strategy", text, strategyNames, nil)
}

// nameOf is the name of an option's value, or its number where it has none.
func nameOf[T ~uint8](value T, names []string) string {
	if int(value) < len(names) {
		return names[value]
	}
	return fmt.Sprint(uint8(value))
}
