package clc

import (
	"fmt"
	"strings"
)

// Functions of GLSL and of OpenCL C.
var extended = map[uint32]string{37: "min", 38: "min", 39: "min", 40: "max", 41: "max", 42: "max"}

var atomics = map[uint32]string{
	opAtomicIAdd: "atomic_add", opAtomicAnd: "atomic_and", opAtomicOr: "atomic_or", opAtomicUMax: "atomic_max",
	opAtomicExchange: "atomic_xchg", opAtomicCompareExchange: "atomic_cmpxchg",
}

// instruction writes one that does not end a block, or holds its value. It reports whether it did the next one too.
func (s *scope) instruction(in, next instruction) (skip bool) {
	if _, ok := subgroupFunctions[in.op]; ok {
		s.subgroup(in)
		return false
	}
	switch in.op {
	case opLoad:
		from := in.operands[0]
		e := s.readOf(from, s.place(from))
		if s.volatile(from) {
			s.flushMemory()
			s.keep(in.id, in.typ, e)
			return false
		}
		s.hold(in, e)
	case opStore:
		s.store(in.operands[0], s.value(in.operands[1]))
	case opAccessChain:
		s.pending[in.id] = s.chain(in)
		s.order = append(s.order, in.id)
	case opFunctionCall:
		e := s.call(in)
		of := s.effects[in.operands[0]]
		if !of.impure {
			s.hold(in, e)
			return false
		}
		return s.effect(in, next, e, func(root uint32) bool {
			if root == rootGlobal || s.globalsOf[root] != "" {
				return true
			}
			for i, id := range in.operands[1:] {
				if s.storage(id) == storageFunction && !of.readOnly[i] && s.root(id) == root {
					return true
				}
			}
			return false
		})
	case opAtomicIAdd, opAtomicAnd, opAtomicOr, opAtomicUMax, opAtomicExchange:
		p, v := s.place(in.operands[0]), s.value(in.operands[3])
		e := expr{s: fmt.Sprintf("%s(&%s, %s)", atomics[in.op], p.at(unary), v.s), p: primary}.with(p).with(v)
		return s.effect(in, next, e, s.memory)
	case opAtomicCompareExchange:
		p, v, c := s.place(in.operands[0]), s.value(in.operands[4]), s.value(in.operands[5])
		e := expr{s: fmt.Sprintf("atomic_cmpxchg(&%s, %s, %s)", p.at(unary), c.s, v.s), p: primary}.with(p).with(v).with(c)
		return s.effect(in, next, e, s.memory)
	case opControlBarrier:
		s.flushMemory()
		if s.defs[in.operands[0]].operands[0] == scopeSubgroup {
			s.put(&statement{text: "subgroup_barrier();"})
		} else {
			s.put(&statement{text: "barrier(CLK_LOCAL_MEM_FENCE);"})
		}
	case opMemoryBarrier:
		s.flushMemory()
		s.put(&statement{text: "mem_fence(CLK_GLOBAL_MEM_FENCE);"})
	case opPhi:
		if s.names[in.id] != "" {
			return false
		}
		if _, ok := s.pending[in.id]; !ok {
			s.fail("%s: a value that depends on the way", s.functions[s.f.id])
		}
	case opExtInst:
		s.hold(in, s.extended(in))
	case opCompositeConstruct:
		s.hold(in, s.construct(in.typ, in.operands, s.value))
	case opCompositeExtract:
		if s.builtIns[in.operands[0]] == builtInWorkgroupSize {
			s.hold(in, s.constant(s.defs[in.operands[0]].operands[in.operands[1]]))
			return false
		}
		e, typ := s.value(in.operands[0]), s.defs[in.operands[0]].typ
		for _, n := range in.operands[1:] {
			switch of := s.defs[typ]; of.op {
			case opTypeVector:
				e.s, typ = component(e, n), of.operands[0]
			case opTypeArray:
				e.s, typ = fmt.Sprintf("%s.v[%d]", e.at(primary), n), of.operands[0]
			default:
				e.s, typ = e.at(primary)+"."+s.member(typ, n), of.operands[n]
			}
			e.p = primary
		}
		s.hold(in, e)
	case opVectorShuffle:
		if in.operands[0] != in.operands[1] {
			s.fail("a shuffle of two vectors")
		}
		e := s.value(in.operands[0])
		s.uses[in.operands[0]]--
		if _, ok := s.pending[in.operands[0]]; ok && s.uses[in.operands[0]] <= 0 {
			delete(s.pending, in.operands[0])
		}
		var b strings.Builder
		for _, n := range in.operands[2:] {
			b.WriteByte("xyzw"[n])
		}
		s.hold(in, expr{s: e.at(primary) + "." + b.String(), p: primary}.with(e))
	default:
		s.hold(in, s.operation(in.op, in.typ, in.operands, s.value))
	}
	return false
}

func (s *scope) memory(root uint32) bool { return root == rootGlobal || s.globalsOf[root] != "" }

func (s *scope) extended(in instruction) expr {
	operands := in.operands[2:]
	e := expr{p: primary}
	var texts []string
	for _, id := range operands {
		v := s.value(id)
		e = e.with(v)
		texts = append(texts, v.s)
	}
	switch name := extended[in.operands[1]]; {
	case name != "":
		e.s = name + "(" + strings.Join(texts, ", ") + ")"
	case in.operands[1] == 75: // FindUMsb
		e.s, e.p = "31 - (int)clz("+texts[0]+")", plus
	default:
		s.fail("extended instruction %d", in.operands[1])
	}
	return e
}
