package clc

import (
	"strconv"
	"strings"
)

// expr is an expression of C. Variables of the function are marks in its text, see mark, until they are named.
type expr struct {
	s     string
	p     int // how tightly its outermost operator binds
	reads set // what its value changes with: variables by their ids, memory for device memory
	// Of a binary operation; a store to left turns it into a compound assignment.
	left, op, right string
	negated         *expr // of !negated
	// It calls what does more than compute, and is used once and soon, see impure.
	impure bool
	// Of an int, the same bits as an unsigned expression, if that is not "as_uint" of it: the arithmetic of ints is
	// done unsigned, because C leaves overflow undefined.
	unsigned *expr
}

// memory stands for device memory among what an expression reads.
const memory = ^uint32(0)

// set is a set of ids.
type set map[uint32]bool

// or returns the union, which may be one of both.
func (s set) or(other set) set {
	switch {
	case len(other) == 0:
		return s
	case len(s) == 0:
		return other
	}
	both := make(set, len(s)+len(other))
	for id := range s {
		both[id] = true
	}
	for id := range other {
		both[id] = true
	}
	return both
}

// readsAny tells whether e reads something that a test is true for.
func (e expr) readsAny(test func(root uint32) bool) bool {
	for root := range e.reads {
		if test(root) {
			return true
		}
	}
	return false
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

func atom(s string) expr { return expr{s: s, p: primary} }

// reading returns e, which also reads what others read.
func (e expr) reading(others ...expr) expr {
	for _, other := range others {
		e.reads = e.reads.or(other.reads)
		e.impure = e.impure || other.impure
	}
	return e
}

// at is the text as an operand of an operator of precedence p.
func (e expr) at(p int) string {
	if e.p < p {
		return "(" + e.s + ")"
	}
	return e.s
}

func call(name string, args ...expr) expr {
	var texts []string
	for _, arg := range args {
		texts = append(texts, arg.s)
	}
	return atom(name + "(" + strings.Join(texts, ", ") + ")").reading(args...)
}

// infix is x op y, where p is the precedence of op. It has parentheses also where people misread precedence, and
// compilers warn: for shifts and bitwise operations of other operations, and for && in ||.
func infix(x expr, op string, p int, y expr) expr {
	switch op + x.s { // of macros
	case "&&true", "||false":
		return y
	case "&&false", "||true":
		return x
	}
	operand := func(e expr, least int) string {
		switch {
		case p <= shift && p > logAnd && p != relation && p != equality && e.p < unary && e.p != p:
			least = primary
		case p == logOr && e.p == logAnd, p <= logAnd && (e.p == bitAnd || e.p == bitXor || e.p == bitOr):
			least = primary
		case (p == relation || p == equality) && e.p <= relation: // a < b == c, a << b < c reads well
			least = primary
		}
		return e.at(least)
	}
	right := p + 1 // operators group from the left, and && and || do not mind
	if p == logAnd || p == logOr {
		right = p
	}
	e := expr{p: p, op: op, left: operand(x, p), right: operand(y, right)}.reading(x, y)
	if p > logAnd && p != relation && p != equality { // the compound assignment needs no parentheses
		e.right = y.s
	}
	e.s = operand(x, p) + " " + op + " " + operand(y, right)
	return e
}

// opposites are comparisons and their negations.
var opposites = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

func not(e expr) expr {
	if e.negated != nil {
		return *e.negated
	}
	opposite := opposites[e.op]
	n := expr{s: "!" + e.at(unary), p: unary, negated: &e}.reading(e)
	if opposite != "" {
		n.s, n.p, n.op = e.left+" "+opposite+" "+e.right, e.p, opposite
		n.left, n.right = e.left, e.right
	}
	return n
}

// choose is c ? x : y.
func choose(c, x, y expr) expr {
	switch c.s { // of macros
	case "true":
		return x
	case "false":
		return y
	}
	return expr{s: c.at(ternary+1) + " ? " + x.at(ternary+1) + " : " + y.at(ternary), p: ternary}.reading(c, x, y)
}

// mark stands for a variable in a text until all variables of the function are known and named.
func mark(id uint32) string { return "\x01" + strconv.FormatUint(uint64(id), 10) + "\x02" }

// marks calls visit for each text before a mark, and for the variable that it stands for; at the end for the rest.
func marks(text string, visit func(before string, id uint32)) {
	for {
		before, rest, ok := strings.Cut(text, "\x01")
		if !ok {
			visit(text, 0)
			return
		}
		digits, after, _ := strings.Cut(rest, "\x02")
		id, _ := strconv.ParseUint(digits, 10, 32)
		visit(before, uint32(id))
		text = after
	}
}

// mentions tells whether a text contains a variable.
func mentions(text string, id uint32) bool { return strings.Contains(text, mark(id)) }
