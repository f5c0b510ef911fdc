package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/bench/workload"
)

// Flags reads the flags of a command and collects all that is wrong with them, to be reported together.
type Flags struct {
	*cli.Context
	faults []string
}

// Fault adds something that is wrong.
func (f *Flags) Fault(format string, a ...any) {
	f.faults = append(f.faults, fmt.Sprintf(format, a...))
}

// Err is wrong use that names all faults; nil if there are none.
func (f *Flags) Err() error {
	if len(f.faults) == 0 {
		return nil
	}
	return usageError(strings.Join(f.faults, "; "))
}

// SeedFlag is the flag of a random seed.
func SeedFlag(category string) cli.Flag {
	return &cli.Uint64Flag{Name: "seed", Category: category, Value: 1,
		Usage: "`NUMBER` that is the random seed; default: 1"}
}

// PayloadColumns reads a flag that is the number of payload columns. It returns the bytes of each: the widths in turn.
func (f *Flags) PayloadColumns(flag string, widths []int) []int {
	columns := f.Int(flag)
	if columns < 0 || columns > workload.MaxPayloads {
		f.Fault("--%s is %d, must be 0 to %d", flag, columns, workload.MaxPayloads)
		return nil
	}
	return slices.Repeat(widths, columns/len(widths)+1)[:columns]
}
