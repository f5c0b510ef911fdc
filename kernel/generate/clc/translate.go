package clc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

// bodies are functions of the includes that C says better. The translation is theirs: each does what the GLSL does.
var bodies = map[string]string{
	"element_address(vu2;u1;u1;": "return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));",
	"add(vu2;vu2;":               "return as_uint2(as_ulong(a) + as_ulong(b));",
	"subtract(vu2;vu2;":          "return as_uint2(as_ulong(a) - as_ulong(b));",
	"less(vu2;vu2;":              "return as_ulong(a) < as_ulong(b);",
}

// Part is a piece of a translation that others may share: a type, a helper, a function.
type Part struct{ Name, Text string }

// Translation is one variant of a kernel in OpenCL C.
type Translation struct {
	Parts     []Part // in an order in which each comes after what it uses; the last one is the kernel
	Subgroups bool   // it calls functions of a subgroup prelude
}

type translator struct {
	*module
	kernel    *backend.KernelSpec
	types     map[uint32]string
	arrays    map[string]string // name by text
	taken     map[string]bool
	specNames map[uint32]string
	parts     []Part
	helped    map[uint32]bool
	effects   map[uint32]*effects
	functions map[uint32]string // names
	globalsOf map[uint32]string
}

// effects are what a function does besides its result.
type effects struct {
	push, shared, own, global bool   // uses these; shared and own: touches variables of these classes
	impure                    bool   // writes, or waits
	readOnly                  []bool // parameters that it does not write
}

type failure struct{ error }

func (t *translator) fail(format string, a ...any) {
	panic(failure{fmt.Errorf(t.kernel.Name+": "+format, a...)})
}

// Translate returns the parts of a kernel in OpenCL C, in an order in which each comes after what it uses. The last one
// is the kernel. Its arguments are the buffers, each from its beginning, and a structure: where each begins, in bytes,
// as 64-bit words, the parameters, the first workgroup and the end of the range of workgroups. A dispatch has exactly
// that range of workgroups: what kernels do for those behind it is left out, because PoCL (3.1) lets the first
// invocation decide branches of the others where a whole workgroup may return before a barrier.
func Translate(code []byte, kernel *backend.KernelSpec) (translation *Translation, err error) {
	defer func() {
		if f, ok := recover().(failure); ok {
			err = f.error
		} else if p := recover(); p != nil {
			panic(p)
		}
	}()
	m, err := parse(code)
	if err != nil {
		return nil, err
	}
	t := &translator{module: m, kernel: kernel, types: map[uint32]string{}, arrays: map[string]string{},
		taken: map[string]bool{}, specNames: map[uint32]string{}, helped: map[uint32]bool{},
		effects: map[uint32]*effects{}, functions: map[uint32]string{}, globalsOf: map[uint32]string{}}
	for _, word := range reserved {
		t.taken[word] = true
	}
	for i, constant := range kernel.Constants {
		t.specNames[uint32(i)] = strings.ToUpper(constant.Name)
	}
	t.nameFunctions()
	t.declareGlobals()
	for _, f := range t.calleesFirst() {
		t.parts = append(t.parts, Part{t.functions[f.id], t.function(f)})
	}
	t.parts = append(t.parts, Part{kernel.Name, t.entryPoint()})
	return &Translation{Parts: t.parts, Subgroups: m.subgroups}, nil
}

func (t *translator) declare(name, format string, a ...any) {
	t.parts = append(t.parts, Part{name, fmt.Sprintf(format, a...) + "\n"})
}

func (t *translator) help(op, typ uint32) {
	pair := t.typeName(typ) // declared before
	if t.helped[op] {
		return
	}
	t.helped[op] = true
	var body, name string
	switch op {
	case opIAddCarry:
		name, body = "add_carry", "uint sum = a + b;\n    return (PAIR){sum, sum < a ? 1u : 0u};"
	case opISubBorrow:
		name, body = "subtract_borrow", "return (PAIR){a - b, a < b ? 1u : 0u};"
	case opUMulExtended:
		name, body = "multiply_extended", "return (PAIR){a * b, mul_hi(a, b)};"
	}
	t.parts = append(t.parts, Part{name, fmt.Sprintf("INLINE %s %s(uint a, uint b) {\n    %s\n}\n", pair, name, strings.ReplaceAll(body, "PAIR", pair))})
}

// nameFunctions gives overloads names of their own.
func (t *translator) nameFunctions() {
	count := map[string]int{}
	base := func(f *function) string {
		name, _, _ := strings.Cut(t.names[f.id], "(")
		return name
	}
	for _, f := range t.module.functions {
		count[base(f)]++
	}
	for _, f := range t.module.functions {
		name := base(f)
		switch {
		case f.id == t.entry:
			name = "run"
		case count[name] > 1:
			_, signature, _ := strings.Cut(t.names[f.id], "(")
			name += "_" + strings.Trim(strings.ReplaceAll(signature, ";", "_"), "_")
		}
		t.functions[f.id] = t.unique(clean(name))
	}
}

// declareGlobals declares what OpenCL C has no global variables for as structures, which functions get by pointer.
func (t *translator) declareGlobals() {
	var shared, own []string
	for _, v := range t.globals {
		pointer := t.defs[v.typ]
		switch v.operands[0] {
		case storageWorkgroup:
			name := clean(t.names[v.id])
			t.globalsOf[v.id] = "shared->" + name
			shared = append(shared, t.typeName(pointer.operands[1])+" "+name+";")
		case storagePrivate:
			name := clean(t.names[v.id])
			t.globalsOf[v.id] = "own->" + name
			own = append(own, t.typeName(pointer.operands[1])+" "+name+";")
		case storagePush:
			t.globalsOf[v.id] = "*push"
			t.typeName(pointer.operands[1])
		}
	}
	if len(shared) > 0 {
		t.declare("Shared", "typedef struct {\n    %s\n} Shared;", strings.Join(shared, "\n    "))
	}
	if len(own) > 0 {
		t.declare("Own", "typedef struct {\n    %s\n} Own;", strings.Join(own, "\n    "))
	}
}

