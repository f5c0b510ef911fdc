package tableio

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// folderOf begins an output of some parts of the example table.
func folderOf(t *testing.T, path string, parts int, overwrite bool) (*Folder, error) {
	t.Helper()
	schemas := make([]*arrow.Schema, parts)
	for i := range schemas {
		schemas[i] = tabletest.ExampleBatch(0).Schema()
	}
	return CreateFolder(path, schemas, overwrite, WriteOptions{})
}

// TestFolder: parts and the manifest appear with Commit; a second output replaces the first one only if it may.
func TestFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	for round, parts := range []int{3, 2} {
		f, err := folderOf(t, path, parts, round > 0)
		require.NoError(t, err)
		require.NoFileExists(t, filepath.Join(path, ManifestName))
		for i := range parts {
			require.NoError(t, f.Part(i).Write(t.Context(), tabletest.ExampleBatch(10*i)))
		}
		require.NoError(t, f.Commit(t.Context(), map[string]int{"round": round}))
		require.NoError(t, f.Abort())
		content, err := os.ReadFile(filepath.Join(path, ManifestName))
		require.NoError(t, err)
		var m Manifest
		require.NoError(t, json.Unmarshal(content, &m))
		require.Len(t, m.Parts, parts)
		require.Equal(t, map[string]any{"round": float64(round)}, m.About)
		names, rows := []string{ManifestName}, int64(0)
		for i, p := range m.Parts {
			require.EqualValues(t, 10*i, p.Rows)
			names, rows = append(names, p.File), rows+p.Rows
			readFile(t, filepath.Join(path, p.File), []string{"key"}, ReadOptions{}, func(got arrow.Table) {
				require.Equal(t, p.Rows, got.NumRows())
			})
		}
		require.Equal(t, rows, m.Rows)
		requireOnlyFiles(t, path, names...)
	}
	_, err := folderOf(t, path, 2, false)
	require.ErrorIs(t, err, ErrOutput)
	require.ErrorContains(t, err, "the folder has files already")
	require.FileExists(t, filepath.Join(path, ManifestName))

	foreign := filepath.Join(path, "notes.txt")
	require.NoError(t, os.WriteFile(foreign, []byte("mine"), 0o666))
	_, err = folderOf(t, path, 2, true)
	require.ErrorContains(t, err, `"notes.txt" is no part of an earlier output`)
	require.FileExists(t, foreign)
	require.FileExists(t, filepath.Join(path, ManifestName))
}

// TestFolderAborted: nothing is left of an output that does not end, also if some parts have appeared, and an earlier
// output without its manifest is seen to be incomplete.
func TestFolderAborted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, err := folderOf(t, path, 2, false)
	require.NoError(t, err)
	require.NoError(t, f.Part(0).Write(t.Context(), tabletest.ExampleBatch(10)))
	require.NoError(t, f.Abort())
	require.NoDirExists(t, path)

	f, err = folderOf(t, path, 2, false)
	require.NoError(t, err)
	require.NoError(t, f.Part(1).Abort()) // its commit fails after the first part has appeared
	require.ErrorIs(t, f.Commit(t.Context(), nil), ErrOutput)
	require.NoDirExists(t, path)

	_, err = folderOf(t, filepath.Join(path, "none"), 2, false)
	require.ErrorIs(t, err, ErrOutput)

	require.NoError(t, os.Mkdir(path, 0o777))
	f, err = folderOf(t, path, 1, false)
	require.NoError(t, err)
	require.NoError(t, f.Commit(t.Context(), nil))
	f, err = folderOf(t, path, 2, true)
	require.NoError(t, err)
	require.NoError(t, f.Abort())
	requireOnlyFiles(t, path, "part-00000-of-00001.parquet")
}
