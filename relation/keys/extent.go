package keys

import (
	"context"
	"math"
	"math/bits"
	"runtime"
	"sync"
	"unsafe"
)

// extent is the range of the codes of a key column. some says that there are codes; null, that NULL occurs as a value.
type extent struct {
	min, max uint64
	some     bool
	null     bool
}

// nullCode is the code of NULL: one more than the greatest.
func (e extent) nullCode() uint64 { return e.max + 1 }

// bits is the number of bits for the differences of all codes to the least; 65 if NULL is added to a range of 2^64
// codes.
func (e extent) bits() int {
	span := e.max - e.min
	if !e.null {
		return bits.Len64(span)
	}
	if span == math.MaxUint64 {
		return 65
	}
	return bits.Len64(span + 1)
}

// include extends e by another extent.
func (e *extent) include(d domain, other extent) {
	other.null = e.null || other.null
	e.null = other.null
	switch {
	case !other.some:
	case !e.some:
		*e = other
	default:
		if d.less(other.min, e.min) {
			e.min = other.min
		}
		if d.less(e.max, other.max) {
			e.max = other.max
		}
	}
}

// meet is the intersection of two extents.
func (e extent) meet(d domain, other extent) extent {
	e.null = e.null && other.null
	if !e.some || !other.some || d.less(e.max, other.min) || d.less(other.max, e.min) {
		return extent{null: e.null}
	}
	if d.less(e.min, other.min) {
		e.min = other.min
	}
	if d.less(other.max, e.max) {
		e.max = other.max
	}
	return e
}

// extentOf is the range of a slice of codes.
func extentOf(d domain, codes []uint64) extent {
	if len(codes) == 0 {
		return extent{}
	}
	if d == domainUnsigned {
		lo, hi := extremes(codes)
		return extent{min: lo, max: hi, some: true}
	}
	lo, hi := extremes(unsafe.Slice((*int64)(unsafe.Pointer(&codes[0])), len(codes)))
	return extent{min: uint64(lo), max: uint64(hi), some: true}
}

// extremes returns the least and the greatest element. Four of each are tracked side by side, so that no step depends
// on the previous one.
func extremes[T integer](v []T) (lo, hi T) {
	lo0, lo1, lo2, lo3 := v[0], v[0], v[0], v[0]
	hi0, hi1, hi2, hi3 := lo0, lo0, lo0, lo0
	for ; len(v) >= 4; v = v[4:] {
		a, b, c, d := v[0], v[1], v[2], v[3]
		lo0, hi0 = min(lo0, a), max(hi0, a)
		lo1, hi1 = min(lo1, b), max(hi1, b)
		lo2, hi2 = min(lo2, c), max(hi2, c)
		lo3, hi3 = min(lo3, d), max(hi3, d)
	}
	for _, a := range v {
		lo0, hi0 = min(lo0, a), max(hi0, a)
	}
	return min(lo0, lo1, lo2, lo3), max(hi0, hi1, hi2, hi3)
}

// extent is the range of the codes of a segment.
func (part *segment) extent(d domain, s *scratch) extent {
	if r, ok := part.reader.(wholeReader); ok && r.whole() {
		return r.extent(part.from, part.n)
	}
	return extentOf(d, part.codes(s.codes[:], part.from, part.n))
}

// measure finds the range of the codes of each key over the selected rows of a side.
func measure(ctx context.Context, keys []key, side *keySide) ([]extent, error) {
	return measureOn(ctx, runtime.GOMAXPROCS(0), keys, side)
}

func measureOn(ctx context.Context, cores int, keys []key, side *keySide) ([]extent, error) {
	var mu sync.Mutex
	total := make([]extent, len(keys))
	err := forBlocksOn(ctx, cores, side.rows, func(s *scratch, from, to int) error {
		found := make([]extent, len(keys))
		for k, column := range side.columns {
			if column.numbered != nil {
				continue
			}
			d := keys[k].domain
			for strip := from; strip < to; strip += StripRows {
				end := min(strip+StripRows, to)
				if side.selected == nil && !column.hasNulls() {
					for part := range column.segments(strip, end) {
						found[k].include(d, part.extent(d, s))
					}
					continue
				}
				codes, words := column.codes(s, strip, end), side.selected.strip(s, strip, end)
				rows := countBits(words)
				column.clearNulls(words, strip, end)
				n := listBits(s.ids[:], 0, words)
				pick(s.packed[:], codes, s.ids[:n], 0)
				found[k].include(d, extentOf(d, s.packed[:n]))
				found[k].null = found[k].null || n < rows
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for k := range total {
			total[k].include(keys[k].domain, found[k])
		}
		return nil
	})
	for k, column := range side.columns {
		if column.numbered != nil {
			total[k] = column.numbered.extent(column.hasNulls())
		}
	}
	return total, err
}
