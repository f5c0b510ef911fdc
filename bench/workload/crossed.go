package workload

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// CrossedSpec describes two relations of which each has duplicates of keys that the other has once, so that neither is
// the better build side as a whole (JO5 of GARUDA 6.3.3).
//
// R and S have Rows rows each, of 4-byte keys and a payload column of 4 bytes. Keys 0 to Hot-1 have HotRows rows in R
// and one in S, keys Hot to 2 Hot-1 one in R and HotRows in S; all others have one row in each. Rows are in random
// order, payloads are random words.
type CrossedSpec struct {
	Rows, Hot, HotRows int64
	Seed               uint64
}

// String returns the specification in one line.
func (s CrossedSpec) String() string {
	return fmt.Sprintf("crossed rows=%d hot=%d hot-rows=%d seed=%d", s.Rows, s.Hot, s.HotRows, s.Seed)
}

// Validate returns ErrSpec for a specification that cannot be generated.
func (s CrossedSpec) Validate() error {
	if s.Hot < 1 || s.HotRows < 1 || s.Hot > s.Rows || s.HotRows > s.Rows || s.Hot*(s.HotRows+1) > s.Rows ||
		s.Rows > 1<<31 {
		return fmt.Errorf("%w: %s: hot keys and their rows are at least 1, all of a side at most its rows, these 2^31",
			ErrSpec, s)
	}
	return nil
}

// Crossed generates the tables R (r_key, r_1) and S (s_key, s_1), without nulls; the caller releases both. Errors:
// ErrSpec, or ctx's.
func Crossed(ctx context.Context, spec CrossedSpec) (r, s arrow.Table, err error) {
	if err := spec.Validate(); err != nil {
		return nil, nil, err
	}
	if r, err = spec.table(ctx, "r", 0, seedOrder, seedPayloadR); err != nil {
		return nil, nil, err
	}
	if s, err = spec.table(ctx, "s", spec.Hot, seedOrderS, seedPayloadS); err != nil {
		r.Release()
		return nil, nil, err
	}
	return r, s, nil
}

// table makes a side, whose hot keys begin at hot.
func (s CrossedSpec) table(ctx context.Context, prefix string, hot int64, order, payload uint64) (arrow.Table, error) {
	place := NewPermutation(s.Rows, derive(s.Seed, order))
	seed := derive(s.Seed, payload)
	return build(ctx, nil, []intColumn{{prefix + "_key", 4}, {prefix + "_1", 4}}, s.Rows,
		func(first int64, values []int64, put func(column int)) {
			for i := range values {
				values[i] = s.key(place.At(first+int64(i)), hot)
			}
			put(0)
			for i := range values {
				values[i] = int64(at(seed, uint64(first)+uint64(i)))
			}
			put(1)
		})
}

// key is the key of row n if rows with hot keys come first, then rows with the other side's hot keys, then all others.
func (s CrossedSpec) key(n, hot int64) int64 {
	switch many := s.Hot * s.HotRows; {
	case n < many:
		return hot + n/s.HotRows
	case n < many+s.Hot:
		return s.Hot - hot + n - many
	default:
		return 2*s.Hot + n - many - s.Hot
	}
}
