package clc

// emit translates from a block on, until it reaches block stop, which follows what it puts.
func (s *scope) emit(label, stop uint32) {
	for label != 0 && label != stop {
		if jump := s.jump(label); jump != "" {
			s.put(&statement{value: jump})
			return
		}
		label = s.block(s.f.byLabel[label], stop)
	}
}

// jump is how a construct around is left or a loop continued; empty if the block is no end of one.
func (s *scope) jump(label uint32) string {
	for i := len(s.around) - 1; i >= 0; i-- {
		switch c := s.around[i]; {
		case label == c.merge && i == len(s.around)-1:
			return "break"
		case label == c.merge:
			s.fail("a jump out of a loop from within a switch")
		case c.isLoop && label == c.next:
			return "continue"
		case c.isLoop:
			return ""
		}
	}
	return ""
}

// block translates a block, with the construct that it begins, and returns the one that follows; 0: none does.
func (s *scope) block(b *block, stop uint32) uint32 {
	last, before := b.end(), instruction{}
	code := b.code[:len(b.code)-1]
	if n := len(code); n > 0 && (code[n-1].op == opLoopMerge || code[n-1].op == opSelectionMerge) {
		before, code = code[n-1], code[:n-1]
	}
	s.straight(code)
	if before.op == opLoopMerge {
		s.loop(b, last, before)
		return before.operands[0]
	}
	switch last.op {
	case opBranch:
		s.setPhis(last.operands[0], b.label, s.value)
		return last.operands[0]
	case opBranchConditional:
		if before.op != 0 {
			s.selection(b, last, before.operands[0])
			return before.operands[0]
		}
		return s.conditional(last)
	case opSwitch:
		s.choice(last, before.operands[0])
		return before.operands[0]
	case opReturn:
		s.put(&statement{value: "return"})
	case opReturnValue:
		s.put(&statement{value: "return " + s.value(last.operands[0]).s})
	case opUnreachable:
	default:
		s.fail("SPIR-V operation %d ends a block", last.op)
	}
	return 0
}

func (s *scope) straight(code []instruction) {
	for _, in := range code {
		s.instruction(in)
	}
}

// conditional is a branch out of a loop or to its next round.
func (s *scope) conditional(in instruction) uint32 {
	c := s.value(in.operands[0])
	yes, no := in.operands[1], in.operands[2]
	s.flushAll()
	next, when, otherwise := no, c, not(c)
	jump := s.jump(yes)
	if jump == "" {
		next, when, otherwise = yes, otherwise, when
		if jump = s.jump(no); jump == "" {
			s.fail("a branch without a merge")
		}
	}
	s.put(&statement{kind: branch, value: when.s, opposite: otherwise.s, then: []*statement{{value: jump}}})
	return next
}

// selection is an if, or what glslang makes of ?:, && and ||.
func (s *scope) selection(b *block, in instruction, merge uint32) {
	yes, no := in.operands[1], in.operands[2]
	if s.behindEnd(in.operands[0], yes) {
		s.value(in.operands[0])
		return
	}
	c := s.value(in.operands[0])
	if s.attempt(func() bool { return s.shortCircuit(b, in, c, merge) }) {
		return
	}
	if variable := s.choices[merge]; variable != 0 {
		if s.attempt(func() bool { return s.choose(c, yes, no, merge, variable) }) {
			return
		}
		delete(s.chosen, variable)
	}
	s.flushAll()
	s.ways[merge] = true
	st := &statement{kind: branch, value: c.s}
	arm := func(label uint32, known string) []*statement {
		return s.inside(func() {
			if label == merge {
				s.setPhis(merge, b.label, func(id uint32) expr { return s.known(in.operands[0], id, known) })
				return
			}
			s.emit(label, merge)
			s.flushAll()
		})
	}
	st.then, st.or = arm(yes, "true"), arm(no, "false")
	switch c.s { // of macros
	case "true":
		*s.out = append(*s.out, st.then...)
		return
	case "false":
		*s.out = append(*s.out, st.or...)
		return
	}
	if len(st.then) == 0 {
		st.value, st.then, st.or = not(c).s, st.or, nil
	}
	if len(st.then) > 0 {
		s.put(st)
	} else if c.impure {
		s.put(&statement{value: c.s})
	}
}

