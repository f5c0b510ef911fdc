package files

import (
	"slices"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

// skipRowGroups skips row groups whose rows have no match: by their statistics, their keys lie outside the range of the
// keys of the other side. It does so only on a side whose rows without a match are not in the output and whose keys
// need not be unique, and in no not-in join, where any NULL decides.
func (p *Pair) skipRowGroups(spec *spirjoin.JoinSpec) {
	if spec.How == join.NotIn {
		return
	}
	for i, left := range spec.LeftOn {
		names := [2]string{left, spec.RightOn[i]}
		var bounds [2]tableio.Bounds
		var known [2]bool
		for side, t := range p.tables {
			bounds[side], known[side] = t.Bounds(names[side])
		}
		if known != [2]bool{true, true} || !bounds[0].ComparesWith(bounds[1].Type) {
			continue
		}
		for i, t := range p.tables {
			if side := relation.Side(i); !spec.How.Keeps(side) && !spec.Validate.Unique(side) {
				within := bounds[1-side]
				within.Nulls = within.Nulls && slices.Contains(spec.NullsEqual, left)
				t.SkipOutside(names[side], within)
			}
		}
	}
}
