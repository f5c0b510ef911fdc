package joins

import (
	"context"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/primitive"
)

// Sweep measures the cells of figures. A figure without a name is one workload.
type Sweep struct {
	Figures    []Figure
	Algorithms []Algorithm // none: as each figure says
	Cell       string      // only cells whose position on the axis contains it
	Scale      int         // rows are divided by 2 to this power; negative: by 2^8 on a CPU, otherwise not
	TPCH       string      // folder of the files for the joins of TPC-H; empty: tables are generated
	Repeat     int
	Warm       time.Duration
	CSV        string // path of a file for the results; empty: none
	Command    string // recorded in the file
}

// Workload returns a figure with one workload. Rows that are 0 are chosen by the device, and by the other side's.
func Workload(c Cell) []Figure { return []Figure{{Cells: []Cell{c}}} }

// cpuScale is the Scale of figures on a CPU.
const cpuScale = 8

// Run measures on a device with the user's rows of its tables, prints a line for each algorithm of a cell, and writes
// the file. What does not fit is skipped; the first wrong answer ends the sweep, and leaves no file.
func (s Sweep) Run(ctx context.Context, device *backend.Device, user primitive.Tuning, out measure.Output) error {
	info := device.Info()
	s.Scale = measure.ScaleOn(info, s.Scale, cpuScale)
	if cell := &s.Figures[0].Cells[0]; s.Figures[0].Name == "" {
		spec := &cell.Spec
		if spec.RRows == 0 {
			spec.RRows = int64(measure.DefaultRows(info))
		}
		if spec.SRows == 0 {
			spec.SRows = 2 * spec.RRows
		}
		if err := cell.Validate(); err != nil {
			return err
		}
	} else if err := s.checkCell(); err != nil {
		return err
	}
	if s.TPCH != "" {
		if err := workload.CheckTPCH(ctx, s.TPCH); err != nil {
			return err
		}
	}
	file, err := measure.Create(s.CSV, s.Command, info, fileColumns)
	if err != nil {
		return err
	}
	defer file.Abort()
	r := &run{Sweep: s, device: device, user: user, out: out, file: file, known: map[string]Result{}}
	out.Println(measure.DeviceText(info))
	for _, figure := range s.Figures {
		if err := r.figure(ctx, figure); err != nil {
			return err
		}
	}
	return file.Commit(ctx)
}

// checkCell returns ErrInvalidInput if no figure has the cell that is asked for.
func (s *Sweep) checkCell() error {
	var places []string
	for _, f := range s.Figures {
		for _, c := range s.scaled(f) {
			places = append(places, f.Axis(c))
		}
	}
	return measure.CheckCell(s.Cell, places)
}

// scaled returns all cells of a figure, with the rows and files of the sweep.
func (s *Sweep) scaled(f Figure) (cells []Cell) {
	for _, c := range f.Cells {
		if c.Query != "" {
			c.Folder = s.TPCH
		}
		cells = append(cells, c.Scaled(s.Scale))
	}
	return cells
}

// run is a sweep under way. Each algorithm of a cell is measured once, whatever the figures that have it.
type run struct {
	Sweep
	device *backend.Device
	user   primitive.Tuning
	out    measure.Output
	file   *measure.File
	known  map[string]Result // by workload and algorithm
}

func (w *run) figure(ctx context.Context, f Figure) error {
	algorithms := w.Algorithms
	if len(algorithms) == 0 {
		var err error
		if algorithms, err = Find(f.Algorithms); err != nil {
			return err
		}
	}
	var cells []Cell
	places := []string{""}
	for _, c := range w.scaled(f) {
		if f.Axis == nil || strings.Contains(f.Axis(c), w.Cell) {
			cells = append(cells, c)
		}
	}
	if len(cells) == 0 {
		return nil
	}
	if f.Axis != nil {
		w.out.Println("\n" + measure.TitleLine(f.Name, f.Title, w.Scale))
		places = nil
		for _, c := range cells {
			places = append(places, f.Axis(c))
		}
	} else {
		w.out.Println(cells[0].String())
	}
	table := newTable(places, algorithms)
	w.out.Println(table.Head())
	for i, c := range cells {
		if err := w.measure(ctx, f.Name, places[i], c, algorithms, table); err != nil {
			return err
		}
	}
	return nil
}

// measure prints a line for each algorithm of a cell.
func (w *run) measure(ctx context.Context, figure, place string, c Cell, algorithms []Algorithm,
	table *measure.Table[line]) error {
	key := func(algorithm string) string { return c.String() + " " + algorithm }
	var unknown []Algorithm
	for _, a := range algorithms {
		if _, known := w.known[key(a.Name)]; !known {
			unknown = append(unknown, a)
		}
	}
	results, err := w.join(ctx, c, unknown)
	if err != nil {
		return err
	}
	for _, r := range results {
		w.known[key(r.Algorithm)] = r
	}
	for _, a := range algorithms {
		r := w.known[key(a.Name)]
		w.out.Println(table.Line(line{place, &r}, r.Skipped, measure.StagesText(r.Stages)))
		r.addTo(w.file, figure, place, c)
	}
	return nil
}

func (w *run) join(ctx context.Context, c Cell, algorithms []Algorithm) (results []Result, err error) {
	if len(algorithms) == 0 {
		return nil, nil
	}
	w.out.Enter("make " + c.String())
	bed, err := NewBed(ctx, w.device, w.user, c)
	if measure.DoesNotFit(err) {
		for _, a := range algorithms {
			results = append(results, Result{Algorithm: a.Name, Skipped: err})
		}
		return results, nil
	}
	if err != nil {
		return nil, err
	}
	defer bed.Release()
	return bed.Measure(ctx, algorithms, w.Repeat, w.Warm, func(what string) { w.out.Enter(what + " " + c.String()) })
}