func (t *translator) calleesFirst() (order []*function) {
	seen := map[uint32]bool{}
	var visit func(f *function)
	visit = func(f *function) {
		if seen[f.id] {
			return
		}
		seen[f.id] = true
		for _, b := range f.blocks {
			for _, in := range b.code {
				if in.op == opFunctionCall {
					visit(t.byID[in.operands[0]])
				}
			}
		}
		t.effects[f.id] = t.effectsOf(f)
		order = append(order, f)
	}
	visit(t.byID[t.entry])
	return order
}

// root is the variable or parameter that a pointer points into, or the pointer to device memory.
func (t *translator) root(id uint32) uint32 {
	for t.defs[id].op == opAccessChain {
		id = t.defs[id].operands[0]
	}
	return id
}

func (t *translator) storage(pointer uint32) uint32 {
	if typ := t.defs[t.defs[pointer].typ]; typ.op == opTypePointer {
		return typ.operands[0]
	}
	return 0
}

func (t *translator) effectsOf(f *function) *effects {
	e := &effects{readOnly: make([]bool, len(f.params))}
	param := map[uint32]int{}
	for i, p := range f.params {
		param[p.id], e.readOnly[i] = i, true
	}
	touch := func(pointer uint32, write bool) {
		switch t.storage(pointer) {
		case storageWorkgroup:
			e.shared, e.impure = true, e.impure || write
		case storagePrivate:
			e.own, e.impure = true, e.impure || write
		case storagePush:
			e.push = true
		case storagePhysical:
			e.global, e.impure = true, e.impure || write
		}
		if i, ok := param[t.root(pointer)]; ok && write {
			e.readOnly[i] = false
		}
	}
	_, replaced := bodies[t.names[f.id]]
	for _, b := range f.blocks {
		for _, in := range b.code {
			switch in.op {
			case opLoad:
				touch(in.operands[0], false)
			case opStore:
				touch(in.operands[0], true)
			case opAtomicIAdd, opAtomicAnd, opAtomicOr, opAtomicUMax, opAtomicExchange, opAtomicCompareExchange:
				touch(in.operands[0], true)
			case opControlBarrier, opMemoryBarrier:
				e.impure = true
			case opFunctionCall:
				of := t.effects[in.operands[0]]
				e.push, e.shared, e.own = e.push || of.push, e.shared || of.shared, e.own || of.own
				e.global, e.impure = e.global || of.global, e.impure || of.impure
				for i, arg := range in.operands[1:] {
					if t.storage(arg) != 0 && !of.readOnly[i] {
						touch(arg, true)
						e.impure = true
					}
				}
			}
		}
	}
	if replaced {
		*e = effects{readOnly: slices.Repeat([]bool{true}, len(f.params))}
	}
	for _, readOnly := range e.readOnly {
		e.impure = e.impure || !readOnly
	}
	return e
}

// context are the parameters and arguments that stand for global variables.
func (e *effects) context(declared bool) (list []string) {
	add := func(used bool, declaration, name string) {
		if used && declared {
			list = append(list, declaration+name)
		} else if used {
			list = append(list, name)
		}
	}
	add(e.push, "const Push* ", "push")
	add(e.shared, "__local Shared* ", "shared")
	add(e.own, "Own* ", "own")
	return list
}

func (t *translator) entryPoint() string {
	var b strings.Builder
	k := t.kernel
	var words, args []string
	for _, arg := range k.Args {
		name := arg.Name
		words = append(words, "ulong "+clean(name)+";")
		args = append(args, "__global uchar* "+clean(name))
	}
	for _, name := range append(slices.Clone(k.Params), "first_group", "end_group") {
		words = append(words, "uint "+clean(name)+";")
	}
	fmt.Fprintf(&b, "typedef struct {\n    %s\n} Words;\n\n", strings.Join(words, "\n    "))
	fmt.Fprintf(&b, "__kernel __attribute__((reqd_work_group_size(%s, 1, 1)))\nvoid %s(%s, const Words words) {\n",
		t.specNames[0], k.Name, strings.Join(args, ", "))
	e := t.effects[t.entry]
	if e.shared {
		b.WriteString("    __local Shared local_memory;\n    __local Shared* shared = &local_memory;\n")
	}
	if e.own {
		b.WriteString("    Own variables;\n    Own* own = &variables;\n")
		for _, v := range t.globals {
			if v.operands[0] == storagePrivate && len(v.operands) > 1 {
				fmt.Fprintf(&b, "    %s = %s;\n", t.globalsOf[v.id], t.constant(v.operands[1]).s)
			}
		}
	}
	if e.push {
		b.WriteString("    const Push addresses = {\n")
		for _, arg := range k.Args {
			name := arg.Name
			fmt.Fprintf(&b, "        as_uint2((ulong)%s + words.%s),\n", clean(name), clean(name))
		}
		for _, name := range append(slices.Clone(k.Params), "first_group", "end_group") {
			fmt.Fprintf(&b, "        words.%s,\n", clean(name))
		}
		b.WriteString("    };\n    const Push* push = &addresses;\n")
	}
	fmt.Fprintf(&b, "    run(%s);\n}\n", strings.Join(e.context(false), ", "))
	return b.String()
}
