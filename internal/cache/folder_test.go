package cache

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whoever holds the lock is alone, as are processes: a lock belongs to an open file, not to a process.
func TestLock(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "made")
	path := filepath.Join(folder, "count")
	require.NoError(t, WriteFile(path, []byte("0")))
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			defer Lock(folder)()
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			n, err := strconv.Atoi(string(text))
			require.NoError(t, err)
			require.NoError(t, WriteFile(path, []byte(strconv.Itoa(n+1))))
		})
	}
	writers.Wait()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "8", string(text))

	Lock(filepath.Join(path, "below a file"))() // goes on without
	unlock := Lock(folder)
	start := time.Now()
	Lock(folder)()
	require.Greater(t, time.Since(start), 900*time.Millisecond, "the lock was not free")
	unlock()
}

func TestKeepNewest(t *testing.T) {
	folder := t.TempDir()
	for i := range 5 {
		path := filepath.Join(folder, fmt.Sprintf("cache-%d", i))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(int64(1000+i*7%5), 0)))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "other"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "cache-folder"), 0o700))
	KeepNewest(folder, "cache-*", 2)
	var left []string
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	require.ElementsMatch(t, []string{"cache-2", "cache-4", "other", "cache-folder"}, left)
	KeepNewest(filepath.Join(folder, "missing"), "*", 0)
}
