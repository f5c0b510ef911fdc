package deliver

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/relation/take"
)

// Role tells what an output column is made of.
type Role uint8

const (
	Values    Role = iota // values of input columns
	Indicator             // text: "both", "left_only" or "right_only"
	Mark                  // boolean: whether the row has a partner
)

// Column describes a column of the output. Its sides are sides of the tables, not of the operator.
type Column struct {
	Role Role
	Name string
	Type arrow.DataType
	// Of tells where the values come from, for rows of each side; nil if that side has none, so that the column is NULL
	// in rows of that side alone. In rows of both sides, the value comes from side First if that has one.
	Of    [2]*Value
	First int
}

// Value tells where the values of one side come from.
type Value struct {
	Column *arrow.Chunked
	Words  *relation.WordColumn // in the payload of windows; nil if the host fetches values by row number
}

// side returns the side that gives the values of rows of the sides of; -1 if none does.
func (c *Column) side(of [2]bool) int {
	for _, side := range []int{c.First, 1 - c.First} {
		if of[side] && c.Of[side] != nil {
			return side
		}
	}
	return -1
}

// Piece is a part of the output on its way to the consumer: columns that came from the device, and row numbers for the
// columns that the host fetches. The owner releases it.
type Piece struct {
	Rows    uint32
	Numbers [2][]uint32 // row numbers of each side; nil if they are not needed
	First   [2]uint64   // the row of each side that has number 0 in Numbers
	Columns []Column    // of the output

	part    arrow.Table // the table of Columns, which the piece keeps alive; may be nil
	of      [2]bool
	matched bool
	ordered bool          // row numbers may be take.NoRow, for rows without a row of that side
	arrays  []arrow.Array // by column; nil if the host fetches it
}

// Release releases the columns, and the table that they come from. Safe to call again.
func (p *Piece) Release() {
	if p.part != nil {
		p.part.Release()
		p.part = nil
	}
	relation.ReleaseAll(p.arrays)
	p.arrays = nil
}

// hold makes the piece keep a table alive; nil is allowed.
func (p *Piece) hold(part arrow.Table) {
	if p.part = part; part != nil {
		part.Retain()
	}
}

// slice returns the rows [from, to) of a piece as a new piece, which the caller releases.
func (p *Piece) slice(from, to uint32) *Piece {
	part := *p
	part.Rows, part.arrays = to-from, make([]arrow.Array, len(p.arrays))
	part.hold(p.part)
	for side, numbers := range p.Numbers {
		if numbers != nil {
			part.Numbers[side] = numbers[from:to]
		}
	}
	for i, a := range p.arrays {
		if a != nil {
			part.arrays[i] = array.NewSlice(a, int64(from), int64(to))
		}
	}
	return &part
}

// Batches completes the columns of a piece and yields it as a record batch, which the receiver releases. It yields
// several batches if the text is too long for one array. It reports whether the receiver wants more; an error is
// yielded last.
func (p *Piece) Batches(ctx context.Context, schema *arrow.Schema, allocator memory.Allocator,
	yield func(arrow.RecordBatch, error) bool) (more bool) {
	arrays := make([]arrow.Array, len(p.Columns))
	defer relation.ReleaseAll(arrays)
	for i := range p.Columns {
		var err error
		if p.arrays[i] != nil {
			p.arrays[i].Retain()
			arrays[i] = p.arrays[i]
		} else {
			arrays[i], err = p.fetch(ctx, &p.Columns[i], allocator)
		}
		if errors.Is(err, relation.ErrBatchTooLarge) && p.Rows > 1 {
			for _, bounds := range [2][2]uint32{{0, p.Rows / 2}, {p.Rows / 2, p.Rows}} {
				half := p.slice(bounds[0], bounds[1])
				more = half.Batches(ctx, schema, allocator, yield)
				half.Release()
				if !more {
					return false
				}
			}
			return true
		}
		if err != nil {
			return yield(nil, err) && false
		}
	}
	return yield(array.NewRecordBatch(schema, arrays, int64(p.Rows)), nil)
}

