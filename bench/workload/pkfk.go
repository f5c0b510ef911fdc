package workload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// PKFKSpec describes a join of primary and foreign keys, as in the experiments of GFTR (5.1, 5.2.3 and 5.2.4).
//
// R has the primary keys 0 to RRows-1 in random order, S foreign keys drawn from this range. With a match ratio below
// 1, the fraction 1-MatchRatio of the primary keys is replaced by keys from RRows on, which nothing refers to; keys
// stay unique. With a Zipf factor the foreign keys have Zipf-distributed frequencies; which key has which rank is
// random. Payload columns are random words. A word of R depends on seed, column and key, a word of S on seed, column
// and row.
//
// With a multiplicity, R's keys are not unique: the first key has as many rows as the first number says, each next key
// one more, up to the second number, and then it starts again. There are then fewer keys than rows, and payloads differ
// between rows of one key. With Distinct there are this many keys, whose numbers of rows differ by at most one. S draws
// from these keys or, with SelfJoin, has the keys of R in another random order. With SelfJoin and a Zipf factor R draws
// its keys, too, from 0 to RRows-1.
type PKFKSpec struct {
	RRows, SRows         int64
	RPayloads, SPayloads []int        // bytes of each payload column; 4: int32, 8: int64
	KeyBytes             int          // 4: int32, 8: int64
	MatchRatio           float64      // share of the primary keys that are referred to, 0 to 1
	Zipf                 float64      // 0 (uniform) to MaxZipfTheta
	Multiplicity         Multiplicity // of R's keys
	Distinct             int64        // number of keys of R, instead of a multiplicity; 0: according to Multiplicity
	SelfJoin             bool         // S has the same keys as R, each equally often; SRows is RRows
	Texts                bool         // payload columns are texts of 4 to 12 hexadecimal digits instead
	Seed                 uint64
	Allocator            memory.Allocator // nil = Go allocator
}

// Multiplicity is the number of rows per key: from the first to the second number, in turn. The zero value means unique
// keys.
type Multiplicity [2]int

// String returns a number, or a range as in 8..16.
func (m Multiplicity) String() string {
	low, high := m.bounds()
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d..%d", low, high)
}

func (m Multiplicity) bounds() (low, high int64) {
	if m == (Multiplicity{}) {
		return 1, 1
	}
	return int64(m[0]), int64(m[1])
}

// keys gives the key of each of the rows when they are in the order of their keys, and how
// many keys there are.
func (m Multiplicity) keys(rows int64) (key func(row int64) int64, count int64) {
	low, high := m.bounds()
	var cycle []int64 // the keys of as many rows as all numbers together
	for k := low; k <= high; k++ {
		cycle = append(cycle, slices.Repeat([]int64{k - low}, int(k))...)
	}
	period := int64(len(cycle))
	key = func(row int64) int64 { return row/period*(high-low+1) + cycle[row%period] }
	if period == 1 {
		key = func(row int64) int64 { return row }
	}
	if rows > 0 {
		count = key(rows-1) + 1
	}
	return key, count
}

// keys gives the key of each of R's rows when they are in the order of their keys, or, with
// Distinct, in turn, and how many keys there are.
func (s PKFKSpec) keys() (key func(row int64) int64, count int64) {
	if s.Skewed() {
		zipf, err := NewZipf(max(s.RRows, 1), s.Zipf)
		if err != nil {
			panic(err) // the factor is checked before
		}
		return s.ranked(zipf, s.RRows), s.RRows
	}
	if s.Distinct > 0 {
		return func(row int64) int64 { return row % s.Distinct }, min(s.Distinct, s.RRows)
	}
	return s.Multiplicity.keys(s.RRows)
}

// Skewed says that the keys of both sides are.
func (s PKFKSpec) Skewed() bool { return s.SelfJoin && s.Zipf > 0 }

// ranked draws the rank of a key for a row, and gives the key that has this rank.
func (s PKFKSpec) ranked(zipf *Zipf, keys int64) func(row int64) int64 {
	seed := derive(s.Seed, seedForeign)
	ranks := NewPermutation(keys, derive(s.Seed, seedRank))
	return func(row int64) int64 {
		random := streamAt(seed, uint64(row))
		rank := zipf.draw(&random)
		if s.Zipf == 0 {
			return rank
		}
		return ranks.At(rank)
	}
}

