package clc

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// reserved are words of OpenCL C, and names that translations use themselves, which GLSL may use as names.
var reserved = strings.Fields(`half kernel global local constant private event_t double long short char signed
	unsigned register auto static extern goto volatile restrict inline uchar ushort ulong size_t main args shared globals
	kernel_main select read_only write_only complex pipe scalars vec_step SUBGROUPS UNROLL INLINE min max clamp popcount
	clz all any`)

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_]+`)

func clean(name string) string {
	name = notInNames.ReplaceAllString(name, "_")
	if slices.Contains(reserved, name) {
		name += "_"
	}
	return name
}

// typeName is how C writes a type, which is declared before where it is a structure. Arrays have a name only where
// values of them occur, see valueArrays; declaration declares the others.
func (t *translator) typeName(id uint32) string {
	if name, ok := t.types[id]; ok {
		return name
	}
	name := ""
	switch in := t.defs[id]; in.op {
	case opTypeVoid:
		name = "void"
	case opTypeBool:
		name = "bool"
	case opTypeInt:
		if in.operands[0] != 32 {
			t.fail("integers of %d bits", in.operands[0])
		}
		name = [...]string{"uint", "int"}[in.operands[1]]
	case opTypeFloat:
		if in.operands[0] != 32 {
			t.fail("floats of %d bits", in.operands[0])
		}
		name = "float"
	case opTypeVector:
		element := t.typeName(in.operands[0])
		if element == "bool" {
			element = "int" // what comparisons of vectors give
		}
		name = fmt.Sprint(element, in.operands[1])
	case opTypeArray:
		if !t.valueArrays[id] {
			t.fail("values of array type %d", id)
		}
		base := clean(t.elementName(id)) + "_array"
		name = t.structure(base, []string{t.declaration(in.operands[0], "v["+t.length(in.operands[1])+"]")})
	case opTypeStruct:
		var members []string
		for i, member := range in.operands {
			members = append(members, t.declaration(member, t.member(id, uint32(i))))
		}
		base := clean(t.names[id])
		if base == "" || base == "ResType" { // of addition with carry and the like
			base = "uint_pair"
		}
		name = t.structure(base, members)
	case opTypePointer:
		name = t.pointerName(in)
	default:
		t.fail("operation %d as a type", in.op)
	}
	t.types[id] = name
	return name
}

// structure declares a structure, once for equal names and members.
func (t *translator) structure(base string, members []string) string {
	key := base + "{" + strings.Join(members, "; ")
	name, ok := t.structures[key]
	if !ok {
		name = t.unique(base)
		t.structures[key] = name
		t.declare(name, "%s", "typedef struct {\n    "+strings.Join(members, ";\n    ")+";\n} "+name+";\n")
	}
	return name
}

func (t *translator) pointerName(pointer instruction) string {
	class, to := pointer.operands[0], pointer.operands[1]
	switch class {
	case storagePhysical:
		// A block is an array without end: a pointer to one is a pointer to its elements.
		if element, ok := t.blockElement(to); ok {
			t.checkStride(t.defs[to].operands[0], element)
			volatile := ""
			if t.volatiles[to] {
				volatile = "volatile "
			}
			return "__global " + volatile + t.typeName(element) + "*"
		}
		if op := t.defs[to].op; op != opTypeInt && op != opTypeFloat && op != opTypeVector {
			t.fail("a buffer reference that is no array")
		}
		return "__global " + t.typeName(to) + "*"
	case storageWorkgroup:
		return "__local " + t.typeName(to) + "*"
	case storageFunction, storagePrivate:
		return t.typeName(to) + "*"
	}
	t.fail("pointers of storage class %d", class)
	return ""
}

// checkStride makes sure that C puts the elements of an array of device memory where SPIR-V does.
func (t *translator) checkStride(array, element uint32) {
	words := uint32(1)
	switch in := t.defs[element]; in.op {
	case opTypeInt, opTypeFloat:
	case opTypeVector:
		if words = in.operands[1]; words == 3 {
			words = 4
		}
	default:
		t.fail("an array of other things than words and vectors in device memory")
	}
	if t.strides[array] != 4*words {
		t.fail("an array of elements of %d bytes that are %d bytes apart in device memory", 4*words, t.strides[array])
	}
}

// elementName names the innermost elements of an array.
func (t *translator) elementName(id uint32) string {
	for t.defs[id].op == opTypeArray {
		id = t.defs[id].operands[0]
	}
	return t.typeName(id)
}

// isArray tells whether a type is an array of C, which cannot be assigned.
func (t *translator) isArray(id uint32) bool {
	return t.defs[id].op == opTypeArray && !t.valueArrays[id]
}

// declaration declares a variable, member or parameter.
func (t *translator) declaration(typ uint32, name string) string {
	for t.isArray(typ) {
		in := t.defs[typ]
		name += "[" + t.length(in.operands[1]) + "]"
		typ = in.operands[0]
	}
	return t.typeName(typ) + " " + name
}

// length is the length of an array.
func (t *translator) length(id uint32) string {
	if in := t.defs[id]; in.op == opConstant {
		return fmt.Sprint(in.operands[0])
	}
	return t.constant(id).s
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
	return [...]string{"low", "high"}[index]
}

// unique returns a name that no type or function of the variant has yet.
func (t *translator) unique(name string) string {
	base := name
	for i := 2; t.taken[name]; i++ {
		name = fmt.Sprint(base, "_", i)
	}
	t.taken[name] = true
	return name
}

// findValueArrays finds the types of arrays that are loaded, made or returned as a whole. They are structures in C.
// Arrays are not that where they are only handed to a function, see borrow.
func (t *translator) findValueArrays() {
	note := func(typ uint32) {
		if t.defs[typ].op == opTypeArray {
			t.valueArrays[typ] = true
		}
	}
	for _, in := range t.defs {
		if in.op == opConstantComposite || in.op == opSpecConstantComposite {
			note(in.typ)
		}
	}
	for _, f := range t.order {
		note(f.result)
		f.instructions(func(_ *block, _ int, in instruction) {
			if p := t.plans[f.id]; !p.borrowed[in.id] && !p.dropped[in.id] {
				note(in.typ)
			}
		})
	}
}