// fetch makes a column on the host that did not come from the device. The caller releases it.
func (p *Piece) fetch(ctx context.Context, c *Column, allocator memory.Allocator) (arrow.Array, error) {
	switch {
	case c.Role == Indicator:
		return p.indicator(allocator), nil
	case c.Role == Mark:
		return p.mark(allocator), nil
	}
	var values arrow.Array
	var err error
	side := c.side(p.of)
	switch {
	case side < 0:
		return relation.Nulls(c.Type, int(p.Rows), allocator)
	case !p.ordered:
		values, err = take.Rows(ctx, c.Of[side].Column, p.Numbers[side], allocator)
	case c.Of[1-side] == nil:
		values, err = take.Nullable(ctx, c.Of[side].Column, p.Numbers[side], allocator)
	default:
		return p.either(ctx, c, allocator)
	}
	if err != nil {
		return nil, err
	}
	defer values.Release()
	return p.convert(ctx, values, c, side, p.Numbers[side], allocator)
}

// convert gives values of a side the type of a column. numbers are their row numbers, for the error; nil if unknown.
func (p *Piece) convert(ctx context.Context, values arrow.Array, c *Column, side int, numbers []uint32,
	allocator memory.Allocator) (arrow.Array, error) {
	converted, err := keys.Convert(ctx, values, c.Type, allocator)
	beyond := new(keys.BeyondError)
	if !errors.As(err, &beyond) {
		return converted, err
	}
	row := "a row"
	if numbers != nil {
		row = fmt.Sprintf("row %d", p.First[side]+uint64(numbers[beyond.Row]))
	}
	return nil, &backend.OpError{Op: "join", Err: backend.ErrUnsupported, Detail: fmt.Sprintf(
		"column %q has type %s, and %s of the %s table has %s of type %s, which does not fit; set separate_keys, or cast "+
			"the keys to one type", c.Name, c.Type, row, relation.Side(side), beyond.Value, values.DataType())}
}

// either takes each value from the first of both sides that the row has. It gathers the values of each side, and then
// both in the order of the rows.
func (p *Piece) either(ctx context.Context, c *Column, allocator memory.Allocator) (arrow.Array, error) {
	sides := [2]int{c.First, 1 - c.First}
	var numbers [2][]uint32 // rows whose values come from each side
	for i, first := range p.Numbers[sides[0]] {
		if first != take.NoRow {
			numbers[0] = append(numbers[0], first)
		} else {
			numbers[1] = append(numbers[1], p.Numbers[sides[1]][i])
		}
	}
	taken := make([]arrow.Array, len(sides))
	defer relation.ReleaseAll(taken)
	for i, side := range sides {
		values, err := take.Rows(ctx, c.Of[side].Column, numbers[i], allocator)
		if err != nil {
			return nil, err
		}
		taken[i], err = p.convert(ctx, values, c, side, numbers[i], allocator)
		values.Release()
		if err != nil {
			return nil, err
		}
	}
	both := arrow.NewChunked(c.Type, taken)
	defer both.Release()
	next := [2]uint32{0, uint32(len(numbers[0]))}
	places := make([]uint32, p.Rows)
	for i, first := range p.Numbers[sides[0]] {
		of := 0
		if first == take.NoRow {
			of = 1
		}
		places[i] = next[of]
		next[of]++
	}
	return take.Rows(ctx, both, places, allocator)
}

// IndicatorText is the value of an indicator column in a row that has rows of these sides.
func IndicatorText(of [2]bool) string {
	switch of {
	case [2]bool{true, false}:
		return "left_only"
	case [2]bool{false, true}:
		return "right_only"
	}
	return "both"
}

func (p *Piece) indicator(allocator memory.Allocator) arrow.Array {
	b := array.NewStringBuilder(allocator)
	defer b.Release()
	b.Reserve(int(p.Rows))
	for i := range int(p.Rows) {
		of := p.of
		for side := range of {
			of[side] = of[side] && (!p.ordered || p.Numbers[side][i] != take.NoRow)
		}
		b.Append(IndicatorText(of))
	}
	return b.NewArray()
}

func (p *Piece) mark(allocator memory.Allocator) arrow.Array {
	b := array.NewBooleanBuilder(allocator)
	defer b.Release()
	b.Reserve(int(p.Rows))
	for i := range int(p.Rows) {
		matched := p.matched
		if p.ordered {
			matched = p.Numbers[p.other()][i] != take.NoRow
		}
		b.UnsafeAppend(matched)
	}
	return b.NewArray()
}

// other returns the other side in an ordered mark join: its row numbers tell whether a row has a partner.
func (p *Piece) other() int {
	if p.of[0] {
		return 1
	}
	return 0
}
