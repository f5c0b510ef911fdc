package clc

import "strings"

// place is the lvalue that a pointer points to; it reads what its address depends on.
func (s *scope) place(pointer uint32) expr {
	in := s.defs[pointer]
	if _, ok := s.pending[pointer]; ok && s.chosen[pointer] {
		return s.value(pointer)
	}
	switch class := s.storage(pointer); {
	case in.op == opAccessChain && !s.addresses[pointer]:
		return s.value(pointer)
	case in.op == opAccessChain || class == storagePhysical || s.byPointer(pointer):
		p := s.value(pointer)
		e := expr{s: "*" + p.at(unary), p: unary}
		if class == storagePhysical || in.op == opAccessChain {
			e.reads = p.reads
		}
		return e
	case class == storageFunction:
		return atom(mark(pointer))
	case class == storageInput:
		return atom(s.builtIn(pointer))
	case s.globalPlace[pointer] != "":
		e := atom(s.globalPlace[pointer])
		if e.s[0] == '*' {
			e.p = unary
		}
		return e
	}
	s.fail("storage class %d", s.storage(pointer))
	return expr{}
}

// byPointer tells whether an id is a parameter that is a pointer in C to what it points to in SPIR-V.
func (s *scope) byPointer(id uint32) bool {
	for i, p := range s.f.params {
		if p.id == id {
			return s.pointer[i] && !s.isArray(s.pointee(id))
		}
	}
	return false
}

func (s *scope) builtIn(id uint32) string {
	switch s.builtIns[id] {
	case builtInWorkgroupID:
		return "WORKGROUP_ID"
	case builtInLocalInvocationID:
		return "LOCAL_ID"
	}
	if name, ok := subgroupBuiltIns[s.builtIns[id]]; ok {
		s.subgroups = true
		return name + "()"
	}
	s.fail("built-in variable %d", s.builtIns[id])
	return ""
}

// chain is the place that an access chain names.
func (s *scope) chain(in instruction) expr {
	base, indexes := in.operands[0], in.operands[1:]
	typ := s.pointee(base)
	var e expr
	if element, ok := s.blockElement(typ); ok && s.storage(base) == storagePhysical {
		pointer, index := s.value(base), s.value(indexes[1])
		e = atom(pointer.at(primary)+"["+index.s+"]").reading(pointer, index)
		typ, indexes = element, indexes[2:]
	} else {
		e = s.place(base)
	}
	for _, index := range indexes {
		of := s.defs[typ]
		switch of.op {
		case opTypeStruct:
			n := s.defs[index].operands[0]
			e, typ = e.member(s.member(typ, n)), of.operands[n]
		case opTypeArray:
			i := s.value(index)
			if !s.isArray(typ) {
				e = e.member("v")
			}
			e, typ = atom(e.at(primary)+"["+i.s+"]").reading(e, i), of.operands[0]
		case opTypeVector:
			if constant := s.defs[index]; constant.op == opConstant {
				e = e.component(constant.operands[0])
			} else {
				i, space := s.value(index), ""
				if s.storage(base) == storageWorkgroup {
					space = "__local "
				} else if s.storage(base) == storagePhysical {
					space = "__global "
				}
				e = atom("(("+space+s.typeName(of.operands[0])+"*)&"+e.at(unary)+")["+i.s+"]").reading(e, i)
			}
			typ = of.operands[0]
		default:
			s.fail("an index into type %d", of.op)
		}
	}
	return e
}

// member is a member of a structure.
func (e expr) member(name string) expr {
	if e.p == unary && e.s[0] == '*' {
		return atom(expr{s: e.s[1:], p: unary}.at(unary) + "->" + name).reading(e)
	}
	return atom(e.at(primary) + "." + name).reading(e)
}

// component is a component of a vector.
func (e expr) component(n uint32) expr {
	if strings.HasSuffix(e.s, "_ID") { // built-in variables are macros
		return atom(e.s + "_" + "XYZ"[n:n+1])
	}
	return e.member("xyzw"[n : n+1])
}

// load is the value at a place: the place, and what reading it depends on.
func (s *scope) load(pointer uint32) expr {
	root := s.root(pointer)
	if changed := root; s.impure != 0 {
		if s.storage(pointer) == storagePhysical {
			changed = memory
		}
		if s.changes(changed) {
			s.settle()
		}
	}
	e := s.place(pointer)
	switch s.storage(pointer) {
	case storagePhysical:
		root = memory
	case storagePush, storageInput:
		return e
	case storageFunction:
		for i, p := range s.f.params {
			if p.id == root && !s.effects[s.f.id].writes[i] {
				return e // never changes
			}
		}
	}
	return e.reading(expr{reads: set{root: true}})
}

// store writes a value to a place.
func (s *scope) store(pointer uint32, value expr) {
	if s.carrier[pointer] || s.chosen[pointer] {
		s.uses[pointer] = 1
		s.delay(pointer, value)
		return
	}
	to, root := s.place(pointer), s.root(pointer)
	if s.storage(pointer) == storagePhysical {
		root = memory
	}
	s.flush(func(r uint32) bool { return r == root })
	s.assign(to, pointer, value)
}

var compound = map[string]bool{"+": true, "-": true, "*": true, "/": true, "%": true, "<<": true, ">>": true,
	"&": true, "|": true, "^": true}

// assign puts the assignment to a place, as a compound one where that says the same.
func (s *scope) assign(to expr, pointer uint32, value expr) {
	st := &statement{to: to.s, value: value.s}
	if compound[value.op] && value.left == to.s {
		st.op, st.value = value.op, value.right
	}
	if s.variables[pointer] {
		st.variable = pointer
	}
	s.put(st)
}

// call is a call of a function of the kernel.
func (s *scope) call(in instruction) expr {
	callee := in.operands[0]
	of := s.effects[callee]
	args := of.context()
	var values []expr
	for i, id := range in.operands[1:] {
		v := s.argument(callee, i, id)
		values = append(values, v)
		args = append(args, v.s)
	}
	e := atom(s.called[callee] + "(" + strings.Join(args, ", ") + ")").reading(values...)
	reads := set{}
	if of.memory {
		reads[memory] = true
	}
	for _, v := range s.globals {
		if class := v.operands[0]; of.shared && class == storageWorkgroup || of.globals && class == storagePrivate {
			reads[v.id] = true
		}
	}
	return e.reading(expr{reads: reads})
}

// argument is what a call passes for a parameter.
func (s *scope) argument(callee uint32, i int, id uint32) expr {
	if s.storage(id) != storageFunction {
		return s.value(id)
	}
	if to := s.passes[id]; to != 0 {
		id = to
	}
	if s.plans[callee].pointer[i] {
		v := s.place(id)
		v.reads = v.reads.or(set{s.root(id): true})
		switch {
		case s.isArray(s.pointee(id)):
		case v.s[0] == '*':
			v.s = v.s[1:]
		default:
			v.s, v.p = "&"+v.at(unary), unary
		}
		return v
	}
	if _, ok := s.pending[id]; ok && s.defs[id].op != opAccessChain {
		return s.value(id)
	}
	return s.load(id)
}

// writtenBy are the roots that a call writes through its parameters.
func (s *scope) writtenBy(in instruction) set {
	written := set{}
	for i, id := range in.operands[1:] {
		if s.storage(id) == storageFunction && s.plans[in.operands[0]].pointer[i] {
			if to := s.passes[id]; to != 0 {
				id = to
			}
			written[s.root(id)] = true
		}
	}
	return written
}
