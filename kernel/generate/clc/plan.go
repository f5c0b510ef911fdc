package clc

// plan says how a function deals with what glslang makes of arguments: for each call it copies them to variables, which
// it passes by pointer, and copies what the function gives back from variables again.
type plan struct {
	pointer  []bool            // parameters that are passed by pointer: the callers look at what the function writes
	carrier  set               // variables that only carry a value to a parameter
	borrowed set               // loads of arrays whose carriers need no copy: the array itself is passed
	passes   map[uint32]uint32 // variables that stand for others in a call, by address
	dropped  set               // loads and stores between such variables and those others
	choices  map[uint32]uint32 // variables that ?: gives a value, by the blocks behind it
	chosen   set               // these variables
	roles    map[uint32]string // names of the parameters that variables are passed for
}

// makePlans makes those of all functions.
func (t *translator) makePlans() {
	for _, f := range t.order {
		t.plans[f.id] = &plan{carrier: set{}, borrowed: set{}, passes: map[uint32]uint32{}, dropped: set{},
			choices: map[uint32]uint32{}, chosen: set{}, roles: map[uint32]string{}}
	}
	uses := map[uint32]map[uint32]*usage{}
	for _, f := range t.order {
		uses[f.id] = t.usages(f)
		for id, u := range uses[f.id] {
			if len(u.stores) == 1 && len(u.calls) == 1 && len(u.loads)+u.chains+u.others == 0 &&
				u.stores[0].block == u.calls[0].block {
				t.plans[f.id].carrier[id] = true
			}
			if t.names[id] == "" && len(u.stores) == 2 && len(u.loads)+u.chains == 1 && len(u.calls)+u.others == 0 {
				if merge := meets(f, u.stores[0]); merge != 0 && merge == meets(f, u.stores[1]) {
					t.plans[f.id].choices[merge] = id
					t.plans[f.id].chosen[id] = true
				}
			}
		}
	}
	for _, f := range t.order {
		t.plans[f.id].pointer = make([]bool, len(f.params))
	}
	for _, f := range t.order { // a parameter that is written is a copy, unless a caller looks at it
		f.instructions(func(_ *block, _ int, in instruction) {
			if in.op != opFunctionCall {
				return
			}
			callee := in.operands[0]
			for i, arg := range in.operands[1:] {
				if t.storage(arg) == storageFunction && t.effects[callee].writes[i] && !t.plans[f.id].carrier[arg] {
					t.plans[callee].pointer[i] = true
				}
			}
		})
	}
	for _, f := range t.order {
		t.planCalls(f, uses[f.id])
	}
}

// meets is the block at which an if ends whose arm ends with a store; 0 if it is none.
func meets(f *function, store position) uint32 {
	end := store.block.end()
	if end.op != opBranch || store.at != len(store.block.code)-2 {
		return 0
	}
	for _, b := range f.blocks {
		if n := len(b.code); n > 1 && b.code[n-2].op == opSelectionMerge && b.code[n-2].operands[0] == end.operands[0] &&
			b.end().op == opBranchConditional {
			return end.operands[0]
		}
	}
	return 0
}

// position is where an instruction stands.
type position struct {
	block *block
	at    int
}

// loaded is the load right before a store, of what it stores.
func (p position) loaded() instruction {
	if p.at > 0 && p.block.code[p.at-1].op == opLoad && p.block.code[p.at-1].id == p.block.code[p.at].operands[1] {
		return p.block.code[p.at-1]
	}
	return instruction{}
}

// usage is where a variable of a function is used as a whole, and how often otherwise.
type usage struct {
	loads, stores, calls []position
	chains, others       int // access chains, and other instructions
}

