// Package relation is the door between Arrow tables and key columns that a device can sort, hash and compare.
//
// [PlanKeys] looks at the key columns of both sides of a join, reconciles their types without loss, measures the range
// of their values and lays several columns out in one packed code of at most 64 bits. [KeyPlan.Encode] writes the codes.
// Two rows match if and only if their codes are equal, and codes order as the values do; docs/keys.md has the rules for
// every type. [PlanBuild] plans a build side that many tables probe. [Take] gathers the rows of any Arrow column by row
// number, [Nulls] makes the rows that an outer join lacks, and [CommonType] is the type of a key of both sides.
//
// The package expects a little-endian machine, as Arrow's buffers and the devices do.
package relation

// Side names one of the two inputs of a join.
type Side uint8

const (
	Left Side = iota
	Right
)

func (s Side) String() string {
	if s == Left {
		return "left"
	}
	return "right"
}
