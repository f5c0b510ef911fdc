//go:build unix

package tableio

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// limitOpenFiles lets the process have no more files open at a time, until restore.
func limitOpenFiles(t *testing.T, files uint64) (restore func()) {
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	less := limit
	less.Cur = min(limit.Cur, files)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &less))
	return func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }
}
