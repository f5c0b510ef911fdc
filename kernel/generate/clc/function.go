package clc

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A statement of C. A loop has a condition and what is done between its rounds; refs are the variables in the text, and
// of compound ones in the head.
type statement struct {
	kind     kind
	text     string // of a compound one: its condition
	next     string // of a loop
	variable uint32 // of an assignment to a whole variable
	value    string // what is assigned
	unroll   bool
	then     []*statement // the body of a loop, too
	or       []*statement
	refs     set
}

type kind uint8

const (
	plain kind = iota
	branch
	loop
)

const (
	rootGlobal = ^uint32(0) - iota // device memory, as what an expression reads
)

// scope is the function under translation.
type scope struct {
	*translator
	f       *function
	names   map[uint32]string
	types   map[uint32]string // of variables that are declared
	uses    map[uint32]int
	home    map[uint32]uint32 // block of a definition
	foreign set               // used in another block than their own
	pending map[uint32]expr   // values not yet written
	order   []uint32
	out     *[]*statement
	merges  []construct
	taken   map[string]bool
	params  map[uint32]bool // passed by pointer
	by      set             // variables that only carry an argument
	phis    map[uint32]uint32
	current uint32
}

type construct struct {
	merge, next uint32 // next: of a loop, where the next round begins
	tail        []instruction
	isLoop      bool
}

