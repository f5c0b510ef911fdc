package clc

// subgroupFunctions are the functions of a subgroup prelude by instruction; the second name is of the exclusive scan.
var subgroupFunctions = map[uint32][2]string{
	opGroupElect:          {"subgroup_elect"},
	opGroupAll:            {"subgroup_all"},
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

// subgroupBuiltIns are those for built-in variables.
var subgroupBuiltIns = map[uint32]string{
	builtInSubgroupSize:    "subgroup_size",
	builtInNumSubgroups:    "subgroup_count",
	builtInSubgroupID:      "subgroup_id",
	builtInSubgroupLocalID: "subgroup_local_id",
	builtInSubgroupLtMask:  "subgroup_lt_mask",
}

// subgroup is the call that an operation of a subgroup becomes. Functions of vectors end in the type.
func (s *scope) subgroup(in instruction) expr {
	s.subgroups = true
	names := subgroupFunctions[in.op]
	name := names[0]
	switch in.op {
	case opGroupBallotBitCount, opGroupIAdd, opGroupUMax:
		switch in.operands[1] {
		case groupReduce:
		case groupExclusiveScan:
			name = names[1]
		default:
			s.fail("group operation %d of SPIR-V operation %d", in.operands[1], in.op)
		}
	}
	if s.defs[in.typ].op == opTypeVector && in.op != opGroupBallot {
		name += "_" + s.typeName(in.typ)
	} else if typ := s.typeName(in.typ); typ != "uint" && typ != "bool" && typ != "uint4" {
		s.fail("subgroup operation %d on %s", in.op, typ)
	}
	var args []expr
	for _, id := range in.values() {
		args = append(args, s.value(id))
	}
	return call(name, args...)
}
