package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

// join runs the command, with a trace if one was asked for.
func (s session) join(ctx context.Context, o joinOptions) error {
	return command.Traced(ctx, o.tracePath, func(ctx context.Context, trace *spirjoin.Trace) error {
		o.trace = trace
		o.write.Busy = tracedBusy(trace, "encode and write")
		return s.runJoin(ctx, o)
	})
}

// runJoin runs the command. Nothing is computed before it is known that the inputs can be read and the output be
// written. Tables are read while the device is opened, except under a memory limit: what the drivers take counts, and
// is not known before.
func (s session) runJoin(ctx context.Context, o joinOptions) (err error) {
	report := joinReport{started: time.Now(), Output: o.output}
	progress := s.NewProgress(o.quiet)
	defer progress.Close()
	o.spec.Progress = progress.Join
	if o.memoryLimitBytes > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(heapLimitBytes(o.memoryLimitBytes)))
	}

	before := residentBytes()
	ctx, device := begin(ctx, o)
	defer func() { err = device.end(err) }()
	open := sync.OnceValues(func() (*spirjoin.Engine, error) {
		progress.Enter("open device")
		engine, err := device.wait()
		if err != nil {
			return nil, err
		}
		report.StartSeconds, report.kernels = device.seconds, engine.Kernels
		if !o.quiet && o.stats != statsJSON {
			progress.ClearLine()
			for _, problem := range slices.Concat(device.failed, engine.TuningProblems()) {
				s.Warn(problem)
			}
		}
		return engine, nil
	})
	var limit *memoryCap
	if o.memoryLimitBytes > 0 {
		engine, err := open()
		if err != nil {
			return err
		}
		if limit, err = limitMemory(engine, o.memoryLimitBytes, max(before, residentBytes())-before); err != nil {
			return err
		}
	}

	reading := time.Now()
	span := exec.Begin(ctx, "open inputs")
	readers, err := s.openInputs(ctx, o, limit, progress)
	span.End()
	defer closeAll(readers)
	if err != nil {
		return err
	}
	if limit != nil {
		engine, _ := open()
		for _, r := range readers {
			if err := engine.Reserve(uint64(r.PipeBytes())); err != nil {
				return err
			}
		}
	}
	typeEmptyKeys(readers, o.spec)
	if o.grouped() {
		report.ReadSeconds = time.Since(reading).Seconds()
		g := &grouping{session: s, joinOptions: o, open: open, device: device,
			in: &inputs{paths: o.paths, readers: readers, limit: limit, progress: progress}, report: &report}
		return g.run(ctx)
	}
	layout, err := spirjoin.NewJoinLayout(readers[0].Schema(), readers[1].Schema(), o.spec)
	if err != nil {
		return explainKeys(err, o, readers)
	}
	if dividable(layout) {
		defer func() { err = offerTempDir(err, &o) }()
	}
	var names []string // of the columns of the output
	if o.goal == goalPreview {
		if layout, names, err = s.previewLayout(layout, o.spec, readers); err != nil {
			return err
		}
	}
	var writer *tableio.Writer
	if o.goal == goalFile {
		if writer, err = tableio.Create(o.output, layout.Schema, o.write); err != nil {
			return explainOutput(err, o.output)
		}
		defer writer.Abort() // does nothing after Commit
	}
	skipRowGroups(readers, layout.Spec)
	defer prepareJoin(ctx, device, o, layout, readers)()
	report.ReadSeconds = time.Since(reading).Seconds()
	in := &inputs{paths: o.paths, readers: readers, needed: layout.Needed, limit: limit, progress: progress}
	span = exec.Begin(ctx, "start stream")
	result, err := streamJoin(ctx, open, o, layout, in, &report)
	span.End()
	if err != nil {
		return err
	}
	var tables [2]arrow.Table
	if result == nil {
		reading = time.Now()
		tables, err = in.readBoth(ctx)
		defer releaseAll(tables)
		if err != nil {
			return err
		}
		report.ReadSeconds += time.Since(reading).Seconds()
		engine, err := open()
		if err != nil {
			return err
		}
		span = exec.Begin(ctx, "plan")
		plan, err := engine.PlanJoin(ctx, layout, tables[0], tables[1])
		span.End()
		if err != nil {
			return explainKeys(err, o, readers)
		}
		if o.goal == goalExplain {
			progress.ClearLine()
			fmt.Fprint(s.Stdout, command.NameRaisedFlags(plan.String()))
			return nil
		}
		span = exec.BeginWait(ctx, "wait for first rows")
		result, err = plan.Run(ctx)
		span.End()
		if err != nil {
			return err
		}
	}
	defer result.Close()
	drawing := time.Now()
	switch o.goal {
	case goalExplain: // of a join that reads a side as it goes
		progress.ClearLine()
		fmt.Fprint(s.Stdout, command.NameRaisedFlags(result.Plan()))
		return nil
	case goalFile:
		report.WriteSeconds, err = writeResult(ctx, result, writer, progress)
	case goalPreview:
		report.OutputRows, err = s.preview(ctx, result, names, progress, func() (uint64, error) {
			engine, _ := open()
			return countRows(ctx, engine, o.spec, tables)
		})
	case goalCount:
		if progress.ClearLine(); o.stats != statsJSON {
			fmt.Fprintln(s.Stdout, result.Rows())
		}
	}
	if err != nil {
		return err
	}
	report.OutputSeconds = time.Since(drawing).Seconds()
	progress.ClearLine()
	return s.reportJoin(o, report, result)
}

