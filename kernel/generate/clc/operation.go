package clc

import "strings"

var binaries = map[uint32]struct {
	op string
	p  int
}{
	opIAdd: {"+", plus}, opFAdd: {"+", plus}, opISub: {"-", plus}, opFSub: {"-", plus}, opIMul: {"*", times},
	opFMul: {"*", times}, opUDiv: {"/", times}, opFDiv: {"/", times}, opUMod: {"%", times},
	opLogicalOr: {"||", logOr}, opLogicalAnd: {"&&", logAnd}, opLogicalEqual: {"==", equality},
	opLogicalNotEqual: {"!=", equality}, opIEqual: {"==", equality}, opINotEqual: {"!=", equality},
	opUGreaterThan: {">", relation}, opSGreaterThan: {">", relation}, opUGreaterThanEqual: {">=", relation},
	opSGreaterThanEqual: {">=", relation}, opULessThan: {"<", relation}, opSLessThan: {"<", relation},
	opULessThanEqual: {"<=", relation}, opSLessThanEqual: {"<=", relation}, opFOrdEqual: {"==", equality},
	opFUnordNotEqual: {"!=", equality}, opFOrdLessThan: {"<", relation}, opFOrdGreaterThan: {">", relation},
	opFOrdLessThanEqual: {"<=", relation}, opFOrdGreaterThanEqual: {">=", relation},
	opShiftRightLogical: {">>", shift}, opShiftRightArithmetic: {">>", shift}, opShiftLeftLogical: {"<<", shift},
	opBitwiseOr: {"|", bitOr}, opBitwiseXor: {"^", bitXor}, opBitwiseAnd: {"&", bitAnd},
}

// pairs are operations with two results: helpers that return both.
var pairs = map[uint32][2]string{
	opIAddCarry:    {"add_carry", "uint sum = a + b;\n    return (%s){sum, sum < a ? 1u : 0u};"},
	opISubBorrow:   {"subtract_borrow", "return (%s){a - b, a < b ? 1u : 0u};"},
	opUMulExtended: {"multiply_extended", "return (%s){a * b, mul_hi(a, b)};"},
}

// isInt tells whether values of a type are signed.
func (t *translator) isInt(typ uint32) bool {
	in := t.defs[typ]
	if in.op == opTypeVector {
		in = t.defs[in.operands[0]]
	}
	return in.op == opTypeInt && in.operands[1] == 1
}

// operation is an operation on values without side effects.
func (t *translator) operation(op, typ uint32, operands []uint32, value func(uint32) expr) expr {
	if b, ok := binaries[op]; ok {
		x, y := value(operands[0]), value(operands[1])
		switch op {
		case opIAdd, opISub, opIMul, opShiftLeftLogical, opShiftRightLogical, opBitwiseAnd, opBitwiseOr, opBitwiseXor,
			opIEqual, opINotEqual:
			x, y = t.asUnsigned(x, operands[0]), t.asUnsigned(y, operands[1])
			return t.signed(infix(x, b.op, b.p, y), typ)
		case opUDiv, opUMod, opUGreaterThan, opUGreaterThanEqual, opULessThan, opULessThanEqual:
			x, y = t.asUnsigned(x, operands[0]), t.asUnsigned(y, operands[1])
		case opShiftRightArithmetic:
			x, y = t.asSigned(x, operands[0]), t.asUnsigned(y, operands[1])
			e := infix(x, b.op, b.p, y)
			if !t.isInt(typ) {
				return call("as_"+t.typeName(typ), e)
			}
			return e
		case opSGreaterThan, opSGreaterThanEqual, opSLessThan, opSLessThanEqual:
			x, y = t.asSigned(x, operands[0]), t.asSigned(y, operands[1])
		}
		e := infix(x, b.op, b.p, y)
		if op >= opFOrdEqual && op <= opFOrdGreaterThanEqual {
			e.op = "" // the negation of a < b is not a >= b where one is no number
		}
		return e
	}
	if p, ok := pairs[op]; ok {
		t.help(p, typ)
		return call(p[0], t.asUnsigned(value(operands[0]), operands[0]), t.asUnsigned(value(operands[1]), operands[1]))
	}
	switch op {
	case opLogicalNot:
		x := value(operands[0])
		if t.defs[typ].op == opTypeVector {
			return expr{s: "~" + x.at(unary), p: unary}.reading(x)
		}
		return not(x)
	case opNot:
		x := t.asUnsigned(value(operands[0]), operands[0])
		return t.signed(expr{s: "~" + x.at(unary), p: unary}.reading(x), typ)
	case opSNegate:
		x := t.asUnsigned(value(operands[0]), operands[0])
		return t.signed(expr{s: "-" + x.at(primary), p: unary}.reading(x), typ)
	case opFNegate:
		x := value(operands[0])
		return expr{s: "-" + x.at(primary), p: unary}.reading(x)
	case opSelect:
		return choose(value(operands[0]), value(operands[1]), value(operands[2]))
	case opBitCount:
		x := t.asUnsigned(value(operands[0]), operands[0])
		return t.signed(call("popcount", x), typ)
	case opAll, opAny:
		return call(map[uint32]string{opAll: "all", opAny: "any"}[op], value(operands[0]))
	case opConvertUToF, opConvertFToU, opConvertSToF, opConvertFToS:
		return call("convert_"+t.typeName(typ), value(operands[0]))
	case opBitcast:
		return t.bitcast(typ, operands[0], value)
	}
	t.fail("SPIR-V operation %d", op)
	return expr{}
}

