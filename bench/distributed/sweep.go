package distributed

import (
	"context"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
)

// Sweep is what the command prints.
type Sweep struct {
	Figures        []Figure
	NetworkMessage float64 // seconds that a message between nodes costs a GPU
	Seed           uint64  // of columns whose bytes are counted, and of tables that are joined
	CSV            string  // path of a file for the results; empty: none
	Command        string  // recorded in the file

	Ranks int   // of this process that join tables; only for Run
	Rows  int64 // of the left table

	counted map[counting]schemes
}

// MostRanks is the maximum of [Sweep.Ranks].
const MostRanks = 64

// modelled is the device of results that were not measured.
var modelled = &backend.DeviceInfo{Name: "model", Backend: "none"}

// Predict prints the figures. It measures nothing, and needs no device.
func (s Sweep) Predict(ctx context.Context, out measure.Output) error {
	file, err := measure.Create(s.CSV, s.Command, modelled, fileColumns)
	if err != nil {
		return err
	}
	defer file.Abort()
	for i, f := range s.Figures {
		if err := ctx.Err(); err != nil {
			return backend.ContextError(ctx)
		}
		if i > 0 {
			out.Println("")
		}
		out.Enter(f.Name)
		out.Println(measure.TitleLine(f.Name, f.Title, 0))
		if f.print != nil {
			f.print(&s, out, file)
			continue
		}
		table := newTable()
		out.Println(table.Head())
		for _, p := range f.points(&s) {
			out.Println(table.Line(&p, nil, p.details()))
			p.add(file, f.Name)
		}
		if f.after != nil {
			out.Println(f.after(&s))
		}
	}
	return file.Commit(ctx)
}

// Run joins tables on ranks of this process, which share a device, and compares what they send with the forecasts.
// Errors: measure.ErrWrong if they differ; those of joins.
func (s Sweep) Run(ctx context.Context, device *backend.Device, user primitive.Tuning, out measure.Output) error {
	ops, err := primitive.New(device, user)
	if err != nil {
		return err
	}
	file, err := measure.Create(s.CSV, s.Command, device.Info(), fileColumns)
	if err != nil {
		return err
	}
	defer file.Abort()
	e := engine.NewEngine(ops, &offheap.Shared, 0)
	defer e.Close()
	out.Println(fmt.Sprintf("%s; %s, %s rows on the left", measure.DeviceText(device.Info()),
		text.Plural(s.Ranks, "rank"), text.Rows(uint64(s.Rows))))
	table := newLocalTable()
	out.Println(table.Head())
	for i := range localCases {
		c := &localCases[i]
		out.Enter(c.name)
		r, err := c.run(ctx, e, s.Ranks, s.Rows, s.Seed)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		out.Println(table.Line(r, nil, ""))
		if err := r.check(); err != nil {
			return err
		}
		r.add(file, s.Ranks, s.Rows)
	}
	return file.Commit(ctx)
}
