package runs

import (
	"context"
	"math/bits"
	"slices"
	"sync"
)

// Segment is the rows of both sides whose keys are in one range; no other segment has rows with these keys.
type Segment struct {
	Pair
	OneKey bool // the range is one key, so that every row of R pairs with every row of S
}

// Division is two sides divided by the same key ranges. Segments are in ascending order of their keys. Immutable and
// safe for concurrent use.
//
// The least keys of the segments are quantiles of a sample of both sides. All rows are then counted, and a segment that
// has more rows than it may have is divided again, by a sample of its own, until each fits or is one key: keys that are
// too frequent are those that a sample contains too often, and become segments of their own. The result is therefore
// exact, and a sample that misses something costs another pass over the keys.
type Division[K Word] struct {
	Segments []Segment

	mostRows uint64
	cores    int
	least    []K // least key of each segment but the first, ascending
	sides    [2]dividedSide[K]
}

// dividedSide is a side of a division.
type dividedSide[K Word] struct {
	Keys[K]
	first [][]uint64 // where each piece of the keys begins to write in each segment; nil for a single segment
}

// Keys is the key column of a side.
type Keys[K Word] struct {
	Keys   []K
	Sorted bool // the keys are in ascending order, and segments are slices of them
}

const (
	// samplesPerSegment makes the sizes of segments deviate from what the sample says by 3% (standard deviation).
	samplesPerSegment = 1 << 10
	// fullEighths is up to where segments are filled, in eighths of their greatest size.
	fullEighths = 7
)

// Divide finds key ranges by which no segment has more than mostRows rows of both sides together, unless it is one key.
// mostRows is at least 1. Nothing moves: see [Scatter].
//
// Errors: backend.ErrCancelled.
func Divide[K Word](ctx context.Context, sides [2]Keys[K], mostRows uint64, cores int) (*Division[K], error) {
	d := &Division[K]{mostRows: mostRows, cores: max(cores, 1)}
	for i := range sides {
		d.sides[i].Keys = sides[i]
	}
	for {
		if err := d.count(ctx); err != nil {
			return nil, err
		}
		var more []K
		for i, s := range d.Segments {
			if s.rows() <= mostRows || s.OneKey {
				continue
			}
			first, last := d.bounds(i)
			sample, err := d.sample(ctx, first, last)
			if err != nil {
				return nil, err
			}
			more = append(more, cut(sample, first, last, max(1, fullEighths*mostRows/8/d.stride()))...)
		}
		if len(more) == 0 {
			return d, nil
		}
		d.least = append(d.least, more...)
		slices.Sort(d.least)
	}
}

// bounds are the least and the greatest key that a segment may have.
func (d *Division[K]) bounds(segment int) (first, last K) {
	last = ^K(0)
	if segment > 0 {
		first = d.least[segment-1]
	}
	if segment < len(d.least) {
		last = d.least[segment] - 1
	}
	return first, last
}

// stride is how many rows of a side a sample skips at a time.
func (d *Division[K]) stride() uint64 { return max(1, d.mostRows/samplesPerSegment) }

