package workload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// PKFKSpec describes a join of primary and foreign keys, as the experiments on
// materialising joins use it (GFTR 5.1, 5.2.3 and 5.2.4).
//
// R has the primary keys 0 to RRows-1 in random order, S foreign keys drawn from
// this range. With a match ratio below 1 the fraction 1-MatchRatio of the primary
// keys is replaced by keys from RRows on, which nothing refers to; they stay
// unique. With a Zipf factor the foreign keys have Zipf-distributed frequencies;
// which key has which rank is random. Payload columns are random words: those of
// R depend on seed, column and key, those of S on seed, column and row.
type PKFKSpec struct {
	RRows, SRows         int64
	RPayloads, SPayloads int     // payload columns
	KeyBytes             int     // 4: int32, 8: int64
	PayloadBytes         int     // 4: int32, 8: int64
	MatchRatio           float64 // of the primary keys, 0 to 1
	Zipf                 float64 // 0 (uniform) to MaxZipfTheta
	Seed                 uint64
	Allocator            memory.Allocator // nil = Go allocator
}

// DefaultPKFK is the paper's default: 4-byte keys and payloads, one payload
// column a side, all rows match, no skew.
func DefaultPKFK(rRows, sRows int64) PKFKSpec {
	return PKFKSpec{RRows: rRows, SRows: sRows, RPayloads: 1, SPayloads: 1, KeyBytes: 4, PayloadBytes: 4, MatchRatio: 1, Seed: 1}
}

// MaxPayloads is the largest number of payload columns of a side.
const MaxPayloads = 1000

// ErrSpec says that a specification is invalid.
var ErrSpec = errors.New("invalid workload")

