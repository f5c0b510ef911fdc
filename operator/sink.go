package operator

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
)

// Sink takes the output of operators. Sinks may wrap one another. Used by one goroutine at a time.
type Sink interface {
	// Count is called with the number of further output rows as soon as it is known, before output memory grows beyond
	// the first window. An error ends the join.
	Count(ctx context.Context, rows uint64) error
	// Window returns room for rows output rows, or for fewer if memory is short, but for at least one. It waits until
	// there is memory. The operator owns the window until it is put.
	Window(ctx context.Context, rows uint64) (*Window, error)
	// Put takes a window with at least one row, which is filled by work already submitted. The sink then owns the
	// window and releases it, also if it returns an error.
	Put(ctx context.Context, w *Window) error
}

// Window holds output rows on a device. Columns are allocated as they are filled.
type Window struct {
	Rows uint64 // capacity; once the window is put, the number of rows
	// Of says which sides the rows come from: both for pairs, otherwise one. The columns of the other are absent.
	Of [2]bool
	// Matched says that the rows have a partner, whether it is in the output or not.
	Matched bool
	Keys    *backend.Buffer // absent if no keys are wanted
	Payload [2][]*backend.Buffer

	memory  *exec.Scope
	numbers [2]*backend.Buffer // row numbers, to gather the columns that the kernel did not write
}

// NewWindow returns a window without columns. Their memory will come from a separate scope.
func NewWindow(ctx context.Context, lane *exec.Lane, rows uint64) *Window {
	return &Window{Rows: rows, memory: lane.Scope(ctx)}
}

// Release releases the memory of all columns. Safe on nil; a second Release does nothing.
func (w *Window) Release() {
	if w != nil {
		w.memory.ReleaseAll()
	}
}

// column allocates a column of rows values.
func (w *Window) column(rows uint64, bytes int, label string) *backend.Buffer {
	return w.memory.New(rows*uint64(bytes), label)
}

// clear drops all columns, so that the window can be filled anew.
func (w *Window) clear() {
	w.memory.ReleaseAll()
	w.Keys, w.Payload, w.numbers = nil, [2][]*backend.Buffer{}, [2]*backend.Buffer{}
}

// put passes a window with rows rows to the sink.
func (w *Window) put(ctx context.Context, sink Sink, rows uint64) error {
	w.Rows = rows
	w.memory.Release(w.numbers[:]...)
	return sink.Put(ctx, w)
}

// Counter is a sink for operators that only count.
type Counter struct {
	Rows uint64
}

// Count adds rows.
func (c *Counter) Count(_ context.Context, rows uint64) error {
	c.Rows += rows
	return nil
}

// Window must not be called, because a counter takes no rows. It returns backend.ErrInvalidInput.
func (c *Counter) Window(context.Context, uint64) (*Window, error) {
	return nil, &backend.OpError{Op: "count rows", Err: backend.ErrInvalidInput, Detail: "a counter has no windows"}
}

// Put must not be called. It releases the window.
func (c *Counter) Put(_ context.Context, w *Window) error {
	w.Release()
	return &backend.OpError{Op: "count rows", Err: backend.ErrInvalidInput, Detail: "a counter takes no windows"}
}

// Collector is a sink that keeps all windows on the device. The owner releases it.
type Collector struct {
	Counter
	Lane    *exec.Lane
	Windows []*Window
	// Most is the maximum capacity of a window in rows; 0: as many as are requested.
	Most uint64
}

// Window returns an empty window.
func (c *Collector) Window(ctx context.Context, rows uint64) (*Window, error) {
	if c.Most > 0 {
		rows = min(rows, c.Most)
	}
	return NewWindow(ctx, c.Lane, rows), nil
}

// Put keeps a window.
func (c *Collector) Put(_ context.Context, w *Window) error {
	c.Windows = append(c.Windows, w)
	return nil
}

// Release releases all windows.
func (c *Collector) Release() {
	for _, w := range c.Windows {
		w.Release()
	}
	c.Windows = nil
}

// Load fills the window with rows of one side that did not pass through an operator, and puts it. matched says that
// they have a partner. upload writes the payload columns; payload lists their bytes per value. On failure, the window
// is released.
func (w *Window) Load(ctx context.Context, sink Sink, side int, matched bool, rows uint64, payload []int,
	upload func(columns []backend.Range) error) error {
	w.clear()
	w.Of, w.Matched = [2]bool{}, matched
	w.Of[side] = true
	columns := make([]backend.Range, len(payload))
	for i, bytes := range payload {
		column := w.column(rows, bytes, "output")
		w.Payload[side], columns[i] = append(w.Payload[side], column), column.All()
	}
	err := w.memory.Err()
	if err == nil {
		err = upload(columns)
	}
	if err != nil {
		w.Release()
		return err
	}
	return w.put(ctx, sink, rows)
}
