package clc

import "fmt"

// library are functions of the GLSL includes that C says better, by their names in SPIR-V. Each body does what the GLSL
// does.
var library = map[string]string{
	"element_address(vu2;u1;u1;": "return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));",
	"add(vu2;vu2;":               "return as_uint2(as_ulong(a) + as_ulong(b));",
	"subtract(vu2;vu2;":          "return as_uint2(as_ulong(a) - as_ulong(b));",
	"less(vu2;vu2;":              "return as_ulong(a) < as_ulong(b);",
}

// help declares the function for an operation with two results, which typ holds.
func (t *translator) help(pair [2]string, typ uint32) {
	name := t.typeName(typ)
	if first := t.typeName(t.defs[typ].operands[0]); first != "uint" {
		t.fail("%s of %s", pair[0], first)
	}
	if !t.helped[pair[0]] {
		t.helped[pair[0]] = true
		t.declare(pair[0], "INLINE %s %s(uint a, uint b) {\n    %s\n}\n", name, pair[0], fmt.Sprintf(pair[1], name))
	}
}
