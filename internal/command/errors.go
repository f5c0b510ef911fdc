package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/tableio"
)

// The exit codes, as docs/cli.md promises them.
const (
	ExitDone         = 0
	ExitInternal     = 1
	ExitUsage        = 2
	ExitInputOutput  = 3
	ExitNoDevice     = 4 // or something that this version or device does not support
	ExitLimit        = 5
	ExitDeviceFailed = 6
	ExitInterrupted  = 130
)

// errUsage says that the command line itself is wrong.
var errUsage = errors.New("usage")

// usageError is wrong use of the command line; its text says what and what to write instead.
type usageError string

func (e usageError) Error() string { return string(e) }
func (e usageError) Unwrap() error { return errUsage }

// Usagef is wrong use of the command line: the text says what, and what to write instead.
func Usagef(format string, a ...any) error { return usageError(fmt.Sprintf(format, a...)) }

// An error may wrap several sentinels; the first of this list decides.
var exitCodes = []struct {
	sentinel error
	code     int
}{
	{context.Canceled, ExitInterrupted},
	{backend.ErrCancelled, ExitInterrupted},
	{errUsage, ExitUsage},
	{workload.ErrSpec, ExitUsage},
	{tableio.ErrCompression, ExitUsage},
	{tableio.ErrColumn, ExitUsage}, // the file is fine, the command names a column that it lacks
	{backend.ErrDeviceLost, ExitDeviceFailed},
	{measure.ErrWrong, ExitDeviceFailed},
	{backend.ErrTimedOut, ExitDeviceFailed},
	{backend.ErrDeviceMemory, ExitLimit},
	{backend.ErrHostMemory, ExitLimit},
	{backend.ErrLimit, ExitLimit},
	{backend.ErrDiskSpace, ExitInputOutput},
	{tableio.ErrInput, ExitInputOutput},
	{tableio.ErrOutput, ExitInputOutput},
	{workload.ErrGenerator, ExitInputOutput},
	{backend.ErrNoDevice, ExitNoDevice},
	{backend.ErrUnsupported, ExitNoDevice},
	{backend.ErrInvalidInput, ExitUsage},
}

// exitCode is the exit code of a program that ends with the error, which may be nil.
func exitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	if lost := (*cluster.Lost)(nil); errors.As(err, &lost) {
		return lost.Code
	}
	for _, e := range exitCodes {
		if errors.Is(err, e.sentinel) {
			return e.code
		}
	}
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	if errors.As(err, &pathErr) || errors.As(err, &linkErr) {
		return ExitInputOutput
	}
	return ExitInternal
}

// The options of the library that errors name, and the flags that they are here. Names of the user stand in quotes.
var (
	flagOfOption = map[string]string{"max_output_rows": "--max-output-rows", "device_memory": "--device-memory",
		"memory_limit": "--memory-limit", "temp_dir": "--temp-dir", "temp_limit": "--temp-limit",
		"batch_rows": "--batch-rows", "build_side": "--build-side",
		"mark_name": "--mark-name", "nulls_equal": "--nulls-equal", "separate_keys": "--no-coalesce"}
	optionWord   = regexp.MustCompile(`(^|[ (])[a-z]+_[a-z_]+($|[ ;,)])`)
	optionRaised = regexp.MustCompile(`\braise [a-z_]+`)
)

// NameFlags writes the options in the text of an error as flags.
func NameFlags(text string) string {
	return optionWord.ReplaceAllStringFunc(text, func(found string) string {
		word := strings.Trim(found, " (;,)")
		return strings.Replace(found, word, cmp.Or(flagOfOption[word], word), 1)
	})
}

// NameRaisedFlags does so in a text that may also have names without quotes: only where it says to raise an option.
func NameRaisedFlags(text string) string { return optionRaised.ReplaceAllStringFunc(text, NameFlags) }

// message is the one line that a failure prints.
func (p *Program) message(err error) string { return p.Name + ": " + p.line(err) }

func (p *Program) line(err error) string {
	line := err.Error()
	switch exitCode(err) {
	case ExitInterrupted:
		line = "interrupted"
	case ExitInternal:
		line = "internal error: " + line
	default:
		if line = NameFlags(line); p.Reword != nil {
			line = p.Reword(err, line)
		}
	}
	return text.OneLine(line)
}

// PlainError drops the operation and the path that an error of the system repeats.
func PlainError(err error) error {
	if pathErr, ok := err.(*os.PathError); ok {
		return pathErr.Err
	}
	return err
}

// WithProblems adds what kept backends away to an error of a device that was not found. The error keeps its kind.
func WithProblems(err error, problems []error) error {
	if !errors.Is(err, backend.ErrNoDevice) || len(problems) == 0 {
		return err
	}
	return fmt.Errorf("%w; %v", err, errors.Join(problems...))
}
