// Package planner compares the planner of joins with measured joins: how often it takes the fastest algorithm, how far
// off its predictions are, and which rates would predict better.
package planner

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
)

// Cell is a workload of primary and foreign keys, joined by several algorithms.
type Cell struct {
	Name  string // the parameters that differ among cells
	Facts operator.Facts
	Want  operator.Want
	Runs  []Run
}

// Run is a join of a cell, measured.
type Run struct {
	Facts     operator.Facts
	Want      operator.Want
	Algorithm operator.Algorithm
	Stages    map[string]time.Duration // device time, by the stages of package operator
	Time      time.Duration            // of all stages
}

// fields are the columns that the file must have. r_payload and s_payload are the bytes of a side's payload columns,
// separated by spaces. stages is name=nanoseconds, separated by semicolons, with the stage names of a profile. Of
// further columns how, joins, multiplicity, self_join, granule_rows and window_rows are read: the kind of join
// ([joins.Want]), inner if absent, and the rows of a key, among others.
var fields = []string{"algorithm", "r_rows", "s_rows", "r_payload", "s_payload", "key_bytes", "match_ratio", "zipf",
	"output_rows", "median_ns", "stages"}

// algorithms are the algorithms of `bench joins` that the planner has, in its order.
var algorithms = []struct {
	name string
	operator.Algorithm
}{
	{"phj-om", hash.Partitioned{}}, {"phj-om-single", hash.Partitioned{OneByOne: true}},
	{"phj-um", hash.Partitioned{Untransformed: true}}, {"hj", hash.Unpartitioned{}},
	{"smj-om", sortmerge.OM}, {"smj-om-single", sortmerge.OMSingle}, {"smj-um", sortmerge.UM},
}

// Read reads the output of `bench joins --csv`: a line for each algorithm of a cell. If figures or files share cells,
// the fastest measurement counts. Times are medians or, with least, the minimum of all runs, to which stages are then
// scaled. Algorithms that the planner does not have, cells that were skipped and sequences of joins are ignored. The
// error is backend.ErrInvalidInput for any other kind of file.
func Read(least bool, files ...io.Reader) (cells []Cell, err error) {
	for _, file := range files {
		if cells, err = read(cells, least, file); err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// read adds the cells of a file to others.
func read(cells []Cell, least bool, r io.Reader) ([]Cell, error) {
	reader := csv.NewReader(r)
	head, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("%w: measured joins: %w", backend.ErrInvalidInput, err)
	}
	at := make(map[string]int)
	for i, name := range head {
		at[name] = i
	}
	needed := fields
	if least {
		needed = append(slices.Clip(fields), "min_ns")
	}
	for _, name := range needed {
		if _, ok := at[name]; !ok {
			return nil, fmt.Errorf("%w: measured joins: no column %q", backend.ErrInvalidInput, name)
		}
	}
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return cells, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: measured joins: %w", backend.ErrInvalidInput, err)
		}
		l := line{record: record, at: at, least: least}
		known := slices.IndexFunc(algorithms, func(a struct {
			name string
			operator.Algorithm
		}) bool {
			return a.name == l.text("algorithm")
		})
		if times := l.text("joins"); known < 0 || l.text("median_ns") == "" || times != "" && times != "1" {
			continue
		}
		name, run := l.cell(algorithms[known].Algorithm)
		if l.err != nil {
			number, _ := reader.FieldPos(0)
			return nil, fmt.Errorf("%w: measured joins, line %d: %w", backend.ErrInvalidInput, number, l.err)
		}
		i := slices.IndexFunc(cells, func(c Cell) bool { return c.Name == name })
		if i < 0 {
			i, cells = len(cells), append(cells, Cell{Name: name, Facts: run.Facts, Want: run.Want})
		}
		runs := &cells[i].Runs
		switch before := slices.IndexFunc(*runs, func(r Run) bool { return r.Algorithm == run.Algorithm }); {
		case before < 0:
			*runs = append(*runs, run)
		case run.Time < (*runs)[before].Time:
			(*runs)[before] = run
		}
	}
}

// line is a line of the file; err is the first fault.
type line struct {
	record []string
	at     map[string]int
	least  bool // times are the least of the runs
	err    error
}

// text is a field; "" for one that the file does not have.
func (l *line) text(field string) string {
	if i, ok := l.at[field]; ok {
		return l.record[i]
	}
	return ""
}

func (l *line) number(text string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil && l.err == nil {
		l.err = err
	}
	return v
}

func (l *line) bytes(field string) (columns []int) {
	for _, b := range strings.Fields(l.text(field)) {
		columns = append(columns, int(l.number(b)))
	}
	return columns
}

