package clc

import (
	"fmt"
	"strings"
)

// writer names the variables of a function and writes it. A name is in use from its declaration to the end of the list
// of statements that it stands in, so that neighbouring loops may use the same names.
type writer struct {
	*scope
	names map[uint32]string
	used  map[string]bool
	out   strings.Builder
}

func (w *writer) function(head string, body []*statement) string {
	w.reserve(head)
	w.reserveIn(body)
	for _, p := range w.f.params {
		w.name(p.id)
	}
	w.line("", head+" {")
	if text, ok := library[w.translator.names[w.f.id]]; ok {
		w.line("    ", text)
	}
	w.list(body, "    ")
	w.line("", "}")
	return w.out.String()
}

// reserve keeps variables from the names of the functions, types and macros that a text uses.
func (w *writer) reserve(text string) {
	for _, word := range words(text) {
		w.used[word] = true
	}
}

func (w *writer) reserveIn(list []*statement) {
	for _, st := range list {
		w.reserve(st.to)
		w.reserve(st.value)
		if st.declares {
			w.reserve(w.declaration(w.typeOf(st.variable), ""))
		}
		if st.init != nil {
			w.reserveIn([]*statement{st.init})
		}
		w.reserveIn(st.next)
		w.reserveIn(st.then)
		w.reserveIn(st.or)
	}
}

// typeOf is the type of a variable of C.
func (w *writer) typeOf(id uint32) uint32 {
	if w.defs[id].op == opVariable {
		return w.pointee(id)
	}
	return w.defs[id].typ
}

// name gives a variable a name that is not in use: that of the GLSL, or of what its value comes from.
func (w *writer) name(id uint32) string {
	base := clean(w.translator.names[id])
	if role := w.roles[id]; role != "" && base == "param" {
		base = clean(role)
	}
	if base == "" {
		base = w.origin(id)
	}
	name := base
	for i := 2; w.used[name]; i++ {
		name = fmt.Sprint(base, "_", i)
	}
	w.used[name] = true
	w.names[id] = name
	return name
}

// origin names a value by the place that it is loaded from.
func (w *writer) origin(id uint32) string {
	in := w.defs[id]
	if in.op != opLoad && in.op != opAccessChain {
		return "value"
	}
	name, pointer := "", in.id
	if in.op == opLoad {
		pointer = in.operands[0]
	}
	for w.defs[pointer].op == opAccessChain && name == "" {
		chain := w.defs[pointer]
		base, last := w.pointee(chain.operands[0]), w.defs[chain.operands[len(chain.operands)-1]]
		if w.defs[base].op == opTypeStruct && len(chain.operands) == 2 && last.op == opConstant {
			name = w.memberNames[[2]uint32{base, last.operands[0]}]
		}
		pointer = chain.operands[0]
	}
	if name == "" {
		name = w.translator.names[pointer]
	}
	if name = clean(name); name == "" || name == "param" {
		return "value"
	}
	return name
}

func (w *writer) list(list []*statement, indent string) {
	var here []string
	for _, st := range list {
		if st.declares {
			here = append(here, w.name(st.variable))
		}
		w.statement(st, indent)
	}
	for _, name := range here {
		delete(w.used, name)
	}
}

func (w *writer) statement(st *statement, indent string) {
	switch st.kind {
	case plain:
		w.line(indent, w.plain(st)+";")
	case label:
		w.line(indent[4:], w.expand(st.value))
	case branch:
		w.branch(st, indent)
	case loop:
		w.loop(st, indent)
	case doLoop:
		w.line(indent, "do {")
		w.list(st.then, indent+"    ")
		w.line(indent, "} while ("+strings.Join(append(w.plains(st.next), w.expand(st.value)), ", ")+");")
	case choices:
		w.line(indent, "switch ("+w.expand(st.value)+") {")
		w.list(st.then, indent+"    ")
		w.line(indent, "}")
	}
}

