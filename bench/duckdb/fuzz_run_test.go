package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// fuzzDevices are what cases run on: the host as users have it, with the commands between two barriers in another order
// and memory that the host cannot see, and with kernels of few rows, so that small tables take all their ways.
var fuzzDevices = map[string]struct {
	shuffled bool
	tuning   func(*backend.DeviceInfo) primitive.Tuning
}{
	"host":     {false, func(*backend.DeviceInfo) primitive.Tuning { return nil }},
	"shuffled": {true, func(*backend.DeviceInfo) primitive.Tuning { return nil }},
	"small": {true, func(info *backend.DeviceInfo) primitive.Tuning {
		return smallTiles.With(jointest.Small(info))
	}},
	"walking": {true, func(*backend.DeviceInfo) primitive.Tuning {
		joins := backend.Config{"workgroup": 1, "items": 8, "table": 48, "heads": 64, "walk": 1}
		return smallTiles.With(primitive.Override(joins, "partition_join", "merge_join"))
	}},
}

var smallTiles = primitive.Override(backend.Config{"serial": 1, "workgroup": 8, "items": 24},
	"radix_sort", "scan", "range_search", "range_expand")

// mostFuzzedRows bounds the output of a case. One that has more loses rows, but for counts, which make none.
const mostFuzzedRows = 200_000

// failure is what is wrong with a case. The class tells one fault from another, while a case shrinks.
type failure struct{ class, detail string }

func failf(class, format string, a ...any) *failure {
	return &failure{class, fmt.Sprintf(format, a...)}
}

// fuzzer holds cases against DuckDB.
type fuzzer struct {
	s        *session
	vulkan   *primitive.Ops     // a device that several cases run on
	outcomes map[string]int     // how many cases ended in what
	spoil    func(*expectation) // what a test makes wrong; nil for nothing
}

// expectation is what DuckDB says of a join, or of one part of the probe side.
type expectation struct {
	d       duckTables
	rows    []rowOf // where the output is not a count
	count   uint64
	repeats [2]int64 // of the most frequent key of either side
}

// checkLimit is how long a case may take, which takes seconds of a machine that does nothing else.
const checkLimit = 5 * time.Minute

// check runs a case. It takes rows from a case that makes too many.
func (f *fuzzer) check(ctx context.Context, c *fuzzCase) *failure {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	spec, err := c.spec()
	if err != nil {
		return failf("harness", "%v", err)
	}
	for {
		tables, d, err := f.tables(ctx, c)
		if err != nil {
			return failf("harness", "%v", err)
		}
		rows, err := d.count(ctx)
		if err != nil {
			return failf("harness", "%v", err)
		}
		if rows <= mostFuzzedRows || c.Output == "count" {
			defer tables[0].release()
			defer tables[1].release()
			return f.compare(ctx, c, spec, tables, d)
		}
		tables[0].release()
		tables[1].release()
		more := &c.Left
		if c.Right.rows() > c.Left.rows() {
			more = &c.Right
		}
		more.Rows = firstRows(more.Rows, more.rows()/2)
	}
}

// firstRows are the first rows of spans.
func firstRows(spans [][2]int64, rows int64) (first [][2]int64) {
	for _, s := range spans {
		if n := min(rows, s[1]-s[0]); n > 0 {
			first = append(first, [2]int64{s[0], s[0] + n})
			rows -= n
		}
	}
	return first
}

func (f *fuzzer) tables(ctx context.Context, c *fuzzCase) (tables [2]*fuzzTable, d *duckTables, err error) {
	for side := range tables {
		if tables[side], err = c.table(side); err != nil {
			return tables, nil, err
		}
	}
	d, err = load(ctx, f.s, c, tables)
	return tables, d, err
}

