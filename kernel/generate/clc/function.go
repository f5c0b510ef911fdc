package clc

import (
	"maps"
	"slices"
	"strings"
)

// scope is the function under translation. Values are expressions until they are used; a value that would change
// before, or that is used more than once, gets a variable.
type scope struct {
	*translator
	*plan
	f         *function
	uses      map[uint32]int  // that are left
	variables map[uint32]bool // of C, but for parameters: by the ids of variables, and of values that got one
	addresses set             // values that are addresses of places
	pending   map[uint32]expr
	order     []uint32 // of pending values
	out       *[]*statement
	around    []construct
	ways      set                    // blocks whose phis are variables
	outer     []uint32               // pending values from before the attempts around
	spoiled   bool                   // one of them would have needed a variable
	impure    uint32                 // the pending value whose expression does more than compute, 0 if none
	changes   func(root uint32) bool // what that expression changes
}

// construct is a loop or a switch around the code.
type construct struct {
	isLoop      bool
	merge, next uint32 // the block behind it; of a loop, the one where the next round begins
}

// function translates a function.
func (t *translator) function(f *function) string {
	s := &scope{translator: t, plan: t.plans[f.id], f: f, uses: map[uint32]int{}, variables: map[uint32]bool{},
		addresses: set{}, pending: map[uint32]expr{}, ways: set{}}
	w := &writer{scope: s, names: map[uint32]string{}, used: map[string]bool{}}
	head, hasBody := s.head(), false
	var body []*statement
	if _, hasBody = library[t.names[f.id]]; !hasBody {
		for _, v := range f.variables {
			s.variables[v.id] = true
		}
		s.countUses()
		s.out = &body
		for _, v := range f.variables {
			if len(v.operands) > 1 {
				s.keep(v.id, s.constant(v.operands[1]))
			}
		}
		s.emit(f.blocks[0].label, 0)
		body = s.finish(body)
	}
	return w.function(head, body)
}

// head is the result and the parameters, with marks for their names.
func (s *scope) head() string {
	e := s.effects[s.f.id]
	var params []string
	for _, name := range e.context() {
		params = append(params, contextTypes[name]+name)
	}
	for i, p := range s.f.params {
		typ, name, qualifier := p.typ, mark(p.id), ""
		if s.storage(p.id) == storageFunction {
			typ = s.pointee(p.id)
			switch {
			case s.isArray(typ) && !e.writes[i]:
				qualifier = "const "
			case s.pointer[i] && !s.isArray(typ):
				name = "*" + name
			}
		}
		params = append(params, qualifier+strings.ReplaceAll(s.declaration(typ, name), " *", "* "))
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	return "INLINE " + s.typeName(s.f.result) + " " + s.called[s.f.id] + "(" + strings.Join(params, ", ") + ")"
}

func (s *scope) countUses() {
	s.f.instructions(func(_ *block, _ int, in instruction) {
		for i, id := range in.values() {
			if in.op == opPhi && s.decides(in.operands[2*i+1], id) {
				continue // the condition of a && b or a || b, which the branch uses already
			}
			s.uses[id]++
		}
	})
}

// decides tells whether a block ends with a branch by a condition, or by its negation.
func (s *scope) decides(label, condition uint32) bool {
	last := s.f.byLabel[label].end()
	return last.op == opBranchConditional &&
		(last.operands[0] == condition || s.negates(last.operands[0], condition))
}

// negates tells whether a value is !other.
func (s *scope) negates(id, other uint32) bool {
	in := s.defs[id]
	return in.op == opLogicalNot && in.operands[0] == other
}

func (s *scope) put(st *statement) {
	s.settle()
	*s.out = append(*s.out, st)
}

// settle gives the impure value a variable before anything else happens.
func (s *scope) settle() {
	id := s.impure
	s.impure = 0
	if e, ok := s.pending[id]; ok && id != 0 {
		delete(s.pending, id)
		s.keep(id, e)
	}
}

// inside collects the statements that write puts.
func (s *scope) inside(write func()) []*statement {
	var list []*statement
	out := s.out
	s.out = &list
	write()
	s.out = out
	return list
}

// attempt undoes what try did, but for what it put, if it is false, or if a value from before needed a variable, which
// would be declared too late.
func (s *scope) attempt(try func() bool) bool {
	saved := *s
	s.pending, s.uses, s.variables = maps.Clone(s.pending), maps.Clone(s.uses), maps.Clone(s.variables)
	s.addresses = maps.Clone(s.addresses)
	s.outer = append(slices.Clone(s.outer), s.order...)
	s.order = nil
	if try() && !s.spoiled {
		s.outer, s.order = saved.outer, append(slices.Clone(saved.order), s.order...)
		return true
	}
	*s = saved
	return false
}

// value is the expression for an id.
func (s *scope) value(id uint32) expr {
	if e, ok := s.pending[id]; ok {
		if s.uses[id]--; s.uses[id] <= 0 {
			delete(s.pending, id)
		}
		if id == s.impure {
			s.impure = 0
		}
		return e
	}
	if s.variables[id] || s.defs[id].op == opFunctionParameter {
		e := atom(mark(id))
		e.reads = set{id: true}
		return e
	}
	return s.constant(id)
}

// hold keeps the value of an instruction until it is used, or gives it a variable where it is used more than once.
func (s *scope) hold(in instruction, e expr) {
	switch {
	case s.uses[in.id] == 0:
	case s.uses[in.id] > 1 && (e.impure || e.readsAny(s.visible) || len(e.s) > 24):
		s.keep(in.id, e)
	default:
		s.delay(in.id, e)
	}
}

func (s *scope) delay(id uint32, e expr) {
	if e.impure {
		s.settle()
		s.impure = id
	}
	s.pending[id] = e
	s.order = append(s.order, id)
}

// keep assigns a value to a variable of its own.
func (s *scope) keep(id uint32, e expr) {
	s.variables[id] = true
	s.put(&statement{to: mark(id), value: e.s, variable: id})
}

// flush gives variables to pending values that read what changes.
func (s *scope) flush(changed func(root uint32) bool) {
	for _, id := range s.outer {
		if e, ok := s.pending[id]; ok && e.readsAny(changed) {
			s.spoiled = true
		}
	}
	kept := make([]uint32, 0, len(s.order))
	for _, id := range s.order {
		e, ok := s.pending[id]
		if !ok {
			continue
		}
		if !e.readsAny(changed) {
			kept = append(kept, id)
			continue
		}
		delete(s.pending, id)
		if id == s.impure {
			s.impure = 0
		}
		if s.defs[id].op == opAccessChain {
			s.addresses[id] = true
			e = expr{s: "&" + e.at(unary), p: unary}
		}
		s.keep(id, e)
	}
	s.order = kept
}

func (s *scope) flushAll() {
	s.settle()
	s.flush(func(uint32) bool { return true })
}

// flushMemory is for what others may see or change: device memory, and global variables.
func (s *scope) flushMemory() { s.flush(s.visible) }

func (s *scope) visible(root uint32) bool { return root == memory || s.globalPlace[root] != "" }
