package core

import "github.com/apache/arrow-go/v18/arrow"

// Bounds is a range that contains all values of a column, including Min and Max: integers, days, or counts of the unit
// of Type. If Min is greater than Max, there are no values. If Nulls is false, there is no NULL.
type Bounds struct {
	Type     arrow.DataType
	Min, Max int64
	Nulls    bool
}

// Meets tells whether a number, or NULL, lies within both.
func (b Bounds) Meets(other Bounds) bool {
	return b.Nulls && other.Nulls || max(b.Min, other.Min) <= min(b.Max, other.Max)
}

// Union returns bounds of the values of both, with the type of the first.
func (b Bounds) Union(other Bounds) Bounds {
	b.Nulls = b.Nulls || other.Nulls
	switch {
	case other.Min > other.Max:
	case b.Min > b.Max:
		b.Min, b.Max = other.Min, other.Max
	default:
		b.Min, b.Max = min(b.Min, other.Min), max(b.Max, other.Max)
	}
	return b
}

// ComparesWith tells whether the numbers of the bounds compare with values of a type: an equal one, or signed integers
// of any width both.
func (b Bounds) ComparesWith(dt arrow.DataType) bool {
	return arrow.TypeEqual(b.Type, dt) || arrow.IsSignedInteger(b.Type.ID()) && arrow.IsSignedInteger(dt.ID())
}