// compare holds a case against DuckDB.
func (f *fuzzer) compare(ctx context.Context, c *fuzzCase, spec join.Spec, tables [2]*fuzzTable,
	d *duckTables) *failure {
	columns, fault := expectedColumns(c, tables)
	if fault {
		c.Groups = nil
	}
	if spec.Columns = nil; c.Columns != nil {
		chosen := []outColumn{}
		for _, place := range c.Columns {
			if len(columns) == 0 {
				break
			}
			next := columns[place%len(columns)]
			if !slices.ContainsFunc(chosen, func(o outColumn) bool { return o.name == next.name }) {
				chosen = append(chosen, next)
			}
		}
		columns, spec.Columns = chosen, []string{}
		for _, o := range columns {
			spec.Columns = append(spec.Columns, o.name)
		}
		fault = slices.ContainsFunc(columns, func(o outColumn) bool { return o.typ == nil })
	}
	parts := make([]expectation, max(1, c.Parts))
	probe := 1
	if c.BuildSide == "right" {
		probe = 0
	}
	for i := range parts {
		p := &parts[i]
		p.d = *d
		if c.Parts > 0 {
			p.d.from[probe] = d.rows[probe] * int64(i) / int64(c.Parts)
			p.d.to[probe] = d.rows[probe] * int64(i+1) / int64(c.Parts)
		}
		var err error
		if c.Output == "count" {
			p.count, err = p.d.count(ctx)
		} else {
			p.rows, err = p.d.join(ctx)
			p.count = uint64(len(p.rows))
		}
		if err != nil {
			return failf("harness", "%v", err)
		}
		if f.spoil != nil {
			f.spoil(p)
		}
		for side := range p.repeats {
			if c.How == "cross" {
				break
			}
			if p.repeats[side], err = p.d.repeats(ctx, side, ""); err != nil {
				return failf("harness", "%v", err)
			}
		}
	}
	if c.BatchRows > 0 { // a batch takes a millisecond, however small it is
		spec.BatchRows = max(c.BatchRows, int(parts[0].count/300))
	}
	if c.MostRows != nil {
		spec.MaxOutputRows = uint64(max(1, int64(parts[0].count)+int64(*c.MostRows)))
	}
	r := &attempts{f: f, c: c, spec: spec, tables: tables, columns: columns, unmergeable: fault, parts: parts,
		probe: probe, deviceMemory: c.DeviceMemory, hostMemory: c.HostMemory}
	for {
		again, fail := r.attempt(ctx)
		if fail != nil || !again {
			return fail
		}
	}
}

// attempts are those to run a case.
type attempts struct {
	f           *fuzzer
	c           *fuzzCase
	spec        join.Spec
	tables      [2]*fuzzTable
	columns     []outColumn
	unmergeable bool // keys have no common type, which a full join asks for
	parts       []expectation
	probe       int // the side that comes in parts

	deviceMemory, hostMemory uint64 // caps of this attempt
	raised                   [2]int
}

// attempt joins once. It says whether to join again, under a cap that an error asked for.
func (r *attempts) attempt(ctx context.Context) (again bool, fail *failure) {
	var devices []*primitive.Ops
	var others []query.Member
	closed := func() error { return nil }
	allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
	for i := range max(1, r.c.Devices) {
		ops, done, err := r.open()
		if err != nil {
			return false, failf("harness", "%v", err)
		}
		before := closed
		closed = func() error { return errors.Join(before(), done()) }
		if devices = append(devices, ops); i > 0 {
			others = append(others, query.Member{Ops: ops, Allocator: allocator})
		}
	}
	engine := engine.NewEngine(devices[0], allocator, r.hostMemory, others...)
	engine.Together, engine.Scatter = r.c.Team == "together", r.c.Team == "scatter"
	for _, of := range engine.Engines() {
		of.GranuleRows, of.WindowRows = r.c.GranuleRows, r.c.WindowRows
	}
	if r.c.DeviceTexts {
		engine.Compare = query.CompareDevice
	}
	engine.HashBits = r.c.HashBits
	again, fail = r.joinAll(ctx, engine)
	peak := uint64(0)
	for _, ops := range devices {
		peak = max(peak, ops.Device().MemoryUse(backend.DeviceLocal).Peak)
	}
	engine.Close() // which ends the links between devices
	switch err := closed(); {
	case fail != nil:
	case err != nil:
		fail = failf("leak", "%v", err)
	case allocator.CurrentAlloc() != 0:
		fail = failf("leak", "%d bytes of batches were not released", allocator.CurrentAlloc())
	case r.deviceMemory > 0 && peak > r.deviceMemory:
		fail = failf("peak", "%d bytes were taken on the device, the cap is %d", peak, r.deviceMemory)
	}
	return again, fail
}