// cell reads the facts of a cell, what is wanted of it, and how long an algorithm took. The build side is the side with
// fewer rows, r where both have the same number.
func (l *line) cell(a operator.Algorithm) (name string, run Run) {
	rows := [2]uint64{uint64(l.number(l.text("r_rows"))), uint64(l.number(l.text("s_rows")))}
	how, multiplicity := cmp.Or(l.text("how"), "inner"), cmp.Or(l.text("multiplicity"), "1")
	out, zipf := l.number(l.text("output_rows")), l.number(l.text("zipf"))
	low, high, isRange := strings.Cut(multiplicity, "..") // rows of a key, or their range
	repeats := l.number(low)
	if isRange {
		repeats = (repeats + l.number(high)) / 2
	}
	want, err := joins.Want(how)
	if l.err == nil {
		l.err = err
	}
	f := operator.Facts{Rows: rows, KeyBytes: int(l.number(l.text("key_bytes"))),
		Payload: [2][]int{l.bytes("r_payload"), l.bytes("s_payload")}}
	f.KeyBits = keyBits(float64(rows[0])/max(1, repeats), l.number(l.text("match_ratio")))
	f.Narrow = f.KeyBytes == 8 && f.KeyBits <= 32
	f.Repeats, f.Hottest[1] = zipfFacts(float64(rows[0])/max(1, repeats), zipf)
	f.Unique, f.Distinct = repeats == 1 && l.text("self_join") != "true", repeats
	if repeats > 1 {
		f.Hottest[0] = repeats / max(1, float64(rows[0]))
	}
	// The share of r's keys that s refers to, which some of its rows may miss.
	matching, perKey := l.number(l.text("match_ratio")), float64(rows[1])*max(1, repeats)/max(1, float64(rows[0]))
	f.BuildRatio, f.MatchRatio = matching*-math.Expm1(-perKey), matching
	f.OutputRows = uint64(matching * float64(rows[1]) * repeats)
	if how == "inner" || how == "count" { // all of the output is pairs
		f.OutputRows, f.MatchRatio = uint64(out), min(1, out/max(1, repeats*float64(rows[1])))
	}
	if granule := l.text("granule_rows"); granule != "" {
		f.Granule, f.Window = uint64(l.number(granule)), uint64(l.number(l.text("window_rows")))
	}
	if rows[1] < rows[0] {
		f.Rows[0], f.Rows[1] = rows[1], rows[0]
		f.Payload[0], f.Payload[1] = f.Payload[1], f.Payload[0]
		f.Hottest[0], f.Hottest[1] = f.Hottest[1], f.Hottest[0]
		f.BuildRatio, f.MatchRatio = f.MatchRatio, f.BuildRatio
		f.Unique, f.Distinct = false, 0
		want.Matched[0], want.Matched[1] = want.Matched[1], want.Matched[0]
		want.Rest[0], want.Rest[1] = want.Rest[1], want.Rest[0]
	}
	took, scale := l.number(l.text("median_ns")), 1.0
	if l.least {
		scale = l.number(l.text("min_ns")) / took
	}
	run = Run{Facts: f, Want: want, Algorithm: a, Stages: make(map[string]time.Duration),
		Time: time.Duration(math.Round(scale * took))}
	for _, stage := range strings.Split(l.text("stages"), ";") {
		step, ns, _ := strings.Cut(strings.TrimSpace(stage), "=")
		run.Stages[planner.StageOf(step)] += time.Duration(scale * l.number(ns))
	}
	name = fmt.Sprintf("%s: %d x %d of %s, key %d, payload %v %v, match %s, zipf %s", how, rows[0], rows[1], multiplicity,
		f.KeyBytes, l.bytes("r_payload"), l.bytes("s_payload"), l.text("match_ratio"), l.text("zipf"))
	if f.Granule+f.Window > 0 {
		name += fmt.Sprintf(", granules of %d, windows of %d", f.Granule, f.Window)
	}
	return name, run
}

// keyBits is the number of key bits for this many distinct keys, or for twice as many where some match nothing.
func keyBits(keys, matchRatio float64) int {
	if matchRatio < 1 {
		keys *= 2
	}
	return max(1, int(math.Ceil(math.Log2(max(2, keys)))))
}

// zipfFacts are what a sample of foreign keys tells of their skew: how many of its rows have a key that others in it
// have, and the share of the most frequent key.
func zipfFacts(keys, factor float64) (repeats, hottest float64) {
	total, distinct := 0.0, 0.0
	each := func(do func(rank, ranks float64)) { // runs of ranks that hardly differ
		for rank := 1.0; rank <= keys; {
			ranks := max(1, math.Floor(rank/64))
			do(rank+(ranks-1)/2, min(ranks, keys-rank+1))
			rank += ranks
		}
	}
	each(func(rank, ranks float64) { total += ranks * math.Pow(rank, -factor) })
	each(func(rank, ranks float64) {
		p := math.Pow(rank, -factor) / total
		distinct += ranks * -math.Expm1(planner.SampleRows*math.Log1p(-min(p, 1-1e-9)))
	})
	return max(0, 1-distinct/planner.SampleRows), 1 / total
}
