package clc

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// FuzzTranslation compares generated functions on PoCL with lavapipe. One input is a kernel of many functions, because
// compiling takes most of the time. A plain test runs the inputs below.
func FuzzTranslation(f *testing.F) {
	for seed := range uint64(3) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		requireSame(t, "generated", generate(seed), seed)
	})
}

const (
	functions = testResults
	leaves    = 4 // the functions that others call: all are inlined
)

// generate writes a kernel of functions that compute one result each.
func generate(seed uint64) string {
	g := &generator{random: rand.New(rand.NewPCG(seed, 1))}
	g.line("struct Node { uint key; uvec2 wide; uint of[2]; };")
	g.line("uint notes;")
	for n := range functions {
		g.function(n)
	}
	g.line("void main() {")
	g.line("    uvec4 input_ = uvec4(VALUE(0u), VALUE(1u), VALUE(2u), VALUE(3u));")
	for n := range functions {
		g.line("    notes = %du;", n)
		g.line("    uint u%d = input_.x;", n)
		g.line("    RESULT(%du) = f%d(u%d, input_.yzw) + u%d * 3u + notes;", n, n, n, n)
	}
	g.line("}")
	return g.out.String()
}

// generator writes GLSL at random. It leaves out what has no defined result: shifts by 32 and more, division by zero,
// values that are not set, operands whose order of evaluation shows, and floats that are rounded.
type generator struct {
	random *rand.Rand
	out    strings.Builder
	indent string
	depth  int
	loops  int
	names  int
	// Variables in scope by type; variables of loops are only read.
	variables map[string][]string
	constant  map[string]bool
	function_ int // the number of the function
}

var generatedTypes = []string{"uint", "int", "bool", "uvec2", "float"}

func (g *generator) line(format string, a ...any) {
	fmt.Fprintf(&g.out, g.indent+format+"\n", a...)
}

func (g *generator) one(of ...string) string { return of[g.random.IntN(len(of))] }

func (g *generator) function(n int) {
	g.function_, g.variables, g.constant = n, map[string][]string{}, map[string]bool{}
	g.line("uint f%d(inout uint u, uvec3 v) {", n)
	g.indent = "    "
	g.variables["uint"] = []string{"u", "v.x", "v.y", "v.z", "notes"}
	g.constant["v.x"], g.constant["notes"] = true, true // v.y and v.z change, as parameters are copies
	g.line("uint a[4];")
	g.line("for (uint i = 0u; i < 4u; ++i) a[i] = v.x + i * u;")
	g.line("Node node = Node(u, v.yz, uint[2](v.x, 7u));")
	g.variables["uint"] = append(g.variables["uint"], "node.key", "node.wide.y", "node.of[1]", "a[2]")
	g.variables["uvec2"] = []string{"node.wide", "v.yz"}
	for _, typ := range generatedTypes {
		g.declare(typ)
	}
	for range 4 + g.random.IntN(5) {
		g.statement()
	}
	sum := "u"
	for _, typ := range generatedTypes {
		for _, name := range g.variables[typ] {
			sum = "(" + sum + ") * 31u + " + g.asUint(typ, name)
		}
	}
	g.line("return %s;", sum)
	g.indent = ""
	g.line("}")
}

func (g *generator) asUint(typ, text string) string {
	switch typ {
	case "uint":
		return text
	case "uvec2":
		return "(" + text + ").x"
	case "float":
		return "floatBitsToUint(" + text + ")"
	}
	return "uint(" + text + ")"
}

func (g *generator) declare(typ string) {
	value := g.value(typ, 3)
	g.names++
	name := fmt.Sprintf("%s%d", typ[:1], g.names)
	g.line("%s %s = %s;", typ, name, value)
	g.variables[typ] = append(g.variables[typ], name)
}

// inner writes statements of a block, whose declarations end with it.
func (g *generator) inner(n int) {
	saved := map[string][]string{}
	for typ, names := range g.variables {
		saved[typ] = names[:len(names):len(names)]
	}
	g.indent += "    "
	g.depth++
	for range n {
		g.statement()
	}
	g.depth--
	g.indent = g.indent[4:]
	g.variables = saved
}