func (w *writer) branch(st *statement, indent string) {
	if len(st.then) == 1 && len(st.or) == 0 && isExit(st.then[0]) {
		if line := "if (" + w.expand(st.value) + ") " + w.plain(st.then[0]) + ";"; len(indent+line) <= width {
			w.line(indent, line)
			return
		}
	}
	w.line(indent, "if ("+w.expand(st.value)+") {")
	w.list(st.then, indent+"    ")
	for len(st.or) == 1 && st.or[0].kind == branch {
		st = st.or[0]
		w.line(indent, "} else if ("+w.expand(st.value)+") {")
		w.list(st.then, indent+"    ")
	}
	if len(st.or) > 0 {
		w.line(indent, "} else {")
		w.list(st.or, indent+"    ")
	}
	w.line(indent, "}")
}

// isExit tells whether a statement leaves the list that it stands in.
func isExit(st *statement) bool {
	return st.kind == plain && st.to == "" &&
		(st.value == "break" || st.value == "continue" || st.value == "return" || strings.HasPrefix(st.value, "return "))
}

func (w *writer) loop(st *statement, indent string) {
	if st.unroll {
		w.line(indent, "UNROLL")
	}
	init, name := "", ""
	if st.init != nil {
		if st.init.declares {
			name = w.name(st.init.variable)
		}
		init = w.plain(st.init)
	}
	next := w.plains(st.next)
	if st.value != "" && init == "" && len(next) == 0 {
		w.line(indent, "while ("+w.expand(st.value)+") {")
	} else {
		condition, last := w.expand(st.value), strings.Join(next, ", ")
		if condition != "" {
			condition = " " + condition
		}
		if last != "" {
			last = " " + last
		}
		w.line(indent, "for ("+init+";"+condition+";"+last+") {")
	}
	w.list(st.then, indent+"    ")
	w.line(indent, "}")
	if name != "" {
		delete(w.used, name)
	}
}

func (w *writer) plains(list []*statement) (texts []string) {
	for _, st := range list {
		texts = append(texts, w.plain(st))
	}
	return texts
}

// plain is the text of a plain statement without its end.
func (w *writer) plain(st *statement) string {
	to := w.expand(st.to)
	if st.declares {
		if w.addresses[st.variable] {
			to = w.addressDeclaration(st.variable, to)
		} else {
			to = w.declaration(w.typeOf(st.variable), to)
		}
	}
	switch {
	case st.value == "":
		return to
	case to == "":
		return w.expand(st.value)
	case (st.op == "+" || st.op == "-") && (st.value == "1" || st.value == "1u"):
		return st.op + st.op + to
	}
	return to + " " + st.op + "= " + w.expand(st.value)
}

// addressDeclaration declares a pointer to a place.
func (w *writer) addressDeclaration(id uint32, name string) string {
	pointer := w.defs[w.defs[id].typ]
	volatile := ""
	if w.isVolatile(id) {
		volatile = "volatile "
	}
	if pointer.operands[0] == storagePhysical {
		return "__global " + volatile + w.typeName(pointer.operands[1]) + "* " + name
	}
	return w.pointerName(pointer) + " " + name
}

func (w *writer) expand(text string) string {
	var b strings.Builder
	marks(text, func(before string, id uint32) {
		b.WriteString(before)
		if id != 0 {
			b.WriteString(w.names[id])
		}
	})
	return b.String()
}

// width is the longest line.
const width = 120

// line writes a line, or several where it is too long.
func (w *writer) line(indent, text string) {
	text = w.expand(text)
	for first := indent; len(indent+text) > width; indent = first + "        " {
		end := lineEnd(text, width-len(indent))
		if end == 0 {
			break
		}
		w.out.WriteString(indent + text[:end] + "\n")
		text = strings.TrimLeft(text[end:], " ")
	}
	w.out.WriteString(indent + text + "\n")
}

// lineEnd is where to break a text of which most bytes fit: in as few parentheses as possible, and as late as possible
// among those; 0 if it cannot be broken.
func lineEnd(text string, most int) (end int) {
	depth, least := 0, 1000
	for i := range min(most, len(text)) {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ' ':
			binds := 2 * depth
			if last := text[i-min(i, 1)]; last != ',' && last != ';' {
				binds++
			}
			next := text[i+1:]
			follows := strings.HasPrefix(next, "? ") || strings.HasPrefix(next, ": ") // begin lines
			ends := strings.ContainsRune(",;=&|+", rune(text[i-min(i, 1)]))
			if i > most/3 && (follows || ends) && binds <= least {
				end, least = i, binds
			}
		}
	}
	return end
}
