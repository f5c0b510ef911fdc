package command

import (
	"context"
	"fmt"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/tableio"
)

// Traced runs a command with a trace that goes to a file, which appears if the command succeeds; without a path, with
// nil. It is known that the file can be written before the command begins.
func Traced(ctx context.Context, path string, run func(context.Context, *spirjoin.Trace) error) error {
	if path == "" {
		return run(ctx, nil)
	}
	file, err := tableio.CreateFile(path)
	if err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	defer file.Abort() // does nothing after Commit
	trace := spirjoin.NewTrace()
	on, end := exec.Track(exec.WithTrace(ctx, trace), "command")
	if err := run(on, trace); err != nil {
		return err
	}
	end()
	err = trace.Write(file)
	if err == nil {
		err = file.Commit()
	}
	if err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	return nil
}
