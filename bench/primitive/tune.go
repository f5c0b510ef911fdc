package primitive

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/primitive"
)

//go:embed candidates/*.json
var candidateFiles embed.FS

// candidateRow spans the candidates of a class of devices: every combination of the settings. Backend restricts them to
// the devices of one backend; "": any.
type candidateRow struct {
	Device   string              `json:"device"`
	Backend  string              `json:"backend"`
	Settings map[string][]uint32 `json:"settings"`
}

// Candidates returns the configurations to measure for a problem, without those that are not valid on the device.
// ErrInvalidInput for a table without candidates.
func Candidates(p Problem, info *backend.DeviceInfo) ([]backend.Config, error) {
	rows, err := candidateRows(p.Table)
	if err != nil {
		return nil, err
	}
	var valid []backend.Config
	for _, row := range rows {
		if row.Device != primitive.DeviceClass(info) || row.Backend != "" && row.Backend != info.Backend {
			continue
		}
		for _, config := range row.combinations() {
			if p.row(config).Check(info) == nil {
				valid = append(valid, config)
			}
		}
	}
	return valid, nil
}

func candidateRows(table string) (rows []candidateRow, err error) {
	text, err := candidateFiles.ReadFile("candidates/" + table + ".json")
	if err != nil {
		return nil, fmt.Errorf("%w: nothing to tune in %q; there are %s", backend.ErrInvalidInput, table,
			strings.Join(Tuned(), ", "))
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		return nil, fmt.Errorf("candidates of %s: %w", table, err)
	}
	return rows, nil
}

func (r *candidateRow) combinations() []backend.Config {
	all := []backend.Config{{}}
	for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
		var longer []backend.Config
		for _, config := range all {
			for _, value := range r.Settings[name] {
				c := maps.Clone(config)
				c[name] = value
				longer = append(longer, c)
			}
		}
		all = longer
	}
	return all
}

// Tuned returns the tables that can be tuned, sorted.
func Tuned() (tables []string) {
	for _, b := range Benchmarks() {
		if b.tunes {
			tables = append(tables, b.Table)
		}
	}
	slices.Sort(tables)
	return tables
}

// Problem is the tuning of one row of a table: the case to measure, and the variant of the row. What is found applies to
// the numbers of rows to which the row applied that it replaces.
type Problem struct {
	Case
	Table   string
	Variant backend.Config
}

// row is an override by a configuration for the problem's variant.
func (p *Problem) row(config backend.Config) primitive.Tuning {
	return primitive.Tuning{p.Table: {{Variant: p.Variant, Config: config}}}
}

// Problems returns one problem for every variant of the tables, or of all tables if none is named.
func Problems(tables []string, rows uint64) (problems []Problem, err error) {
	for _, table := range tables {
		if !slices.Contains(Tuned(), table) {
			return nil, fmt.Errorf("%w: nothing to tune in %q; there are %s", backend.ErrInvalidInput, table,
				strings.Join(Tuned(), ", "))
		}
	}
	for _, b := range Benchmarks() {
		if !b.tunes || len(tables) > 0 && !slices.Contains(tables, b.Table) {
			continue
		}
		cases, err := Cases(Axes{Names: []string{b.Name}, Rows: []uint64{rows}})
		if err != nil {
			return nil, err
		}
		for _, c := range cases {
			problems = append(problems, Problem{c, b.Table, b.variant(c.Key, c.Payload)})
		}
	}
	return problems, nil
}

// Trial is a measured candidate; one with a Fault was refused, and has no times.
type Trial struct {
	Result
	Fault error
}

// Choice is the outcome of tuning. Trials are sorted by median, refused ones last.
type Choice struct {
	Problem
	MinRows, MaxRows uint64 // as in [primitive.TuningRow]

	Present Trial // the configuration in force, measured again after all others if another was faster
	Best    Trial // the fastest, measured again with it
	Better  bool  // the best beats the present one by more than the spread of either
	Trials  []Trial
}

