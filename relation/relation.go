// Package relation connects Arrow tables with columns that a device can sort, hash, compare and gather.
//
// [keys.PlanJoin] looks at the key columns of both sides of a join, reconciles their types without loss, measures the range
// of their values and packs all columns into one code of at most 64 bits per row. [keys.Plan.Encode] writes the codes.
// Two rows match if and only if their codes are equal, and codes order as the values do. If 64 bits are too few, codes
// are hashes ([keys.Plan.Exact]). docs/keys.md has the rules for every type. [keys.PlanBuild] plans a build side that many
// tables probe. [PlanWords] lays payload columns out for a device. [take.Rows] gathers the rows of any Arrow column by row
// number, [Nulls] makes the rows that an outer join lacks, and [CommonType] is the type of a key column of both sides.
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
