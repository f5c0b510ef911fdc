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
	r, err = spec.table(ctx, "r", spec.RRows, spec.RPayloads, seedPayloadR, func(row int64) (key int64, identity uint64) {
		key = order.At(row)
		if key >= matching {
			key += spec.RRows
		}
		return key, uint64(key)
	})
	if err != nil {
		return nil, nil, err
	}
	foreign, err := spec.foreignKeys()
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

// table makes a key column and its payload columns, chunk by chunk. rowKey gives
// the key of a row and what its payloads depend on.
func (s PKFKSpec) table(ctx context.Context, prefix string, rows int64, payloads int, purpose uint64, rowKey func(row int64) (key int64, identity uint64)) (arrow.Table, error) {
	fields := []arrow.Field{{Name: prefix + "_key", Type: intType(s.KeyBytes)}}
	seeds := make([]uint64, payloads)
	for i := range seeds {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("%s_%d", prefix, i+1), Type: intType(s.PayloadBytes)})
		seeds[i] = derive(s.Seed, purpose+uint64(i))
	}
	schema := arrow.NewSchema(fields, nil)
	var batches []arrow.RecordBatch
	defer func() {
		for _, batch := range batches {
			batch.Release()
		}
	}()
	for first := int64(0); first < rows; first += chunkRows {
		length := min(chunkRows, rows-first)
		batch, buffers := s.allocate(schema, length)
		batches = append(batches, batch)
		err := forBlocks(ctx, length, func(start, end int64) {
			keys, identities := make([]int64, end-start), make([]uint64, end-start)
			for i := range keys {
				keys[i], identities[i] = rowKey(first + start + int64(i))
			}
			store(buffers[0], s.KeyBytes, start, keys)
			for column, seed := range seeds {
				for i, identity := range identities {
					keys[i] = int64(at(seed, identity))
				}
				store(buffers[1+column], s.PayloadBytes, start, keys)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return array.NewTableFromRecords(schema, batches), nil
}

func intType(bytes int) arrow.DataType {
	if bytes == 8 {
		return arrow.PrimitiveTypes.Int64
	}
	return arrow.PrimitiveTypes.Int32
}

// allocate makes a batch and gives the memory of its columns, still to be filled.
func (s PKFKSpec) allocate(schema *arrow.Schema, rows int64) (arrow.RecordBatch, [][]byte) {
	mem := s.Allocator
	if mem == nil {
		mem = memory.NewGoAllocator()
	}
	columns := make([]arrow.Array, schema.NumFields())
	buffers := make([][]byte, len(columns))
	for i, field := range schema.Fields() {
		buffer := memory.NewResizableBuffer(mem)
		buffer.Resize(int(rows) * field.Type.(arrow.FixedWidthDataType).Bytes())
		buffers[i] = buffer.Bytes()
		data := array.NewData(field.Type, int(rows), []*memory.Buffer{nil, buffer}, nil, 0, 0)
		columns[i] = array.MakeFromData(data)
		defer columns[i].Release()
		data.Release()
		buffer.Release()
	}
	return array.NewRecordBatch(schema, columns, rows), buffers
}

// store writes values from row start on, cut to width bytes.
func store(buffer []byte, width int, start int64, values []int64) {
	if width == 8 {
		copy(arrow.Int64Traits.CastFromBytes(buffer)[start:], values)
		return
	}
	out := arrow.Int32Traits.CastFromBytes(buffer)[start:]
	for i, v := range values {
		out[i] = int32(v)
	}
}
