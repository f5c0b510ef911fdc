package cache

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "file")
	require.NoError(t, WriteFile(path, []byte("first, longer")))
	require.NoError(t, WriteFile(path, []byte("second")))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "second", string(text))

	require.Error(t, WriteFile(filepath.Join(path, "below a file"), nil))
	folder := filepath.Dir(path)
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "taken", "inside"), 0o755))
	require.Error(t, WriteFile(filepath.Join(folder, "taken"), nil), "a folder is not replaced")
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 2, "what failed leaves nothing behind")
}

func TestPath(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/somewhere")
	t.Setenv("HOME", "/somewhere/else")
	path, err := Path("pipelines", "x")
	require.NoError(t, err)
	require.Equal(t, filepath.Join("spirjoin", "pipelines", "x"), path[len(path)-len("spirjoin/pipelines/x"):])
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	_, err = Path("x")
	require.Error(t, err)
}
