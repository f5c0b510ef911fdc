package deliver

import (
	"cmp"
	"container/heap"
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/take"
)

// Order is the sink that delivers rows in order: by the row number of one table, then by the other's. Rows without a
// row number of a table come last. The device sorts the row numbers of each window in one or several runs. Runs are
// kept on the host and merged at the end (an external merge sort). The host fetches all columns.
//
//	windows   (2,0) (0,1) | (0,0) (1,-)
//	runs      (0,1) (2,0) | (0,0) (1,-)
//	pieces    (0,0) (0,1) (1,-) (2,0)
type Order struct {
	*Rows
	First relation.Side // the table by whose row numbers the output is ordered first

	window *operator.Window // the last window; it is sorted once the operator has released its memory
	runs   []run
}

// run is a sorted list of pairs of row numbers, by table.
type run [2][]uint32

// RunRows is the number of rows for whose run there is always memory, [RunBytes] of it.
const RunRows = 1 << 16

// RunBytes is the device memory to sort a run of this many rows.
func RunBytes(t primitive.Tuning, rows uint64) (sizeBytes uint64, err error) {
	p, err := planRun(t, rows)
	return 4*4*rows + p.ScratchBytes, err
}

func planRun(t primitive.Tuning, rows uint64) (primitive.SortPlan, error) {
	return primitive.PlanSort(t, primitive.Sort{EndBit: 32, Varying: 1<<32 - 1,
		Layout: primitive.Layout{Rows: rows, KeyBytes: 4, Payload: primitive.Given, PayloadBytes: 4, Columns: 1}})
}

// Window sorts the window that was kept, if there is one, and returns an empty window.
func (o *Order) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	if err := o.flush(ctx); err != nil {
		return nil, err
	}
	return o.Rows.Window(ctx, rows)
}

// Put sorts the rows of a window, or keeps the window until End if Last is set.
func (o *Order) Put(ctx context.Context, w *operator.Window) error {
	if o.window = w; o.Last {
		return nil
	}
	return o.flush(ctx)
}

// flush sorts the window that is kept, in runs as long as memory allows.
func (o *Order) flush(ctx context.Context) error {
	w := o.window
	if o.window = nil; w == nil {
		return nil
	}
	defer w.Release()
	need, err := RunBytes(o.Lane.Tuning(), w.Rows)
	if err != nil {
		return err
	}
	need += need / 8 // for fragmentation
	most := w.Rows
	if free := o.Reserve(need); free < need {
		most = max(RunRows, most/2*free/need)
	}
	for first := uint64(0); first < w.Rows; first += most {
		r, err := o.sort(ctx, w, first, min(most, w.Rows-first))
		if err != nil {
			return err
		}
		o.runs = append(o.runs, r)
	}
	return nil
}

// sort returns a run of rows rows of a window, from row first on.
func (o *Order) sort(ctx context.Context, w *operator.Window, first, rows uint64) (sorted run, err error) {
	lane := o.Lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	var numbers [2]*backend.Buffer
	var constant [2]bool // all rows have the same row number of the table
	list := lane.List("order")
	for s, table := range o.Sides {
		to := lane.Memory.New(rows*4, "row numbers")
		if err := lane.Memory.Err(); err != nil {
			return sorted, err
		}
		switch {
		case w.Of[s] && o.Numbers[s] >= 0:
			list.Copy(to.All(), w.Payload[s][o.Numbers[s]].Range(first*4, rows*4))
		case w.Matched: // a partner whose number is not part of the output
			list.Fill(to.All(), 0)
		default:
			list.Fill(to.All(), take.NoRow)
		}
		numbers[table], constant[table] = to, !w.Of[s] || o.Numbers[s] < 0
	}
	if err := lane.Submit(ctx, list); err != nil {
		return sorted, err
	}
	for _, by := range []relation.Side{1 - o.First, o.First} { // a radix sort is stable
		if constant[by] {
			continue
		}
		if numbers, err = o.sortBy(ctx, lane, numbers, rows, by); err != nil {
			return sorted, err
		}
	}
	for side := range sorted {
		sorted[side] = make([]uint32, rows)
		if err := lane.Download(ctx, backend.AsBytes(sorted[side]), numbers[side].All()); err != nil {
			return sorted, err
		}
	}
	return sorted, nil
}

