package workload

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// StarSpec describes a fact table that is joined with one dimension table after another (GFTR 5.2.7): its foreign keys are drawn
// uniformly, one for each dimension, and every dimension has unique keys and a payload column. All values have 4 bytes.
type StarSpec struct {
	FactRows, DimensionRows int64
	Dimensions              int
	Seed                    uint64
}

// Validate reports all faults together; the error wraps ErrSpec.
func (s StarSpec) Validate() error {
	if s.FactRows < 0 || s.FactRows > math.MaxInt32 || s.DimensionRows < 1 || s.DimensionRows > math.MaxInt32 || s.Dimensions < 1 || s.Dimensions > MaxPayloads {
		return fmt.Errorf("%w: star: %d rows of facts (0 to %d), %d dimensions (1 to %d) of %d rows (1 to %d)",
			ErrSpec, s.FactRows, math.MaxInt32, s.Dimensions, MaxPayloads, s.DimensionRows, math.MaxInt32)
	}
	return nil
}

// Star holds the tables. The owner calls Release.
type Star struct {
	Dimensions []arrow.Table // r_key, r_1
	Facts      arrow.Table   // the first foreign key and the row number
	Foreign    arrow.Table   // the other foreign keys
	// Last is the input of the last join in place of the facts: the last foreign key, the row number, and the payload
	// of all dimensions except the last.
	Last arrow.Table
}

// Release releases the tables. The Star may be unfinished.
func (s *Star) Release() {
	for _, t := range append(slices.Clone(s.Dimensions), s.Facts, s.Foreign, s.Last) {
		if t != nil {
			t.Release()
		}
	}
}

// MakeStar generates the tables of a specification. Errors: ErrSpec, or ctx's.
func MakeStar(ctx context.Context, spec StarSpec) (star Star, err error) {
	if err := spec.Validate(); err != nil {
		return star, err
	}
	dimensions := make([]PKFKSpec, spec.Dimensions)
	columns := []intColumn{{"fk_1", 4}, {"id", 4}}
	for d := range dimensions {
		dimensions[d] = DefaultPKFK(spec.DimensionRows, 0)
		dimensions[d].Seed = derive(spec.Seed, uint64(d))
		r, s, err := PKFK(ctx, dimensions[d])
		if err != nil {
			star.Release()
			return star, err
		}
		s.Release()
		star.Dimensions = append(star.Dimensions, r)
		if d > 0 {
			columns = append(columns, intColumn{fmt.Sprintf("fk_%d", d+1), 4})
		}
	}
	for d := range spec.Dimensions - 1 {
		columns = append(columns, intColumn{fmt.Sprintf("p_%d", d+1), 4})
	}
	foreign := func(d int) int { return d + min(d, 1) } // the column of a foreign key: the row number comes behind the first
	facts, err := build(ctx, nil, columns, spec.FactRows, func(first int64, values []int64, put func(column int)) {
		for i := range values {
			values[i] = first + int64(i)
		}
		put(1)
		for d, r := range dimensions {
			seed, payload := derive(r.Seed, seedForeign), derive(r.Seed, seedPayloadR)
			for i := range values {
				random := streamAt(seed, uint64(first)+uint64(i))
				values[i] = int64(random.below(uint64(spec.DimensionRows)))
			}
			put(foreign(d))
			if d == spec.Dimensions-1 {
				return
			}
			for i, key := range values {
				values[i] = int64(at(payload, uint64(key)))
			}
			put(1 + spec.Dimensions + d)
		}
	})
	if err != nil {
		star.Release()
		return star, err
	}
	defer facts.Release()
	pick := func(columns ...int) arrow.Table {
		var fields []arrow.Field
		var picked []arrow.Column
		for _, c := range columns {
			fields, picked = append(fields, facts.Schema().Field(c)), append(picked, *facts.Column(c))
		}
		return array.NewTable(arrow.NewSchema(fields, nil), picked, facts.NumRows())
	}
	between := func(first, end int) (columns []int) {
		for c := first; c < end; c++ {
			columns = append(columns, c)
		}
		return columns
	}
	star.Facts = pick(0, 1)
	star.Foreign = pick(between(2, 1+spec.Dimensions)...)
	star.Last = pick(append([]int{foreign(spec.Dimensions - 1), 1}, between(1+spec.Dimensions, len(columns))...)...)
	return star, nil
}
