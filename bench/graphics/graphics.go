// Package graphics repeats the experiments of GARUDA (section 6): joins, group-bys and a histogram by drawing, beside
// the same by kernels. Each result is verified before it is timed. It makes a table and a chart of each figure.
//
// graphics-by-image (the join as in the paper), graphics-build-stack and graphics-probe-stack (fixed orders, figure 11)
// and graphics-unflattened are variants of the join by drawing. phj-um stands for the paper's baseline HCJoin, compute,
// the group-by by kernels, for TGB. auto is the join that the planner chooses among joins by kernels. garuda-3.4.4,
// flattened stacks, is a figure of ours.
//
// The paper has 1 TB of TPC-H and 512 M rows per side in host memory; here data fit a device: SF 10 and up to 2^26
// rows. Its times are from host memory to host memory; here joins are timed on the device, group-bys from and to host
// memory, so figure 9 has no transfer. Experiment 6.2 compares times, in the paper hit rates of a cache. Figures 14 and
// 15 are the same queries on another GPU.
package graphics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
)

// Sweep measures figures.
type Sweep struct {
	Figures []Figure
	Cell    string // only cells whose position on the axis contains it
	Scale   int    // rows are divided by 2 to this power; negative: by 2^8 on a CPU, otherwise not
	TPCH    string // folder of the files of TPC-H; empty: tables are generated
	Repeat  int
	Warm    time.Duration
	Out     string // folder for a CSV file and a chart of each figure, made if missing; empty: none
	Command string // recorded in the files
}

// cpuScale is the Scale on a CPU.
const cpuScale = 8

// Open opens the device that is measured: with a queue for draws, or as other commands open it.
type Open func(ctx context.Context, draws bool) (*backend.Device, primitive.Tuning, error)

// opened is a device as it was opened.
type opened struct {
	device *backend.Device
	user   primitive.Tuning // the user's rows of its tables
	ops    *primitive.Ops
	groups *groupby.Engine
	draws  error // why it does not; nil if it does
}

// Run opens the device twice, because a queue for draws takes half the shared memory from kernels on NVIDIA: draws and
// the planner's choice run on the one with it, kernels on the other. It prints the rates of points and kernels, then a
// line for each method of a cell, and writes the files of each figure, which are begun before anything is measured.
// What does not fit or cannot run is skipped, rates too; the first wrong answer ends the sweep, without the files of
// its figure. ErrInvalidInput if no figure has the cell that is asked for.
func (s Sweep) Run(ctx context.Context, open Open, out measure.Output) (err error) {
	var on [2]*opened
	for i, draws := range []bool{computing: false, drawing: true} {
		device, user, failed := open(ctx, draws)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, device.Close()) }()
		if on[i], failed = newOpened(device, user); failed != nil {
			return failed
		}
	}
	return s.run(ctx, on, out)
}

func newOpened(device *backend.Device, user primitive.Tuning) (*opened, error) {
	ops, err := primitive.New(device, user)
	if err != nil {
		return nil, err
	}
	_, cannot := device.Rasterizer()
	return &opened{device: device, user: user, ops: ops, draws: cannot,
		groups: &groupby.Engine{Engine: query.NewEngine(ops, memory.DefaultAllocator, 0)}}, nil
}

func (s Sweep) run(ctx context.Context, on [2]*opened, out measure.Output) error {
	info := on[drawing].device.Info()
	s.Scale = measure.ScaleOn(info, s.Scale, cpuScale)
	figures, err := s.figures(ctx)
	if err != nil {
		return err
	}
	files, err := s.createFiles(figures, info)
	if err != nil {
		return err
	}
	defer files.end()
	r := &run{Sweep: s, on: on, out: out, known: map[string]Result{}}
	out.Println(measure.DeviceText(info))
	if err := r.rates(ctx); err != nil {
		return err
	}
	for i, figure := range figures {
		if err := r.figure(ctx, figure, &files.of[i]); err != nil {
			return err
		}
	}
	return nil
}

// figures returns the figures with cells that the sweep asks for. Errors: ErrInvalidInput if there are none; as for
// [workload.CheckTPCH].
func (s *Sweep) figures(ctx context.Context) (figures []Figure, err error) {
	var places []string
	for _, f := range s.Figures {
		for _, c := range f.cells {
			places = append(places, c.on(s).place())
		}
		if f = f.on(s); len(f.cells) > 0 {
			figures = append(figures, f)
		}
	}
	if err := measure.CheckCell(s.Cell, places); err != nil || s.TPCH == "" {
		return figures, err
	}
	return figures, workload.CheckTPCH(ctx, s.TPCH)
}