// asUnsigned gives the bits of a value of an integer type as unsigned.
func (t *translator) asUnsigned(e expr, id uint32) expr {
	typ := t.defs[id].typ
	switch {
	case !t.isInt(typ):
		return e
	case e.unsigned != nil:
		return e.unsigned.reading(e)
	}
	return call("as_u"+t.typeName(typ), e)
}

func (t *translator) asSigned(e expr, id uint32) expr {
	if typ := t.defs[id].typ; !t.isInt(typ) {
		return call("as_"+strings.TrimPrefix(t.typeName(typ), "u"), e)
	}
	return e
}

// signed gives the result of unsigned arithmetic the type of the result.
func (t *translator) signed(e expr, typ uint32) expr {
	if !t.isInt(typ) {
		return e
	}
	bits := e
	e = call("as_"+t.typeName(typ), e)
	e.unsigned = &bits
	return e
}

func (t *translator) bitcast(typ, operand uint32, value func(uint32) expr) expr {
	x := value(operand)
	from, to := t.typeName(t.defs[operand].typ), t.typeName(typ)
	switch {
	case from == "uint2" && strings.HasSuffix(to, "*"):
		e := expr{s: "(" + to + ")" + call("as_ulong", x).s, p: unary}
		return e.reading(x)
	case strings.HasSuffix(from, "*") && to == "uint2":
		return atom("as_uint2((ulong)" + x.at(unary) + ")").reading(x)
	case strings.HasSuffix(from, "*"):
		return expr{s: "(" + to + ")" + x.at(unary), p: unary}.reading(x)
	case t.isInt(t.defs[operand].typ) && !t.isInt(typ) && to != "float":
		return t.asUnsigned(x, operand)
	case t.isInt(typ) && from != "float":
		return t.signed(x, typ)
	}
	return call("as_"+to, x)
}

// extended is an extended instruction of GLSL.
func (t *translator) extended(in instruction, value func(uint32) expr) expr {
	number, operands := in.operands[1], in.operands[2:]
	var args []expr
	for _, id := range operands {
		args = append(args, value(id))
	}
	switch number {
	case extUMin, extUMax:
		for i := range args {
			args[i] = t.asUnsigned(args[i], operands[i])
		}
	case extSMin, extSMax:
		for i := range args {
			args[i] = t.asSigned(args[i], operands[i])
		}
	}
	switch number {
	case extFMin, extUMin, extSMin:
		return call("min", args...)
	case extFMax, extUMax, extSMax:
		return call("max", args...)
	case extFindUMsb:
		x := t.asUnsigned(args[0], operands[0])
		return t.signed(infix(atom("31u"), "-", plus, call("clz", x)), in.typ) // -1 for 0, too
	case extFindILsb:
		x := t.asUnsigned(args[0], operands[0])
		lowest := infix(x, "&", bitAnd, expr{s: "-" + x.at(primary), p: unary}.reading(x))
		return t.signed(infix(atom("31u"), "-", plus, call("clz", lowest)), in.typ)
	}
	t.fail("extended instruction %d of GLSL", number)
	return expr{}
}
