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
	return command.Traced(ctx, o.job, o.tracePath, func(ctx context.Context, trace *spirjoin.Trace) error {
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
	if o.job != nil && o.job.Rank() > 0 {
		o.quiet = true // rank 0 speaks for all
	}
	progress := s.NewProgress(o.quiet)
	defer progress.Close()
	o.spec.Progress = progress.Join
	if o.memoryLimitBytes > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(heapLimitBytes(o.memoryLimitBytes)))
	}

	before := residentBytes()
	whole := ctx
	ctx, device := begin(ctx, o)
	defer func() { err = device.end(err) }()
	j := &joining{session: s, joinOptions: o, device: device, progress: progress, report: &report}
	j.engine = s.opener(&j.joinOptions, device, progress, &report)
	defer func() { err = nameCSVNull(err) }()
	err = j.open(ctx, before)
	defer j.pair.Close()
	if o.job != nil {
		err = j.ready(whole, err)
	}
	switch {
	case err != nil:
		return err
	case o.grouped():
		return j.group(ctx)
	case o.job != nil:
		return j.overRanks(ctx)
	}
	return j.rows(ctx)
}

// open opens the inputs, under a memory limit after the device, before which the process had residentBefore bytes.
func (j *joining) open(ctx context.Context, residentBefore uint64) (err error) {
	options := files.Options{Engine: j.engine, TempDir: j.tempDir != ""}
	if j.memoryLimitBytes > 0 {
		engine, err := j.engine()
		if err != nil {
			return err
		}
		opened := max(residentBefore, residentBytes()) - residentBefore
		if options.Limit, err = limitMemory(engine, j.memoryLimitBytes, opened); err != nil {
			return err
		}
	}
	reading := time.Now()
	j.pair, err = j.openInputs(ctx, j.joinOptions, options, j.progress)
	j.report.ReadSeconds = time.Since(reading).Seconds()
	return err
}

// joining is a join command with its inputs open.
type joining struct {
	session
	joinOptions
	device   *opening
	engine   func() (*spirjoin.Engine, error) // waits for the device
	pair     *files.Pair
	progress *command.Progress
	report   *joinReport
}

// rows joins, and writes, shows or counts the rows, or explains the plan.
func (j *joining) rows(ctx context.Context) (err error) {
	reading := time.Now()
	layout, err := j.pair.Layout(j.spec)
	if err != nil {
		return explainComparison(err, j.spec, j.pair)
	}
	if dividable(layout) {
		defer func() { err = offerTempDir(err, &j.joinOptions) }()
	}
	var names []string // of the columns of the output
	if j.goal == goalPreview {
		if layout, names, err = j.previewLayout(layout, j.spec, j.pair); err != nil {
			return err
		}
	}
	var writer *tableio.Writer
	if j.goal == goalFile {
		if writer, err = tableio.Create(j.output, layout.Schema, j.write); err != nil {
			return explainOutput(err, j.output)
		}
		defer writer.Abort() // does nothing after Commit
	}
	j.pair.Choose(layout)
	defer prepareJoin(ctx, j.device, j.joinOptions, layout, j.pair)()
	j.report.ReadSeconds += time.Since(reading).Seconds()
	joined, err := j.pair.Join(ctx, layout, j.goal.use())
	if err != nil {
		return err
	}
	defer joined.Close()
	j.report.ReadSeconds += j.pair.ReadSeconds()
	if j.goal == goalExplain {
		j.progress.ClearLine()
		fmt.Fprint(j.Stdout, command.NameRaisedFlags(joined.Plan))
		return nil
	}
	drawing := time.Now()
	switch j.goal {
	case goalFile:
		j.report.WriteSeconds, err = files.Write(ctx, joined, writer, j.progress.Join)
	case goalPreview:
		j.report.OutputRows, err = j.preview(ctx, joined.JoinResult, names, j.progress, func() (uint64, error) {
			engine, _ := j.engine()
			return countRows(ctx, engine, j.spec, joined.Tables)
		})
	case goalCount:
		if j.progress.ClearLine(); j.stats != statsJSON {
			fmt.Fprintln(j.Stdout, joined.Rows())
		}
	}
	if err != nil {
		return err
	}
	j.report.OutputSeconds = time.Since(drawing).Seconds()
	j.progress.ClearLine()
	return j.reportJoin(j.joinOptions, *j.report, joined.JoinResult)
}

// opener returns a function that waits for the device, tells of its problems, and returns the same engine each time.
func (s session) opener(o *joinOptions, device *opening, progress *command.Progress, report *joinReport) func() (
	*spirjoin.Engine, error) {
	return sync.OnceValues(func() (*spirjoin.Engine, error) {
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
}

// openInputs opens both inputs, and has the progress tell of them.
func (s session) openInputs(ctx context.Context, o joinOptions, options files.Options, progress *command.Progress) (
	*files.Pair, error) {
	options.Knobs = knobs
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

// knobs are the defaults, other than in tests.
var knobs files.Knobs

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
