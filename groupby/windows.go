package groupby

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/relation"
)

// Windows is a group-by of the rows of a join on the devices that make them. Each table brings, as payload, one column
// of key codes and the columns that aggregates need. A window of joined rows is then a chunk of a group-by:
//
//	left table    codes of its keys, values ─┐                 codes of both: left << bits | right
//	                                         ├─► join ─► window ─► reduce.Operator ─► groups with keys, to the host
//	right table   codes of its keys, values ─┘
//
// Rows of both tables, of the left one and of the right one are grouped apart, because some keys and values of the
// latter are NULL. These groups, and the groups of several devices and tasks, are partial groups, which are merged as
// the groups of the parts of a stream are.
type Windows struct {
	layout  *Layout
	origin  func(column string) Origin
	program *program
}

// Origin says where a column of joined rows comes from.
type Origin struct {
	Role  deliver.Role
	Of    [2]string     // the column of each table that gives it; "" if none does
	First relation.Side // which gives the value if both do
}

// side is the side that gives the column to rows with these sides; false if none does.
func (o *Origin) side(of [2]bool) (relation.Side, bool) {
	for _, side := range []relation.Side{o.First, 1 - o.First} {
		if of[side] && o.Of[side] != "" {
			return side, true
		}
	}
	return 0, false
}

// ErrUnfit is the error of tables whose rows cannot be grouped in windows: the codes of their keys would have more than
// 64 bits, or would take the host too long.
var ErrUnfit = errors.New("keys have no short codes, so rows are grouped on the host")

// ErrMany is the error of a join that has more rows than [Engine.Consume] was to group.
var ErrMany = errors.New("the join has more rows than were expected")

// NewWindows returns nil if rows must come to the host: for first values, least and greatest texts, and different
// values. origin is asked for columns of the layout.
func NewWindows(l *Layout, origin func(column string) Origin) *Windows {
	none := l.tableOf(nil)
	defer none.Release()
	p := lower(l, none, true)
	if len(p.picks) > 0 || len(l.distinct) > 0 {
		return nil
	}
	for _, v := range p.values {
		if origin(v.column).Role != deliver.Values {
			return nil
		}
	}
	return &Windows{l, origin, p}
}

// Fixed reports whether all keys that a side gives have fixed widths. Other keys may turn out to be unfit, after a side
// that is a stream was read in vain.
func (w *Windows) Fixed(side relation.Side) bool {
	return !slices.ContainsFunc(w.layout.Spec.By, func(name string) bool {
		return w.origin(name).Of[side] != "" && relation.WordBits(w.layout.types[name]) == 0
	})
}

// Sure reports whether the rows of any tables can be grouped: if one side gives all keys, of fixed widths and together
// 64 bits.
func (w *Windows) Sure() bool {
	var bits [2]int
	for _, name := range w.layout.Spec.By {
		for side, of := range w.origin(name).Of {
			if of != "" {
				bits[side] += relation.WordBits(w.layout.types[name])
			}
		}
	}
	for _, v := range w.program.values {
		if of := w.origin(v.column).Of; of[0] != "" && of[1] != "" { // perhaps of different types
			return false
		}
	}
	return w.Fixed(relation.Left) && w.Fixed(relation.Right) && min(bits[0], bits[1]) == 0 && max(bits[0], bits[1]) <= 64
}

// Consume groups the rows that join, which is called once, gives a consumer. The caller closes the result. Errors: the
// errors of join; ErrUnfit unless sure is set, which needs [Windows.Sure]; ErrMany if more rows than most come, unless
// most is 0; as for [Engine.Stream].
func (e *Engine) Consume(ctx context.Context, windows *Windows, sure bool, most uint64,
	join func(context.Context, deliver.Consumer) error) (*Result, error) {
	return e.begin(ctx, windows.layout, nil, func(ctx context.Context, w *work) error {
		s := w.stream(windows.layout)
		s.main = &partials{streaming: s, by: windows.layout.Spec.By, program: windows.program}
		if err := join(ctx, &consumer{Windows: windows, Engine: e, stream: s, sure: sure, most: most}); err != nil {
			return err
		}
		w.result.windows = true
		return s.finish(ctx)
	})
}

// Consumer returns a consumer that keeps no rows, for plans.
func (e *Engine) Consumer(windows *Windows) deliver.Consumer {
	return &consumer{Windows: windows, Engine: e}
}

// consumer is the deliver.Consumer of a group-by.
type consumer struct {
	*Windows
	*Engine
	stream *streaming // nil: no rows are kept
	sure   bool       // it must not end with ErrUnfit
	most   uint64     // rows that may come; 0: any number
	came   atomic.Uint64

	mu   sync.Mutex // guards what follows, and the stream
	bits [2]int     // of the codes of each side
}

// Open implements deliver.Consumer.
func (c *consumer) Open(room deliver.Room) deliver.WindowSink {
	return &windowSink{Room: room, consumer: c, of: make(map[shape]*reducing)}
}

// Rehearsal implements deliver.Consumer.
func (c *consumer) Rehearsal() deliver.Consumer { return c.Consumer(c.Windows) }

// Kept implements deliver.Consumer.
func (c *consumer) Kept() uint64 {
	if c.stream == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stream.rows
}

// keep adds groups to the partial groups. rows is the number of joined rows in them.
func (c *consumer) keep(ctx context.Context, g *groups, rows uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stream.rows += rows
	return c.stream.main.add(ctx, g)
}
