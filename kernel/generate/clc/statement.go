package clc

import (
	"maps"
	"slices"
)

// statement is one of C. A plain one is an assignment, a call or a jump.
type statement struct {
	kind     kind
	to, op   string // of an assignment: its place, and the operator if it is a compound one
	value    string // what is assigned or called, a jump, a label; the condition of others
	opposite string // of a branch, maybe: the negation of its condition
	variable uint32 // that is assigned as a whole
	declares bool   // this variable, too
	unroll   bool
	init     *statement   // of a loop
	next     []*statement // of a loop: assignments between its rounds
	then, or []*statement // then: the body of a loop or switch, too
}

type kind uint8

const (
	plain kind = iota
	branch
	loop
	doLoop
	choices
	label
)

// mentions tells whether a statement contains a variable, mentionsInHead whether outside its bodies.
func (st *statement) mentions(id uint32) bool {
	return st.mentionsInHead(id) || mentioned(st.then, id) || mentioned(st.or, id)
}

func (st *statement) mentionsInHead(id uint32) bool {
	return mentions(st.to, id) || mentions(st.value, id) || st.init != nil && st.init.mentions(id) ||
		mentioned(st.next, id)
}

func mentioned(list []*statement, id uint32) bool {
	return slices.ContainsFunc(list, func(st *statement) bool { return st.mentions(id) })
}

// finish declares the variables of a function, each as far inside as possible.
func (s *scope) finish(body []*statement) []*statement {
	if n := len(body); n > 0 && body[n-1].value == "return" {
		body = body[:n-1]
	}
	for _, id := range slices.Sorted(maps.Keys(s.variables)) {
		declareIn(&body, id, false)
	}
	return startLoops(body)
}

// declareIn declares a variable in the innermost list of statements that has all its uses: where it gets its first
// value, or before its first use. In a loop it must not be read before it has a value, which may be that of an earlier
// round; then declareIn returns false.
func declareIn(list *[]*statement, id uint32, inLoop bool) bool {
	first := slices.IndexFunc(*list, func(st *statement) bool { return st.mentions(id) })
	if first < 0 {
		return true
	}
	st := (*list)[first]
	if !mentioned((*list)[first+1:], id) && !st.mentionsInHead(id) && st.kind != choices {
		isLoop := st.kind == loop || st.kind == doLoop
		if inThen, inOr := mentioned(st.then, id), mentioned(st.or, id); inThen && !inOr {
			if declareIn(&st.then, id, inLoop || isLoop) {
				return true
			}
		} else if inOr && !inThen && declareIn(&st.or, id, inLoop) {
			return true
		}
	}
	if st.kind == plain && st.variable == id && st.op == "" && !mentions(st.value, id) {
		st.declares = true
		return true
	}
	if inLoop && setFirst(*list, id) == read {
		return false
	}
	*list = slices.Insert(*list, first, &statement{to: mark(id), variable: id, declares: true})
	return true
}

// What statements do to a variable first.
type access uint8

const (
	nothing access = iota
	set_
	read
)

func setFirst(list []*statement, id uint32) access {
	for _, st := range list {
		switch {
		case !st.mentions(id):
			if isExit(st) {
				return set_ // the rest does not matter
			}
		case st.kind == plain && st.variable == id && st.op == "" && !mentions(st.value, id):
			return set_
		case st.kind == branch && !mentions(st.value, id):
			then, or := setFirst(st.then, id), setFirst(st.or, id)
			if then == read || or == read {
				return read
			}
			if then == set_ && or == set_ {
				return set_
			}
		default:
			return read
		}
	}
	return nothing
}

// startLoops moves the first value of the variable of a loop into its head.
func startLoops(list []*statement) []*statement {
	var moved []*statement
	for i, st := range list {
		st.then, st.or = startLoops(st.then), startLoops(st.or)
		n := len(moved) // behind variables without a value, which do not mind
		for n > 0 && moved[n-1].declares && moved[n-1].value == "" {
			n--
		}
		if n > 0 && st.kind == loop {
			before := moved[n-1]
			id := before.variable
			counts := slices.ContainsFunc(st.next, func(next *statement) bool { return next.variable == id })
			if id != 0 && before.kind == plain && before.value != "" && before.op == "" && counts &&
				(!before.declares || !mentioned(list[i+1:], id)) {
				st.init = before
				moved = slices.Delete(moved, n-1, n)
			}
		}
		moved = append(moved, st)
	}
	return moved
}