// open opens the device of the case, and returns what closes it.
func (r *attempts) open() (*primitive.Ops, func() error, error) {
	if r.c.Device == "vulkan" {
		if r.f.vulkan == nil {
			return nil, nil, errors.New("TestFuzzOnVulkan runs this case")
		}
		return r.f.vulkan, func() error { return nil }, nil
	}
	device, ok := fuzzDevices[r.c.Device]
	if !ok {
		return nil, nil, fmt.Errorf("no device %q", r.c.Device)
	}
	options := host.Options{}
	if device.shuffled {
		options = host.Options{Shuffle: r.c.Left.Seed | 1, Poison: true, Discrete: true}
	}
	b := host.New(options)
	driver, err := b.Open("host:cpu")
	if err != nil {
		return nil, nil, err
	}
	opened := backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: r.deviceMemory})
	ops, err := primitive.New(opened, device.tuning(opened.Info()))
	return ops, func() error { return errors.Join(opened.Close(), b.Close()) }, err
}

// joinAll makes the join, or all of those with a build side that stays.
func (r *attempts) joinAll(ctx context.Context, on *engine.Engine) (again bool, fail *failure) {
	if r.c.Groups != nil {
		return r.group(ctx, on)
	}
	if r.c.Parts == 0 {
		var result *engine.Result
		if r.c.Stream > 0 {
			left := r.source(r.tables[0].table)
			result, err := on.Stream(ctx, left, r.source(r.tables[1].table), r.spec)
			return r.draw(ctx, result, err, &r.parts[0])
		}
		plan, err := on.Plan(ctx, r.tables[0].table, r.tables[1].table, r.spec)
		if err == nil {
			result, err = plan.Run(ctx)
		}
		return r.draw(ctx, result, err, &r.parts[0])
	}
	build, probe := r.tables[1-r.probe].table, r.tables[r.probe].table
	built, err := on.Build(ctx, build, probe.Schema(), uint64(probe.NumRows())/uint64(len(r.parts)), r.spec)
	if err != nil {
		return r.judge(ctx, err, &r.parts[0])
	}
	defer built.Close()
	for i := range r.parts {
		p := &r.parts[i]
		table := part(probe, p.d.from[r.probe], p.d.to[r.probe])
		probe := func() (*engine.Result, error) { return built.Join(ctx, table) }
		if r.c.Stream > 0 {
			probe = func() (*engine.Result, error) { return built.JoinStream(ctx, r.source(table)) }
		}
		result, err := probe()
		again, fail := r.draw(ctx, result, err, p)
		table.Release()
		if again || fail != nil {
			return again, fail
		}
	}
	return false, nil
}

// source gives a table in batches; its length is known in every other case.
func (r *attempts) source(table arrow.Table) source.Source {
	from := source.Source{Schema: table.Schema(), Rows: table.NumRows(),
		Batches: func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
			return func(yield func(arrow.RecordBatch, error) bool) {
				reader := array.NewTableReader(table, r.c.Stream)
				defer reader.Release()
				for reader.Next() {
					batch := reader.RecordBatch()
					batch.Retain()
					if !yield(batch, nil) {
						return
					}
				}
			}
		}}
	if r.c.Left.Seed&2 == 0 {
		from.Rows = -1
	}
	return from
}