// RowsOfKey returns the number of rows of R per key.
func (s PKFKSpec) RowsOfKey() Multiplicity {
	if s.Distinct == 0 || s.RRows == 0 {
		return s.Multiplicity
	}
	_, count := s.keys()
	return Multiplicity{int(s.RRows / count), int((s.RRows + count - 1) / count)}
}

// DefaultPKFK returns the default of GFTR: 4-byte keys and payloads, one payload column per side, all rows match, no
// skew.
func DefaultPKFK(rRows, sRows int64) PKFKSpec {
	return PKFKSpec{RRows: rRows, SRows: sRows, RPayloads: []int{4}, SPayloads: []int{4}, KeyBytes: 4, MatchRatio: 1, Seed: 1}
}

// MaxPayloads is the maximum number of payload columns of a side, MaxMultiplicity the maximum number of rows of a key.
const (
	MaxPayloads     = 1000
	MaxMultiplicity = 1000
)

// ErrSpec says that a specification is invalid.
var ErrSpec = errors.New("invalid workload")

// String returns the specification in one line.
func (s PKFKSpec) String() string {
	text := fmt.Sprintf("pkfk r=%d s=%d key-bytes=%d r-payload-bytes=%s s-payload-bytes=%s match-ratio=%g zipf=%g multiplicity=%v",
		s.RRows, s.SRows, s.KeyBytes, BytesText(s.RPayloads, "+"), BytesText(s.SPayloads, "+"), s.MatchRatio, s.Zipf, s.RowsOfKey())
	if s.Distinct > 0 {
		text += fmt.Sprintf(" distinct=%d", s.Distinct)
	}
	if s.SelfJoin {
		text += " self-join"
	}
	if s.Texts {
		text += " texts"
	}
	return fmt.Sprintf("%s seed=%d", text, s.Seed)
}

// BytesText returns the widths of payload columns with a separator between them, as in 4+4+8.
func BytesText(columns []int, separator string) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(columns), "[]"), " ", separator)
}

// Validate reports all faults together; the error wraps ErrSpec.
func (s PKFKSpec) Validate() error {
	var faults []string
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	check(s.RRows >= 0, "|R| is %d, must not be negative", s.RRows)
	check(s.SRows >= 0, "|S| is %d, must not be negative", s.SRows)
	check(s.SRows <= 0 || s.RRows != 0, "|S| is %d, but there is no primary key to refer to", s.SRows)
	check(len(s.RPayloads) <= MaxPayloads, "R has %d payload columns, must be 0 to %d", len(s.RPayloads), MaxPayloads)
	check(len(s.SPayloads) <= MaxPayloads, "S has %d payload columns, must be 0 to %d", len(s.SPayloads), MaxPayloads)
	check(s.KeyBytes == 4 || s.KeyBytes == 8, "keys have %d bytes, must be 4 or 8", s.KeyBytes)
	for _, bytes := range slices.Compact(slices.Concat(s.RPayloads, s.SPayloads)) {
		check(bytes == 4 || bytes == 8, "payloads have %d bytes, must be 4 or 8", bytes)
	}
	check(s.MatchRatio >= 0 && s.MatchRatio <= 1, "match ratio is %v, must be 0 to 1", s.MatchRatio)
	check(s.Zipf >= 0 && s.Zipf <= MaxZipfTheta, "zipf factor is %v, must be 0 to %d", s.Zipf, MaxZipfTheta)
	low, high := s.Multiplicity.bounds()
	check(1 <= low && low <= high && high <= MaxMultiplicity, "multiplicity is %d..%d, must be within 1..%d", low, high, MaxMultiplicity)
	check(s.Distinct >= 0, "%d distinct keys, must not be negative", s.Distinct)
	check(s.Distinct == 0 || s.Multiplicity == (Multiplicity{}), "there is a number of distinct keys and a multiplicity")
	check(!s.SelfJoin || s.SRows == s.RRows, "a self join has as many rows on both sides")
	check(!s.Skewed() || s.Multiplicity == (Multiplicity{}) && s.Distinct == 0 && s.MatchRatio == 1,
		"a skewed self join has its own number of rows per key, which all match")
	if s.KeyBytes == 4 && s.RRows > 0 && len(faults) == 0 {
		_, count := s.keys()
		keys := float64(count)
		if s.matching(count) < count {
			keys *= 2
		}
		check(keys <= math.MaxInt32+1, "%.0f keys do not fit in 4 bytes, use 8", keys)
	}
	check(s.RRows <= math.MaxInt64/2, "|R| is %d, more than %d", s.RRows, int64(math.MaxInt64/2))
	if len(faults) > 0 {
		return fmt.Errorf("%w: pkfk: %s", ErrSpec, strings.Join(faults, "; "))
	}
	return nil
}

