package clc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

// Part is a piece of a translation that variants may share: a type or a function.
type Part struct{ Name, Text string }

// Translation is one variant of a kernel in OpenCL C.
type Translation struct {
	Parts     []Part // each behind those that it uses; the last one is the kernel
	Subgroups bool   // it calls functions of a subgroup prelude
}

type translator struct {
	*module
	kernel      *backend.KernelSpec
	order       []*function // that the kernel calls, callees first
	effects     map[uint32]*effects
	plans       map[uint32]*plan
	valueArrays set
	types       map[uint32]string // names
	structures  map[string]string // names by members
	taken       map[string]bool   // names of types and functions
	called      map[uint32]string // names of functions
	globalPlace map[uint32]string // places of global variables
	helped      map[string]bool
	derived     map[uint32]string // macros of constants
	parts       []Part
	subgroups   bool
	within      string // the GLSL function under translation, for errors
}

// failure carries an error out of a translation.
type failure struct{ error }

func (t *translator) fail(format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	if t.within != "" {
		text = "function " + t.within + ": " + text
	}
	panic(failure{fmt.Errorf("no translation to OpenCL C: %s", text)})
}

// Translate translates one variant of a kernel, compiled without optimisation. What has no translation is an error that
// names it.
func Translate(code []byte, kernel *backend.KernelSpec) (translation *Translation, err error) {
	m, err := parse(code)
	if err != nil {
		return nil, err
	}
	t := &translator{module: m, kernel: kernel, effects: map[uint32]*effects{}, plans: map[uint32]*plan{},
		valueArrays: set{}, types: map[uint32]string{}, structures: map[string]string{}, taken: map[string]bool{},
		called: map[uint32]string{}, globalPlace: map[uint32]string{}, helped: map[string]bool{},
		derived: map[uint32]string{}}
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			err = f.error
		default:
			panic(f)
		}
	}()
	for _, word := range reserved {
		t.taken[word] = true
	}
	for _, axis := range kernel.Axes {
		t.taken[strings.ToUpper(axis.Name)] = true
	}
	for _, constant := range kernel.Constants {
		t.taken[strings.ToUpper(constant.Name)] = true
	}
	t.findOrder(t.byID[t.entry], set{})
	t.makePlans()
	t.findValueArrays()
	t.nameFunctions()
	t.declareGlobals()
	for _, f := range t.order {
		t.within, _, _ = strings.Cut(t.names[f.id], "(")
		text := t.function(f) // declares what it uses
		t.declare(t.called[f.id], "%s", text)
	}
	t.within = ""
	t.declare(kernel.Name, "%s", t.entryPoint())
	return &Translation{Parts: t.parts, Subgroups: t.subgroups}, nil
}

func (t *translator) declare(name, format string, a ...any) {
	t.parts = append(t.parts, Part{name, fmt.Sprintf(format, a...)})
}

// findOrder appends a function behind those that it calls.
func (t *translator) findOrder(f *function, seen set) {
	if seen[f.id] {
		return
	}
	seen[f.id] = true
	f.instructions(func(_ *block, _ int, in instruction) {
		if in.op == opFunctionCall {
			t.findOrder(t.byID[in.operands[0]], seen)
		}
	})
	t.effects[f.id] = t.findEffects(f)
	t.order = append(t.order, f)
}

// nameFunctions gives overloads names of their own: with the types of their parameters.
func (t *translator) nameFunctions() {
	overloads := map[string]int{}
	for _, f := range t.module.functions {
		name, _, _ := strings.Cut(t.names[f.id], "(")
		overloads[name]++
	}
	for _, f := range t.order {
		name, _, _ := strings.Cut(t.names[f.id], "(")
		switch {
		case f.id == t.entry:
			name = "kernel_main"
		case overloads[name] > 1:
			for _, p := range f.params {
				typ := t.defs[p.typ]
				if typ.op == opTypePointer && typ.operands[0] == storageFunction {
					p.typ = typ.operands[1]
				}
				name += "_" + strings.Trim(notInNames.ReplaceAllString(strings.TrimPrefix(t.nameOf(p.typ), "__global "), "_"), "_")
			}
			name = t.unique(clean(name))
		default:
			name = t.unique(clean(name))
		}
		t.called[f.id] = name
	}
}

