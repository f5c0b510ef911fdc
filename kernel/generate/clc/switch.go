package clc

import (
	"fmt"
	"slices"
)

// choice translates a switch. A case that does not end in a jump falls through to the next one.
func (s *scope) choice(in instruction, merge uint32) {
	value := s.value(in.operands[0])
	s.flushAll()
	type arm struct {
		label uint32
		texts []string
	}
	var arms []*arm
	add := func(label uint32, text string) {
		for _, a := range arms {
			if a.label == label {
				a.texts = append(a.texts, text)
				return
			}
		}
		arms = append(arms, &arm{label, []string{text}})
	}
	isInt := s.isInt(s.defs[in.operands[0]].typ)
	for i := 2; i < len(in.operands); i += 2 {
		text := unsigned(in.operands[i])
		if isInt {
			text = fmt.Sprint(int32(in.operands[i]))
		}
		add(in.operands[i+1], "case "+text+":")
	}
	add(in.operands[1], "default:")
	inSwitch := set{}
	for _, a := range arms {
		inSwitch[a.label] = a.label != merge
	}
	falls := map[uint32]uint32{} // the case that one falls through to
	fallen := set{}
	s.around = append(s.around, construct{merge: merge})
	for _, a := range arms {
		if to := s.fallsTo(a.label, inSwitch); to != 0 && a.label != merge {
			falls[a.label], fallen[to] = to, true
		}
	}
	var ordered []*arm
	for _, a := range arms {
		for label := a.label; label != 0 && !fallen[a.label]; label = falls[label] {
			ordered = append(ordered, arms[slices.IndexFunc(arms, func(a *arm) bool { return a.label == label })])
		}
	}
	st := &statement{kind: choices, value: value.s}
	for i, a := range ordered {
		if a.label == merge && len(a.texts) == 1 && a.label == in.operands[1] {
			continue // no default
		}
		following := merge
		if i+1 < len(ordered) && ordered[i+1].label == falls[a.label] {
			following = falls[a.label]
		} else if i+1 < len(ordered) {
			following = 0
		}
		for _, text := range a.texts {
			st.then = append(st.then, &statement{kind: label, value: text})
		}
		st.then = append(st.then, s.inside(func() {
			if a.label == merge { // nothing to do, unlike in the default
				s.put(&statement{value: "break"})
				return
			}
			s.emit(a.label, following)
			s.flushAll()
		})...)
	}
	s.around = s.around[:len(s.around)-1]
	s.put(st)
}

// fallsTo is the case that one falls through to; 0 if it does not.
func (s *scope) fallsTo(label uint32, cases set) uint32 {
	outside := set{}
	for _, c := range s.around {
		outside[c.merge], outside[c.next] = true, true
	}
	seen := set{label: true}
	for next := []uint32{label}; len(next) > 0; next = next[1:] {
		end := s.f.byLabel[next[0]].end()
		to := end.operands
		switch end.op {
		case opBranchConditional:
			to = end.operands[1:3]
		case opSwitch:
			to = []uint32{end.operands[1]}
			for i := 3; i < len(end.operands); i += 2 {
				to = append(to, end.operands[i])
			}
		case opReturn, opReturnValue, opUnreachable:
			to = nil
		}
		for _, label := range to {
			if cases[label] && !seen[label] {
				return label
			}
			if !seen[label] && !outside[label] {
				seen[label] = true
				next = append(next, label)
			}
		}
	}
	return 0
}