// matching is how many of the primary keys can be referred to.
func (s PKFKSpec) matching(keys int64) int64 {
	if s.MatchRatio == 1 {
		return keys
	}
	return min(keys, int64(math.Round(s.MatchRatio*float64(keys))))
}

// Purposes of the seeds derived from the one of the specification.
const (
	seedOrder uint64 = iota
	seedRank
	seedForeign
	seedPayloadR
	seedPayloadS = seedPayloadR + MaxPayloads
	seedOrderS   = seedPayloadS + MaxPayloads
)

// PKFK generates the tables R (r_key, r_1, ...) and S (s_key, s_1, ...), without nulls; the caller releases both. Their
// chunks have at most chunkRows rows. It runs on all cores and stops soon after ctx ends. Errors: ErrSpec, or ctx's.
func PKFK(ctx context.Context, spec PKFKSpec) (r, s arrow.Table, err error) {
	if err := spec.Validate(); err != nil {
		return nil, nil, err
	}
	order := NewPermutation(spec.RRows, derive(spec.Seed, seedOrder))
	keyOf, keys := spec.keys()
	matching := spec.matching(keys)
	r, err = spec.table(ctx, "r", spec.RRows, spec.RPayloads, seedPayloadR, func(row int64) (key int64, identity uint64) {
		identity = uint64(order.At(row))
		if key = keyOf(int64(identity)); key >= matching {
			return key + keys, identity + uint64(keys)
		}
		return key, identity
	})
	if err != nil {
		return nil, nil, err
	}
	foreign, err := spec.foreignKeys(keyOf, keys)
	if err == nil {
		s, err = spec.table(ctx, "s", spec.SRows, spec.SPayloads, seedPayloadS, func(row int64) (key int64, identity uint64) {
			return foreign(row), uint64(row)
		})
	}
	if err != nil {
		r.Release()
		return nil, nil, err
	}
	return r, s, nil
}

// foreignKeys gives the foreign key of a row of S: a rank from the distribution over
// the keys, and the key that has this rank; or the key of a row of R.
func (s PKFKSpec) foreignKeys(keyOf func(row int64) int64, keys int64) (func(row int64) int64, error) {
	if s.SRows == 0 {
		return nil, nil
	}
	if s.SelfJoin {
		order := NewPermutation(s.RRows, derive(s.Seed, seedOrderS))
		return func(row int64) int64 { return keyOf(order.At(row)) }, nil
	}
	zipf, err := NewZipf(keys, s.Zipf)
	if err != nil {
		return nil, err
	}
	return s.ranked(zipf, keys), nil
}

// table makes a key column and its payload columns. rowKey gives the key of a row
// and what its payloads depend on.
func (s PKFKSpec) table(ctx context.Context, prefix string, rows int64, payloads []int, purpose uint64, rowKey func(row int64) (key int64, identity uint64)) (arrow.Table, error) {
	columns := []intColumn{{prefix + "_key", s.KeyBytes}}
	seeds := make([]uint64, len(payloads))
	for i, bytes := range payloads {
		columns = append(columns, intColumn{fmt.Sprintf("%s_%d", prefix, i+1), bytes})
		seeds[i] = derive(s.Seed, purpose+uint64(i))
	}
	table, err := build(ctx, s.Allocator, columns, rows, func(first int64, values []int64, put func(column int)) {
		identities := make([]uint64, len(values))
		for i := range values {
			values[i], identities[i] = rowKey(first + int64(i))
		}
		put(0)
		for c, seed := range seeds {
			for i, identity := range identities {
				values[i] = int64(at(seed, identity))
			}
			put(1 + c)
		}
	})
	if err == nil && s.Texts {
		return payloadTexts(ctx, s.Allocator, table)
	}
	return table, err
}
