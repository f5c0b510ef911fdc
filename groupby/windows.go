package groupby

import (
	"context"
	"errors"
	"sync"

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

// ErrUnfit is the error of tables whose rows cannot be grouped in windows: codes of keys would have more than 64 bits, or
// would take the host too long.
var ErrUnfit = errors.New("keys have no short codes, so rows are grouped on the host")

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

// Sure reports whether the rows of any tables can be grouped: if one side gives all keys, which have fixed widths.
func (w *Windows) Sure() bool {
	var gives [2]bool
	for _, name := range w.layout.Spec.By {
		for side, of := range w.origin(name).Of {
			gives[side] = gives[side] || of != ""
		}
		if relation.WordBits(w.layout.types[name]) == 0 && w.origin(name).Role == deliver.Values {
			return false
		}
	}
	for _, v := range w.program.values {
		if of := w.origin(v.column).Of; of[0] != "" && of[1] != "" { // perhaps of different types
			return false
		}
	}
	return gives != [2]bool{true, true}
}

// Consume groups the rows that join, which is called once, gives a consumer. The caller closes the result. Errors: those
// of join; ErrUnfit unless sure is set, which needs [Windows.Sure]; as for [Engine.Stream].
func (e *Engine) Consume(ctx context.Context, windows *Windows, sure bool,
	join func(context.Context, deliver.Consumer) error) (*Result, error) {
	return e.begin(ctx, windows.layout, nil, func(ctx context.Context, w *work) error {
		s := w.stream(windows.layout)
		s.main = &partials{streaming: s, by: windows.layout.Spec.By, program: windows.program}
		if err := join(ctx, &consumer{Windows: windows, stream: s, sure: sure}); err != nil {
			return err
		}
		w.result.windows = true
		return s.finish(ctx)
	})
}

// Consumer returns a consumer that says what tables bring, for a plan that does not run.
func (w *Windows) Consumer() deliver.Consumer { return &consumer{Windows: w} }

// consumer is the deliver.Consumer of a group-by.
type consumer struct {
	*Windows
	stream *streaming

	sure   bool // it must not end with ErrUnfit

	mu   sync.Mutex // guards what follows, and the stream
	bits [2]int     // of the codes of each side
}

// Begin implements deliver.Consumer.
func (c *consumer) Begin() deliver.Intake { return &intake{consumer: c} }

// intake has the groups of one query.
type intake struct {
	*consumer
	mu     sync.Mutex // guards what follows
	groups []*groups
	rows   uint64
}

// add adds groups of a lane.
func (in *intake) add(g *groups, rows uint64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.groups, in.rows = append(in.groups, g), in.rows+rows
}

// Keep implements deliver.Intake.
func (in *intake) Keep(ctx context.Context) error {
	in.consumer.mu.Lock()
	defer in.consumer.mu.Unlock()
	for len(in.groups) > 0 {
		g := in.groups[0]
		in.groups = in.groups[1:]
		if err := in.stream.main.add(ctx, g); err != nil {
			return err
		}
	}
	in.stream.rows += in.rows
	return nil
}

// Close implements deliver.Intake.
func (in *intake) Close() {
	for _, g := range in.groups {
		g.release()
	}
	in.groups = nil
}

// Open implements deliver.Intake.
func (in *intake) Open(room deliver.Room) deliver.WindowSink {
	return &windowSink{Room: room, intake: in, of: make(map[shape]*reducing)}
}