// nameOf names a type within the name of a function.
func (t *translator) nameOf(typ uint32) string {
	if t.isArray(typ) {
		return t.elementName(typ) + "s"
	}
	return t.typeName(typ)
}

// declareGlobals declares what OpenCL C has no global variables for as structures, which functions get by pointer.
func (t *translator) declareGlobals() {
	var shared, own []string
	for _, v := range t.globals {
		name, to := clean(t.names[v.id]), t.defs[v.typ].operands[1]
		switch v.operands[0] {
		case storageWorkgroup:
			t.globalPlace[v.id] = "shared->" + name
			shared = append(shared, t.declaration(to, name))
		case storagePrivate:
			t.globalPlace[v.id] = "globals->" + name
			own = append(own, t.declaration(to, name))
		case storagePush:
			t.globalPlace[v.id] = "*args"
		}
	}
	t.declareArguments()
	t.structureOf("Shared", shared)
	t.structureOf("Globals", own)
}

func (t *translator) structureOf(name string, members []string) {
	if len(members) > 0 {
		t.declare(name, "%s", "typedef struct {\n    "+strings.Join(members, ";\n    ")+";\n} "+name+";\n")
	}
}

// declareArguments declares the arguments as the code knows them, with addresses, and those of the kernel besides
// buffers, with offsets.
func (t *translator) declareArguments() {
	var addresses, offsets []string
	for _, arg := range t.kernel.Args {
		addresses = append(addresses, "uint2 "+clean(arg.Name))
		offsets = append(offsets, "ulong "+clean(arg.Name))
	}
	for _, name := range t.words() {
		addresses = append(addresses, "uint "+name)
		offsets = append(offsets, "uint "+name)
	}
	t.structureOf("Scalars", offsets)
	t.structureOf("Arguments", addresses)
}

// words are the parameters and the range of workgroups.
func (t *translator) words() (names []string) {
	for _, name := range append(slices.Clone(t.kernel.Params), "first_group", "end_group") {
		names = append(names, clean(name))
	}
	return names
}

// entryPoint is the kernel itself. Addresses are made of the buffers and the offsets into them: an absent argument is
// a null pointer and offset 0, thus address 0.
func (t *translator) entryPoint() string {
	var params, values []string
	for _, arg := range t.kernel.Args {
		name := clean(arg.Name)
		params = append(params, "__global uchar* "+name)
		values = append(values, fmt.Sprintf("as_uint2((ulong)%s + scalars.%s)", name, name))
	}
	for _, name := range t.words() {
		values = append(values, "scalars."+name)
	}
	params = append(params, "const Scalars scalars")

	var b strings.Builder
	fmt.Fprintf(&b, "__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))\nvoid %s(\n    %s) {\n",
		t.kernel.Name, strings.Join(params, ",\n    "))
	e := t.effects[t.entry]
	if e.args {
		fmt.Fprintf(&b, "    const Arguments arguments = {\n        %s,\n    };\n    const Arguments* args = &arguments;\n",
			strings.Join(values, ",\n        "))
	}
	if e.shared {
		b.WriteString("    __local Shared memory;\n    __local Shared* shared = &memory;\n")
	}
	if e.globals {
		b.WriteString("    Globals variables;\n    Globals* globals = &variables;\n")
		for _, v := range t.globals {
			if v.operands[0] == storagePrivate && len(v.operands) > 1 {
				fmt.Fprintf(&b, "    %s = %s;\n", t.globalPlace[v.id], t.constant(v.operands[1]).s)
			}
		}
	}
	fmt.Fprintf(&b, "    kernel_main(%s);\n}\n", strings.Join(e.context(), ", "))
	return b.String()
}