// openInputs opens both inputs, whose tables count towards the limit, and so does what a pipe holds. Tables are not
// pinned: for one join, that and its undoing take longer than copies through staging memory.
func (s session) openInputs(ctx context.Context, o joinOptions, limit *memoryCap, progress *command.Progress) (
	readers [2]*tableio.Reader, err error) {
	options := tableio.ReadOptions{CSV: o.csv, Allocator: limit.of(&offheap.Shared), Stdin: s.Stdin,
		AheadBytes: limit.aheadBytes(),
		Busy:       tracedBusy(o.trace, "read and decode")}
	for side, path := range o.paths {
		progress.Opening(side, path, 0, 0)
		reader := &readers[side]
		options.Format = o.formats[side]
		options.Opening = func(done, total int64) { progress.Opening(side, path, done, total) }
		options.Progress = func(rows int64) { progress.Reading(side, rows, (*reader).Rows()) }
		readers[side], err = tableio.Open(ctx, path, options)
		if err != nil {
			return readers, nameFormatFlag(err, [2]string{"left-format", "right-format"}[side])
		}
	}
	return readers, nil
}

// prepareJoin has kernels compiled while the tables are read, by what their files say of them.
func prepareJoin(ctx context.Context, device *opening, o joinOptions, layout *spirjoin.JoinLayout,
	readers [2]*tableio.Reader) (wait func()) {
	if o.goal == goalExplain {
		return func() {}
	}
	streamed, any := streamedSide(o, &layout.Spec, readers)
	var expected [2]spirjoin.JoinExpected
	for side, r := range readers {
		expected[side] = spirjoin.JoinExpected{Schema: r.Schema(), Rows: r.Rows(), Streamed: any && side == streamed,
			Nulls: r.Nulls, Bounds: func(column string) (least, most int64, ok bool) {
				b, ok := r.Bounds(column)
				return b.Min, b.Max, ok && b.Min <= b.Max
			}}
	}
	return device.then(func(engine *spirjoin.Engine) { engine.PrepareJoin(ctx, layout, expected[0], expected[1])() })
}

// nameFormatFlag adds the flag that names a format which was not recognized.
func nameFormatFlag(err error, flag string) error {
	if errors.Is(err, tableio.ErrFormat) {
		return fmt.Errorf("%w: %s", err, command.Dashed(flag))
	}
	return err
}