func (g *generator) target(typ string) string {
	for {
		name := g.one(g.variables[typ]...)
		if !g.constant[name] {
			return name
		}
	}
}

func (g *generator) statement() {
	switch n := g.random.IntN(16); {
	case n < 2:
		g.declare(g.one(generatedTypes...))
	case n < 5:
		typ := g.one(generatedTypes...)
		g.line("%s = %s;", g.target(typ), g.value(typ, 4))
	case n < 7:
		g.line("%s %s= %s;", g.target("uint"), g.one("+", "-", "*", "^", "|", "&"), g.value("uint", 3))
	case n == 7:
		g.line("a[%s & 3u] %s %s;", g.value("uint", 1), g.one("=", "+=", "^="), g.value("uint", 2))
	case n == 8:
		g.line("%s%s;", g.target("uint"), g.one("++", "--"))
	case n == 9 && g.function_ >= leaves:
		// The result goes elsewhere than the variable that is handed on.
		g.names++
		g.line("uint r%d = f%d(%s, uvec3(%s, %s, %s));", g.names, g.random.IntN(leaves), g.target("uint"),
			g.value("uint", 1), g.value("uint", 1), g.value("uint", 1))
		g.variables["uint"] = append(g.variables["uint"], fmt.Sprintf("r%d", g.names))
	case n == 10 && g.loops > 0:
		g.line("if (%s) %s;", g.value("bool", 2), g.one("break", "continue"))
	case n == 11 && g.depth > 0:
		g.line("if (%s) return %s;", g.value("bool", 2), g.value("uint", 2))
	case g.depth >= 3:
		g.line("notes += %s;", g.value("uint", 1))
	case n < 13:
		g.line("if (%s) {", g.value("bool", 3))
		g.inner(1 + g.random.IntN(3))
		if g.random.IntN(2) == 0 {
			g.line("} else {")
			g.inner(1 + g.random.IntN(3))
		}
		g.line("}")
	case n == 13:
		g.names++
		g.line("switch (%s %% 4u) {", g.value("uint", 2))
		for label := range 3 {
			g.line("case %du:", label)
			loops := g.loops
			g.loops = 0
			g.inner(1 + g.random.IntN(2))
			g.loops = loops
			if g.random.IntN(3) > 0 {
				g.line("    break;")
			}
		}
		g.line("default:")
		g.line("    notes ^= 1u;")
		g.line("}")
	default:
		g.loop()
	}
}

// loop writes a loop of few rounds.
func (g *generator) loop() {
	g.names++
	i, rounds := fmt.Sprintf("i%d", g.names), 1+g.random.IntN(5)
	end := "}"
	switch g.random.IntN(3) {
	case 0:
		g.line("for (uint %s = 0u; %s < %du && %s; ++%s) {", i, i, rounds, g.value("bool", 1), i)
	case 1:
		g.line("uint %s = 0u;", i)
		g.line("while (%s++ < %du) {", i, rounds)
	default:
		g.line("uint %s = 0u;", i)
		g.line("do {")
		end = fmt.Sprintf("} while (++%s < %du);", i, rounds)
	}
	g.constant[i] = true
	outer := g.variables["uint"]
	g.variables["uint"] = append(outer[:len(outer):len(outer)], i)
	g.loops++
	g.inner(1 + g.random.IntN(4))
	g.loops--
	g.variables["uint"] = outer
	g.line("%s", end)
}

