package clc

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reserved are words of OpenCL C, and names that this package uses, which kernels may use as names.
var reserved = []string{
	"half", "kernel", "global", "local", "constant", "private", "event_t", "double", "long", "short", "char", "signed",
	"unsigned", "register", "auto", "static", "extern", "goto", "volatile", "restrict", "inline", "uchar", "ushort",
	"ulong", "size_t", "main", "push", "shared", "own", "words", "select", "read_only", "write_only", "complex", "pipe",
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_]+`)

func clean(name string) string {
	name = notInNames.ReplaceAllString(name, "_")
	if slices.Contains(reserved, name) {
		name += "_"
	}
	return name
}

// typeName is how C writes a type, and declares it before where it is a structure.
func (t *translator) typeName(id uint32) string {
	if name, ok := t.types[id]; ok {
		return name
	}
	in := t.defs[id]
	name := ""
	switch in.op {
	case opTypeVoid:
		name = "void"
	case opTypeBool:
		name = "bool"
	case opTypeInt:
		name = map[uint32]string{0: "uint", 1: "int"}[in.operands[1]]
	case opTypeFloat:
		name = "float"
	case opTypeVector:
		element := t.typeName(in.operands[0])
		if element == "bool" {
			element = "int" // what comparisons of vectors give
		}
		name = fmt.Sprint(element, in.operands[1])
	case opTypeArray:
		element, length := t.typeName(in.operands[0]), t.constant(in.operands[1])
		key := element + "[" + length.s + "]"
		if name = t.arrays[key]; name == "" {
			base := clean(element) + "_x" + strings.Trim(notInNames.ReplaceAllString(strings.ToLower(length.s), "_"), "_")
			if len(base) > 32 {
				base = base[:32]
			}
			name = t.unique(base)
			t.arrays[key] = name
			t.declare(name, "typedef struct { %s v[%s]; } %s;", element, length.s, name)
		}
	case opTypeStruct:
		base := clean(t.names[id])
		var members []string
		for i, member := range in.operands {
			members = append(members, t.typeName(member)+" "+t.member(id, uint32(i))+";")
		}
		key := base + "{" + strings.Join(members, " ") + "}"
		if name = t.arrays[key]; name == "" {
			name = t.unique(base)
			t.arrays[key] = name
			t.declare(name, "typedef struct { %s } %s;", strings.Join(members, " "), name)
		}
	case opTypePointer:
		switch in.operands[0] {
		case storagePhysical:
			// A block is an array without end: a pointer to one is a pointer to its elements.
			if element, ok := t.blockElement(in.operands[1]); ok {
				volatile := ""
				if t.volatiles[in.operands[1]] {
					volatile = "volatile "
				}
				return t.keep(id, "__global "+volatile+t.typeName(element)+"*")
			}
			name = "__global " + t.typeName(in.operands[1]) + "*"
		case storageWorkgroup:
			name = "__local " + t.typeName(in.operands[1]) + "*"
		default:
			name = t.typeName(in.operands[1]) + "*"
		}
	default:
		t.fail("type %d: operation %d", id, in.op)
	}
	return t.keep(id, name)
}

func (t *translator) keep(id uint32, name string) string {
	t.types[id] = name
	return name
}

// blockElement is the type of the elements of a block of device memory.
func (t *translator) blockElement(id uint32) (uint32, bool) {
	block := t.defs[id]
	if block.op != opTypeStruct || len(block.operands) != 1 {
		return 0, false
	}
	array := t.defs[block.operands[0]]
	return array.operands[0], array.op == opTypeRuntimeArray
}

func (t *translator) member(structure, index uint32) string {
	if name := t.memberNames[[2]uint32{structure, index}]; name != "" {
		return clean(name)
	}
	return fmt.Sprint("m", index)
}

func (t *translator) unique(name string) string {
	base := name
	for i := 2; t.taken[name]; i++ {
		name = fmt.Sprint(base, "_", i)
	}
	t.taken[name] = true
	return name
}

// constant is a constant as an expression of C; specialization constants are macros.
func (t *translator) constant(id uint32) expr {
	in, ok := t.defs[id]
	if !ok {
		t.fail("id %d is not defined", id)
	}
	all := func(ids []uint32) string {
		var parts []string
		for _, id := range ids {
			parts = append(parts, t.constant(id).s)
		}
		return strings.Join(parts, ", ")
	}
	switch in.op {
	case opConstantTrue:
		return atom("true")
	case opConstantFalse:
		return atom("false")
	case opConstant:
		switch t.typeName(in.typ) {
		case "uint":
			return atom(strconv.FormatUint(uint64(in.operands[0]), 10) + "u")
		case "int":
			return atom(strconv.FormatInt(int64(int32(in.operands[0])), 10))
		case "float":
			return atom(fmt.Sprintf("as_float(0x%08xu)", in.operands[0]))
		}
	case opSpecConstant:
		return atom(t.specNames[t.specIDs[id]])
	case opConstantComposite, opSpecConstantComposite:
		if t.builtIns[id] == builtInWorkgroupSize {
			return atom("(uint3)(" + all(in.operands) + ")")
		}
		return t.construct(in.typ, in.operands, t.constant)
	case opSpecConstantOp:
		op, operands := in.operands[0], in.operands[1:]
		if op == opCompositeExtract {
			return t.constant(t.defs[operands[0]].operands[operands[1]])
		}
		return t.operation(op, in.typ, operands, t.constant)
	}
	t.fail("constant %d: operation %d", id, in.op)
	return expr{}
}

// construct is a value of a type made of parts.
func (t *translator) construct(typ uint32, parts []uint32, value func(uint32) expr) expr {
	in, name := t.defs[typ], t.typeName(typ)
	e := expr{p: primary}
	var texts []string
	for _, part := range parts {
		v := value(part)
		e = e.with(v)
		texts = append(texts, v.s)
	}
	switch in.op {
	case opTypeVector:
		if t.defs[in.operands[0]].op == opTypeBool {
			for i := range texts {
				texts[i] = "-(int)(" + texts[i] + ")"
			}
		}
		if same := slices.Compact(slices.Clone(texts)); len(same) == 1 && len(e.reads) == 0 {
			texts = same
		}
		e.s = "(" + name + ")(" + strings.Join(texts, ", ") + ")"
	case opTypeArray:
		e.s = "(" + name + "){{" + strings.Join(texts, ", ") + "}}"
	default:
		e.s = "(" + name + "){" + strings.Join(texts, ", ") + "}"
	}
	return e
}

// expr is an expression of C: its text, how tightly its outermost operator binds, which memory its value depends on, and
// which variables it mentions.
type expr struct {
	s               string
	p               int
	reads, mentions set
}

type set map[uint32]bool

func (s set) or(other set) set {
	if len(other) == 0 {
		return s
	}
	both := set{}
	for id := range s {
		both[id] = true
	}
	for id := range other {
		both[id] = true
	}
	return both
}

// pastEnd is the text of the test whether a workgroup lies behind the end of the dispatch.
func (e expr) pastEnd() string {
	left, _, _ := strings.Cut(e.s, " ")
	return left + " >= push->end_group"
}

func atom(s string) expr { return expr{s: s, p: primary} }

func (e expr) with(other expr) expr {
	e.reads, e.mentions = e.reads.or(other.reads), e.mentions.or(other.mentions)
	return e
}

// Precedence of C.
const (
	primary  = 16
	unary    = 15
	times    = 13
	plus     = 12
	shift    = 11
	relation = 10
	equality = 9
	bitAnd   = 8
	bitXor   = 7
	bitOr    = 6
	logAnd   = 5
	logOr    = 4
	ternary  = 3
)

func (e expr) at(p int) string {
	if e.p < p {
		return "(" + e.s + ")"
	}
	return e.s
}

var binaries = map[uint32]struct {
	s string
	p int
}{
	opIAdd: {"+", plus}, opFAdd: {"+", plus}, opISub: {"-", plus}, opIMul: {"*", times}, opFMul: {"*", times},
	opUDiv: {"/", times}, opFDiv: {"/", times}, opUMod: {"%", times}, opLogicalOr: {"||", logOr},
	opLogicalAnd: {"&&", logAnd}, opIEqual: {"==", equality}, opINotEqual: {"!=", equality},
	opUGreaterThan: {">", relation}, opSGreaterThan: {">", relation}, opUGreaterThanEqual: {">=", relation},
	opSGreaterThanEqual: {">=", relation}, opULessThan: {"<", relation}, opSLessThan: {"<", relation},
	opULessThanEqual: {"<=", relation}, opShiftRightLogical: {">>", shift}, opShiftRightArithmetic: {">>", shift},
	opShiftLeftLogical: {"<<", shift}, opBitwiseOr: {"|", bitOr}, opBitwiseXor: {"^", bitXor},
	opBitwiseAnd: {"&", bitAnd}, 164: {"==", equality}, 165: {"!=", equality},
}

// operation is an operation without side effects on values.
func (t *translator) operation(op, typ uint32, operands []uint32, value func(uint32) expr) expr {
	vector := t.defs[typ].op == opTypeVector
	if b, ok := binaries[op]; ok {
		x, y := value(operands[0]), value(operands[1])
		e := expr{p: b.p}.with(x).with(y)
		right := b.p + 1 // all but && and || group from the left
		if b.p == logAnd || b.p == logOr {
			right = b.p
		}
		left := b.p
		if b.p <= shift { // what people read wrong, and compilers warn of
			if x.p < primary && x.p != b.p {
				left = primary
			}
			if y.p < primary && y.p != b.p {
				right = primary
			}
		}
		if op == opShiftRightArithmetic {
			x = atom("(int)" + x.at(unary))
		}
		e.s = x.at(left) + " " + b.s + " " + y.at(right)
		if op == opShiftRightArithmetic {
			e.s = "(" + t.typeName(typ) + ")(" + e.s + ")"
			e.p = unary
		}
		return e
	}
	call := func(format string) expr {
		e := expr{p: primary}
		var texts []any
		for _, operand := range operands {
			v := value(operand)
			e = e.with(v)
			texts = append(texts, v.s)
		}
		e.s = fmt.Sprintf(format, texts...)
		return e
	}
	switch op {
	case opLogicalNot:
		x := value(operands[0])
		if vector {
			return expr{s: "~" + x.at(unary), p: unary}.with(x)
		}
		return expr{s: "!" + x.at(unary), p: unary}.with(x)
	case opNot:
		x := value(operands[0])
		return expr{s: "~" + x.at(unary), p: unary}.with(x)
	case opSelect:
		c, x, y := value(operands[0]), value(operands[1]), value(operands[2])
		return expr{s: c.at(ternary+1) + " ? " + x.at(ternary+1) + " : " + y.at(ternary), p: ternary}.with(c).with(x).with(y)
	case opAll:
		return call("all(%s)")
	case opAny:
		return call("any(%s)")
	case opBitCount:
		return call("popcount(%s)")
	case opConvertUToF:
		return call("convert_" + t.typeName(typ) + "(%s)")
	case opConvertFToU:
		return call("convert_" + t.typeName(typ) + "(%s)")
	case opIAddCarry:
		t.help(opIAddCarry, typ)
		return call("add_carry(%s, %s)")
	case opISubBorrow:
		t.help(opISubBorrow, typ)
		return call("subtract_borrow(%s, %s)")
	case opUMulExtended:
		t.help(opUMulExtended, typ)
		return call("multiply_extended(%s, %s)")
	case opBitcast:
		return t.bitcast(typ, operands[0], value)
	}
	t.fail("operation %d", op)
	return expr{}
}

func (t *translator) bitcast(typ, operand uint32, value func(uint32) expr) expr {
	x := value(operand)
	e := expr{p: primary}.with(x)
	switch from, to := t.typeName(t.defs[operand].typ), t.typeName(typ); {
	case from == "uint2" && strings.HasSuffix(to, "*"):
		e.s, e.p = "("+to+")as_ulong("+x.s+")", unary
	case strings.HasSuffix(from, "*") && to == "uint2":
		e.s = "as_uint2((ulong)" + x.at(unary) + ")"
	default:
		e.s = "as_" + to + "(" + x.s + ")"
	}
	return e
}