// String is the specification in one line.
func (s PKFKSpec) String() string {
	return fmt.Sprintf("pkfk r=%d s=%d r-payloads=%d s-payloads=%d key-bytes=%d payload-bytes=%d match-ratio=%g zipf=%g seed=%d",
		s.RRows, s.SRows, s.RPayloads, s.SPayloads, s.KeyBytes, s.PayloadBytes, s.MatchRatio, s.Zipf, s.Seed)
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
	check(s.RPayloads >= 0 && s.RPayloads <= MaxPayloads, "R has %d payload columns, must be 0 to %d", s.RPayloads, MaxPayloads)
	check(s.SPayloads >= 0 && s.SPayloads <= MaxPayloads, "S has %d payload columns, must be 0 to %d", s.SPayloads, MaxPayloads)
	check(s.KeyBytes == 4 || s.KeyBytes == 8, "keys have %d bytes, must be 4 or 8", s.KeyBytes)
	check(s.PayloadBytes == 4 || s.PayloadBytes == 8, "payloads have %d bytes, must be 4 or 8", s.PayloadBytes)
	check(s.MatchRatio >= 0 && s.MatchRatio <= 1, "match ratio is %v, must be 0 to 1", s.MatchRatio)
	check(s.Zipf >= 0 && s.Zipf <= MaxZipfTheta, "zipf factor is %v, must be 0 to %d", s.Zipf, MaxZipfTheta)
	if s.KeyBytes == 4 && s.RRows > 0 {
		keys := float64(s.RRows)
		if s.matching() < s.RRows {
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

// matching is how many primary keys can be referred to.
func (s PKFKSpec) matching() int64 {
	if s.MatchRatio == 1 {
		return s.RRows
	}
	return min(s.RRows, int64(math.Round(s.MatchRatio*float64(s.RRows))))
}

// Purposes of the seeds derived from the one of the specification.
const (
	seedOrder uint64 = iota
	seedRank
	seedForeign
	seedPayloadR
	seedPayloadS = seedPayloadR + MaxPayloads
)

// PKFK makes the tables R (r_key, r_1, ...) and S (s_key, s_1, ...), without
// nulls; the caller releases both. They have chunks of chunkRows rows at most. It
// runs on all cores and stops soon after ctx ends. Errors: ErrSpec, or ctx's.
func PKFK(ctx context.Context, spec PKFKSpec) (r, s arrow.Table, err error) {
	if err := spec.Validate(); err != nil {
		return nil, nil, err
	}
	order := NewPermutation(spec.RRows, derive(spec.Seed, seedOrder))
	matching := spec.matching()
	primary := func(row int64) int64 {
		key := order.At(row)
		if key >= matching {
			key += spec.RRows
		}
		return key
	}
	r, err = spec.table(ctx, "r", spec.RRows, spec.RPayloads, primary, func(row int64) uint64 { return uint64(primary(row)) }, seedPayloadR)
	if err != nil {
		return nil, nil, err
	}
	foreign, err := spec.foreignKeys()
	if err == nil {
		s, err = spec.table(ctx, "s", spec.SRows, spec.SPayloads, foreign, func(row int64) uint64 { return uint64(row) }, seedPayloadS)
	}
	if err != nil {
		r.Release()
		return nil, nil, err
	}
	return r, s, nil
}

// foreignKeys gives the foreign key of a row: a rank from the distribution, and
// the key that has this rank.
func (s PKFKSpec) foreignKeys() (func(row int64) int64, error) {
	if s.SRows == 0 {
		return nil, nil
	}
	zipf, err := NewZipf(s.RRows, s.Zipf)
	if err != nil {
		return nil, err
	}
	seed := derive(s.Seed, seedForeign)
	ranks := NewPermutation(s.RRows, derive(s.Seed, seedRank))
	return func(row int64) int64 {
		random := streamAt(seed, uint64(row))
		rank := zipf.draw(&random)
		if s.Zipf == 0 {
			return rank
		}
		return ranks.At(rank)
	}, nil
}

const chunkRows = 1 << 24

// table makes a key column and its payload columns, chunk by chunk.
func (s PKFKSpec) table(ctx context.Context, prefix string, rows int64, payloads int, key func(row int64) int64, identity func(row int64) uint64, purpose uint64) (arrow.Table, error) {
	fields := make([]arrow.Field, 1+payloads)
	columns := make([]arrow.Column, len(fields))
	for i := range fields {
		name, width, value := prefix+"_key", s.KeyBytes, key
		if i > 0 {
			name, width = fmt.Sprintf("%s_%d", prefix, i), s.PayloadBytes
			seed := derive(s.Seed, purpose+uint64(i-1))
			value = func(row int64) int64 { return int64(at(seed, identity(row))) }
		}
		fields[i] = arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int32}
		if width == 8 {
			fields[i].Type = arrow.PrimitiveTypes.Int64
		}
		chunks, err := s.chunks(ctx, fields[i].Type, rows, value)
		if err != nil {
			for _, column := range columns[:i] {
				column.Release()
			}
			return nil, err
		}
		columns[i] = *arrow.NewColumn(fields[i], chunks)
		chunks.Release()
	}
	table := array.NewTable(arrow.NewSchema(fields, nil), columns, rows)
	for _, column := range columns {
		column.Release()
	}
	return table, nil
}

// chunks makes one column.
func (s PKFKSpec) chunks(ctx context.Context, dt arrow.DataType, rows int64, value func(row int64) int64) (*arrow.Chunked, error) {
	mem := s.Allocator
	if mem == nil {
		mem = memory.NewGoAllocator()
	}
	var chunks []arrow.Array
	defer func() {
		for _, chunk := range chunks {
			chunk.Release()
		}
	}()
	width := int64(dt.(arrow.FixedWidthDataType).Bytes())
	for first := int64(0); first < rows; first += chunkRows {
		length := min(chunkRows, rows-first)
		buffer := memory.NewResizableBuffer(mem)
		buffer.Resize(int(length * width))
		data := array.NewData(dt, int(length), []*memory.Buffer{nil, buffer}, nil, 0, 0)
		buffer.Release()
		chunks = append(chunks, array.MakeFromData(data))
		data.Release()
		err := forBlocks(ctx, length, func(start, end int64) {
			if width == 4 {
				for i, out := start, arrow.Int32Traits.CastFromBytes(buffer.Bytes()); i < end; i++ {
					out[i] = int32(value(first + i))
				}
				return
			}
			for i, out := start, arrow.Int64Traits.CastFromBytes(buffer.Bytes()); i < end; i++ {
				out[i] = value(first + i)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return arrow.NewChunked(dt, chunks), nil
}