// sample returns about one in stride of the keys from first to last, of both sides, in ascending order.
func (d *Division[K]) sample(ctx context.Context, first, last K) (sample []K, err error) {
	stride := d.stride()
	var mu sync.Mutex
	for i := range d.sides {
		keys := d.sides[i].Keys.Keys
		if first == 0 && last == ^K(0) {
			for at := uint64(0); at < uint64(len(keys)); at += stride {
				sample = append(sample, keys[min(at+scattered(at)%stride, uint64(len(keys)-1))])
			}
			continue
		}
		err = pieces(ctx, uint64(len(keys)), pieceRows, d.cores, func(_ context.Context, from, to uint64) error {
			var some []K
			skipped := scattered(from) % stride
			for _, key := range keys[from:to] {
				if first <= key && key <= last {
					if skipped++; skipped >= stride {
						some, skipped = append(some, key), 0
					}
				}
			}
			mu.Lock()
			defer mu.Unlock()
			sample = append(sample, some...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(sample)
	return sample, ended(ctx)
}

// scattered is a number that has nothing to do with the order of n.
func scattered(n uint64) uint64 { return n * 0x9e3779b97f4a7c15 >> 32 }

// cut divides the range of keys from first to last, given a sorted sample of it, into ranges with equally many samples,
// at most most unless one key has more, which becomes a range of its own. It returns the least keys of all but the
// first range: there is one at least, even if the sample is empty.
func cut[K Word](sample []K, first, last K, most uint64) (least []K) {
	all := uint64(len(sample))
	ranges := max(2, (all+most-1)/most)
	even := (all + ranges - 1) / ranges
	begin, taken := first, uint64(0)
	for at := 0; at < len(sample); {
		key, from := sample[at], at
		for at < len(sample) && sample[at] == key {
			at++
		}
		same := uint64(at - from)
		if taken+same > most && key > begin {
			begin, taken = key, 0
			least = append(least, begin)
		}
		if taken += same; taken >= even && key < last && (at < len(sample) || same > most) {
			begin, taken = key+1, 0
			least = append(least, begin)
		}
	}
	if len(least) > 0 {
		return least
	}
	middle := first + (last-first)/2 // a range of its own
	if all > 0 {
		middle = sample[all/2]
	}
	if first < middle {
		least = append(least, middle)
	}
	if middle < last {
		least = append(least, middle+1)
	}
	return least
}

// count counts the rows of all segments.
func (d *Division[K]) count(ctx context.Context) error {
	d.Segments = make([]Segment, len(d.least)+1)
	var ends [2][]uint64
	for i := range d.sides {
		var err error
		if ends[i], err = d.sides[i].count(ctx, d.least, d.cores); err != nil {
			return err
		}
	}
	var at Pair
	for i := range d.Segments {
		at = Pair{Span{at.R.End, ends[0][i]}, Span{at.S.End, ends[1][i]}}
		first, last := d.bounds(i)
		d.Segments[i] = Segment{at, first == last}
	}
	return nil
}

// count counts the rows of a side, and returns where its segments end.
func (s *dividedSide[K]) count(ctx context.Context, least []K, cores int) ([]uint64, error) {
	ends := make([]uint64, len(least)+1)
	if s.Sorted || len(least) == 0 {
		for i, key := range least {
			at, _ := slices.BinarySearch(s.Keys.Keys, key)
			ends[i] = uint64(at)
		}
		ends[len(least)] = uint64(len(s.Keys.Keys))
		return ends, ended(ctx)
	}
	s.first = make([][]uint64, s.pieces(cores))
	segmentOf := newSearch(least)
	if err := s.each(ctx, cores, func(piece int, keys []K, _ uint64) {
		s.first[piece] = segmentOf.count(keys)
	}); err != nil {
		return nil, err
	}
	at := uint64(0)
	for i := range ends {
		for _, first := range s.first {
			first[i], at = at, at+first[i]
		}
		ends[i] = at
	}
	return ends, nil
}

// pieces is how many pieces of the side are counted and moved each by itself.
func (s *dividedSide[K]) pieces(cores int) int {
	rows := len(s.Keys.Keys)
	return max(1, min(4*cores, rows/pieceRows), rows/checkRows)
}

// each calls do for all pieces of the side, on all cores; row is the first row of a piece.
func (s *dividedSide[K]) each(ctx context.Context, cores int, do func(piece int, keys []K, row uint64)) error {
	count, rows := uint64(s.pieces(cores)), uint64(len(s.Keys.Keys))
	return pieces(ctx, count, 1, cores, func(_ context.Context, from, to uint64) error {
		for i := from; i < to; i++ {
			begin, end := share(rows, i, count), share(rows, i+1, count)
			do(int(i), s.Keys.Keys[begin:end], begin)
		}
		return nil
	})
}

// Scatter moves the rows of a side that is not sorted, 0 for R or 1 for S, to their segments: segment after segment,
// and in their order within one. in has the keys that were divided. Without in.Rows, row i has the number i; without
// out.Rows, only keys are moved. out does not overlap in.
//
// Errors: backend.ErrInvalidInput for an output of another size; backend.ErrCancelled.
func Scatter[K, V Word](ctx context.Context, d *Division[K], side int, out, in Block[K, V]) error {
	s := &d.sides[side]
	if rows := len(s.Keys.Keys); len(out.Keys) != rows || len(in.Keys) != rows ||
		out.Rows != nil && (len(out.Rows) != rows || in.Rows != nil && len(in.Rows) != rows) {
		return invalid("scatter", "room for %d keys and %d rows, but there are %d", len(out.Keys), len(out.Rows), rows)
	}
	segmentOf := newSearch(d.least)
	return s.each(ctx, d.cores, func(piece int, keys []K, row uint64) {
		next := []uint64{row} // of the only segment
		if s.first != nil {
			next = slices.Clone(s.first[piece])
		}
		numbers := in.Rows
		if numbers != nil {
			numbers = numbers[row:][:len(keys)]
		}
		scatter(segmentOf, next, out, keys, numbers, V(row))
	})
}

// scatter moves keys, and numbers beside them, to the next places of their segments: block by block, so that the loop
// over each column has few streams of memory and no branches.
func scatter[K, V Word](segmentOf *search[K], next []uint64, out Block[K, V], keys []K, numbers []V, row V) {
	var found [searchBlock]uint32
	var places [searchBlock]uint64
	for from := 0; from < len(keys); from += searchBlock {
		block := keys[from:min(from+searchBlock, len(keys))]
		at := places[:len(block)]
		segmentOf.all(found[:len(block)], block)
		for i, segment := range found[:len(block)] {
			at[i] = next[segment]
			next[segment]++
		}
		for i, key := range block {
			out.Keys[at[i]] = key
		}
		switch {
		case out.Rows == nil:
		case numbers == nil:
			for i, place := range at {
				out.Rows[place] = row + V(from+i)
			}
		default:
			for i, number := range numbers[from:][:len(at)] {
				out.Rows[at[i]] = number
			}
		}
	}
}

// search finds the segments of keys. The range of the least keys is divided into equal cells. A cell in which no segment
// begins has the segment of its keys; for the others, a binary search without branches finds it, which is slower, but
// takes equally long for any distribution of keys. Immutable.
type search[K Word] struct {
	least []K // of segments from 1 on; filled up to a power of two, less one, with the greatest key
	last  uint32
	cells [searchCells]uint32 // segment of the least key of each cell, with wholeCell if all keys of the cell are in it
	shift int
}

const (
	searchCells = 1 << 11
	searchBlock = 1 << 9 // keys at a time
	wholeCell   = 1 << 31
)

// newSearch returns the search among segments with these least keys, from the second segment on.
func newSearch[K Word](least []K) *search[K] {
	s := &search[K]{last: uint32(len(least))}
	s.least = slices.Repeat([]K{^K(0)}, 1<<bits.Len(uint(len(least)))-1)
	if copy(s.least, least); len(least) > 0 {
		s.shift = max(0, bits.Len64(uint64(least[len(least)-1]))-bits.Len(searchCells-1))
	}
	for cell := range s.cells[:searchCells-1] { // the last one has keys beyond it, too
		from := K(cell) << s.shift
		s.cells[cell] = s.among(from)
		if s.among(from|(1<<s.shift-1)) == s.cells[cell] {
			s.cells[cell] |= wholeCell
		}
	}
	return s
}

// all finds the segments of as many keys as there is room for.
func (s *search[K]) all(segments []uint32, keys []K) {
	shift := s.shift & 63
	for i, key := range keys[:len(segments)] {
		segment := s.cells[min(uint64(key)>>shift, searchCells-1)]
		if segment < wholeCell {
			segment = s.among(key)
		}
		segments[i] = segment &^ wholeCell
	}
}

// among is how many of the least keys are not beyond a key.
func (s *search[K]) among(key K) uint32 {
	segment := 0
	for step := (len(s.least) + 1) / 2; step > 0; step /= 2 {
		_, beyond := bits.Sub64(uint64(key), uint64(s.least[segment+step-1]), 0)
		segment += step &^ -int(beyond)
	}
	return min(uint32(segment), s.last)
}

// count counts keys by segment.
func (s *search[K]) count(keys []K) []uint64 {
	var found [searchBlock]uint32
	counts := make([]uint64, s.last+1)
	for len(keys) > 0 {
		segments := found[:min(searchBlock, len(keys))]
		s.all(segments, keys)
		for _, segment := range segments {
			counts[segment]++
		}
		keys = keys[len(segments):]
	}
	return counts
}
