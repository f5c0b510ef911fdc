package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/command"
)

// flags reads the flags of a benchmark.
type flags struct{ command.Flags }

func flagsOf(c *cli.Context) *flags { return &flags{command.Flags{Context: c}} }

func csvFlag(category string) cli.Flag {
	return &cli.StringFlag{Name: "csv", Category: category,
		Usage: "write the results to `FILE`, which appears whole or not at all"}
}

// pkfkFlags are the flags of a join of primary with foreign keys. bytes is the default width of keys and payloads.
func pkfkFlags(category, rRows, sRows string, bytes int) []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "r-rows", Aliases: []string{"r"}, Category: category, Value: new(command.Rows),
			Usage: "`ROWS` with primary keys; default: " + rRows},
		&cli.GenericFlag{Name: "s-rows", Aliases: []string{"s"}, Category: category, Value: new(command.Rows),
			Usage: "`ROWS` with foreign keys; default: " + sRows},
		&cli.IntFlag{Name: "payloads", Category: category, Value: 1,
			Usage: "payload `COLUMNS` of each side; default: 1"},
		&cli.IntFlag{Name: "key-bytes", Category: category, Value: bytes,
			Usage: fmt.Sprintf("`BYTES` of a key: 4 or 8; default: %d", bytes)},
		&cli.StringSliceFlag{Name: "payload-bytes", Category: category,
			Usage: fmt.Sprintf("`BYTES` of a payload: 4, 8, or 4,8 in turn; default: %d", bytes)},
		&cli.Float64Flag{Name: "match-ratio", Category: category, Value: 1,
			Usage: "`SHARE` of the primary keys that rows refer to; default: 1"},
		&cli.Float64Flag{Name: "zipf", Category: category, Usage: "`FACTOR` of the skew of foreign keys; default: 0"},
	}
}

// pkfk reads these flags and the seed.
func (f *flags) pkfk(bytes int) workload.PKFKSpec {
	spec := workload.DefaultPKFK(f.tableRows("r-rows"), f.tableRows("s-rows"))
	widths := f.ints("payload-bytes", "bytes")
	if len(widths) == 0 {
		widths = []int{bytes}
	}
	spec.RPayloads = f.PayloadColumns("payloads", widths)
	spec.SPayloads, spec.KeyBytes, spec.Seed = spec.RPayloads, f.Int("key-bytes"), f.Uint64("seed")
	spec.MatchRatio, spec.Zipf = f.Float64("match-ratio"), f.Float64("zipf")
	return spec
}

// timing reads how often something is timed, and how long it runs before.
func (f *flags) timing() (repeat int, warm time.Duration) {
	if repeat = f.Int("repeat"); repeat < 1 {
		f.Fault("--repeat must be at least 1")
	}
	if warm = f.Duration("warm"); warm < 0 {
		f.Fault("--warm is %v, must be 0s or more", warm)
	}
	return repeat, warm
}

// scale reads the power of 2 that divides rows; -1 is returned if it is not given.
func (f *flags) scale() int {
	if !f.IsSet("scale") {
		return -1
	}
	scale := f.Int("scale")
	if scale < 0 || scale > 62 {
		f.Fault("--scale is %d, must be 0 to 62", scale)
	}
	return scale
}

// list reads a flag that holds words separated by commas and may be repeated.
func (f *flags) list(flag string) (words []string) {
	for _, list := range f.StringSlice(flag) {
		words = append(words, strings.Split(list, ",")...)
	}
	return words
}

// ints reads a flag that holds numbers of something.
func (f *flags) ints(flag, what string) (numbers []int) {
	for _, word := range f.list(flag) {
		n, err := strconv.Atoi(word)
		if err != nil {
			f.Fault("--%s %q: give numbers of %s", flag, word, what)
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// tableRows reads a number of rows of a table, at least 1; 0 is returned if it is not given.
func (f *flags) tableRows(flag string) int64 {
	rows := *f.Generic(flag).(*command.Rows)
	if f.IsSet(flag) && rows == 0 {
		f.Fault("--%s must be at least 1; leave it out for the default", flag)
	}
	return int64(min(rows, math.MaxInt64))
}

// rows reads numbers of rows, and ranges like 2^10..2^30, which hold the first number and its doubles.
func (f *flags) rows(flag string) (all []uint64) {
	for _, word := range f.list(flag) {
		first, last, isRange := strings.Cut(word, "..")
		if !isRange {
			last = first
		}
		var from, to command.Rows
		if err := errors.Join(from.Set(first), to.Set(last)); err != nil || from == 0 || from > to {
			f.Fault("--%s %q: give numbers of rows from 1, as in 1000, 10M, 2^27 or 2^10..2^30", flag, word)
			continue
		}
		for n := from; n <= to && n >= from; n *= 2 {
			all = append(all, uint64(n))
		}
	}
	return all
}

func (f *flags) settings(flag string) backend.Config {
	settings := make(backend.Config)
	for _, word := range f.list(flag) {
		name, text, _ := strings.Cut(word, "=")
		value, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			f.Fault("--%s %q: write SETTING=NUMBER", flag, word)
			continue
		}
		settings[name] = uint32(value)
	}
	return settings
}

// commandText is a command with its arguments and flags, but for the output.
func commandText(c *cli.Context) string {
	text := strings.Join(append([]string{c.App.Name, c.Command.Name}, c.Args().Slice()...), " ")
	for _, flag := range c.Command.Flags {
		if name := flag.Names()[0]; c.IsSet(name) && name != "csv" && name != "out" {
			text += fmt.Sprintf(" --%s %s", name, flagText(c, name))
		}
	}
	return text
}

// flagText is the value of a flag as it was given.
func flagText(c *cli.Context, name string) string {
	if list := c.StringSlice(name); list != nil {
		return strings.Join(list, ",")
	}
	switch value := c.Generic(name).(type) {
	case *command.Names:
		return strings.Join(*value, " --"+name+" ")
	case *command.Size:
		return strconv.FormatUint(uint64(*value), 10) // exact, and one word
	case fmt.Stringer:
		return value.String()
	}
	return fmt.Sprint(c.Value(name))
}