// refused says whether a stream cannot be joined where a side is the build side, by the rules of JoinStream: rows come in
// the order of the other one, whose keys nobody can prove to be unique, and whose values nobody knows all of.
func (r *attempts) refused(build relation.Side) bool {
	side, ordered := r.ordered()
	pairs := slices.Contains([]string{"inner", "left", "right", "full", "cross"}, r.c.How)
	return r.c.How == "not-in" && build == relation.Left || r.spec.Validate.Unique(1-build) ||
		ordered && pairs && r.c.Output != "count" && side == int(build)
}

// refusals are how many of the sides that may be the build side are refused, and how many there are.
func (r *attempts) refusals() (refused, of int) {
	for side, name := range []string{"left", "right"} {
		if r.c.BuildSide == "" && r.c.Parts == 0 || r.c.BuildSide == name {
			if of++; r.refused(relation.Side(side)) {
				refused++
			}
		}
	}
	return refused, of
}

// draw draws a result and compares it.
func (r *attempts) draw(ctx context.Context, result *engine.Result, err error, want *expectation) (
	again bool, fail *failure) {
	if err != nil {
		return r.judge(ctx, err, want)
	}
	defer result.Close()
	switch r.spec.Output {
	case join.Count:
		if rows := result.Rows(); rows != want.count {
			return false, failf("count", "%d rows, want %d", rows, want.count)
		}
	case join.Pairs:
		var got []rowOf
		for pairs, err := range result.Pairs(ctx) {
			if err != nil {
				return r.judge(ctx, err, want)
			}
			if len(pairs.Left) > max(1, r.spec.BatchRows) && r.spec.BatchRows > 0 {
				return false, failf("batch", "%d pairs in a piece of at most %d", len(pairs.Left), r.spec.BatchRows)
			}
			for i := range pairs.Left {
				left, right := pairs.LeftFirst+uint64(pairs.Left[i]), pairs.RightFirst+uint64(pairs.Right[i])
				got = append(got, rowOf{[2]int32{int32(left), int32(right)}, true})
			}
		}
		for i := range got {
			for side := range got[i].from {
				got[i].from[side] += int32(want.d.from[side])
			}
		}
		if fail := r.comparePairs(want, got); fail != nil {
			return false, fail
		}
	default:
		var batches []arrow.RecordBatch
		defer func() {
			for _, b := range batches {
				b.Release()
			}
		}()
		if fail := r.checkSchema(result.Schema()); fail != nil {
			return false, fail
		}
		for batch, err := range result.Batches(ctx) {
			if err != nil {
				return r.judge(ctx, err, want)
			}
			batches = append(batches, batch)
		}
		if fail := r.compareRows(want, batches); fail != nil {
			return false, fail
		}
		if result.Rows() != want.count {
			return false, failf("count", "the result says %d rows, there are %d", result.Rows(), want.count)
		}
	}
	return false, r.accept(want)
}

// accept looks for errors that there should have been.
func (r *attempts) accept(want *expectation) *failure {
	for side, repeats := range want.repeats {
		if r.spec.Validate.Unique(relation.Side(side)) && repeats > 1 {
			return failf("validate", "a key of the %s table is there %d times, validate is %s", relation.Side(side), repeats,
				r.spec.Validate)
		}
	}
	if most := r.spec.MaxOutputRows; most > 0 && want.count > most {
		return failf("limit", "%d rows, max_output_rows is %d", want.count, most)
	}
	if r.unmergeable && r.c.How == "full" && r.c.Output == "" {
		return failf("merge", "keys without a common type became one column")
	}
	if refused, of := r.refusals(); r.c.Stream > 0 && refused == of && r.c.Groups == nil { // groups need no order
		return failf("stream", "what needs a whole side was joined batch by batch")
	}
	r.f.outcomes["joined"]++
	return nil
}
