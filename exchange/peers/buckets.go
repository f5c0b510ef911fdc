package peers

import "math/bits"

// bucket is the rows whose keys agree in all bits from low on.
type bucket struct {
	least uint64     // the least key that it may have
	low   int        // number of a bit
	rows  [][]uint64 // by chunk and rank
	total uint64
	sent  bool // before other buckets were refined
}

func newBucket(least uint64, low int, rows [][]uint64) bucket {
	b := bucket{least: least, low: low, rows: rows}
	for _, of := range rows {
		for _, n := range of {
			b.total += n
		}
	}
	return b
}

// radixDigit is bits of a key: at most 8 of one of its words.
type radixDigit struct{ shift, bits int }

// nextDigit is the digit by which a bucket is refined: the most significant bits below low, from the first one on in
// which keys differ. There is none if all keys of the bucket are equal.
func (b *bucket) nextDigit(varying uint64) (d radixDigit, some bool) {
	below := varying & (1<<b.low - 1)
	if below == 0 {
		return d, false
	}
	top := bits.Len64(below)
	word := (top - 1) / 32 * 32
	d.bits = min(8, top-word)
	d.shift = top - d.bits
	return d, true
}

// boundary is where the rows of a rank begin: rows of a bucket before it belong to the rank before.
type boundary struct {
	bucket int
	rows   uint64
}

// divided is the logical distribution of buckets (HMG 3.1.2).
type divided struct {
	boundaries []boundary // of ranks 1, 2, ...; those in spanning buckets are not final
	spanning   []int      // buckets that must be refined
}

// divide finds the buckets in which the boundaries of ranks lie. A boundary within tolerance of an edge of its bucket
// moves there. Otherwise the bucket spans ranks, and is refined. If it has only one key, it is split to the row, or
// goes to one rank if keys are whole.
func divide(buckets []bucket, targets []uint64, varying, tolerance uint64, whole bool) (d divided) {
	at, first := 0, uint64(0) // the bucket of the boundary, and the rows before it
	for rank := 1; rank < len(targets)-1; rank++ {
		target := targets[rank]
		for at < len(buckets) && first+buckets[at].total <= target {
			first += buckets[at].total
			at++
		}
		if at == len(buckets) {
			d.boundaries = append(d.boundaries, boundary{bucket: at})
			continue
		}
		before := target - first
		behind := buckets[at].total - before
		_, refines := buckets[at].nextDigit(varying)
		switch {
		case before <= min(tolerance, behind):
			d.boundaries = append(d.boundaries, boundary{bucket: at})
		case behind <= tolerance:
			d.boundaries = append(d.boundaries, boundary{bucket: at + 1})
		case refines:
			if n := len(d.spanning); n == 0 || d.spanning[n-1] != at {
				d.spanning = append(d.spanning, at)
			}
			d.boundaries = append(d.boundaries, boundary{bucket: at})
		case !whole:
			d.boundaries = append(d.boundaries, boundary{at, before})
		case before <= behind:
			d.boundaries = append(d.boundaries, boundary{bucket: at})
		default:
			d.boundaries = append(d.boundaries, boundary{bucket: at + 1})
		}
	}
	return d
}

// piece is the rows of a bucket that go to one rank.
type piece struct {
	bucket, owner int
	rows          [][]uint64 // by chunk and rank
	total         uint64
}

// pieces cuts buckets at the boundaries.
func (d *divided) pieces(buckets []bucket) (all []piece) {
	owner := 0
	for i, b := range buckets {
		first := uint64(0)
		for owner < len(d.boundaries) && d.boundaries[owner].bucket <= i {
			if at := d.boundaries[owner]; at.bucket == i && at.rows > first {
				all = append(all, b.piece(i, owner, first, at.rows))
				first = at.rows
			}
			owner++
		}
		all = append(all, b.piece(i, owner, first, b.total))
	}
	return all
}

// piece is the rows from first to end-1 of a bucket, in the order of ranks. Only a whole bucket may be of several
// chunks.
func (b *bucket) piece(number, owner int, first, end uint64) piece {
	p := piece{number, owner, b.rows, end - first}
	if p.total == b.total {
		return p
	}
	rows, at := make([]uint64, len(b.rows[0])), uint64(0)
	for rank, n := range b.rows[0] {
		from, to := max(at, first), min(at+n, end)
		if at += n; from < to {
			rows[rank] = to - from
		}
	}
	p.rows = [][]uint64{rows}
	return p
}

// fused is neighbouring pieces that a rank sorts together.
type fused struct {
	owner       int
	first, end  int    // pieces
	differing   uint64 // bits in which its keys may differ
	total       uint64
	least, most int // numbers of the first and the last bucket
}

// fuse joins neighbouring pieces of a rank if they have at most small rows together, or if one sort of both takes no
// more time than two. The dispatches of a pass take the time of dispatch rows. Each group is one copy between two
// devices, and one sort.
func fuse(pieces []piece, buckets []bucket, varying, small, dispatch uint64) (groups []fused) {
	work := func(differing, rows uint64) uint64 { return uint64(passes(differing)) * (dispatch + rows) }
	for i, p := range pieces {
		b := &buckets[p.bucket]
		next := fused{owner: p.owner, first: i, end: i + 1, differing: varying & (1<<b.low - 1), total: p.total,
			least: p.bucket, most: p.bucket}
		if n := len(groups); n > 0 && groups[n-1].owner == p.owner {
			last := &groups[n-1]
			high := bits.Len64(buckets[last.least].least ^ b.least)
			both := last.differing | next.differing | varying&(1<<high-1)
			all := last.total + next.total
			if all <= small || work(both, all) <= work(last.differing, last.total)+work(next.differing, next.total) {
				last.end, last.most, last.differing, last.total = i+1, p.bucket, both, all
				continue
			}
		}
		groups = append(groups, next)
	}
	return groups
}

// passes is how many passes of 8 bits a sort by these bits takes.
func passes(differing uint64) (n int) {
	for _, word := range []uint32{uint32(differing), uint32(differing >> 32)} {
		if word != 0 {
			n += (bits.Len32(word) - bits.TrailingZeros32(word) + 7) / 8
		}
	}
	return n
}