// operandIDs are the ids that an instruction uses as values.
func operandIDs(in instruction) []uint32 {
	switch in.op {
	case opCompositeExtract, opLoad, opGroupBallotFindLSB, opGroupBallotFindMSB:
		return in.operands[:1+min(1, boolInt(in.op >= opGroupElect))]
	case opStore, opVectorShuffle:
		return in.operands[:2]
	case opExtInst:
		return in.operands[2:]
	case opFunctionCall:
		return in.operands[1:]
	case opBranchConditional, opReturnValue:
		return in.operands[:1]
	case opLoopMerge, opSelectionMerge, opBranch, opReturn, opLabel, opVariable, opControlBarrier, opMemoryBarrier:
		return nil
	case opPhi:
		var ids []uint32
		for i := 0; i < len(in.operands); i += 2 {
			ids = append(ids, in.operands[i])
		}
		return ids
	case opGroupBallotBitCount, opGroupIAdd, opGroupUMax:
		return in.operands[2:3]
	}
	return in.operands
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (t *translator) function(f *function) string {
	s := &scope{translator: t, f: f, names: map[uint32]string{}, types: map[uint32]string{}, uses: map[uint32]int{},
		home: map[uint32]uint32{}, foreign: set{}, pending: map[uint32]expr{}, taken: maps.Clone(t.taken),
		params: map[uint32]bool{}, by: set{}, phis: map[uint32]uint32{}}
	e := t.effects[f.id]
	parameters := e.context(true)
	for i, p := range f.params {
		name := s.name(p.id, "parameter")
		typ := t.typeName(p.typ)
		if t.storage(p.id) == storageFunction {
			if e.readOnly[i] {
				typ = t.typeName(t.defs[p.typ].operands[1])
			} else {
				s.params[p.id] = true
			}
		}
		parameters = append(parameters, typ+" "+name)
	}
	head := fmt.Sprintf("INLINE %s %s(%s)", t.typeName(f.result), t.functions[f.id], strings.Join(parameters, ", "))
	if text, ok := bodies[t.names[f.id]]; ok {
		return head + " {\n    " + text + "\n}\n"
	}
	for _, v := range f.variables {
		s.name(v.id, "variable")
		s.types[v.id] = t.typeName(t.defs[v.typ].operands[1])
	}
	s.countUses()
	var body []*statement
	s.out = &body
	s.emit(f.blocks[0].label, 0)
	for _, id := range slices.Sorted(maps.Keys(s.types)) {
		s.declareIn(&body, id, false)
	}
	if n := len(body); n > 0 && body[n-1].text == "return;" {
		body = body[:n-1]
	}
	var b strings.Builder
	b.WriteString(head + " {\n")
	write(&b, body, "    ")
	b.WriteString("}\n")
	return b.String()
}

func (s *scope) name(id uint32, otherwise string) string {
	base := clean(s.translator.names[id])
	if base == "" {
		base = otherwise
	}
	name := base
	for i := 2; s.taken[name]; i++ {
		name = fmt.Sprint(base, "_", i)
	}
	s.taken[name] = true
	s.names[id] = name
	return name
}

func (s *scope) countUses() {
	stores, calls, others := map[uint32]int{}, map[uint32]int{}, map[uint32]int{}
	for _, b := range s.f.blocks {
		for _, in := range b.code {
			s.home[in.id] = b.label
		}
	}
	storedIn, calledIn := map[uint32]uint32{}, map[uint32]uint32{}
	for _, b := range s.f.blocks {
		for _, in := range b.code {
			for i, id := range operandIDs(in) {
				if in.op == opPhi && s.decides(in.operands[2*i+1], id) {
					continue // a && b, a || b
				}
				s.uses[id]++
				if home, ok := s.home[id]; ok && home != b.label && in.op != opPhi {
					s.foreign[id] = true
				}
				switch {
				case in.op == opStore && i == 0:
					stores[id]++
					storedIn[id] = b.label
				case in.op == opFunctionCall && s.effects[in.operands[0]].readOnly[i]:
					calls[id]++
					calledIn[id] = b.label
				default:
					others[id]++
				}
			}
		}
	}
	for _, v := range s.f.variables {
		if stores[v.id] == 1 && calls[v.id] == 1 && others[v.id] == 0 && storedIn[v.id] == calledIn[v.id] {
			s.by[v.id] = true
		}
	}
}

// decides tells whether a block ends with a branch by a condition.
func (s *scope) decides(label, condition uint32) bool {
	code := s.f.byLabel[label].code
	last := code[len(code)-1]
	if last.op != opBranchConditional {
		return false
	}
	by := last.operands[0]
	return by == condition || s.negates(by, condition)
}

// negates tells whether a value is !other.
func (s *scope) negates(id, other uint32) bool {
	in := s.defs[id]
	return in.op == opLogicalNot && in.operands[0] == other
}

func (s *scope) put(st *statement) { *s.out = append(*s.out, st) }

// value is the expression for an id.
func (s *scope) value(id uint32) expr {
	if e, ok := s.pending[id]; ok {
		if s.uses[id]--; s.uses[id] <= 0 {
			delete(s.pending, id)
		}
		return e
	}
	if name, ok := s.names[id]; ok {
		return expr{s: name, p: primary, reads: set{id: true}, mentions: set{id: true}}
	}
	return s.constant(id)
}

// hold keeps a value until it is used, or writes it to a variable where it is used more than once.
func (s *scope) hold(in instruction, e expr) {
	if s.uses[in.id] == 0 {
		return
	}
	if s.uses[in.id] > 1 && !simple(e) || s.foreign[in.id] {
		s.keep(in.id, in.typ, e)
		return
	}
	s.pending[in.id] = e
	s.order = append(s.order, in.id)
}

func simple(e expr) bool { return len(e.reads) == 0 && len(e.s) < 24 }

func (s *scope) keep(id, typ uint32, e expr) {
	name := s.names[id]
	if name == "" {
		name = s.name(id, "value")
		s.types[id] = s.typeName(typ)
	}
	s.put(&statement{text: name + " = " + e.s + ";", variable: id, value: e.s, refs: e.mentions.or(set{id: true})})
}

// flush writes pending values that read any of these to variables.
func (s *scope) flush(changed func(root uint32) bool) {
	kept := s.order[:0]
	for _, id := range slices.Clone(s.order) {
		e, ok := s.pending[id]
		if !ok {
			continue
		}
		stale := false
		for root := range e.reads {
			stale = stale || changed(root)
		}
		if !stale {
			kept = append(kept, id)
			continue
		}
		delete(s.pending, id)
		in := s.defs[id]
		if in.op == opAccessChain {
			s.fail("%s: a place changes before it is used", s.functions[s.f.id])
		}
		if s.by[id] {
			s.names[id] = s.name(id, "argument")
			s.types[id] = s.typeName(s.defs[in.typ].operands[1])
			s.put(&statement{text: s.names[id] + " = " + e.s + ";", variable: id, value: e.s, refs: e.mentions.or(set{id: true})})
			continue
		}
		s.keep(id, in.typ, e)
	}
	s.order = kept
}

func (s *scope) flushMemory() {
	s.flush(func(root uint32) bool {
		return root == rootGlobal || s.globalsOf[root] != "" && s.globalsOf[root] != "*push"
	})
}

// place is the lvalue that a pointer points to.
func (s *scope) place(pointer uint32) expr {
	if e, ok := s.pending[pointer]; ok && s.defs[pointer].op == opAccessChain {
		return s.value(pointer)
	} else if ok {
		_ = e
	}
	if s.params[pointer] {
		return expr{s: "*" + s.names[pointer], p: unary, mentions: set{pointer: true}}
	}
	if name, ok := s.names[pointer]; ok && s.storage(pointer) != storagePhysical {
		return expr{s: name, p: primary, mentions: set{pointer: true}}
	}
	if name, ok := s.globalsOf[pointer]; ok {
		if name == "*push" {
			return expr{s: name, p: unary}
		}
		return atom(name)
	}
	if s.storage(pointer) == storageInput {
		return atom(s.builtIn(pointer))
	}
	if s.storage(pointer) == storagePhysical {
		p := s.value(pointer)
		return expr{s: "*" + p.at(unary), p: unary}.with(p)
	}
	s.fail("no place for pointer %d", pointer)
	return expr{}
}

func (s *scope) builtIn(id uint32) string {
	switch s.builtIns[id] {
	case builtInWorkgroupID:
		return "WORKGROUP_ID"
	case builtInLocalInvocationID:
		return "LOCAL_ID"
	case builtInSubgroupSize:
		return "subgroup_size()"
	case builtInSubgroupLocalID:
		return "subgroup_local_id()"
	case builtInSubgroupID:
		return "subgroup_id()"
	case builtInNumSubgroups:
		return "subgroup_count()"
	case builtInSubgroupLtMask:
		return "subgroup_lt_mask()"
	}
	s.fail("built-in variable %d", s.builtIns[id])
	return ""
}

// chain is the place that an access chain names.
func (s *scope) chain(in instruction) expr {
	base, indexes := in.operands[0], in.operands[1:]
	var e expr
	typ := s.defs[s.defs[base].typ].operands[1]
	if element, ok := s.blockElement(typ); ok && s.storage(base) == storagePhysical {
		pointer, index := s.value(base), s.value(indexes[1])
		e = expr{s: pointer.at(primary) + "[" + index.s + "]", p: primary}.with(pointer).with(index)
		typ, indexes = element, indexes[2:]
	} else {
		e = s.place(base)
	}
	for _, index := range indexes {
		of := s.defs[typ]
		switch of.op {
		case opTypeStruct:
			n := s.defs[index].operands[0]
			name := s.member(typ, n)
			if e.s == "*push" {
				e.s, e.p = "push->"+name, primary
			} else {
				e.s, e.p = e.at(primary)+"."+name, primary
			}
			typ = of.operands[n]
		case opTypeArray:
			i := s.value(index)
			e = expr{s: e.at(primary) + ".v[" + i.s + "]", p: primary}.with(e).with(i)
			typ = of.operands[0]
		case opTypeVector:
			if constant := s.defs[index]; constant.op == opConstant {
				e.s, e.p = component(e, constant.operands[0]), primary
			} else {
				i, element := s.value(index), s.typeName(of.operands[0])
				space := map[uint32]string{storageWorkgroup: "__local "}[s.storage(base)]
				e = expr{s: "((" + space + element + "*)&" + e.at(unary) + ")[" + i.s + "]", p: primary}.with(e).with(i)
			}
			typ = of.operands[0]
		default:
			s.fail("an index into type %d", typ)
		}
	}
	return e
}

func component(e expr, n uint32) string {
	switch e.s {
	case "LOCAL_ID", "WORKGROUP_ID":
		return e.s + "_" + string("XYZ"[n])
	}
	return e.at(primary) + "." + string("xyzw"[n])
}

// readOf adds what loading from a place depends on.
func (s *scope) readOf(pointer uint32, e expr) expr {
	root := s.root(pointer)
	switch s.storage(pointer) {
	case storagePhysical:
		root = rootGlobal
	case storagePush, storageInput:
		return e
	}
	e.reads = e.reads.or(set{root: true})
	return e
}

func (s *scope) volatile(pointer uint32) bool {
	for s.defs[pointer].op == opAccessChain {
		pointer = s.defs[pointer].operands[0]
	}
	typ := s.defs[s.defs[pointer].typ]
	return typ.op == opTypePointer && typ.operands[0] == storagePhysical && s.volatiles[typ.operands[1]]
}

// store writes a value to a place.
func (s *scope) store(pointer uint32, value expr) {
	if s.by[pointer] {
		s.pending[pointer] = value
		s.order = append(s.order, pointer)
		s.uses[pointer] = 1
		return
	}
	to := s.place(pointer)
	root := s.root(pointer)
	if s.storage(pointer) == storagePhysical {
		root = rootGlobal
	}
	s.flush(func(r uint32) bool { return r == root })
	st := &statement{text: to.s + " = " + value.s + ";", refs: to.mentions.or(value.mentions)}
	if root == pointer && s.types[root] != "" {
		st.variable, st.value = root, value.s
	}
	s.put(st)
}

func (s *scope) call(in instruction) expr {
	callee := in.operands[0]
	of := s.effects[callee]
	e := expr{p: primary}
	args := of.context(false)
	for i, id := range in.operands[1:] {
		switch {
		case s.by[id]:
			v := s.value(id)
			e = e.with(v)
			args = append(args, v.s)
		case s.storage(id) == storageFunction && of.readOnly[i]:
			v := s.place(id)
			v.reads = v.reads.or(set{s.root(id): true})
			e = e.with(v)
			args = append(args, v.s)
		case s.storage(id) == storageFunction:
			v := s.place(id)
			e = e.with(v)
			e.reads = e.reads.or(set{s.root(id): true})
			args = append(args, strings.TrimPrefix("&"+v.at(unary), "&*"))
		default:
			v := s.value(id)
			e = e.with(v)
			args = append(args, v.s)
		}
	}
	if of.global {
		e.reads = e.reads.or(set{rootGlobal: true})
	}
	for _, v := range s.globals {
		if class := v.operands[0]; of.shared && class == storageWorkgroup || of.own && class == storagePrivate {
			e.reads = e.reads.or(set{v.id: true})
		}
	}
	e.s = s.functions[callee] + "(" + strings.Join(args, ", ") + ")"
	return e
}

// effect writes a call that does something besides its result.
func (s *scope) effect(in, next instruction, e expr, changed func(root uint32) bool) (skip bool) {
	s.flush(changed)
	switch {
	case in.typ == 0 || s.uses[in.id] == 0 || s.defs[in.typ].op == opTypeVoid:
		s.put(&statement{text: e.s + ";", refs: e.mentions})
	case next.op == opStore && next.operands[1] == in.id && s.uses[in.id] == 1 && !s.by[next.operands[0]]:
		s.store(next.operands[0], e)
		return true
	default:
		s.keep(in.id, in.typ, e)
	}
	return false
}
