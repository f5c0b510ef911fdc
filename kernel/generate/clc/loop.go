package clc

import "slices"

// loop translates a loop, whose header is the block b.
func (s *scope) loop(b *block, in, loopMerge instruction) {
	merge, next := loopMerge.operands[0], loopMerge.operands[1]
	if in.op != opBranch {
		s.fail("a loop whose header decides")
	}
	s.flushAll()
	st := &statement{kind: loop, unroll: loopMerge.operands[2]&loopControlUnroll != 0}
	s.around = append(s.around, construct{isLoop: true, merge: merge, next: next})
	start := in.operands[0]
	testAtEnd := s.f.byLabel[next].end().op == opBranchConditional
	st.then = s.inside(func() {
		if !testAtEnd && start != next {
			s.attempt(func() bool {
				label, condition := s.test(start, merge)
				if label != 0 {
					start, st.value = label, condition.s
				}
				return label != 0
			})
		}
		s.emit(start, next)
		s.flushAll()
	})
	s.around[len(s.around)-1].next = 0 // the rest of the round jumps nowhere
	tail := s.inside(func() {
		for label := next; label != b.label && label != 0; {
			label = s.block(s.f.byLabel[label], b.label)
		}
		s.flushAll()
	})
	s.around = s.around[:len(s.around)-1]
	s.finishLoop(st, tail, testAtEnd)
	s.put(st)
}

// finishLoop puts what ends a round where C has it: in the head of the loop, or at the end of the body.
func (s *scope) finishLoop(st *statement, tail []*statement, testAtEnd bool) {
	isPlain := func(list []*statement) bool {
		return !slices.ContainsFunc(list, func(t *statement) bool { return t.kind != plain })
	}
	switch n := len(tail); {
	case testAtEnd && isPlain(tail[:n-1]) && tail[n-1].opposite != "" && isJump(tail[n-1].then, "break"):
		st.kind, st.next, st.value = doLoop, tail[:n-1], tail[n-1].opposite
	case !testAtEnd && isPlain(tail):
		st.next = tail
	case continues(st.then):
		s.fail("a loop that continues, with statements between its rounds")
	default:
		st.then = append(st.then, tail...)
	}
}

func isJump(list []*statement, jump string) bool {
	return len(list) == 1 && list[0].kind == plain && list[0].value == jump
}

// test is the condition of a loop that is tested first, and the first block of its body; 0 if it does more than
// compute.
func (s *scope) test(label, merge uint32) (body uint32, condition expr) {
	list := s.inside(func() {
		for label != 0 {
			b := s.f.byLabel[label]
			last := b.end()
			n := len(b.code)
			if last.op != opBranchConditional || n > 1 && b.code[n-2].op == opSelectionMerge {
				if last.op == opSwitch || n > 1 && b.code[n-2].op == opLoopMerge {
					return
				}
				if label = s.block(b, 0); label != 0 && s.jump(label) != "" {
					label = 0
				}
				continue
			}
			s.straight(b.code[:n-1])
			c := s.value(last.operands[0])
			switch merge {
			case last.operands[2]:
				body, condition = last.operands[1], c
			case last.operands[1]:
				body, condition = last.operands[2], not(c)
			}
			return
		}
	})
	if len(list) > 0 {
		return 0, expr{}
	}
	return body, condition
}

// continues tells whether the body of a loop jumps to its next round.
func continues(list []*statement) bool {
	return slices.ContainsFunc(list, func(st *statement) bool {
		return st.kind == plain && st.value == "continue" ||
			(st.kind == branch || st.kind == choices) && (continues(st.then) || continues(st.or))
	})
}