// value writes an expression without side effects.
func (g *generator) value(typ string, depth int) string {
	if depth == 0 || g.random.IntN(6) == 0 {
		if names := g.variables[typ]; len(names) > 0 && g.random.IntN(5) > 0 {
			return g.one(names...)
		}
		return g.literal(typ)
	}
	v := func(of string) string { return g.value(of, depth-1) }
	if g.random.IntN(8) == 0 {
		return fmt.Sprintf("(%s ? %s : %s)", v("bool"), v(typ), v(typ))
	}
	switch typ {
	case "uint":
		switch g.random.IntN(12) {
		case 0:
			return fmt.Sprintf("(%s %s (%s & 31u))", v("uint"), g.one("<<", ">>"), v("uint"))
		case 1:
			return fmt.Sprintf("(%s %s (%s | 1u))", v("uint"), g.one("/", "%"), v("uint"))
		case 2:
			return fmt.Sprintf("%s(%s, %s)", g.one("min", "max"), v("uint"), v("uint"))
		case 3:
			return fmt.Sprintf("%s(%s)", g.one("~", "-", "uint"), v("uint"))
		case 4:
			return fmt.Sprintf("uint(%s)", v(g.one("int", "bool")))
		case 5:
			return fmt.Sprintf("(%s).%s", v("uvec2"), g.one("x", "y"))
		case 6:
			return fmt.Sprintf("floatBitsToUint(%s)", v("float"))
		case 7:
			return fmt.Sprintf("a[%s & 3u]", v("uint"))
		case 8:
			return fmt.Sprintf("uint(%s(%s))", g.one("findMSB", "findLSB", "bitCount"), v("uint"))
		}
		return fmt.Sprintf("(%s %s %s)", v("uint"), g.one("+", "-", "*", "&", "|", "^"), v("uint"))
	case "int":
		switch g.random.IntN(6) {
		case 0:
			return fmt.Sprintf("(%s %s (%s & 31))", v("int"), g.one("<<", ">>"), v("int"))
		case 1:
			return fmt.Sprintf("int(%s)", v("uint"))
		case 2:
			return fmt.Sprintf("%s(%s, %s)", g.one("min", "max"), v("int"), v("int"))
		case 3:
			return fmt.Sprintf("%s(%s)", g.one("-", "~"), v("int"))
		}
		return fmt.Sprintf("(%s %s %s)", v("int"), g.one("+", "-", "*", "^"), v("int"))
	case "bool":
		switch g.random.IntN(8) {
		case 0:
			return fmt.Sprintf("!(%s)", v("bool"))
		case 1:
			return fmt.Sprintf("(%s %s %s)", v("bool"), g.one("==", "!=", "^^"), v("bool"))
		case 2, 3:
			return fmt.Sprintf("(%s %s %s)", v("bool"), g.one("&&", "||"), v("bool"))
		case 4:
			return fmt.Sprintf("%s(%s(%s, %s))", g.one("any", "all"), g.one("lessThan", "equal", "greaterThanEqual", "notEqual"),
				v("uvec2"), v("uvec2"))
		}
		of := g.one("uint", "int", "float")
		return fmt.Sprintf("(%s %s %s)", v(of), g.one("<", "<=", ">", ">=", "==", "!="), v(of))
	case "uvec2":
		switch g.random.IntN(5) {
		case 0:
			return fmt.Sprintf("uvec2(%s, %s)", v("uint"), v("uint"))
		case 1:
			return fmt.Sprintf("(%s).%s", v("uvec2"), g.one("yx", "xx", "yy"))
		case 2:
			return fmt.Sprintf("mix(%s, %s, %s(%s, %s))", v("uvec2"), v("uvec2"), g.one("lessThan", "equal"), v("uvec2"),
				v("uvec2"))
		}
		return fmt.Sprintf("(%s %s %s)", v("uvec2"), g.one("+", "-", "*", "&", "^"), v("uvec2"))
	}
	// Numbers below 2^24 that no operation rounds, and none of them 0, of which drivers may change the sign.
	switch g.random.IntN(5) {
	case 0:
		return fmt.Sprintf("(float(%s & 1023u) + 1.0)", v("uint"))
	case 1:
		return fmt.Sprintf("%s(%s, %s)", g.one("min", "max"), v("float"), v("float"))
	case 2:
		return fmt.Sprintf("((float(%s & 127u) + 1.5) * (float(%s & 1023u) + 1.0))", v("uint"), v("uint"))
	case 3:
		return fmt.Sprintf("(float(%s & 127u) + 1024.5 - float(%s & 1023u))", v("uint"), v("uint"))
	}
	return fmt.Sprintf("-(%s)", v("float"))
}

func (g *generator) literal(typ string) string {
	n := interesting(g.random)
	switch typ {
	case "uint":
		return fmt.Sprintf("%du", n)
	case "int":
		return fmt.Sprintf("int(%du)", n)
	case "bool":
		return g.one("true", "false")
	case "uvec2":
		return fmt.Sprintf("uvec2(%du, %du)", n, interesting(g.random))
	}
	return fmt.Sprintf("%d.0", 1+n%1024)
}
