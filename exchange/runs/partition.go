package runs

// Span is rows First to End-1 of a sorted side.
type Span struct{ First, End uint64 }

// Rows is the number of rows.
func (s Span) Rows() uint64 { return s.End - s.First }

// Pair is rows of R and of S.
type Pair struct{ R, S Span }

func (p Pair) rows() uint64 { return p.R.Rows() + p.S.Rows() }

// Partition cuts two sorted sides by the merge path (HMG 3.3.1) into n parts with equally many rows of R and S
// together, so that every row, with all rows that have its key, is in exactly one of tasks and whole. Where rows with
// one key lie on both sides of a boundary, the boundary becomes a gap (the paper's boundary validation): all rows with
// that key are taken out of the tasks, and are matches of one another without a search. Tasks are in the order of the
// key; a part that such a key fills is none. Whole are the keys at boundaries. One side of a task or key may be empty.
func Partition[K, V Word](r, s Run[K, V], n uint64) (tasks, whole []Pair) {
	p, in := path[K, V]{r, s}, Pair{Span{0, r.Len()}, Span{0, s.Len()}}
	rest, rows := in, in.rows()
	var taken K
	for i := uint64(1); i <= n; i++ {
		part := rest
		if i < n {
			at := p.cross(in, share(rows, i, n))
			key, cut := p.split(in, at)
			switch {
			case !cut:
				part.R.End, part.S.End = at.R.First, at.S.First
				rest.R.First, rest.S.First = part.R.End, part.S.End
			case len(whole) > 0 && key == taken: // a key that fills the part
				part.R.End, part.S.End = part.R.First, part.S.First
			default:
				taken = key
				gap := Pair{p.of(p.r, key, in.R), p.of(p.s, key, in.S)}
				whole = append(whole, gap)
				part.R.End, part.S.End = gap.R.First, gap.S.First
				rest.R.First, rest.S.First = gap.R.End, gap.S.End
			}
		}
		if part.rows() > 0 {
			tasks = append(tasks, part)
		}
	}
	return tasks, whole
}

// path is the merge path of two sorted sides, where R is first among equal keys.
type path[K, V Word] struct{ r, s Run[K, V] }

// cross is what follows the crossing of the merge path with a diagonal: rows rows of in lie before it.
func (p path[K, V]) cross(in Pair, rows uint64) Pair {
	lo, hi := rows-min(rows, in.S.Rows()), min(rows, in.R.Rows())
	for lo < hi {
		middle := lo + (hi-lo)/2
		if p.r.key(in.R.First+middle) <= p.s.key(in.S.First+rows-1-middle) {
			lo = middle + 1
		} else {
			hi = middle
		}
	}
	return Pair{Span{in.R.First + lo, in.R.End}, Span{in.S.First + rows - lo, in.S.End}}
}

// split reports whether the boundary before at splits the rows of a key, and returns the key.
func (p path[K, V]) split(in, at Pair) (key K, cut bool) {
	before, some := greatest(p.r, Span{in.R.First, at.R.First}, p.s, Span{in.S.First, at.S.First})
	after, more := least(p.r, at.R, p.s, at.S)
	return before, some && more && before == after
}

// greatest is the greatest key of two ranges of rows, if they have any.
func greatest[K, V Word](r Run[K, V], inR Span, s Run[K, V], inS Span) (key K, some bool) {
	switch {
	case inR.Rows() == 0 && inS.Rows() == 0:
		return key, false
	case inR.Rows() == 0:
		return s.key(inS.End - 1), true
	case inS.Rows() == 0:
		return r.key(inR.End - 1), true
	}
	return max(r.key(inR.End-1), s.key(inS.End-1)), true
}

// least is the least key of two ranges of rows, if they have any.
func least[K, V Word](r Run[K, V], inR Span, s Run[K, V], inS Span) (key K, some bool) {
	switch {
	case inR.Rows() == 0 && inS.Rows() == 0:
		return key, false
	case inR.Rows() == 0:
		return s.key(inS.First), true
	case inS.Rows() == 0:
		return r.key(inR.First), true
	}
	return min(r.key(inR.First), s.key(inS.First)), true
}

// of is the rows with a key.
func (p path[K, V]) of(r Run[K, V], key K, in Span) Span {
	return Span{r.bound(key, false, in.First, in.End), r.bound(key, true, in.First, in.End)}
}
