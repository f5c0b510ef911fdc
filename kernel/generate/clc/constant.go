package clc

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// constant is a constant as an expression; specialization constants are macros.
func (t *translator) constant(id uint32) expr {
	in, ok := t.defs[id]
	if !ok {
		t.fail("id %d is not defined", id)
	}
	switch in.op {
	case opConstantTrue:
		return atom("true")
	case opConstantFalse:
		return atom("false")
	case opConstant:
		switch t.typeName(in.typ) {
		case "uint":
			return atom(unsigned(in.operands[0]))
		case "int":
			bits := atom(unsigned(in.operands[0]))
			e := atom(strconv.FormatInt(int64(int32(in.operands[0])), 10))
			if e.s[0] == '-' {
				e.p = unary
			}
			if int32(in.operands[0]) == -1<<31 {
				e = atom("as_int(0x80000000u)")
			}
			e.unsigned = &bits
			return e
		case "float":
			return atom(fmt.Sprintf("as_float(0x%08xu)", in.operands[0]))
		}
	case opSpecConstant:
		if n := int(t.specIDs[id]); n < len(t.kernel.Constants) {
			return atom(strings.ToUpper(t.kernel.Constants[n].Name))
		}
		t.fail("constant_id %d is not in the catalogue", t.specIDs[id])
	case opConstantComposite, opSpecConstantComposite:
		return t.construct(in.typ, in.operands, t.constant)
	case opSpecConstantOp:
		if t.names[id] != "" {
			return t.derivedConstant(id)
		}
		op, operands := in.operands[0], in.operands[1:]
		if op == opCompositeExtract {
			return t.constant(t.defs[operands[0]].operands[operands[1]])
		}
		return t.operation(op, in.typ, operands, t.constant)
	}
	t.fail("constant of operation %d", in.op)
	return expr{}
}

// derivedConstant is one that GLSL derives from specialization constants and names: a macro, too.
func (t *translator) derivedConstant(id uint32) expr {
	name, ok := t.derived[id]
	if !ok {
		in := t.defs[id]
		e := t.operation(in.operands[0], in.typ, in.operands[1:], t.constant)
		name = t.unique(strings.ToUpper(clean(t.names[id])))
		t.derived[id] = name
		t.declare(name, "#define %s (%s)\n", name, e.s)
	}
	return atom(name)
}

// unsigned is a literal: in decimal where people count, in hexadecimal where they look at bits.
func unsigned(n uint32) string {
	ones := n&(n+1) == 0 || bits.OnesCount32(n) == 1
	if n >= 1<<16 || n >= 1<<10 && ones {
		return fmt.Sprintf("0x%xu", n)
	}
	return strconv.FormatUint(uint64(n), 10) + "u"
}

// construct is a value of a type made of parts.
func (t *translator) construct(typ uint32, parts []uint32, value func(uint32) expr) expr {
	in, name := t.defs[typ], t.typeName(typ)
	var texts []string
	var values []expr
	for _, part := range parts {
		v := value(part)
		values = append(values, v)
		text := v.s
		if in.op == opTypeVector && t.defs[in.operands[0]].op == opTypeBool && t.defs[t.defs[part].typ].op == opTypeBool {
			text = "-(int)" + v.at(unary) // true is -1 in vectors
		}
		texts = append(texts, text)
	}
	var e expr
	switch in.op {
	case opTypeVector:
		if same := slices.Compact(slices.Clone(texts)); len(same) == 1 && len(parts) == int(in.operands[1]) {
			texts = same // one scalar is for all components
		}
		e = atom("(" + name + ")(" + strings.Join(texts, ", ") + ")")
		e.p = unary
	case opTypeArray:
		e = atom("(" + name + "){{" + strings.Join(texts, ", ") + "}}")
	default:
		e = atom("(" + name + "){" + strings.Join(texts, ", ") + "}")
	}
	return e.reading(values...)
}
