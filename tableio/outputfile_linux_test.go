package tableio

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Outputs that are named by a descriptor go where the descriptor stands, and keep what is there.
func TestOutputsOfDescriptors(t *testing.T) {
	dir := t.TempDir()
	write := func(path string) {
		f, err := CreateFile(path)
		require.NoError(t, err)
		_, err = f.Write([]byte("new\n"))
		require.NoError(t, err)
		require.NoError(t, f.Commit())
	}
	link := filepath.Join(dir, "link")
	for name, flag := range map[string]int{"appended": os.O_APPEND, "in the middle": 0} {
		for _, form := range []string{"/proc/self/fd/%d", "/dev/fd/%d", link} {
			kept := filepath.Join(dir, "kept")
			require.NoError(t, os.WriteFile(kept, []byte("old\n"), 0o600))
			file, err := os.OpenFile(kept, os.O_WRONLY|flag, 0)
			require.NoError(t, err)
			_, err = file.Seek(4, io.SeekStart)
			require.NoError(t, err)
			if form == link {
				_ = os.Remove(link)
				require.NoError(t, os.Symlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd()), link))
				write(link)
			} else {
				write(fmt.Sprintf(form, file.Fd()))
			}
			_, err = file.WriteString("after\n")
			require.NoError(t, err, "the descriptor stays open")
			require.NoError(t, file.Close())
			text, err := os.ReadFile(kept)
			require.NoError(t, err)
			require.Equal(t, "old\nnew\nafter\n", string(text), "%s, %s", name, form)
		}
	}
	from, to, err := os.Pipe()
	require.NoError(t, err)
	write(fmt.Sprintf("/dev/fd/%d", to.Fd()))
	require.NoError(t, to.Close())
	text, err := io.ReadAll(from)
	require.NoError(t, err)
	require.Equal(t, "new\n", string(text))
	require.NoError(t, from.Close())
	requireOnlyFiles(t, dir, "kept", "link")
	_, err = CreateFile("/proc/self/fd/99999")
	require.ErrorIs(t, err, ErrOutput)
}

// TestOutputHasNoName: a process that is killed leaves nothing, where the file system has files without names.
func TestOutputHasNoName(t *testing.T) {
	dir := t.TempDir()
	if file := createNameless(dir, 0o666); file == nil {
		t.Skip("this file system has no files without a name")
	} else {
		require.NoError(t, file.Close())
	}
	path := filepath.Join(dir, "out")
	for _, before := range []string{"", "old"} {
		f, err := CreateFile(path)
		require.NoError(t, err)
		_, err = f.Write([]byte("new"))
		require.NoError(t, err)
		if before == "" {
			requireOnlyFiles(t, dir)
		} else {
			requireOnlyFiles(t, dir, "out")
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, before, string(text))
		}
		require.NoError(t, f.Commit())
		require.NoError(t, f.Abort(), "which does nothing")
		requireOnlyFiles(t, dir, "out")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "new", string(text))
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	}
	f, err := CreateFile(path)
	require.NoError(t, err)
	require.NoError(t, f.Abort())
	f, err = CreateFile(path)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(dir))
	require.ErrorIs(t, f.Commit(), ErrOutput, "its folder is gone")
	require.NoDirExists(t, dir)
}

// Where the file system has no files without names, the content is in a hidden file.
func TestHiddenOutput(t *testing.T) {
	defer func() { temporaryFiles.hidden = false }()
	temporaryFiles.hidden = true
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	names := func() (names []string) {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	for _, end := range []func(*OutputFile) error{(*OutputFile).Abort, (*OutputFile).Commit} {
		f, err := CreateFile(path)
		require.NoError(t, err)
		require.Len(t, names(), 1)
		require.Regexp(t, `^\.out\.[0-9a-f]{8}\.tmp$`, names()[0])
		require.NoError(t, end(f))
	}
	requireOnlyFiles(t, dir, "out")
}