// Tune measures the present configuration of a problem, which is the rig's, and the candidates, each verified before it
// is timed. A candidate that gives a wrong answer or does not build is refused; if the present configuration does, Tune
// returns the error. progress receives the number of configurations done and their total, and may be nil. A lost device
// ends the run.
func (r *Rig) Tune(ctx context.Context, p Problem, candidates []backend.Config,
	progress func(done, total int)) (Choice, error) {
	choice := Choice{Problem: p}
	measure := func(config backend.Config) (trial Trial) {
		other, err := r.With(p.row(config))
		if err == nil {
			trial.Result, err = other.Measure(ctx, p.Case)
		}
		trial.Config, trial.Fault = config, err
		return trial
	}
	if _, err := r.CopyRate(ctx); err != nil {
		return choice, err
	}
	replaced := r.ops.Tuning().Row(p.Table, p.Variant, p.Rows)
	choice.MinRows, choice.MaxRows = replaced.MinRows, replaced.MaxRows
	present := replaced.Config
	all := append([]backend.Config{present},
		slices.DeleteFunc(slices.Clone(candidates), func(c backend.Config) bool { return maps.Equal(c, present) })...)
	for i, config := range all {
		if progress != nil {
			progress(i, len(all))
		}
		trial := measure(config)
		if trial.Fault != nil && (i == 0 || !refusable(trial.Fault)) {
			return choice, trial.Fault
		}
		choice.Trials = append(choice.Trials, trial)
	}
	choice.Present = choice.Trials[0]
	slices.SortStableFunc(choice.Trials, compareTrials)
	choice.Best = choice.Trials[0]
	if beats(&choice.Best, &choice.Present) { // the luckiest of many is measured too fast: once more, side by side
		again := [2]Trial{measure(choice.Present.Config), measure(choice.Best.Config)}
		for _, trial := range again {
			if trial.Fault != nil {
				return choice, trial.Fault
			}
		}
		choice.Present, choice.Best = again[0], again[1]
		choice.Better = beats(&choice.Best, &choice.Present)
	}
	return choice, nil
}

// refusable reports whether an error is the fault of a candidate, and the next one may be measured.
func refusable(err error) bool {
	for _, sentinel := range []error{measure.ErrWrong, backend.ErrInvalidInput, backend.ErrUnsupported,
		backend.ErrLimit, backend.ErrDeviceMemory, backend.ErrHostMemory} {
		if errors.Is(err, sentinel) {
			return !errors.Is(err, backend.ErrDeviceLost)
		}
	}
	return false
}

func compareTrials(a, b Trial) int {
	switch {
	case a.Fault == nil && b.Fault != nil:
		return -1
	case a.Fault != nil && b.Fault == nil:
		return 1
	}
	return cmp.Compare(a.Times.Median, b.Times.Median)
}

// beats reports whether a is faster than b by more than the spread of either.
func beats(a, b *Trial) bool {
	return b.Times.Median-a.Times.Median > max(a.Times.Spread, b.Times.Spread)
}

// UserRow returns the row of the user's tuning file for a choice, with its measurement.
func (c *Choice) UserRow(info *backend.DeviceInfo, day string) primitive.UserRow {
	return primitive.UserRow{Device: info.Name, Backend: info.Backend, Driver: info.Driver,
		DriverVersion: info.DriverVersion,
		Primitive:     c.Table, Variant: c.Variant, MinRows: c.MinRows, MaxRows: c.MaxRows, Config: c.Best.Config,
		Measured: fmt.Sprintf("%s, %v: median %v, spread %v of %d runs; %v took %v, spread %v",
			day, c.Case, c.Best.Times.Median, c.Best.Times.Spread, c.Best.Times.Runs, c.Present.Config,
			c.Present.Times.Median, c.Present.Times.Spread)}
}

// Revise updates the rows of a tuning file with a choice: a better configuration replaces the row of its device, table,
// variant and bounds; otherwise that row stays if it still applies, and is removed if it does not, as after a change of
// driver. Other rows are unchanged.
func (c *Choice) Revise(rows []primitive.UserRow, info *backend.DeviceInfo, day string) []primitive.UserRow {
	revised := slices.DeleteFunc(slices.Clone(rows), func(r primitive.UserRow) bool {
		if !r.IsFor(info) || r.Primitive != c.Table || !maps.Equal(r.Variant, c.Variant) ||
			r.MinRows != c.MinRows || r.MaxRows != c.MaxRows {
			return false
		}
		_, problems := primitive.UserTuning([]primitive.UserRow{r}, info)
		return c.Better || len(problems) > 0
	})
	if c.Better {
		revised = append(revised, c.UserRow(info, day))
	}
	return revised
}
