package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/internal/command"
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
	var limit *files.Limit
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
	pair, err := s.openInputs(ctx, o, files.Options{Engine: open, Limit: limit, TempDir: o.tempDir != ""}, progress)
	if err != nil {
		return err
	}
	defer pair.Close()
	defer func() { err = nameCSVNull(err) }()
	if o.grouped() {
		report.ReadSeconds = time.Since(reading).Seconds()
		g := &grouping{session: s, joinOptions: o, device: device, pair: pair, progress: progress, report: &report}
		return g.run(ctx)
	}
	layout, err := pair.Layout(o.spec)
	if err != nil {
		return explainComparison(err, o.spec, pair)
	}
	if dividable(layout) {
		defer func() { err = offerTempDir(err, &o) }()
	}
	var names []string // of the columns of the output
	if o.goal == goalPreview {
		if layout, names, err = s.previewLayout(layout, o.spec, pair); err != nil {
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
	pair.Choose(layout)
	defer prepareJoin(ctx, device, o, layout, pair)()
	report.ReadSeconds = time.Since(reading).Seconds()
	joined, err := pair.Join(ctx, layout, o.goal.use())
	if err != nil {
		return err
	}
	defer joined.Close()
	report.ReadSeconds += pair.ReadSeconds()
	drawing := time.Now()
	switch o.goal {
	case goalExplain:
		progress.ClearLine()
		fmt.Fprint(s.Stdout, command.NameRaisedFlags(joined.Plan))
		return nil
	case goalFile:
		report.WriteSeconds, err = files.Write(ctx, joined, writer, progress.Join)
	case goalPreview:
		report.OutputRows, err = s.preview(ctx, joined.JoinResult, names, progress, func() (uint64, error) {
			engine, _ := open()
			return countRows(ctx, engine, o.spec, joined.Tables)
		})
	case goalCount:
		if progress.ClearLine(); o.stats != statsJSON {
			fmt.Fprintln(s.Stdout, joined.Rows())
		}
	}
	if err != nil {
		return err
	}
	report.OutputSeconds = time.Since(drawing).Seconds()
	progress.ClearLine()
	return s.reportJoin(o, report, joined.JoinResult)
}

// openInputs opens both inputs, and has the progress tell of them.
func (s session) openInputs(ctx context.Context, o joinOptions, options files.Options, progress *command.Progress) (
	*files.Pair, error) {
	options.Knobs = knobs()
	options.Hooks = files.Hooks{
		Opening: func(side relation.Side, path string, done, total int64) {
			progress.Opening(int(side), path, done, total)
		},
		Reading: func(side relation.Side, rows, total int64) { progress.Reading(int(side), rows, total) },
	}
	var read [2]tableio.ReadOptions
	for side, format := range o.formats {
		read[side] = tableio.ReadOptions{CSV: o.csv, Stdin: s.Stdin, Format: format,
			Busy: tracedBusy(o.trace, "read and decode")}
	}
	pair, err := files.Open(ctx, o.paths, read, options)
	if failed := (*files.SideError)(nil); errors.As(err, &failed) {
		return nil, nameFormatFlag(err, failed.Side.String()+"-format")
	}
	return pair, err
}

// leastStreamedRows and wholeBytes are thresholds of package files. Variables for tests, in which 0 means all files.
var (
	leastStreamedRows int64 = 2 << 20
	wholeBytes        int64 = 1 << 30
)

func knobs() files.Knobs {
	return files.Knobs{StreamedRows: max(1, leastStreamedRows), WholeBytes: max(1, wholeBytes)}
}

// prepareJoin has kernels compiled while the tables are read.
func prepareJoin(ctx context.Context, device *opening, o joinOptions, layout *spirjoin.JoinLayout, pair *files.Pair) (
	wait func()) {
	if o.goal == goalExplain {
		return func() {}
	}
	expected := pair.Expected(layout, o.goal.use())
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

// nameCSVNull adds to a refusal of a text the flag that reads it as NULL, if that is what it looks like.
func nameCSVNull(err error) error {
	if refused := (*files.TextError)(nil); errors.As(err, &refused) && refused.LooksNull() {
		return fmt.Errorf("%w; --csv-null %s reads it as NULL", err, shellWord(refused.Reason.Value))
	}
	return err
}

// explainComparison refuses a key that looks like a comparison other than that by equality, unless a column has this
// name.
func explainComparison(err error, spec spirjoin.JoinSpec, pair *files.Pair) error {
	for k, left := range spec.LeftOn {
		if comparison(left) && !pair.Schemas()[relation.Left].HasField(left) && errors.Is(err, backend.ErrInvalidInput) {
			if right := spec.RightOn[k]; right != left {
				left += "=" + right
			}
			return command.Usagef("--on %q: keys are compared by equality; write a=b", left)
		}
	}
	return err
}

// comparison tells whether a key holds an operator of comparisons, as the left part of a>=b does.
func comparison(key string) bool {
	return strings.ContainsAny(key, "<>") || strings.HasSuffix(key, "!")
}
