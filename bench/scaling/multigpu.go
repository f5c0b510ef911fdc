package scaling

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/endtoend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/primitive"
)

// MultiGPU is a sweep over numbers of devices.
type MultiGPU struct {
	Options
	Devices    []string // names; one that is there twice is opened twice
	Counts     []int    // numbers of devices; none: as each figure says
	Strategies []Strategy
	Algorithm  string // of [join.AlgorithmNames]; empty: the one predicted to be fastest
}

// multiGPUScale is the Scale on a CPU.
const multiGPUScale = 10

// Validate returns ErrInvalidInput for a sweep that cannot be measured.
func (s *MultiGPU) Validate() error {
	for _, n := range s.Counts {
		if n < 1 || n > len(s.Devices) {
			return fmt.Errorf("%w: %d devices are to join, %d are named", backend.ErrInvalidInput, n, len(s.Devices))
		}
	}
	return nil
}

// counts are the numbers of devices that join the cells of a figure, in ascending order.
func (s *MultiGPU) counts(f Figure) (counts []int) {
	switch {
	case len(s.Counts) > 0:
		return slices.Compact(slices.Sorted(slices.Values(s.Counts)))
	case !f.growing:
		return []int{len(s.Devices)}
	}
	for n := range s.Devices {
		counts = append(counts, n+1)
	}
	return counts
}

// multi is a sweep under way.
type multi struct {
	*MultiGPU
	devices []*device
	engines map[int]*engine.Engine  // by the number of their devices
	rates   map[int]*endtoend.Rates // likewise
	out     measure.Output
	file    *measure.File
}

// Run opens the devices, measures, prints a line for each way to join a cell, and writes the file. What does not fit is
// skipped; the first wrong answer ends the sweep, and leaves no file.
func (s MultiGPU) Run(ctx context.Context, open Open, out measure.Output) (err error) {
	if err := s.Validate(); err != nil {
		return err
	}
	m := &multi{MultiGPU: &s, engines: map[int]*engine.Engine{}, rates: map[int]*endtoend.Rates{}, out: out}
	defer func() {
		for _, e := range m.engines {
			e.Close()
		}
		err = errors.Join(err, closeAll(m.devices))
	}()
	for _, name := range s.Devices {
		d, err := open.device(ctx, name, s.DeviceMemoryBytes, 0)
		if err != nil {
			return err
		}
		d.untrace = s.Trace.Device(d.ops.Device())
		m.devices = append(m.devices, d)
	}
	first := m.devices[0].info()
	if err := s.scaled(first, multiGPUScale); err != nil {
		return err
	}
	if m.file, err = measure.Create(s.CSV, s.Command, first, fileColumns); err != nil {
		return err
	}
	defer m.file.Abort()
	for i, d := range m.devices {
		out.Println(fmt.Sprintf("device %d: %s", i+1, measure.DeviceText(d.info())))
	}
	if err := m.prepare(ctx); err != nil {
		return err
	}
	for _, f := range s.Figures {
		if err := m.figure(ctx, f); err != nil {
			return err
		}
	}
	return m.file.Commit(ctx)
}

// prepare opens an engine for each number of devices that joins, and measures the rates of their links together.
func (m *multi) prepare(ctx context.Context) error {
	var counts []int
	for _, f := range m.Figures {
		counts = append(counts, m.counts(f)...)
	}
	slices.Sort(counts)
	counts = slices.Compact(counts)
	m.out.Enter("measure the machine")
	for _, n := range counts {
		m.engines[n] = engineOn(m.devices[:n], 0)
		m.engines[n].Trace = m.Trace
		if err := m.engines[n].Connect(ctx); err != nil {
			return err
		}
		var ops []*primitive.Ops
		for _, d := range m.devices[:n] {
			ops = append(ops, d.ops)
		}
		if m.rates[n] = m.inHostMemory(n); m.rates[n] != nil {
			continue
		}
		var err error
		if m.rates[n], err = measureRates(ctx, ops...); err != nil {
			return err
		}
	}
	printRates(m.out, counts, m.rates)
	return nil
}

// inHostMemory returns the rates of fewer devices, if these are rates of host memory alone, which more of them share;
// nil if they must be measured.
func (m *multi) inHostMemory(n int) *endtoend.Rates {
	for _, d := range m.devices[:n] {
		if !d.info().CPULike() {
			return nil
		}
	}
	for _, rates := range m.rates {
		return rates
	}
	return nil
}

func (m *multi) figure(ctx context.Context, f Figure) error {
	cells, counts := m.cells(f), m.counts(f)
	if len(cells) == 0 {
		return nil
	}
	m.out.Println("\n" + measure.TitleLine(f.Name, f.Title, m.Scale))
	table := newDeviceTable(f, cells)
	m.out.Println(table.Head())
	for _, c := range cells {
		var contenders []*contender
		for _, strategy := range m.Strategies {
			for _, output := range m.Outputs {
				for _, n := range counts {
					contenders = append(contenders, &contender{begin: strategy.begin, engine: m.engines[n],
						Way: Way{Strategy: strategy.Name, Output: output, Algorithm: m.Algorithm, Devices: n,
							DeviceMemoryBytes: m.devices[0].ops.Device().Options().DeviceMemoryBytes}})
				}
			}
		}
		results, err := m.join(ctx, c, contenders, m.devices[:counts[len(counts)-1]])
		if err != nil {
			return err
		}
		var base *line // by the fewest devices
		for i := range results {
			l := newLine(f, c, &results[i], m.rates[results[i].Devices])
			if base != nil && (base.Strategy != l.Strategy || base.Output != l.Output) {
				base = nil
			}
			if base == nil && l.Skipped == nil {
				base = l
			}
			l.base = base
			m.out.Println(l.row(table))
			l.addTo(m.file)
		}
	}
	return nil
}

func (m *multi) join(ctx context.Context, c Cell, contenders []*contender, devices []*device) ([]Result, error) {
	m.out.Enter("make " + c.String())
	b, err := newBed(ctx, c)
	if skips(err) {
		return skipped(contenders, err), nil
	}
	if err != nil {
		return nil, err
	}
	defer b.release()
	return m.measured(ctx, b, contenders, devices, c.String(), m.out)
}

// skipped are the results of contenders whose tables cannot be made.
func skipped(contenders []*contender, err error) (results []Result) {
	for _, c := range contenders {
		results = append(results, Result{Way: c.Way, Skipped: err})
	}
	return results
}
