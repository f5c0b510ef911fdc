package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/backend"
)

// benchProgram is the program of the benchmarks, which links what joins do not need: it draws charts.
const benchProgram = "spirjoin-bench"

// benchCommand turns the process into the program of the benchmarks, which lies beside this one. All words that follow
// are arguments of that program.
func benchCommand() *cli.Command {
	return &cli.Command{
		Name: "bench", Usage: "measure, by the program spirjoin-bench", SkipFlagParsing: true, HideHelp: true,
		Action: func(c *cli.Context) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			path := filepath.Join(filepath.Dir(self), benchProgram)
			err = syscall.Exec(path, append([]string{path}, c.Args().Slice()...), os.Environ())
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%w: the benchmarks are a program of their own, %s, which is missing; `go install "+
					"github.com/spirjoin/spirjoin/cmd/%s@latest` installs it, in a clone `make build` builds it with OpenCL",
					backend.ErrUnsupported, path, benchProgram)
			}
			return &fs.PathError{Op: "start", Path: path, Err: err}
		},
	}
}