// behindEnd tells whether a branch is what kernels do in workgroups behind the end of the dispatch: return. It is left
// out, as the driver runs exactly the workgroups of the dispatch: PoCL 3.1 lets the first invocation decide branches of
// the others where a whole workgroup may return before a barrier.
func (s *scope) behindEnd(condition, yes uint32) bool {
	c := s.defs[condition]
	if c.op != opUGreaterThanEqual || s.f.byLabel[yes].code[0].op != opReturn {
		return false
	}
	load := s.defs[c.operands[1]]
	if load.op != opLoad || s.storage(load.operands[0]) != storagePush {
		return false
	}
	chain := s.defs[load.operands[0]]
	n := s.defs[chain.operands[1]].operands[0]
	return s.memberNames[[2]uint32{s.pointee(chain.operands[0]), n}] == "end_group"
}

// known is a value on one side of a branch by a condition, where the value may be the condition or its negation.
func (s *scope) known(condition, value uint32, known string) expr {
	switch {
	case value == condition:
		return atom(known)
	case s.negates(condition, value):
		return atom(map[string]string{"true": "false", "false": "true"}[known])
	}
	return s.value(value)
}

// setPhis gives values to those values of a block that depend on the way to it, at the end of one way.
func (s *scope) setPhis(label, from uint32, value func(id uint32) expr) {
	if !s.ways[label] {
		return
	}
	for _, phi := range s.f.byLabel[label].code {
		for i := 0; phi.op == opPhi && i < len(phi.operands); i += 2 {
			if phi.operands[i+1] == from {
				s.keep(phi.id, value(phi.operands[i]))
			}
		}
	}
}

// choose turns an if that does no more than give a variable one of two values into ?:.
func (s *scope) choose(c expr, yes, no, merge, variable uint32) bool {
	arm := func(label uint32) (value expr, ok bool) {
		list := s.inside(func() { s.emit(label, merge) })
		value, ok = s.pending[variable]
		delete(s.pending, variable)
		return value, ok && len(list) == 0
	}
	x, ok := arm(yes)
	if !ok {
		return false
	}
	y, ok := arm(no)
	if ok {
		s.uses[variable] = 1
		s.delay(variable, choose(c, x, y))
	}
	return ok
}

// shortCircuit turns an if whose merge chooses between the condition and another value into && or ||.
func (s *scope) shortCircuit(b *block, in instruction, c expr, merge uint32) bool {
	code := s.f.byLabel[merge].code
	phi, condition, side, or := code[0], in.operands[0], in.operands[1], false
	if phi.op != opPhi || code[1].op == opPhi || len(phi.operands) != 4 {
		return false
	}
	if side == merge {
		side, or = in.operands[2], true
	} else if in.operands[2] != merge {
		return false
	}
	here, other := phi.operands[0], phi.operands[2] // the values where the other side is skipped, and where it is not
	if phi.operands[3] == b.label {
		here, other = other, here
	}
	if s.negates(condition, here) { // !a ? b : a
		or = !or
		c = not(c)
	} else if here != condition {
		return false
	}
	label := side
	list := s.inside(func() {
		for label != merge && label != 0 && s.jump(label) == "" {
			label = s.block(s.f.byLabel[label], merge)
		}
	})
	if len(list) > 0 || label != merge { // the other side does more than compute
		return false
	}
	op, p := "&&", logAnd
	if or {
		op, p = "||", logOr
	}
	s.hold(phi, infix(c, op, p, s.value(other)))
	return true
}
