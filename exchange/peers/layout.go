package peers

// Run is the rows of one group that came from one rank: neighbours in what a rank received, in the order that they had.
type Run struct {
	Group, From int // numbers of the group, among all of them, and of the rank
	First, Rows uint64
}

// layout says where the rows that go to each rank lie there.
type layout struct {
	runs [][]Run  // of each rank, in order
	rows []uint64 // that each rank receives
	room []uint64 // rows that each needs room for: as many, and the gaps between runs
}

// layOut finds the places of the rows of parts: a rank receives its groups in order, and the rows of a group rank by
// rank.
func layOut(p *Parts, size int) layout {
	l := layout{make([][]Run, size), make([]uint64, size), make([]uint64, size)}
	groups := groupsOf(p)
	for g, first := range groups {
		end := len(p.Rows)
		if g+1 < len(groups) {
			end = groups[g+1]
		}
		for from := range size {
			rows := uint64(0)
			for part := first; part < end; part++ {
				rows += p.Rows[part][from]
			}
			if owner := p.Owners[first]; rows > 0 && owner != nobody {
				l.add(owner, Run{Group: g, From: from, Rows: rows}, p.apart)
			}
		}
	}
	return l
}

func (l *layout) add(to int, run Run, apart bool) {
	if n := len(l.runs[to]); apart && n > 0 && l.runs[to][n-1].Group != run.Group {
		l.room[to] = (l.room[to] + runRows - 1) / runRows * runRows
	}
	run.First = l.room[to]
	l.runs[to] = append(l.runs[to], run)
	l.room[to] += run.Rows
	l.rows[to] += run.Rows
}

// groupsOf returns the first parts of groups.
func groupsOf(p *Parts) []int {
	if p.Groups != nil {
		return p.Groups
	}
	var groups []int
	for part, owner := range p.Owners {
		if part == 0 || p.Owners[part-1] != owner {
			groups = append(groups, part)
		}
	}
	return groups
}

// starts returns where each group begins among the rows of a rank.
func starts(p *Parts, rank int) (all []uint64) {
	groups, at := groupsOf(p), uint64(0)
	for part, rows := range p.Rows {
		if len(all) < len(groups) && groups[len(all)] == part {
			all = append(all, at)
		}
		at += rows[rank]
	}
	return all
}
