package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/tableio"
)

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything else"), 1},
		{usagef("wrong"), 2},
		{backend.ErrInvalidInput, 2},
		{&tableio.Error{Kind: tableio.ErrInput, Op: "read", Path: "f", Err: tableio.ErrColumn}, 2},
		{&tableio.Error{Kind: tableio.ErrInput, Op: "read", Path: "f", Err: errors.New("corrupt")}, 3},
		{&tableio.Error{Kind: tableio.ErrOutput, Op: "write", Path: "f", Err: errors.New("full")}, 3},
		{backend.ErrDiskSpace, 3},
		{backend.ErrNoDevice, 4},
		{backend.ErrUnsupported, 4},
		{backend.ErrLimit, 5},
		{backend.ErrDeviceMemory, 5},
		{backend.ErrHostMemory, 5},
		{&tableio.Error{Op: "read", Path: "f", Err: backend.ErrHostMemory}, 5},
		{backend.ErrDeviceLost, 6},
		{backend.ErrTimedOut, 6},
		{backend.ErrCancelled, 130},
		{context.Canceled, 130},
		{fmt.Errorf("write: %w", errors.Join(backend.ErrLimit, backend.ErrCancelled)), 130},
		{fmt.Errorf("close: %w", errors.Join(backend.ErrInvalidInput, backend.ErrDeviceLost)), 6},
	} {
		require.Equal(t, c.want, exitCode(c.err), "%v", c.err)
		if c.err != nil {
			require.Equal(t, c.want, exitCode(fmt.Errorf("around: %w", c.err)), "wrapped %v", c.err)
		}
	}
}

func TestMessageIsOneLine(t *testing.T) {
	require.Equal(t, "spirjoin: internal error: a; b", message(errors.Join(errors.New("a"), errors.New("b"))))
	require.Equal(t, "spirjoin: internal error: a·[31mb", message(errors.New("a\x1b[31mb")), "no terminal codes out of names")
	require.Equal(t, "spirjoin: interrupted", message(fmt.Errorf("read x: %w", backend.ErrCancelled)))
	require.Equal(t, "spirjoin: limit exceeded: raise --device-memory", message(fmt.Errorf("%w: raise device_memory", backend.ErrLimit)))
	require.Equal(t, "spirjoin: unsupported: cast one of them or set --no-coalesce",
		message(fmt.Errorf("%w: cast one of them or set separate_keys", backend.ErrUnsupported)))
	require.Equal(t, "spirjoin: out of device memory (2 bytes, --device-memory allows 1)",
		message(fmt.Errorf("%w (2 bytes, device_memory allows 1)", backend.ErrDeviceMemory)))
	require.Equal(t, "spirjoin: invalid input: my_file holds no such_thing",
		message(fmt.Errorf("%w: my_file holds no such_thing", backend.ErrInvalidInput)), "other words stay")
	require.Equal(t, `spirjoin: invalid input: column "device_memory"`, message(fmt.Errorf("%w: column \"device_memory\"", backend.ErrInvalidInput)), "a name stays")
}

// What the library says about a column that cannot be read or written names the flags of the command.
func TestMessagesNameTheFlagsOfColumns(t *testing.T) {
	const foreign = "../../tableio/testdata/foreign/"
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct{ arguments, want string }{
		{"join " + foreign + "16_int96_from_spark.parquet " + foreign + "one.csv --how cross --columns a -o " + out + ".csv",
			"write " + out + `.csv: row 6, column "a": 9089380393200000000 is outside the range of timestamp[us] in CSV; ` +
				"write Parquet or Arrow, or leave it out with --columns"},
		{"groupby " + foreign + "16_int96_from_spark.parquet --by a --agg count -o " + out + ".csv",
			"; write Parquet or Arrow, or leave it out with --columns"},
		{"join " + foreign + "21_illegal_decimals.parquet " + foreign + "one.csv --how cross --columns d7 -o " + out +
			".parquet", "create " + out + `.parquet: column "d7": type decimal(2, 4) cannot be written to Parquet: ` +
			"it allows no scale above the precision; write Arrow, or leave it out with --columns"},
		{"join " + foreign + "08e_variant_minimal.parquet " + foreign + "one.csv --how cross -o " + out + ".arrow",
			`column "v" cannot be read: invalid: metadata field must be non-nullable binary type, got binary; ` +
				"leave it out with --columns"},
		{"groupby " + foreign + "08e_variant_minimal.parquet --by v --agg count -o " + out + ".arrow",
			"; leave it out of --by and --agg"},
		{"join " + foreign + "one.csv " + foreign + "08e_variant_minimal.parquet --how cross --by v --agg count -o " + out +
			".arrow", "; leave it out of --by and --agg"},
	} {
		o := runProgram(t, exitInputOutput, append(strings.Fields(c.arguments), "--device", "host", "-q")...)
		require.True(t, strings.HasSuffix(o.stderr, c.want+"\n"), o.stderr)
	}
}

// In the text of a plan only advice names flags; a column may have the name of an option.
func TestAdviceNamesFlags(t *testing.T) {
	require.Equal(t, "key device_memory int64\n  not hj: raise --device-memory to 2MiB; raise --memory-limit",
		nameRaisedFlags("key device_memory int64\n  not hj: raise device_memory to 2MiB; raise memory_limit"))
}
