// Package files joins and groups tables in files: it decides what is read and when. [Join], [JoinGroups] and [Group]
// read files and write one. [Open] and [OpenTable] are the steps in between, for programs with other outputs.
//
//	paths ── Open ──► Pair ── Layout ──► Pair.Join: needed columns, row groups that can match
//	                                       │ one side whole, the other as it is joined; or both whole
//	                                       ▼
//	                                     Joined ── Write ──► a file, which appears whole
//
// The longer file is joined as it is read if it has at least two million rows, or if memory is limited. If its rows
// cannot be joined part by part, both files are read whole first. Row groups of Parquet files are not read if the
// statistics of their keys exclude a match.
package files

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

// Options say where files are joined or grouped, and within which limits.
type Options struct {
	// Engine returns the engine, for which it may wait: files are opened and read before. It is called several times.
	Engine  func() (*spirjoin.Engine, error)
	Limit   *Limit // on the memory of tables; nil: none
	TempDir bool   // whether the engine has a folder for temporary files
	Hooks
	Knobs
}

// Hooks tell how far opening and reading have come. All may be nil.
type Hooks struct {
	Opening func(side relation.Side, path string, doneBytes, totalBytes int64) // 0 of 0 if unknown
	Reading func(side relation.Side, rows, totalRows int64)                    // a total that is not positive is unknown
}

// Knobs are thresholds for measurements and tests; 0 is the default.
type Knobs struct {
	StreamedRows int64 // least rows of a table that is joined as it is read; default 2^21, enough for several parts
	// WholeBytes of needed columns are the most of a file that Group reads first; default 2^30. That takes less time and
	// memory if there are many groups, because nothing is merged.
	WholeBytes int64
}

// For returns the options for an open engine, with the limits that it was opened with.
func For(engine *spirjoin.Engine) Options {
	with := engine.Options()
	return Options{Engine: func() (*spirjoin.Engine, error) { return engine, nil },
		Limit: NewLimit(with.MemoryLimitBytes, 0), TempDir: with.TempDir != ""}
}

// limited reports whether tables may be too large for memory: then no more of them is read at a time than is needed.
func (o *Options) limited() bool { return o.Limit != nil || o.TempDir }

// Pair is two open files that are joined. It is used by one goroutine at a time.
type Pair struct {
	options     *Options
	tables      [2]*Table
	chosen      bool // what is read
	readSeconds float64
	refused     error // out of memory, in a way that takes less than reading both files; nil if that was not tried
}

// Open opens two files, of which "-" is standard input; a folder, pattern or list is read as one file
// ([tableio.Open]). Read says how each is read; Allocator, AheadBytes, Opening and
// Progress are set here. Under a limit the engine sets memory aside for the content of pipes. The caller closes the
// pair.
//
// Errors: as for [tableio.Open], wrapped in a [SideError]; ErrHostMemory if a pipe exceeds the limit.
func Open(ctx context.Context, paths [2]string, read [2]tableio.ReadOptions, options Options) (*Pair, error) {
	p := &Pair{options: &options}
	defer exec.Begin(ctx, "open inputs").End()
	for i, path := range paths {
		side := relation.Side(i)
		table, err := p.options.open(ctx, side, path, read[i])
		if err != nil {
			p.Close()
			return nil, &SideError{Side: side, Err: err}
		}
		p.tables[i] = table
	}
	if p.options.Limit != nil {
		engine, err := p.options.Engine()
		for _, t := range p.tables {
			if err == nil {
				err = engine.Reserve(uint64(t.PipeBytes()))
			}
		}
		if err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// Close closes the files. Tables and results stay valid. Safe on nil.
func (p *Pair) Close() {
	if p == nil {
		return
	}
	for _, t := range p.tables {
		if t != nil {
			_ = t.Close()
		}
	}
}

// Share leaves the parts of one of several processes that join the same files, of both sides, as [tableio.Reader.Share]
// does. Rows meet only within a process: whoever joins parts exchanges their rows.
func (p *Pair) Share(rank, of int) error {
	for i, t := range p.tables {
		if err := t.Share(rank, of); err != nil {
			return &SideError{Side: relation.Side(i), Err: err}
		}
	}
	return nil
}

// Schemas returns the columns of both files.
func (p *Pair) Schemas() [2]*arrow.Schema {
	return [2]*arrow.Schema{p.tables[0].Schema(), p.tables[1].Schema()}
}

// ReadSeconds is the time of reading whole tables so far.
func (p *Pair) ReadSeconds() float64 { return p.readSeconds }

// Layout derives the output columns of a join of the files. Keys of CSV files without values, as in a file with only a
// header, first get the type of the keys that they are compared with.
//
// Errors: as for [spirjoin.NewJoinLayout], wrapped in a [TextError] if one value of a CSV file made a key text.
func (p *Pair) Layout(spec spirjoin.JoinSpec) (*spirjoin.JoinLayout, error) {
	p.typeEmptyKeys(&spec)
	schemas := p.Schemas()
	layout, err := spirjoin.NewJoinLayout(schemas[0], schemas[1], spec)
	if err == nil {
		err = p.checkParts(&layout.Spec)
	}
	return layout, p.explainKeys(err, &spec)
}

// GroupLayout derives the output columns of a join whose rows are grouped, as Layout does.
func (p *Pair) GroupLayout(spec spirjoin.JoinSpec, groups spirjoin.GroupSpec) (*spirjoin.JoinGroupLayout, error) {
	p.typeEmptyKeys(&spec)
	schemas := p.Schemas()
	layout, err := spirjoin.NewJoinGroupLayout(schemas[0], schemas[1], spec, groups)
	if err == nil {
		err = p.checkParts(&layout.Join.Spec)
	}
	return layout, p.explainKeys(err, &spec)
}

// keysOf returns the key columns of both sides.
func keysOf(spec *spirjoin.JoinSpec) [2][]string {
	if len(spec.On) > 0 {
		return [2][]string{spec.On, spec.On}
	}
	return spec.Keys()
}

func (p *Pair) typeEmptyKeys(spec *spirjoin.JoinSpec) {
	keys := keysOf(spec)
	for k := range min(len(keys[0]), len(keys[1])) {
		for side, t := range p.tables {
			other, name := p.tables[1-side].Schema(), keys[1-side][k]
			if i := other.FieldIndices(name); len(i) == 1 && t.SetType(keys[side][k], other.Field(i[0]).Type) {
				break
			}
		}
	}
}

// SideError says which of two files could not be opened.
type SideError struct {
	Side relation.Side
	Err  error
}

func (e *SideError) Error() string { return e.Err.Error() }
func (e *SideError) Unwrap() error { return e.Err }
