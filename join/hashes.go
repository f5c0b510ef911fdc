package join

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// Hashes plans the hashes of the keys of both sides, by which rows are divided. schemas have at least the key columns.
// alone are hashes of the keys of a side that must be unique, by its own type: its rows have them even if the other
// side's type cannot hold their keys. It is nil for other sides.
func (l *Layout) Hashes(schemas [2]*arrow.Schema) (both *keys.Hashes, alone [2]*keys.Hashes, err error) {
	spec, on := &l.Spec, l.Spec.Keys()
	both, err = keys.PlanHashes(schemas, on, spec.NullEquals()...)
	for side, schema := range schemas {
		if spec.Validate.Unique(relation.Side(side)) && err == nil {
			alone[side], err = keys.PlanHashes([2]*arrow.Schema{schema, schema}, [2][]string{on[side], on[side]},
				spec.NullEquals()...)
		}
	}
	return both, alone, err
}
