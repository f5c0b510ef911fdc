package relation

import (
	"context"
	"sync"
	"unsafe"
)

// extent is the range of the codes of a key column, unless there is none.
type extent struct {
	min, max uint64
	some     bool
}

// include widens the extent to hold another one.
func (e *extent) include(d domain, other extent) {
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

// extentOf is the range of some codes.
func extentOf(d domain, codes []uint64) extent {
	if len(codes) == 0 {
		return extent{}
	}
	if d == domainUnsigned {
		lo, hi := extremes(codes)
		return extent{lo, hi, true}
	}
	lo, hi := extremes(unsafe.Slice((*int64)(unsafe.Pointer(&codes[0])), len(codes)))
	return extent{uint64(lo), uint64(hi), true}
}

// extremes returns the least and the greatest element. Four of each are tracked side by side, so that no step waits for
// the one before.
func extremes[T int64 | uint64](v []T) (lo, hi T) {
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

// measure finds the range of every column's codes over the selected rows of one side.
func measure(ctx context.Context, columns []*keyColumn, domains []domain, rows int, selected *selection) ([]extent, error) {
	var mu sync.Mutex
	total := make([]extent, len(columns))
	err := forBlocks(ctx, rows, func(s *scratch, from, to int) error {
		found := make([]extent, len(columns))
		for k, column := range columns {
			for strip := from; strip < to; strip += stripRows {
				end := min(strip+stripRows, to)
				if selected == nil {
					for part := range column.segments(strip, end) {
						found[k].include(domains[k], extentOf(domains[k], part.codes(s.codes[:], part.from, part.n)))
					}
					continue
				}
				for part := range column.segments(strip, end) {
					copy(s.codes[part.at:], part.codes(s.codes[part.at:], part.from, part.n))
				}
				n := listBits(s.packed32[:], 0, selected.strip(strip, end))
				pick(s.packed[:], s.codes[:], s.packed32[:n], 0)
				found[k].include(domains[k], extentOf(domains[k], s.packed[:n]))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for k := range total {
			total[k].include(domains[k], found[k])
		}
		return nil
	})
	return total, err
}
