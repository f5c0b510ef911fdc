package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/tableio"
)

// The exit codes, as docs/cli.md promises them.
const (
	exitDone         = 0
	exitInternal     = 1
	exitUsage        = 2
	exitInputOutput  = 3
	exitNoDevice     = 4 // or something that this version or device does not support
	exitLimit        = 5
	exitDeviceFailed = 6
	exitInterrupted  = 130
)

// errUsage says that the command line itself is wrong.
var errUsage = errors.New("usage")

// usageError is wrong use of the command line; its text says what and what to write instead.
type usageError string

func (e usageError) Error() string { return string(e) }
func (e usageError) Unwrap() error { return errUsage }

func usagef(format string, a ...any) error { return usageError(fmt.Sprintf(format, a...)) }

// An error may wrap several sentinels; the first of this list decides.
var exitCodes = []struct {
	sentinel error
	code     int
}{
	{context.Canceled, exitInterrupted},
	{backend.ErrCancelled, exitInterrupted},
	{errUsage, exitUsage},
	{workload.ErrSpec, exitUsage},
	{tableio.ErrCompression, exitUsage},
	{tableio.ErrColumn, exitUsage}, // the file is fine, the command names a column that it lacks
	{backend.ErrDeviceLost, exitDeviceFailed},
	{measure.ErrWrong, exitDeviceFailed},
	{backend.ErrTimedOut, exitDeviceFailed},
	{backend.ErrDeviceMemory, exitLimit},
	{backend.ErrHostMemory, exitLimit},
	{backend.ErrLimit, exitLimit},
	{backend.ErrDiskSpace, exitInputOutput},
	{tableio.ErrInput, exitInputOutput},
	{tableio.ErrOutput, exitInputOutput},
	{workload.ErrGenerator, exitInputOutput},
	{backend.ErrNoDevice, exitNoDevice},
	{backend.ErrUnsupported, exitNoDevice},
	{backend.ErrInvalidInput, exitUsage},
}

func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	for _, e := range exitCodes {
		if errors.Is(err, e.sentinel) {
			return e.code
		}
	}
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	if errors.As(err, &pathErr) || errors.As(err, &linkErr) {
		return exitInputOutput
	}
	return exitInternal
}

// The options of the library that errors name, and the flags that they are here. Names of the user stand in quotes.
var (
	flagOfOption = map[string]string{"max_output_rows": "--max-output-rows", "device_memory": "--device-memory",
		"memory_limit": "--memory-limit", "temp_dir": "--temp-dir", "temp_limit": "--temp-limit", "batch_rows": "--batch-rows", "build_side": "--build-side",
		"mark_name": "--mark-name", "nulls_equal": "--nulls-equal", "separate_keys": "--no-coalesce"}
	optionWord   = regexp.MustCompile(`(^|[ (])[a-z]+_[a-z_]+($|[ ;,)])`)
	leaveOut     = "leave it out with columns"
	optionRaised = regexp.MustCompile(`\braise [a-z_]+`)
)

// nameFlags writes the options in the text of an error as flags.
func nameFlags(text string) string {
	return optionWord.ReplaceAllStringFunc(text, func(found string) string {
		word := strings.Trim(found, " (;,)")
		return strings.Replace(found, word, cmp.Or(flagOfOption[word], word), 1)
	})
}

// nameRaisedFlags does so in a text that may also have names without quotes: only where it says to raise an option.
func nameRaisedFlags(text string) string { return optionRaised.ReplaceAllStringFunc(text, nameFlags) }

// columnMeant finds the name of a column in a message about another one.
var columnMeant = regexp.MustCompile(`(column "(?:[^"\\]|\\.)*"; did you mean )("(?:[^"\\]|\\.)*")\?`)

// quoteMeant writes a suggested column as a shell and a list of names take it.
func quoteMeant(text string) string {
	return columnMeant.ReplaceAllStringFunc(text, func(found string) string {
		parts := columnMeant.FindStringSubmatch(found)
		name, err := strconv.Unquote(parts[2])
		if word := shellWord(listName(name)); err == nil && word != name {
			return parts[1] + word + "?"
		}
		return found
	})
}

// A groupsError is one of a command that makes groups.
type groupsError struct{ error }

func (e groupsError) Unwrap() error { return e.error }

func ofGroups(err *error) {
	if *err != nil {
		*err = groupsError{*err}
	}
}

// nameColumns writes as flags what the library says about a column that cannot be read or written. For groups, the
// columns of keys and aggregates are read and no others.
func nameColumns(err error, text string) string {
	advice := "leave it out with --columns"
	if errors.Is(err, tableio.ErrInput) && errors.As(err, new(groupsError)) {
		advice = "leave it out of --by and --agg"
	}
	return strings.ReplaceAll(text, leaveOut, advice)
}

// message is the one line that a failure prints.
func message(err error) string {
	code := exitCode(err)
	line := err.Error()
	switch code {
	case exitInterrupted:
		line = "interrupted"
	case exitInternal:
		line = "internal error: " + line
	default:
		line = quoteMeant(nameFlags(nameColumns(err, line)))
	}
	return "spirjoin: " + text.OneLine(line)
}
