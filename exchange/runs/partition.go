package runs

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Span is rows First to End-1 of a sorted side.
type Span struct{ First, End uint64 }

// Rows is the number of rows.
func (s Span) Rows() uint64 { return s.End - s.First }

// Pair is rows of R and of S.
type Pair struct{ R, S Span }

func (p Pair) rows() uint64 { return p.R.Rows() + p.S.Rows() }

// Cut says how two sides are divided.
type Cut struct {
	Parts    int    // at least 1: one for each device
	Subparts int    // of each part, at least; 0 is 1. HMG has three, one for each stream
	MostRows uint64 // of R and S together in a subpart; 0 is no limit
}

// Parts are two sorted sides, divided so that every row, with all rows that have its key, is in exactly one of Tasks
// and Whole.
type Parts struct {
	// Tasks are the subparts of each part, in the order of the key. One side may be empty.
	Tasks [][]Pair
	// Whole are keys with rows on either side of a boundary: every row of R pairs with every row of S. One side may be
	// empty.
	Whole []Pair
}

// Partition divides two sorted sides by the merge path (HMG 3.3.1): first into parts with equally many rows of R and S
// together, then each part into subparts, all parts at a time on at most cores goroutines. Where rows with one key lie
// on both sides of a boundary, the boundary becomes a gap (the paper's boundary validation): all rows with that key are
// taken out of the tasks, and are matches of one another without a search. A key that spans several parts leaves those
// that it fills empty.
//
// ErrInvalidInput for a cut without parts; backend.ErrCancelled.
func Partition[K, V Word](ctx context.Context, r, s Run[K, V], c Cut, cores int) (*Parts, error) {
	if c.Parts < 1 || c.Subparts < 0 {
		return nil, invalid("partition", "%d parts of %d", c.Parts, c.Subparts)
	}
	p := path[K, V]{r, s}
	parts, whole := p.divide(Pair{Span{0, r.Len()}, Span{0, s.Len()}}, uint64(c.Parts))
	out := &Parts{Tasks: make([][]Pair, c.Parts)}
	wholes := make([][]Pair, c.Parts)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(cores, 1))
	for i, part := range parts {
		group.Go(func() error {
			var subparts []Pair
			subparts, wholes[i] = p.divide(part, c.subparts(part))
			for _, sub := range subparts {
				if sub.rows() > 0 {
					out.Tasks[i] = append(out.Tasks[i], sub)
				}
			}
			return ended(ctx)
		})
	}
	err := group.Wait()
	out.Whole = slices.Concat(append(wholes, whole)...)
	return out, err
}

func (c Cut) subparts(part Pair) uint64 {
	n := uint64(max(c.Subparts, 1))
	if c.MostRows > 0 {
		n = max(n, (part.rows()+c.MostRows-1)/c.MostRows)
	}
	return n
}

// path is the merge path of two sorted sides, where R is first among equal keys.
type path[K, V Word] struct{ r, s Run[K, V] }

// divide cuts the rows of in into n parts by equidistant diagonals, and returns the keys at boundaries apart.
func (p path[K, V]) divide(in Pair, n uint64) (parts, whole []Pair) {
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
		parts = append(parts, part)
	}
	return parts, whole
}

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
