// Command duckdb-peer joins two files with DuckDB and reports times and
// checksums in one line of JSON, so that they can be compared with another
// engine's. README.md describes the protocol.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// Exit codes.
const (
	exitDone = iota
	exitFailed
	exitUsage
)

var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case err == nil:
		os.Exit(exitDone)
	case errors.Is(err, flag.ErrHelp):
		os.Exit(exitUsage)
	}
	fmt.Fprintln(os.Stderr, "duckdb-peer:", err)
	if errors.Is(err, errUsage) {
		os.Exit(exitUsage)
	}
	os.Exit(exitFailed)
}

// run parses the arguments and prints one JSON object.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "groupby" {
		return runGroups(ctx, args[1:], out)
	}
	var task joinTask
	var on, columns string
	flags := flag.NewFlagSet("duckdb-peer", flag.ContinueOnError)
	flags.StringVar(&task.left, "left", "", "`file` of the left table, Parquet or CSV")
	flags.StringVar(&task.right, "right", "", "`file` of the right table, Parquet or CSV")
	flags.StringVar(&on, "on", "", "key `columns` a=b[,c=d]: left column = right column")
	flags.StringVar(&columns, "columns", "", "output `columns`, comma separated (default: all)")
	flags.BoolVar(&task.count, "count", false, "only count the matches")
	flags.StringVar(&task.sum, "sum", "", "count the matches and sum this output `column`")
	flags.StringVar(&task.output, "o", "", "write the result to this `file`, after the timed runs")
	flags.IntVar(&task.limits.threads, "threads", 0, "threads (default: all cores)")
	flags.StringVar(&task.limits.memory, "memory-limit", "", "`size` of DuckDB's memory, as in 2GiB (default: its own)")
	flags.StringVar(&task.limits.tempDir, "temp-dir", "", "`folder` into which DuckDB spills (default: its own)")
	flags.IntVar(&task.repeat, "repeat", 1, "timed runs")
	flags.BoolVar(&task.checksum, "checksum", false, "add the checksum of the result")
	flags.BoolVar(&task.direct, "direct", false,
		"one statement straight from the files, to -o, a count, a sum or else a table: nothing is loaded first")
	checksumFile := flags.String("checksum-file", "", "only print the checksum of this `file`")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: unexpected argument %q", errUsage, flags.Arg(0))
	}
	task.columns = splitList(columns)
	var result any
	var err error
	if *checksumFile != "" {
		result, err = checksumOfFile(ctx, *checksumFile, task.columns, task.limits)
	} else if task.on, err = parseOn(on); err == nil {
		if err = task.validate(); err == nil {
			result, err = task.run(ctx)
		}
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// keyPair is one equality of the join condition.
type keyPair struct{ left, right string }

func parseOn(text string) ([]keyPair, error) {
	var pairs []keyPair
	for _, part := range splitList(text) {
		left, right, ok := strings.Cut(part, "=")
		if !ok {
			right = left
		}
		if left == "" || right == "" {
			return nil, fmt.Errorf("%w: --on %q: each part is left=right", errUsage, text)
		}
		pairs = append(pairs, keyPair{left, right})
	}
	return pairs, nil
}
