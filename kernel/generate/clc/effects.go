package clc

// effects are what a function does besides its result.
type effects struct {
	args, shared, globals bool   // uses the arguments of the kernel, shared memory, global variables of the invocation
	memory                bool   // reads or writes device memory
	impure                bool   // writes memory other than its parameters, waits, or asks the subgroup
	writes                []bool // parameters that it writes
}

// findEffects finds those of a function, whose callees have theirs.
func (t *translator) findEffects(f *function) *effects {
	e := &effects{writes: make([]bool, len(f.params))}
	if _, replaced := library[t.names[f.id]]; replaced {
		return e
	}
	param := map[uint32]int{}
	for i, p := range f.params {
		param[p.id] = i
	}
	touch := func(pointer uint32, write bool) {
		switch t.storage(pointer) {
		case storageWorkgroup:
			e.shared, e.impure = true, e.impure || write
		case storagePrivate:
			e.globals, e.impure = true, e.impure || write
		case storagePush:
			e.args = true
		case storagePhysical:
			e.memory, e.impure = true, e.impure || write
		}
		if i, ok := param[t.root(pointer)]; ok && write {
			e.writes[i] = true
		}
	}
	f.instructions(func(_ *block, _ int, in instruction) {
		switch in.op {
		case opLoad:
			touch(in.operands[0], false)
			e.impure = e.impure || t.isVolatile(in.operands[0])
		case opStore, opAtomicIAdd, opAtomicUMin, opAtomicUMax, opAtomicAnd, opAtomicOr, opAtomicXor,
			opAtomicExchange, opAtomicCompareExchange:
			touch(in.operands[0], true)
		case opControlBarrier, opMemoryBarrier:
			e.impure = true
		case opFunctionCall:
			of := t.effects[in.operands[0]]
			e.args, e.shared, e.globals = e.args || of.args, e.shared || of.shared, e.globals || of.globals
			e.memory, e.impure = e.memory || of.memory, e.impure || of.impure
			for i, arg := range in.operands[1:] {
				if t.storage(arg) != 0 && of.writes[i] {
					touch(arg, true)
				}
			}
		}
		if _, ok := subgroupFunctions[in.op]; ok {
			e.impure = true
		}
	})
	return e
}

// context are the arguments of calls that stand for the global variables of GLSL.
func (e *effects) context() (args []string) {
	if e.args {
		args = append(args, "args")
	}
	if e.shared {
		args = append(args, "shared")
	}
	if e.globals {
		args = append(args, "globals")
	}
	return args
}

var contextTypes = map[string]string{"args": "const Arguments* ", "shared": "__local Shared* ", "globals": "Globals* "}
