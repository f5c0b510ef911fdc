package runs

// selectRank returns how many of the first rank rows of the merged order come from each run. The order is by key, then
// by run, then by row, so that it is unique and each cut is exact, whatever the number of equal keys. rank is at most
// the number of rows.
//
// This is multi-sequence selection by bisection of the key: each step halves the range of keys that the cut may have,
// and thereby the rows of each run that are still in question.
func selectRank[K, V Word](in []Run[K, V], rank uint64) []uint64 {
	lo, hi, middle := make([]uint64, len(in)), make([]uint64, len(in)), make([]uint64, len(in))
	var least, most K
	total, found := uint64(0), false
	for i, r := range in {
		hi[i] = r.Len()
		total += hi[i]
		if r.Len() > 0 {
			first, last := r.blocks[0].Keys[0], r.last()
			if !found {
				least, most, found = first, last, true
			}
			least, most = min(least, first), max(most, last)
		}
	}
	if rank >= total {
		return hi
	}
	// Invariant: the least key x with at least rank+1 rows up to x is in [least, most]; rows below lo have keys below
	// least, rows from hi on have keys above most.
	for least < most {
		x := least + (most-least)/2
		upTo := uint64(0)
		for i, r := range in {
			middle[i] = r.bound(x, true, lo[i], hi[i])
			upTo += middle[i]
		}
		if upTo > rank {
			most = x
			hi, middle = middle, hi
		} else {
			least = x + 1
			lo, middle = middle, lo
		}
	}
	// Rows from lo to hi-1 have the key of the cut: runs give theirs in turn.
	left := rank
	for _, n := range lo {
		left -= n
	}
	for i := range lo {
		n := min(left, hi[i]-lo[i])
		lo[i] += n
		left -= n
	}
	return lo
}