// explainOutput makes it wrong use that the output's name tells no format, unless there is a folder of that name.
func explainOutput(err error, path string) error {
	if !errors.Is(err, tableio.ErrFormat) {
		return err
	}
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return &tableio.Error{Kind: tableio.ErrOutput, Op: "create", Path: path,
			Err: errors.New("this is a directory; name a file in it")}
	}
	return command.Usagef("%v: --format", err)
}

// typeEmptyKeys gives keys of CSV files without values, as in a file with only a header, the type of the keys that they
// are compared with.
func typeEmptyKeys(readers [2]*tableio.Reader, spec spirjoin.JoinSpec) {
	for k := range spec.LeftOn {
		names := [2]string{spec.LeftOn[k], spec.RightOn[k]}
		for side, r := range readers {
			other := readers[1-side].Schema()
			if i := other.FieldIndices(names[1-side]); len(i) == 1 && r.SetType(names[side], other.Field(i[0]).Type) {
				break
			}
		}
	}
}

// skipRowGroups skips row groups whose rows have no match: by their statistics, their keys lie outside the range of the
// keys of the other side. It does so only on a side whose rows without a match are not in the output and whose keys
// need not be unique, and in no not-in join, where any NULL decides.
func skipRowGroups(readers [2]*tableio.Reader, spec spirjoin.JoinSpec) {
	if spec.How == join.NotIn {
		return
	}
	for i, left := range spec.LeftOn {
		names := [2]string{left, spec.RightOn[i]}
		var bounds [2]tableio.Bounds
		var known [2]bool
		for side, r := range readers {
			bounds[side], known[side] = r.Bounds(names[side])
		}
		if known != [2]bool{true, true} || !arrow.TypeEqual(bounds[0].Type, bounds[1].Type) {
			continue
		}
		for i, r := range readers {
			if side := relation.Side(i); !spec.How.Keeps(side) && !spec.Validate.Unique(side) {
				within := bounds[1-side]
				within.Nulls = within.Nulls && slices.Contains(spec.NullsEqual, left)
				r.SkipOutside(names[side], within)
			}
		}
	}
}

// looksNull tells whether people write a text for a value that is missing.
func looksNull(text string) bool {
	switch strings.ToLower(strings.Trim(text, "<>()[]#\\ ")) {
	case "", "n", "na", "n/a", "n.a.", "nan", "nil", "none", "null", "-", "--", "?", ".", "missing", "unknown", "undefined":
		return text != ""
	}
	return false
}

// explainKeys adds to a refusal of the keys which value of a CSV file made one of them text. A key that looks like a
// comparison other than that by equality is refused as such, unless a column has this name.
func explainKeys(err error, o joinOptions, readers [2]*tableio.Reader) error {
	for k, left := range o.spec.LeftOn {
		if comparison(left) && !readers[0].Schema().HasField(left) && errors.Is(err, backend.ErrInvalidInput) {
			if right := o.spec.RightOn[k]; right != left {
				left += "=" + right
			}
			return command.Usagef("--on %q: keys are compared by equality; write a=b", left)
		}
		for side, name := range [2]string{o.spec.LeftOn[k], o.spec.RightOn[k]} {
			if explained, ok := explainText(err, readers[side], o.paths[side], name); ok {
				return explained
			}
		}
	}
	return err
}

// explainText adds to a refusal which value of a CSV file made a column text, if one did.
func explainText(err error, reader *tableio.Reader, path, column string) (error, bool) {
	reason, ok := reader.WhyText(column)
	if !ok || !errors.Is(err, backend.ErrUnsupported) {
		return err, false
	}
	err = fmt.Errorf("%w; column %q of %s is text because of line %d: %.40q", err, column, path, reason.Line, reason.Value)
	if !reason.Quoted && looksNull(reason.Value) {
		err = fmt.Errorf("%w; --csv-null %s reads it as NULL", err, shellWord(reason.Value))
	}
	return err, true
}