// The openings of a device.
const (
	computing = iota
	drawing
)

// run is a sweep under way. Each method of a cell is measured once, whatever the figures that have it.
type run struct {
	Sweep
	on    [2]*opened
	out   measure.Output
	known map[string]Result // by workload and method
}

// rates measures and prints what decides the outcome: the points that the device draws, beside the keys that its
// kernels count.
func (r *run) rates(ctx context.Context) error {
	r.out.Enter("measure rates")
	on := r.on[drawing]
	if on.draws != nil {
		r.out.Println("points into an image: none, " + text.OneLine(on.draws.Error()))
	} else {
		lane := exec.NewLane(ctx, on.ops, nil)
		defer lane.Memory.ReleaseAll()
		if drawn, err := measureDraws(ctx, lane); measure.DoesNotFit(err) {
			r.out.Println("points into an image: skipped: " + text.OneLine(err.Error()))
		} else if err != nil {
			return err
		} else {
			r.out.Println("points into an image: " + text.Rate(1e9/drawn.pointNs, ""))
			r.out.Println("vertices that fetch a texel: " + text.Rate(1e9/drawn.vertexNs, ""))
		}
	}
	c := histogramCell{keys: uniformKeys, rows: 1 << 24, log2Bins: 20}
	if on.device.Info().CPULike() {
		c.rows, c.log2Bins = 1<<20, 16
	}
	results, err := c.measure(ctx, &run{Sweep: Sweep{Repeat: 3}, on: r.on, out: r.out}, []string{compute})
	if err != nil {
		return err
	}
	rate := ""
	if skipped := results[0].Skipped; skipped != nil {
		rate = "skipped: " + text.OneLine(skipped.Error())
	} else {
		rate = text.Rate(results[0].rate(), "")
	}
	r.out.Println("keys counted by a kernel with atomics: " + rate)
	return nil
}

// figure measures the cells of a figure, which is on the sweep, and writes its files.
func (r *run) figure(ctx context.Context, f Figure, files *figureFiles) error {
	r.out.Println("\n" + f.Name + ": " + f.Title)
	table := newTable(f.cells, f.Methods)
	r.out.Println(table.Head())
	chart := chart{figure: &f, device: measure.DeviceText(r.on[drawing].device.Info())}
	for _, c := range f.cells {
		results, err := r.measure(ctx, c, f.Methods)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", f.Name, c.place(), err)
		}
		chart.add(c.place(), c.about(), results)
		for _, result := range results {
			l := line{c.place(), &result, &results[0]}
			r.out.Println(table.Line(l, result.Skipped, l.details()))
			result.addTo(files.table, f.Name, c)
		}
	}
	return files.commit(ctx, &chart)
}

// measure measures the methods of a cell that are not known yet.
func (r *run) measure(ctx context.Context, c cell, methods []string) (results []Result, err error) {
	key := func(method string) string { return c.String() + " " + method }
	unknown := slices.DeleteFunc(slices.Clone(methods), func(method string) bool {
		_, known := r.known[key(method)]
		return known
	})
	if len(unknown) > 0 {
		r.out.Enter("make " + c.String())
		if results, err = c.measure(ctx, r, unknown); err != nil {
			return nil, err
		}
		for _, result := range results {
			r.known[key(result.Method)] = result
		}
	}
	results = nil
	for _, method := range methods {
		results = append(results, r.known[key(method)])
	}
	return results, nil
}

// cell is a workload: a point of a figure.
type cell interface {
	place() string     // on the axis
	about() string     // what the query is that the place names; empty for other places
	on(s *Sweep) cell  // with the rows and files of a sweep
	fmt.Stringer       // the workload in one line
	inputRows() uint64 // of all inputs, before they are made
	measure(ctx context.Context, r *run, methods []string) ([]Result, error)
}

// Result is a measured method.
type Result struct {
	Method     string
	Chosen     string // algorithm, of the planner's choice
	Rows       uint64 // of all inputs
	OutputRows uint64 // of the join, groups, or bins that are not empty
	measure.Sample
	phases  [3]time.Duration // of a join: transform, match, gather
	Skipped error            // why there are no times
}

// rate is in input rows per second.
func (r *Result) rate() float64 { return float64(r.Rows) / r.Times.Median.Seconds() }

// skipped are results of methods that cannot run.
func skipped(methods []string, why error) (results []Result) {
	for _, method := range methods {
		results = append(results, Result{Method: method, Skipped: why})
	}
	return results
}