// sortBy sorts pairs of row numbers by the row numbers of one table. The sort is stable.
func (o *Order) sortBy(ctx context.Context, lane *exec.Lane, numbers [2]*backend.Buffer, rows uint64,
	by relation.Side) ([2]*backend.Buffer, error) {
	p, err := planRun(lane.Tuning(), rows)
	if err != nil {
		return numbers, err
	}
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	scratch := temporary.New(p.ScratchBytes, "scratch")
	own := [2]*backend.Buffer{lane.Memory.New(rows*4, "row numbers"), lane.Memory.New(rows*4, "row numbers")}
	if err := cmp.Or(lane.Memory.Err(), temporary.Err()); err != nil {
		return numbers, err
	}
	columns := func(of [2]*backend.Buffer) primitive.Columns {
		return primitive.Columns{Keys: of[by].All(), Payload: []backend.Range{of[1-by].All()}}
	}
	buffers := [2]primitive.Columns{columns(numbers), columns(own)}
	err = lane.Run(ctx, "order", func(list *backend.List) error {
		return lane.Sort(list, p, scratch.All(), buffers[0], buffers)
	})
	if err != nil {
		return numbers, err
	}
	result, other := numbers, own
	if p.Result() == 1 {
		result, other = own, numbers
	}
	lane.Memory.Release(other[:]...)
	return result, nil
}

// End merges the runs and delivers all rows. Errors: device errors, and as for Out.Put.
func (o *Order) End(ctx context.Context) error {
	if err := o.flush(ctx); err != nil {
		return err
	}
	m := merge{runs: o.runs, first: int(o.First)}
	o.runs = nil
	heap.Init(&m)
	for len(m.runs) > 0 {
		numbers := m.next(o.PieceRows)
		p := newPiece(&o.Format, uint32(len(numbers[0])))
		p.Numbers, p.ordered = numbers, true
		for s, table := range o.Sides {
			p.of[table] = o.Numbers[s] >= 0
		}
		if err := o.Out.Put(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// Close releases the memory of the sink.
func (o *Order) Close() {
	o.window.Release()
	o.Rows.Close()
}

// merge is a heap of runs that are not empty, the one with the next row on top.
type merge struct {
	runs  []run
	first int // the table whose row numbers are compared first
}

func (m *merge) Len() int { return len(m.runs) }

func (m *merge) Less(i, j int) bool {
	a, b := &m.runs[i], &m.runs[j]
	return cmp.Or(cmp.Compare(a[m.first][0], b[m.first][0]), cmp.Compare(a[1-m.first][0], b[1-m.first][0])) < 0
}

func (m *merge) Swap(i, j int) { m.runs[i], m.runs[j] = m.runs[j], m.runs[i] }

func (m *merge) Push(any) {}

func (m *merge) Pop() any {
	m.runs = m.runs[:len(m.runs)-1]
	return nil
}

// next removes up to most rows from the runs and returns them.
func (m *merge) next(most uint64) (numbers run) {
	if len(m.runs) == 1 {
		rows := min(most, uint64(len(m.runs[0][0])))
		for side, all := range m.runs[0] {
			numbers[side], m.runs[0][side] = all[:rows:rows], all[rows:]
		}
		if len(m.runs[0][0]) == 0 {
			m.runs = nil
		}
		return numbers
	}
	for len(m.runs) > 0 && uint64(len(numbers[0])) < most {
		top := &m.runs[0]
		for side := range top {
			numbers[side], top[side] = append(numbers[side], top[side][0]), top[side][1:]
		}
		if len(top[0]) == 0 {
			heap.Remove(m, 0)
		} else {
			heap.Fix(m, 0)
		}
	}
	return numbers
}
