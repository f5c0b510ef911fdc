package deliver

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Order is the sink that keeps the row numbers of all windows on the device and delivers them in order, at the end: by
// the row number of one table, then by that of the other. What a row is not of comes last. All columns are fetched by
// the host.
type Order struct {
	*Rows
	First relation.Side // the table whose order rows are in

	windows []*operator.Window
	rows    uint64
}

// Window returns an empty window.
func (o *Order) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	return o.Rows.Window(ctx, rows)
}

// Put keeps a window.
func (o *Order) Put(_ context.Context, w *operator.Window) error {
	o.windows = append(o.windows, w)
	o.rows += w.Rows
	return nil
}

// End delivers all rows.
//
// Errors: backend.ErrLimit for more rows than a column can have; those of the device.
func (o *Order) End(ctx context.Context) error {
	if o.rows == 0 {
		return nil
	}
	if err := primitive.CheckRows("order rows", o.rows); err != nil {
		return err
	}
	lane := o.Lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	numbers, err := o.collect(ctx, lane)
	if err != nil {
		return err
	}
	for _, by := range []relation.Side{1 - o.First, o.First} { // a radix sort is stable
		if numbers, err = o.sort(ctx, lane, numbers, by); err != nil {
			return err
		}
	}
	for first := uint64(0); first < o.rows; first += o.PieceRows {
		rows := min(o.PieceRows, o.rows-first)
		p := &Piece{Rows: uint32(rows), ordered: true, arrays: make([]arrow.Array, len(o.Columns))}
		for side := range p.Numbers {
			p.of[side] = o.of(side)
			p.Numbers[side] = make([]uint32, rows)
			if err := lane.Download(ctx, backend.AsBytes(p.Numbers[side]), numbers[side].Range(first*4,
				rows*4)); err != nil {
				return err
			}
		}
		if err := o.Out.Put(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// of tells whether rows can be of a side.
func (o *Order) of(side int) bool {
	for s, table := range o.Sides {
		if int(table) == side {
			return o.Numbers[s] >= 0
		}
	}
	return false
}

// collect puts the row numbers of all windows behind one another. Rows that are not of a table have no number there or,
// where rows are of one table alone and have a partner, number 0.
func (o *Order) collect(ctx context.Context, lane *exec.Lane) (numbers [2]*backend.Buffer, err error) {
	for side := range numbers {
		numbers[side] = lane.Memory.New(o.rows*4, "row numbers")
	}
	if err := lane.Memory.Err(); err != nil {
		return numbers, err
	}
	at := uint64(0)
	for _, w := range o.windows {
		list := lane.List("order")
		for s, table := range o.Sides {
			to := numbers[table].Range(at*4, w.Rows*4)
			switch {
			case w.Of[s]:
				list.Copy(to, w.Payload[s][o.Numbers[s]].Range(0, w.Rows*4))
			case w.Matched:
				list.Fill(to, 0)
			default:
				list.Fill(to, relation.NoRow)
			}
		}
		if err := lane.Submit(ctx, list); err != nil {
			return numbers, err
		}
		w.Release()
		at += w.Rows
	}
	o.windows = nil
	return numbers, nil
}

// sort sorts pairs of row numbers by those of one table.
func (o *Order) sort(ctx context.Context, lane *exec.Lane, numbers [2]*backend.Buffer,
	by relation.Side) ([2]*backend.Buffer, error) {
	p, err := primitive.PlanSort(lane.Tuning(), primitive.Sort{EndBit: 32, Varying: 1<<32 - 1,
		Layout: primitive.Layout{Rows: o.rows, KeyBytes: 4, Payload: primitive.Given, PayloadBytes: 4, Columns: 1}})
	if err != nil {
		return numbers, err
	}
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	scratch := temporary.New(p.ScratchBytes, "scratch")
	own := [2]*backend.Buffer{lane.Memory.New(o.rows*4, "row numbers"), lane.Memory.New(o.rows*4, "row numbers")}
	if err := lane.Memory.Err(); err != nil {
		return numbers, err
	}
	if err := temporary.Err(); err != nil {
		return numbers, err
	}
	columns := func(of [2]*backend.Buffer) primitive.Columns {
		return primitive.Columns{Keys: of[by].All(), Payload: []backend.Range{of[1-by].All()}}
	}
	buffers := [2]primitive.Columns{columns(numbers), columns(own)}
	list := lane.List("order")
	if err := lane.Sort(list, p, scratch.All(), buffers[0], buffers); err != nil {
		return numbers, err
	}
	if err := lane.Submit(ctx, list); err != nil {
		return numbers, err
	}
	result, other := numbers, own
	if p.Result() == 1 {
		result, other = own, numbers
	}
	lane.Memory.Release(other[:]...)
	return result, nil
}

// Close releases what is left.
func (o *Order) Close() {
	for _, w := range o.windows {
		w.Release()
	}
	o.Rows.Close()
}
