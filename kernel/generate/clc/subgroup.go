package clc

import "strings"

// subgroupFunctions are the functions of a subgroup prelude by instruction; the second name is of the exclusive scan.
var subgroupFunctions = map[uint32][2]string{
	opGroupElect:          {"subgroup_elect"},
	opGroupAny:            {"subgroup_any"},
	opGroupBroadcast:      {"subgroup_broadcast"},
	opGroupBallot:         {"subgroup_ballot"},
	opGroupBallotBitCount: {"subgroup_ballot_bit_count", "subgroup_ballot_exclusive_bit_count"},
	opGroupBallotFindLSB:  {"subgroup_ballot_find_lsb"},
	opGroupBallotFindMSB:  {"subgroup_ballot_find_msb"},
	opGroupShuffle:        {"subgroup_shuffle"},
	opGroupShuffleXor:     {"subgroup_shuffle_xor"},
	opGroupIAdd:           {"subgroup_add", "subgroup_exclusive_add"},
	opGroupUMax:           {"subgroup_max", "subgroup_exclusive_max"},
}

var subgroupBuiltIns = []uint32{builtInSubgroupSize, builtInNumSubgroups, builtInSubgroupID, builtInSubgroupLocalID,
	builtInSubgroupLtMask}

const (
	reduceOperation        = 0
	exclusiveScanOperation = 2
)

// subgroup holds or writes the call that an operation of a subgroup becomes. Functions of vectors have the type at the end of
// their names.
func (s *scope) subgroup(in instruction) {
	names, operands := subgroupFunctions[in.op], in.operands[1:]
	name := names[0]
	switch in.op {
	case opGroupBallotBitCount, opGroupIAdd, opGroupUMax:
		switch operands[0] {
		case reduceOperation:
		case exclusiveScanOperation:
			name = names[1]
		default:
			s.fail("group operation %d of instruction %d", operands[0], in.op)
		}
		operands = operands[1:]
	}
	if s.defs[in.typ].op == opTypeVector && in.op != opGroupBallot {
		name += "_" + s.typeName(in.typ)
	}
	e := expr{p: primary}
	var args []string
	for _, id := range operands {
		v := s.value(id)
		e = e.with(v)
		args = append(args, v.s)
	}
	e.s = name + "(" + strings.Join(args, ", ") + ")"
	if s.uses[in.id] > 0 {
		s.keep(in.id, in.typ, e)
	}
}
