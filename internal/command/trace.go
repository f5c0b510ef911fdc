package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/tableio"
)

// Traced runs a command with a trace that goes to a file, which appears if the command succeeds; without a path, with
// nil. It is known that the file can be written before the command begins. The ranks of a job, which is nil without
// one, have one file, which rank 0 writes.
func Traced(ctx context.Context, job spirjoin.Job, path string, run func(context.Context, *spirjoin.Trace) error) error {
	if path == "" {
		return run(ctx, nil)
	}
	var file *tableio.OutputFile
	var err error
	if job == nil || job.Rank() == 0 {
		if file, err = tableio.CreateFile(path); err != nil {
			err = fmt.Errorf("--trace: %w", err)
		} else {
			defer file.Abort() // does nothing after Commit
		}
	}
	if job != nil {
		_, err = Agree(ctx, job, "trace", struct{}{}, err)
	}
	if err != nil {
		return err
	}
	trace, began := spirjoin.NewTrace(), time.Now()
	on, end := exec.Track(exec.WithTrace(ctx, trace), "command")
	if err := run(on, trace); err != nil {
		return err
	}
	end()
	if job == nil {
		err = trace.Write(file)
	} else {
		err = writeTraces(ctx, job, trace, began, file)
	}
	if err == nil && file != nil {
		err = file.Commit()
	}
	if err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	return nil
}

// writeTraces has rank 0 write the traces of all ranks. The clocks of ranks are compared by a round, which all leave at
// about the same time, because it follows another one at once: its middle is the same moment on all of them.
func writeTraces(ctx context.Context, job spirjoin.Job, trace *spirjoin.Trace, began time.Time, file *tableio.OutputFile) error {
	var middle time.Time
	for range 2 {
		before := time.Now()
		if _, err := Agree(ctx, job, "clock", struct{}{}, nil); err != nil {
			return err
		}
		middle = before.Add(time.Since(before) / 2)
	}
	since, err := Agree(ctx, job, "since", middle.Sub(began), nil)
	if err != nil {
		return err
	}
	part, err := trace.Part(job.Rank(), middle.Add(-since[0]))
	parts, err := Agree(ctx, job, "traces", part, err)
	if err == nil && file != nil {
		err = exec.WriteTrace(file, parts...)
	}
	_, err = Agree(ctx, job, "traced", struct{}{}, err)
	return err
}
