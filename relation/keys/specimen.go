package keys

import (
	"cmp"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// A specimen stands for a large table: it has the same columns and few rows, of which the first half has keys of the
// first half of the other side. A join of specimens takes the same steps as one of the tables.

// SpecimenSide describes the specimen of a table.
type SpecimenSide struct {
	Rows      int
	Sorted    bool             // rows are in the order of their codes, otherwise not
	Unique    bool             // no key occurs twice
	Allocator memory.Allocator // of the columns, as far as their types have a fixed width
}

// Specimen returns the plan for specimens. The codes of their keys are made as in this plan and fill the same ranges,
// as far as the types allow. A row is left out on each side on which rows are.
func (p *Plan) Specimen(sides [2]SpecimenSide) (*Plan, error) {
	specimen := *p
	for side := range sides {
		s, rows := &sides[side], sides[side].Rows
		order := specimenOrder(relation.Side(side), s, sides[1-side].Rows)
		if len(p.keys) > 0 {
			byCode := func(a, b int) int { return cmp.Compare(p.spread(0, a), p.spread(0, b)) }
			if s.Sorted {
				slices.SortFunc(order, byCode)
			} else if slices.IsSortedFunc(order, byCode) { // a few may be so by chance
				slices.Reverse(order)
			}
		}
		var columns []*arrow.Chunked
		for k := range p.keys {
			key := &p.keys[k]
			numbers := make([]uint64, rows)
			for i, row := range order {
				numbers[i] = key.sides[side].coding.number(key.extent.min+p.spread(k, row), key.sides[side].trait.Bits)
			}
			values, err := relation.Column(s.Allocator, key.sides[side].dtype, numbers, key.sides[side].coding.width)
			if err != nil {
				return nil, err
			}
			columns = append(columns, arrow.NewChunked(values.DataType(), []arrow.Array{values}))
		}
		if err := specimen.open(relation.Side(side), int64(rows), columns); err != nil {
			return nil, err
		}
		if p.LeavesOut(relation.Side(side)) && rows > 0 {
			specimen.sides[side].selected = allButLast(rows)
		}
	}
	return &specimen, nil
}

// Column returns the key column of this name of a side; nil if there is none.
func (p *Plan) Column(side relation.Side, name string) *arrow.Chunked {
	for k, key := range p.keys {
		if key.sides[side].name == name {
			column := arrow.NewChunked(key.sides[side].dtype, nil)
			for _, chunk := range p.sides[side].columns[k].chunks {
				column = arrow.NewChunked(key.sides[side].dtype, append(column.Chunks(), chunk.values))
			}
			return column
		}
	}
	return nil
}

// Pinned reports whether the device reads the first key column of a side, which has rows, in place. A column of type
// null has no values to read.
func (p *Plan) Pinned(side relation.Side, device *backend.Device) bool {
	if len(p.keys) == 0 || len(p.sides[side].columns[0].chunks) == 0 {
		return false
	}
	values := p.sides[side].columns[0].chunks[0].values.Data()
	if len(values.Buffers()) < 2 {
		return false
	}
	r, ok := device.Imported(relation.BufferBytes(values, 1), 4)
	if ok {
		r.Buffer.Release()
	}
	return ok
}

// Distinct is an upper bound on the number of different keys of a specimen.
func (p *Plan) Distinct() (most uint64) {
	most = 1
	for k := range p.keys {
		key := &p.keys[k]
		values := uint64(math.MaxUint32)
		if !p.hashed {
			values = 1 << min(key.bits, 32)
		}
		for _, side := range key.sides {
			values = min(values, relation.MaxDistinct(side.dtype))
		}
		most = min(most*values, math.MaxUint32)
	}
	return most
}

// specimenOrder numbers the rows of a side, so that rows of equal numbers are partners. The rows of the first half
// of the side with fewer rows have one or, unless the other side is unique, several; the others have none.
func specimenOrder(side relation.Side, s *SpecimenSide, others int) (numbers []int) {
	shared := max(1, min(s.Rows, others)/2)
	for row := range s.Rows {
		switch {
		case row < (s.Rows+1)/2 && !s.Unique:
			row %= shared
		case row >= shared && side == relation.Right:
			row += others
		}
		numbers = append(numbers, row)
	}
	return numbers
}

// spread is the difference of the code of a row to the least code of key k: rows of consecutive numbers are spread over
// the bits of the key.
func (p *Plan) spread(k, row int) uint64 {
	code := uint64(row) * 0x9e3779b97f4a7c15
	if bits := p.keys[k].bits; bits < 64 && !p.hashed {
		code &= 1<<bits - 1
	}
	return code
}

// number is the stored number that has a code: the inverse of a coding where there is one, otherwise the code itself.
func (c coding) number(code uint64, floatBits int) uint64 {
	float := float64(int64(code))
	switch {
	case c.method == methodScale && c.factor > 1:
		return uint64(int64(code) / int64(c.factor))
	case c.method == methodWhole:
		return code * c.factor
	case c.method == methodRank && c.domain == domainFloat32:
		float = float64(floatOf32(int64(code)))
	case c.method == methodRank:
		float = floatOf64(int64(code))
	case c.method != methodIntegral:
		return code
	}
	switch floatBits {
	case 64:
		return math.Float64bits(float)
	case 32:
		return uint64(math.Float32bits(float32(float)))
	}
	return code
}

// allButLast selects all rows but the last.
func allButLast(rows int) *selection {
	blocks := (rows + relation.BlockRows - 1) / relation.BlockRows
	s := &selection{words: make([]uint64, (rows+63)/64), blocks: make([]uint64, blocks+1), nulls: 1}
	fill(s.words, rows)
	s.words[(rows-1)/64] &^= 1 << ((rows - 1) % 64)
	for block := range blocks {
		s.blocks[block+1] = uint64(min(rows-1, (block+1)*relation.BlockRows))
	}
	return s
}
