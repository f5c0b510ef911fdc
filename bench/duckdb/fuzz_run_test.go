package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
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

// check runs a case. It takes rows from a case that makes too many.
func (f *fuzzer) check(ctx context.Context, c *fuzzCase) *failure {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
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
	raised                   [2]bool
}

// attempt joins once. It says whether to join again, under a cap that an error asked for.
func (r *attempts) attempt(ctx context.Context) (again bool, fail *failure) {
	ops, done, err := r.open()
	if err != nil {
		return false, failf("harness", "%v", err)
	}
	allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
	engine := join.NewEngine(ops, allocator, r.hostMemory)
	engine.GranuleRows, engine.WindowRows = r.c.GranuleRows, r.c.WindowRows
	if r.c.DeviceTexts {
		engine.Compare = query.CompareDevice
	}
	if r.c.HashBits != nil {
		engine.KeepHashBits(*r.c.HashBits)
	}
	again, fail = r.joinAll(ctx, engine)
	peak := ops.Device().MemoryUse(backend.DeviceLocal).Peak
	switch err := done(); {
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
func (r *attempts) joinAll(ctx context.Context, engine *join.Engine) (again bool, fail *failure) {
	if r.c.Parts == 0 {
		var result *join.Result
		plan, err := engine.Plan(ctx, r.tables[0].table, r.tables[1].table, r.spec)
		if err == nil {
			result, err = plan.Run(ctx)
		}
		return r.draw(ctx, result, err, &r.parts[0])
	}
	build, probe := r.tables[1-r.probe].table, r.tables[r.probe].table
	built, err := engine.Build(ctx, build, probe.Schema(), uint64(probe.NumRows())/uint64(len(r.parts)), r.spec)
	if err != nil {
		return r.judge(ctx, err, &r.parts[0])
	}
	defer built.Close()
	for i := range r.parts {
		p := &r.parts[i]
		table := part(probe, p.d.from[r.probe], p.d.to[r.probe])
		result, err := built.Join(ctx, table)
		again, fail := r.draw(ctx, result, err, p)
		table.Release()
		if again || fail != nil {
			return again, fail
		}
	}
	return false, nil
}

// draw draws a result and compares it.
func (r *attempts) draw(ctx context.Context, result *join.Result, err error, want *expectation) (
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
				got = append(got, rowOf{[2]int32{int32(pairs.Left[i]), int32(pairs.Right[i])}, true})
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
	r.f.outcomes["joined"]++
	return nil
}

var (
	repeatedRows = regexp.MustCompile(`keys of the (left|right) table must be unique, but rows (\d+) and (\d+) both have `)
	deviceNeed   = regexp.MustCompile(`raise device_memory to at least (\d+)MiB`)
	hostNeed     = regexp.MustCompile(`need (\d+) bytes, the limit is \d+; raise memory_limit`)
)

// judge says whether an error is one that the case should have, or one of a cap that is raised then.
func (r *attempts) judge(ctx context.Context, err error, want *expectation) (again bool, fail *failure) {
	expected := func(outcome string, when bool) (bool, *failure) {
		if !when {
			return false, failf("error", "%v", err)
		}
		r.f.outcomes[outcome]++
		return false, nil
	}
	text := err.Error()
	types := r.mixed()
	switch {
	case errors.Is(err, backend.ErrDeviceMemory) && r.deviceMemory > 0:
		r.f.outcomes["short of device memory"]++
		return r.raise(&r.deviceMemory, 0, deviceNeed, 1<<20, err)
	case errors.Is(err, backend.ErrHostMemory) && r.hostMemory > 0:
		r.f.outcomes["short of host memory"]++
		return r.raise(&r.hostMemory, 1, hostNeed, 1, err)
	case errors.Is(err, backend.ErrInvalidInput) && repeatedRows.MatchString(text):
		return r.judgeRepeat(ctx, text, want)
	case errors.Is(err, backend.ErrLimit) && strings.Contains(text, "max_output_rows"):
		return expected("too many rows", r.spec.MaxOutputRows > 0 && want.count > r.spec.MaxOutputRows)
	case errors.Is(err, backend.ErrUnsupported) && strings.Contains(text, "no type holds the values of both"):
		return expected("no common type", r.unmergeable && r.c.How == "full")
	case errors.Is(err, backend.ErrUnsupported) && strings.Contains(text, "does not fit"):
		return expected("time does not fit", r.c.How == "full" &&
			(types[dates] || types[timestamps] || types[instants] || types[durations]))
	}
	return expected("", false)
}

// mixed are the families of keys.
func (r *attempts) mixed() map[family]bool {
	found := map[family]bool{}
	for _, k := range r.c.Keys {
		for _, t := range k.Types {
			found[keyTypes[t].family] = true
		}
	}
	return found
}

// raise raises a cap to what an error says is needed, with which this error must not come again.
func (r *attempts) raise(limit *uint64, which int, need *regexp.Regexp, unit uint64, err error) (
	again bool, fail *failure) {
	found := need.FindStringSubmatch(err.Error())
	if found == nil {
		return false, failf("memory", "no remedy is named: %v", err)
	}
	if r.raised[which] {
		return false, failf("memory", "not enough, though an error said so: %v", err)
	}
	number, parseErr := strconv.ParseUint(found[1], 10, 64)
	if parseErr != nil || number*unit <= *limit {
		return false, failf("memory", "the cap is %d, and less is asked for: %v", *limit, err)
	}
	*limit, r.raised[which] = number*unit, true
	return true, nil
}

// judgeRepeat checks the rows that are said to have the same key.
func (r *attempts) judgeRepeat(ctx context.Context, text string, want *expectation) (again bool, fail *failure) {
	found := repeatedRows.FindStringSubmatch(text)
	side := slices.Index([]string{"left", "right"}, found[1])
	if !r.spec.Validate.Unique(relation.Side(side)) {
		return false, failf("validate", "validate is %s: %s", r.spec.Validate, text)
	}
	first, _ := strconv.ParseInt(found[2], 10, 64)
	other, _ := strconv.ParseInt(found[3], 10, 64)
	from := want.d.from[side]
	repeats, err := want.d.repeats(ctx, side, fmt.Sprintf(" AND n IN (%d, %d)", first+from, other+from))
	if err != nil {
		return false, failf("harness", "%v", err)
	}
	if repeats != 2 {
		return false, failf("validate", "their keys differ: %s", text)
	}
	r.f.outcomes["keys repeat"]++
	return false, nil
}

// outColumn is a column of the output.
type outColumn struct {
	name string
	typ  arrow.DataType // nil where keys have no common type
	role join.Role
	side int // of the value; for a key of both sides that from which it comes where there are both
	at   [2]int
	// merged keys of two types are compared by value, others by the bytes.
	byValue bool
}

// expectedColumns are all columns that the output may have, by the rules of docs/cli.md. It tells whether keys of a
// full join have no common type.
func expectedColumns(c *fuzzCase, tables [2]*fuzzTable) (columns []outColumn, unmergeable bool) {
	returns := map[string][2]bool{"semi": {true, false}, "anti": {true, false}, "mark": {true, false},
		"not-in": {true, false}, "right-semi": {false, true}, "right-anti": {false, true}}
	of, one := returns[c.How]
	if !one {
		of = [2]bool{true, true}
	}
	merged := !one && !c.SeparateKeys
	taken := map[string]bool{}
	schemas := [2]*arrow.Schema{tables[0].table.Schema(), tables[1].table.Schema()}
	if of[0] {
		for i, f := range schemas[0].Fields() {
			o := outColumn{name: f.Name, typ: f.Type, at: [2]int{i, -1}}
			if k := slices.Index(tables[0].keys, i); k >= 0 && merged {
				other := schemas[1].Field(tables[1].keys[k]).Type
				o.role, o.at[1] = join.KeyColumn, tables[1].keys[k]
				if c.How == "right" {
					o.side, o.typ = 1, other
				} else if c.How == "full" && !arrow.TypeEqual(f.Type, other) {
					o.byValue = keyTypes[c.Keys[k].Types[0]].family < texts
					if common, ok := relation.CommonType(f.Type, other); ok {
						o.typ = common
					} else {
						o.typ, unmergeable = nil, true
					}
				}
			}
			columns = append(columns, o)
			taken[f.Name] = true
		}
	}
	lefts := len(taken)
	isLeft := func(name string) bool { return lefts > 0 && of[0] && schemas[0].HasField(name) }
	var rights []outColumn
	for i, f := range schemas[1].Fields() {
		if of[1] && !(merged && slices.Contains(tables[1].keys, i)) {
			rights = append(rights, outColumn{name: f.Name, typ: f.Type, side: 1, at: [2]int{-1, i}})
			if !isLeft(f.Name) {
				taken[f.Name] = true
			}
		}
	}
	if c.Indicator != "" {
		rights = append(rights, outColumn{name: c.Indicator, typ: arrow.BinaryTypes.String, role: join.IndicatorColumn})
	}
	if c.How == "mark" {
		rights = append(rights, outColumn{name: cmp.Or(c.MarkName, "mark"), typ: arrow.FixedWidthTypes.Boolean,
			role: join.MarkColumn})
	}
	for _, o := range rights {
		if o.role != join.ValueColumn || isLeft(o.name) {
			for taken[o.name] {
				o.name += cmp.Or(c.Suffix, "_right")
			}
			taken[o.name] = true
		}
		columns = append(columns, o)
	}
	return columns, unmergeable
}

func (r *attempts) checkSchema(s *arrow.Schema) *failure {
	if s.NumFields() != len(r.columns) {
		return failf("schema", "%s", s)
	}
	for i, o := range r.columns {
		if f := s.Field(i); f.Name != o.name || !arrow.TypeEqual(f.Type, o.typ) {
			return failf("schema", "column %d is %s, want %s %s", i, f, o.name, o.typ)
		}
	}
	return nil
}

// appendWanted appends the cells of a row that is expected.
func (r *attempts) appendWanted(to []byte, row rowOf) []byte {
	for _, o := range r.columns {
		switch o.role {
		case join.MarkColumn:
			to = append(to, 1, 1, 0, 0, 0)
			if row.marked {
				to[len(to)-1] = 1
			}
		case join.IndicatorColumn:
			text := "both"
			if row.from[1] < 0 {
				text = "left_only"
			} else if row.from[0] < 0 {
				text = "right_only"
			}
			to = append(append(to, 1, byte(len(text)), 0, 0), text...)
		default:
			side := o.side
			if o.role == join.KeyColumn && row.from[side] < 0 {
				side = 1 - side
			}
			switch i := int(row.from[side]); {
			case i < 0:
				to = append(to, 0)
			case o.byValue:
				to = appendText(to, oracle.Cell(r.tables[side].columns[o.at[side]], i))
			default:
				to = appendCell(to, r.tables[side].columns[o.at[side]], i)
			}
		}
	}
	return to
}

func appendText(to []byte, text string) []byte {
	if text == "(null)" {
		return append(to, 0)
	}
	return append(append(to, 1, byte(len(text)), byte(len(text)>>8), 0), text...)
}

func (r *attempts) appendGot(to []byte, batch arrow.RecordBatch, i int) []byte {
	for place, o := range r.columns {
		if o.byValue {
			to = appendText(to, oracle.Cell(batch.Column(place), i))
		} else {
			to = appendCell(to, batch.Column(place), i)
		}
	}
	return to
}

// order sorts expected rows where the case asks for an order, and tells whether it does.
func (r *attempts) order(rows []rowOf) bool {
	first := 0
	switch {
	case r.c.Order == "right":
		first = 1
	case r.c.Order == "left":
	case !r.c.Deterministic:
		return false
	case r.c.How == "right" || r.c.How == "right-semi" || r.c.How == "right-anti":
		first = 1
	}
	last := func(n int32) uint32 { return uint32(n) } // -1 is the last
	slices.SortFunc(rows, func(a, b rowOf) int {
		return cmp.Or(cmp.Compare(last(a.from[first]), last(b.from[first])),
			cmp.Compare(last(a.from[1-first]), last(b.from[1-first])))
	})
	return true
}

func (r *attempts) comparePairs(want *expectation, got []rowOf) *failure {
	rows := slices.Clone(want.rows)
	if !r.order(rows) {
		byBoth := func(a, b rowOf) int { return slices.Compare(a.from[:], b.from[:]) }
		slices.SortFunc(rows, byBoth)
		slices.SortFunc(got, byBoth)
	}
	if slices.Equal(rows, got) {
		return nil
	}
	for i := range min(len(rows), len(got)) {
		if rows[i] != got[i] {
			return failf("rows", "%d pairs, want %d; pair %d is %v, want %v", len(got), len(rows), i, got[i].from, rows[i].from)
		}
	}
	return failf("rows", "%d pairs, want %d", len(got), len(rows))
}

var rowSeed = maphash.MakeSeed()

// compareRows compares batches with the rows that DuckDB found, as multisets or one by one.
func (r *attempts) compareRows(want *expectation, batches []arrow.RecordBatch) *failure {
	type hashed struct {
		hash       uint64
		batch, row int // of what there is; of what is wanted the row alone
	}
	var buffer []byte
	got, wanted := []hashed{}, make([]hashed, 0, len(want.rows))
	for b, batch := range batches {
		if rows := int(batch.NumRows()); rows == 0 || r.spec.BatchRows > 0 && rows > r.spec.BatchRows {
			return failf("batch", "a batch of %d rows, at most %d are asked for", rows, r.spec.BatchRows)
		}
		if fail := r.checkSchema(batch.Schema()); fail != nil {
			return fail
		}
		for i, column := range batch.Columns() {
			if f := batch.Schema().Field(i); !f.Nullable && column.NullN() > 0 {
				return failf("schema", "%s has NULLs", f)
			}
		}
		for i := range int(batch.NumRows()) {
			buffer = r.appendGot(buffer[:0], batch, i)
			got = append(got, hashed{maphash.Bytes(rowSeed, buffer), b, i})
		}
	}
	rows := slices.Clone(want.rows)
	ordered := r.order(rows)
	for i, row := range rows {
		buffer = r.appendWanted(buffer[:0], row)
		wanted = append(wanted, hashed{maphash.Bytes(rowSeed, buffer), 0, i})
	}
	if !ordered {
		byHash := func(a, b hashed) int { return cmp.Compare(a.hash, b.hash) }
		slices.SortStableFunc(got, byHash)
		slices.SortStableFunc(wanted, byHash)
	}
	if slices.EqualFunc(got, wanted, func(a, b hashed) bool { return a.hash == b.hash }) {
		return nil
	}
	showGot := func(h hashed) string {
		var cells []string
		for _, column := range batches[h.batch].Columns() {
			cells = append(cells, column.ValueStr(h.row))
		}
		return strings.Join(cells, "|")
	}
	showWanted := func(h hashed) string {
		row := rows[h.row]
		var cells []string
		for _, o := range r.columns {
			if side := o.side; o.role == join.ValueColumn || o.role == join.KeyColumn {
				if o.role == join.KeyColumn && row.from[side] < 0 {
					side = 1 - side
				}
				if row.from[side] < 0 {
					cells = append(cells, "(null)")
				} else {
					cells = append(cells, r.tables[side].columns[o.at[side]].ValueStr(int(row.from[side])))
				}
			}
		}
		return fmt.Sprintf("%s (rows %v)", strings.Join(cells, "|"), row.from)
	}
	detail := fmt.Sprintf("%d rows, want %d", len(got), len(wanted))
	for i, j := 0, 0; i < len(got) || j < len(wanted); {
		switch {
		case i < len(got) && j < len(wanted) && got[i].hash == wanted[j].hash:
			i, j = i+1, j+1
			continue
		case ordered && i < len(got) && j < len(wanted):
			return failf("rows", "%s; row %d is %s, want %s", detail, i, showGot(got[i]), showWanted(wanted[j]))
		case j == len(wanted) || i < len(got) && got[i].hash < wanted[j].hash:
			hash := func(h hashed) uint64 { return h.hash }
			return failf("rows", "%s; too many: %s%s", detail, showGot(got[i]), missing(wanted, got, hash, showWanted))
		default:
			return failf("rows", "%s; missing: %s", detail, showWanted(wanted[j]))
		}
	}
	return failf("rows", "%s", detail)
}

// missing shows the first of the wanted rows that is not there.
func missing[T any](wanted, got []T, hash func(T) uint64, show func(T) string) string {
	there := map[uint64]int{}
	for _, g := range got {
		there[hash(g)]++
	}
	for _, w := range wanted {
		if there[hash(w)]--; there[hash(w)] < 0 {
			return "; missing: " + show(w)
		}
	}
	return ""
}