func (t *translator) usages(f *function) map[uint32]*usage {
	all := map[uint32]*usage{}
	for _, v := range f.variables {
		all[v.id] = &usage{others: len(v.operands) - 1} // a first value
	}
	f.instructions(func(b *block, at int, in instruction) {
		for i, id := range in.values() {
			u := all[id]
			switch {
			case u == nil:
			case in.op == opLoad:
				u.loads = append(u.loads, position{b, at})
			case in.op == opStore && i == 0:
				u.stores = append(u.stores, position{b, at})
			case in.op == opFunctionCall:
				u.calls = append(u.calls, position{b, at})
			case in.op == opAccessChain:
				u.chains++
			default:
				u.others++
			}
		}
	})
	return all
}

// planCalls finds the carriers of a function that need no copy.
func (t *translator) planCalls(f *function, uses map[uint32]*usage) {
	p := t.plans[f.id]
	count := map[uint32]int{} // uses of values
	f.instructions(func(_ *block, _ int, in instruction) {
		for _, id := range in.values() {
			count[id]++
		}
	})
	f.instructions(func(b *block, at int, in instruction) {
		if in.op != opFunctionCall {
			return
		}
		callee := in.operands[0]
		taken := set{}
		for i, arg := range in.operands[1:] {
			u := uses[arg]
			if u == nil || len(u.calls) != 1 {
				continue
			}
			p.roles[arg] = t.names[t.byID[callee].params[i].id]
			if t.plans[callee].pointer[i] || len(u.stores) == 1 && !t.effects[callee].writes[i] {
				if to, dropped := t.passedBack(b, at, u, count); to != 0 && !taken[to] {
					taken[to] = true
					p.passes[arg] = to
					for _, id := range dropped {
						p.dropped[id] = true
					}
					continue
				}
			}
			if p.carrier[arg] && t.defs[t.pointee(arg)].op == opTypeArray && !t.effects[callee].writes[i] {
				stored := u.stores[0].loaded()
				if stored.op == opLoad && count[stored.id] == 1 && !t.written(b, u.stores[0].at, at, t.root(stored.operands[0])) {
					p.borrowed[stored.id] = true
				}
			}
		}
	})
}

// written tells whether a variable is stored to, or handed to a function, between two instructions of a block, or in
// the call that is the second.
func (t *translator) written(b *block, from, to int, variable uint32) bool {
	for _, in := range b.code[from : to+1] {
		if in.op == opStore && t.root(in.operands[0]) == variable {
			return true
		}
		if in.op == opFunctionCall {
			for _, arg := range in.operands[1:] {
				if t.storage(arg) != 0 && t.root(arg) == variable {
					return true
				}
			}
		}
	}
	return false
}

// passedBack finds the variable that a call gives a result to by way of another: after the call the other is copied to
// it and never used again; before the call the other has no value, or that of the variable. The variable may then be
// passed itself. dropped are the ids of the loads, and of the variables stored to, that fall away.
func (t *translator) passedBack(b *block, call int, u *usage, count map[uint32]int) (to uint32, dropped []uint32) {
	if len(u.loads) != 1 || len(u.stores) > 1 || u.chains+u.others > 0 || u.loads[0].block != b || u.loads[0].at < call {
		return 0, nil
	}
	load := b.code[u.loads[0].at]
	back := b.code[u.loads[0].at+1] // a load does not end a block
	if back.op != opStore || back.operands[1] != load.id || count[load.id] != 1 {
		return 0, nil
	}
	to = back.operands[0]
	if t.storage(to) != storageFunction || t.defs[to].op == opAccessChain {
		return 0, nil
	}
	for _, in := range b.code[call+1 : u.loads[0].at] { // other results
		for _, id := range in.values() {
			if id == to {
				return 0, nil
			}
		}
	}
	for _, arg := range b.code[call].operands[1:] {
		if arg == to {
			return 0, nil
		}
	}
	dropped = []uint32{load.id}
	if len(u.stores) == 1 {
		store := u.stores[0]
		given := store.loaded()
		if store.block != b || store.at > call || given.op != opLoad || given.operands[0] != to || count[given.id] != 1 ||
			t.written(b, store.at, call, to) {
			return 0, nil
		}
		dropped = append(dropped, given.id)
	}
	return to, dropped
}
