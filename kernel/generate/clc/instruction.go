package clc

var atomics = map[uint32]string{
	opAtomicIAdd: "atomic_add", opAtomicUMin: "atomic_min", opAtomicUMax: "atomic_max", opAtomicAnd: "atomic_and",
	opAtomicOr: "atomic_or", opAtomicXor: "atomic_xor", opAtomicExchange: "atomic_xchg",
}

// instruction translates one that does not end a block: it puts it, or holds its value.
func (s *scope) instruction(in instruction) {
	if _, ok := subgroupFunctions[in.op]; ok {
		s.effect(in, s.subgroup(in), s.visible)
		return
	}
	switch in.op {
	case opLoad:
		s.loadInstruction(in)
	case opStore:
		if !s.dropped[in.operands[1]] && !s.borrowed[in.operands[1]] {
			s.storeInstruction(in.operands[0], in.operands[1])
		} else if s.borrowed[in.operands[1]] { // the carrier stands for the array
			s.delay(in.operands[0], s.value(in.operands[1]))
			s.uses[in.operands[0]] = 1
		}
	case opAccessChain:
		s.settle() // a place may be written more than once
		s.delay(in.id, s.chain(in))
	case opFunctionCall:
		e, of, written := s.call(in), s.effects[in.operands[0]], s.writtenBy(in)
		if !of.impure && len(written) == 0 {
			s.hold(in, e)
			return
		}
		s.effect(in, e, func(root uint32) bool { return of.impure && s.visible(root) || written[root] })
	case opAtomicIAdd, opAtomicUMin, opAtomicUMax, opAtomicAnd, opAtomicOr, opAtomicXor, opAtomicExchange:
		p, v := s.place(in.operands[0]), s.value(in.operands[3])
		s.effect(in, call(atomics[in.op], address(p), v), s.visible)
	case opAtomicCompareExchange:
		p, v, c := s.place(in.operands[0]), s.value(in.operands[4]), s.value(in.operands[5])
		s.effect(in, call("atomic_cmpxchg", address(p), c, v), s.visible)
	case opControlBarrier, opMemoryBarrier:
		s.flushMemory()
		s.barrier(in)
	case opPhi:
		if _, ok := s.pending[in.id]; !ok && s.uses[in.id] > 0 && !s.variables[in.id] {
			s.fail("a value that depends on the way to a block")
		}
	case opCompositeExtract:
		s.hold(in, s.extract(in))
	case opVectorShuffle:
		s.hold(in, s.shuffle(in))
	case opCompositeConstruct:
		s.hold(in, s.construct(in.typ, in.operands, s.value))
	case opExtInst:
		s.hold(in, s.extended(in, s.value))
	default:
		s.hold(in, s.operation(in.op, in.typ, in.operands, s.value))
	}
}

func address(place expr) expr {
	if place.s[0] == '*' {
		return expr{s: place.s[1:], p: unary}.reading(place)
	}
	return expr{s: "&" + place.at(unary), p: unary}.reading(place)
}

// storeInstruction stores a value. Where the value is used again, the variable has it from then on.
func (s *scope) storeInstruction(pointer, id uint32) {
	value := s.value(id)
	if typ := s.defs[s.pointee(pointer)]; s.storage(pointer) == storagePhysical && typ.op == opTypeVector &&
		typ.operands[1] == 3 {
		s.storeThree(pointer, id, value)
		return
	}
	_, again := s.pending[id]
	again = again && s.variables[pointer] && s.defs[pointer].op == opVariable && !s.carrier[pointer] && !s.chosen[pointer]
	if again {
		delete(s.pending, id)
	}
	s.store(pointer, value)
	if again {
		s.delay(id, s.load(pointer))
	}
}

// storeThree stores a vector of three words to device memory one by one: C takes it for one of four words, and would
// overwrite what lies behind.
func (s *scope) storeThree(pointer, id uint32, value expr) {
	if s.defs[id].op != opConstantComposite && !s.variables[id] {
		delete(s.pending, id)
		s.keep(id, value)
		value = atom(mark(id))
	}
	to := s.place(pointer)
	s.flush(func(root uint32) bool { return root == memory })
	for n := range uint32(3) {
		s.put(&statement{to: to.component(n).s, value: value.component(n).s})
	}
}

func (s *scope) loadInstruction(in instruction) {
	from := in.operands[0]
	if s.dropped[in.id] {
		return
	}
	if _, ok := s.pending[from]; ok && s.chosen[from] {
		s.hold(in, s.value(from))
		return
	}
	e := s.load(from)
	if s.isVolatile(from) {
		s.flushMemory()
		s.keep(in.id, e)
		return
	}
	s.hold(in, e)
}

// effect is for a call that does something besides its result. What it changes has been read before. The call stands
// where its result is used, unless something else happens before.
func (s *scope) effect(in instruction, e expr, changes func(root uint32) bool) {
	s.settle()
	s.flush(changes)
	if s.uses[in.id] == 0 {
		s.put(&statement{value: e.s})
		return
	}
	e.impure = true
	s.changes = changes
	s.hold(in, e)
}

func (s *scope) barrier(in instruction) {
	operands := make([]uint32, len(in.operands))
	for i, id := range in.operands {
		operands[i] = s.defs[id].operands[0]
	}
	scope, semantics := operands[0], operands[len(operands)-1]
	flags := ""
	if semantics&semanticsWorkgroupMemory != 0 {
		flags = "CLK_LOCAL_MEM_FENCE"
	}
	if semantics&semanticsUniformMemory != 0 {
		if flags != "" {
			flags += " | "
		}
		flags += "CLK_GLOBAL_MEM_FENCE"
	}
	switch {
	case in.op == opControlBarrier && scope == scopeSubgroup:
		s.subgroups = true
		s.put(&statement{value: "subgroup_barrier()"})
	case flags == "":
		s.fail("a barrier for memory of semantics %#x", semantics)
	case in.op == opControlBarrier:
		s.put(&statement{value: "barrier(" + flags + ")"})
	case semantics&semanticsUniformMemory != 0 && scope != scopeSubgroup:
		s.put(&statement{value: "DEVICE_FENCE()"})
	default:
		s.put(&statement{value: "mem_fence(" + flags + ")"})
	}
}

func (s *scope) extract(in instruction) expr {
	from, indexes := in.operands[0], in.operands[1:]
	if s.builtIns[from] == builtInWorkgroupSize {
		return s.constant(s.defs[from].operands[indexes[0]])
	}
	e, typ := s.value(from), s.defs[from].typ
	for _, n := range indexes {
		switch of := s.defs[typ]; of.op {
		case opTypeVector:
			e, typ = e.component(n), of.operands[0]
		case opTypeArray:
			e, typ = atom(e.member("v").s+"["+unsigned(n)+"]").reading(e), of.operands[0]
		default:
			e, typ = e.member(s.member(typ, n)), of.operands[n]
		}
	}
	return e
}

// shuffle picks components of one vector.
func (s *scope) shuffle(in instruction) expr {
	if in.operands[0] != in.operands[1] {
		s.fail("a shuffle of two vectors")
	}
	e := s.value(in.operands[0])
	if s.uses[in.operands[0]]--; s.uses[in.operands[0]] <= 0 { // it counts twice
		delete(s.pending, in.operands[0])
	}
	names := ""
	for _, n := range in.operands[2:] {
		names += "xyzw"[n : n+1]
	}
	return e.member(names)
}