// comparison tells whether a key holds an operator of comparisons, as the left part of a>=b does.
func comparison(key string) bool {
	return strings.ContainsAny(key, "<>") || strings.HasSuffix(key, "!")
}

// inputs are what the tables of a join are read from.
type inputs struct {
	paths    [2]string
	readers  [2]*tableio.Reader
	needed   [2][]string // columns
	limit    *memoryCap
	progress *command.Progress
	refused  error // for want of memory, of what would have taken less; nil if that was not tried
}

// read reads a side. A refusal for want of memory says how much all its rows take, more or less, by those that were
// read, and which limit that needs with what was read and reserved before.
func (in *inputs) read(ctx context.Context, side int) (arrow.Table, error) {
	in.progress.Reading(side, 0, 0)
	before := in.limit.used()
	defer exec.Begin(ctx, "read "+relation.Side(side).String()).End()
	table, err := in.readers[side].Read(ctx, in.needed[side])
	rows, total := in.progress.State().Rows, in.readers[side].Rows()
	if errors.Is(err, backend.ErrHostMemory) && in.refused != nil {
		return table, in.refused
	}
	if in.limit == nil || !errors.Is(err, backend.ErrHostMemory) || rows == 0 || total < int64(rows) {
		return table, err
	}
	aheadBytes, _ := in.readers[side].AheadBytes(in.needed[side])
	took := float64(max(in.limit.limitBytes-before-aheadBytes, 0)) / float64(rows)
	all := uint64(took * float64(total))
	need := in.limit.reservedBytes + uint64(before+aheadBytes) + all
	if need <= in.limit.reservedBytes+uint64(in.limit.limitBytes) { // the rows that are left are longer than those before
		return nil, err
	}
	return nil, fmt.Errorf("%w; the %s table takes about %s, so the limit must be above %s", err, relation.Side(side),
		text.Limit(all), text.Limit(need))
}

// reserve sets memory of the engine aside for reading sources that are not tables, beside their batches that it has.
func (in *inputs) reserve(engine *spirjoin.Engine, sources [2]spirjoin.Source) error {
	for side, r := range in.readers {
		if r == nil || sources[side].Table() != nil {
			continue
		}
		aheadBytes, err := r.AheadBytes(in.needed[side])
		if err == nil {
			err = engine.Reserve(uint64(aheadBytes))
		}
		if err != nil {
			return fmt.Errorf("reading %s takes %s beside its batches: %w", in.paths[side], text.Limit(uint64(aheadBytes)), err)
		}
	}
	return nil
}

func (in *inputs) readBoth(ctx context.Context) (tables [2]arrow.Table, err error) {
	for side := range tables {
		if tables[side], err = in.read(ctx, side); err != nil {
			return tables, err
		}
	}
	return tables, nil
}

// drawn is a result whose rows are written.
type drawn interface {
	Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error]
}

// writeResult draws the output and returns the seconds in which that waited for encoding and writing, which otherwise
// go on meanwhile.
func writeResult(ctx context.Context, result drawn, writer *tableio.Writer, progress *command.Progress) (
	seconds float64, err error) {
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			return seconds, err
		}
		start, span := time.Now(), exec.Begin(ctx, "write batch").Rows(uint64(batch.NumRows()))
		err = writer.Write(ctx, batch)
		span.End()
		batch.Release()
		seconds += time.Since(start).Seconds()
		if err != nil {
			return seconds, err
		}
	}
	progress.Join(spirjoin.JoinProgress{Phase: "finish", Left: -1})
	start := time.Now()
	defer exec.Begin(ctx, "finish file").End()
	err = writer.Commit(ctx)
	return seconds + time.Since(start).Seconds(), err
}

func closeAll(readers [2]*tableio.Reader) {
	for _, r := range readers {
		if r != nil {
			_ = r.Close()
		}
	}
}

func releaseAll(tables [2]arrow.Table) {
	for _, t := range tables {
		if t != nil {
			t.Release()
		}
	}
}
