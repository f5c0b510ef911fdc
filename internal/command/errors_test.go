package command

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/tableio"
)

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything else"), 1},
		{Usagef("wrong"), 2},
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
		{measure.ErrWrong, 6},
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
	require.Equal(t, "spirjoin: primitive=sort: wrong result: row 7",
		session.message(fmt.Errorf("primitive=sort: %w: row 7", measure.ErrWrong)))
	require.Equal(t, "spirjoin: internal error: a; b", session.message(errors.Join(errors.New("a"), errors.New("b"))))
	require.Equal(t, "spirjoin: internal error: a·[31mb", session.message(errors.New("a\x1b[31mb")),
		"no terminal codes out of names")
	require.Equal(t, "spirjoin: interrupted", session.message(fmt.Errorf("read x: %w", backend.ErrCancelled)))
	require.Equal(t, "spirjoin: limit exceeded: raise --device-memory",
		session.message(fmt.Errorf("%w: raise device_memory", backend.ErrLimit)))
	require.Equal(t, "spirjoin: unsupported: cast one of them or set --no-coalesce",
		session.message(fmt.Errorf("%w: cast one of them or set separate_keys", backend.ErrUnsupported)))
	require.Equal(t, "spirjoin: out of device memory (2 bytes, --device-memory allows 1)",
		session.message(fmt.Errorf("%w (2 bytes, device_memory allows 1)", backend.ErrDeviceMemory)))
	require.Equal(t, "spirjoin: invalid input: my_file holds no such_thing",
		session.message(fmt.Errorf("%w: my_file holds no such_thing", backend.ErrInvalidInput)), "other words stay")
	require.Equal(t, `spirjoin: invalid input: column "device_memory"`,
		session.message(fmt.Errorf("%w: column \"device_memory\"", backend.ErrInvalidInput)), "a name stays")
}

// In the text of a plan only advice names flags; a column may have the name of an option.
func TestAdviceNamesFlags(t *testing.T) {
	require.Equal(t, "key device_memory int64\n  not hj: raise --device-memory to 2MiB; raise --memory-limit",
		NameRaisedFlags("key device_memory int64\n  not hj: raise device_memory to 2MiB; raise memory_limit"))
}
